// SPDX-License-Identifier: Apache-2.0
#include "run/approval_desk.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::run {
namespace {

constexpr std::string_view kHead = "mcp-cordon.approve 1 ";
constexpr std::size_t kLengthDigits = 8;
constexpr std::size_t kHeadBytes = kHead.size() + kLengthDigits + 1 + 64 + 1;
constexpr std::size_t kMaxAnswers = 1'000'000;  // of all a session reads; each decision is a short line

}  // namespace

std::string waiting_file(std::string_view lines) {
  const std::string length = std::to_string(lines.size());
  CORDON_ASSERT(length.size() <= kLengthDigits);
  return text::cat(kHead, std::string(kLengthDigits - length.size(), '0'), length, ' ', hex(sha256(lines)), '\n',
                   lines);
}

std::optional<std::string> read_waiting_file(std::string_view content) {
  if (content.size() < kHeadBytes || !content.starts_with(kHead)) {
    return std::nullopt;
  }
  std::size_t length = 0;
  const char* digits = content.data() + kHead.size();
  const auto read = std::from_chars(digits, digits + kLengthDigits, length);
  if (read.ec != std::errc() || read.ptr != digits + kLengthDigits || length > content.size() - kHeadBytes) {
    return std::nullopt;
  }
  std::string lines(content.substr(kHeadBytes, length));
  return waiting_file(lines) == content.substr(0, kHeadBytes + length) ? std::optional(std::move(lines)) : std::nullopt;
}

Status ApprovalDesk::publish(std::string_view lines) {
  std::string content = waiting_file(lines);
  const std::size_t length = content.size();
  // What no longer waits does not stay in the file.
  content.resize(std::max(length, written_), '\n');
  written_ = std::max(length, written_);
  waits_ = !lines.empty();
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t wrote =
        ::pwrite(waiting_.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return fail(Errc::file_unreadable, errno_text("write", errno), "the file of calls that wait");
    }
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

std::vector<std::string> ApprovalDesk::take_answers() {
  std::vector<std::string> lines;
  std::array<char, 4096> buffer{};
  while (static_cast<std::size_t>(read_) < kMaxAnswers) {
    const ssize_t got = ::pread(answers_.get(), buffer.data(), buffer.size(), read_);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    read_ += got;
    partial_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    lines.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  return lines;
}

}  // namespace cordon::run
