// SPDX-License-Identifier: Apache-2.0
#include "app/digest_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

std::int64_t ns_of(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

// One line that names the file's state; equal lines mean the same, unaltered file.
std::string identity_line(const struct stat& info) {
  return text::cat("v1 ", info.st_dev, ' ', info.st_ino, ' ', info.st_size, ' ', ns_of(info.st_mtim), ' ',
                   ns_of(info.st_ctim), ' ');
}

bool settled(const struct stat& info, std::int64_t settle_ns) {
  timespec now{};
  return ::clock_gettime(CLOCK_REALTIME, &now) == 0 && ns_of(now) - ns_of(info.st_ctim) > settle_ns;
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  return text.size() == kPrefix.size() + 64 && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

std::optional<std::string> remembered(const std::string& place, const std::string& line) {
  const auto file = run::read_trusted_if_present(place, {.max_bytes = 1024});
  if (!file || !*file) {
    return std::nullopt;
  }
  const std::string& content = (*file)->content;
  if (!content.starts_with(line) || !content.ends_with('\n')) {
    return std::nullopt;
  }
  std::string digest = content.substr(line.size(), content.size() - line.size() - 1);
  return is_digest(digest) ? std::optional(std::move(digest)) : std::nullopt;
}

Result<std::string> read_whole(int fd, const std::string& path) {
  Sha256 hash;
  std::array<char, 262'144> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(Errc::file_unreadable, errno_text("read", errno), path);
    }
    if (got == 0) {
      return digest_text(hash.finish());
    }
    hash.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

bool only_root_writes(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == 0 && info.st_nlink == 1 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

DigestCache::DigestCache(std::string folder, std::uint64_t min_bytes, std::int64_t settle_ns)
    : folder_(std::move(folder)), min_bytes_(min_bytes), settle_ns_(settle_ns) {}

Result<std::string> DigestCache::digest(const std::string& path) const {
  // O_NONBLOCK: a FIFO in its place must not hold us up; it is refused below.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("open", errno), path, "make it readable for this user");
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Errc::file_unreadable, "is no regular file", path);
  }
  const std::string line = identity_line(info);
  const std::string place = text::cat(folder_, '/', info.st_dev, '-', info.st_ino);
  const bool worth = !folder_.empty() && static_cast<std::uint64_t>(info.st_size) >= min_bytes_ &&
                     only_root_writes(info) && settled(info, settle_ns_);
  if (worth) {
    if (auto known = remembered(place, line)) {
      return std::move(*known);
    }
  }
  auto digest = read_whole(file.get(), path);
  if (!digest) {
    return digest;
  }
  struct stat after{};
  if (::fstat(file.get(), &after) != 0 || identity_line(after) != line) {
    return fail(Errc::file_unreadable, "it changed while it was read", path, "try again");
  }
  if (worth && run::ensure_private_folder(folder_)) {
    // Not remembering is no failure: the file is read again next time.
    [[maybe_unused]] const Status kept = run::write_atomic(place, text::cat(line, *digest, '\n'));
  }
  return digest;
}

}  // namespace cordon::app
