// SPDX-License-Identifier: Apache-2.0
#include "sandbox/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"look",   "read",    "list",    "write",
                                                    "change", "execute", "connect", "bind"};
constexpr std::size_t kMaxLine = 4 * kMaxTracePath;
constexpr int kMaxErrno = 4095;

bool is_plain(char byte) { return byte > ' ' && byte < 0x7f && byte != '%'; }

std::string escaped(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char byte : path) {
    if (is_plain(byte)) {
      out += byte;
    } else {
      const auto value = static_cast<unsigned char>(byte);
      out += {'%', kDigits[value >> 4U], kDigits[value & 0xfU]};
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!is_plain(text[i])) {
        return std::nullopt;
      }
      out += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) {
      return std::nullopt;
    }
    const auto read = std::from_chars(&text[i + 1], &text[i + 1] + 2, value, 16);
    if (read.ec != std::errc() || read.ptr != &text[i + 1] + 2) {
      return std::nullopt;
    }
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<TraceLine> read_words(const std::vector<std::string_view>& words) {
  if (words.size() != 4) {
    return std::nullopt;
  }
  TraceLine line;
  if (words[0] == "f") {
    const auto access = trace_access_from(words[1]);
    const auto error_number = number<int>(words[2]);
    auto path = unescaped(words[3]);
    if (!access || !error_number || *error_number < 0 || *error_number > kMaxErrno || !path || path->empty()) {
      return std::nullopt;
    }
    line.finding = TraceFinding{*access, *error_number, std::move(*path)};
    return line;
  }
  const auto calls = number<std::uint64_t>(words[1]);
  const auto dropped = number<std::uint64_t>(words[2]);
  const auto unread = number<std::uint64_t>(words[3]);
  if (words[0] != "e" || !calls || !dropped || !unread) {
    return std::nullopt;
  }
  line.end = TraceEnd{*calls, *dropped, *unread};
  return line;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view name(TraceAccess access) { return kNames[static_cast<std::size_t>(access)]; }

std::optional<TraceAccess> trace_access_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<TraceAccess>(found - kNames.begin()));
}

std::string trace_line(const TraceFinding& finding) {
  return text::cat("f ", name(finding.access), ' ', finding.error_number, ' ', escaped(finding.path));
}

std::string trace_line(const TraceEnd& end) { return text::cat("e ", end.calls, ' ', end.dropped, ' ', end.unread); }

std::optional<TraceLine> read_trace_line(std::string_view line) {
  if (line.size() > kMaxLine) {
    return std::nullopt;
  }
  auto read = read_words(text::split(line, ' '));
  // One spelling only, so that what is kept is what was sent.
  if (read && line != (read->finding ? trace_line(*read->finding) : trace_line(*read->end))) {
    return std::nullopt;
  }
  return read;
}

std::string normal_trace_path(std::string_view absolute) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : text::split(absolute, '/')) {
    if (part == "..") {
      if (!parts.empty()) {
        parts.pop_back();
      }
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view part : parts) {
    out += text::cat('/', parts.front() == "proc" && is_number(part) ? std::string_view("*") : part);
  }
  return out.empty() ? std::string("/") : out;
}

}  // namespace cordon::sandbox
