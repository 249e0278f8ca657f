// SPDX-License-Identifier: Apache-2.0
#include "audit/tail.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::audit {
namespace {

constexpr std::uint64_t kFirstLookBytes = 65'536;
constexpr std::uint64_t kMaxLookBytes = 192'000'000;  // two of the longest lines
constexpr std::uint64_t kMaxFirstLineBytes = 4'000'000;

Result<std::string> read_range(int fd, std::uint64_t begin, std::uint64_t end) {
  std::string bytes(end - begin, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail(Errc::audit_unavailable, errno_text("read", errno));
    }
    if (count == 0) {
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Result<std::uint64_t> size_of(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return fail(Errc::audit_unavailable, errno_text("fstat", errno));
  }
  return static_cast<std::uint64_t>(info.st_size);
}

Result<Tail> read_tail(int fd) {
  const auto size = size_of(fd);
  if (!size) {
    return std::unexpected(size.error());
  }
  for (std::uint64_t look = kFirstLookBytes;; look *= 8) {
    const std::uint64_t begin = look < *size ? *size - look : 0;
    const auto bytes = read_range(fd, begin, *size);
    if (!bytes) {
      return std::unexpected(bytes.error());
    }
    if (auto tail = find_tail(*bytes, begin == 0)) {
      return std::move(*tail);
    }
    if (look > kMaxLookBytes) {
      return fail(Errc::audit_unavailable, "no record near the end");
    }
  }
}

// Writes the record that closes the torn end. The file is ours: no process holds its lock and we hold the folder's.
Result<Head> append_recovered(int fd, const std::string& name, const Tail& tail, std::string_view time) {
  const std::uint64_t seq = tail.last ? tail.last->seq + 1 : 0;
  const std::string prev = tail.last ? tail.last->hash : std::string(no_previous());
  SealedLine sealed = seal(seq, time, prev, recovered_members(tail.torn_bytes, tail.torn_digest));
  const std::string bytes = text::cat(tail.line_feed_missing ? "\n" : "", sealed.line);
  ssize_t written = -1;
  do {
    written = ::write(fd, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0 || static_cast<std::size_t>(written) != bytes.size()) {
    return fail(Errc::audit_unavailable, written < 0 ? errno_text("write", errno) : std::string("write: short"));
  }
  return Head{name, seq, std::move(sealed.hash)};
}

void read_first(int fd, Closed& closed) {
  const auto size = size_of(fd);
  if (!size) {
    return;
  }
  for (std::uint64_t look = kFirstLookBytes; look <= kMaxFirstLineBytes; look *= 8) {
    const auto bytes = read_range(fd, 0, std::min(*size, look));
    if (!bytes) {
      return;
    }
    const std::size_t end = bytes->find('\n');
    if (end == std::string::npos && bytes->size() < *size) {
      continue;
    }
    const auto record = read_line(std::string_view(*bytes).substr(0, end));
    if (!record || record->event != kBeginEvent) {
      return;
    }
    if (auto links = read_links(record->document.root())) {
      closed.has_first_record = true;
      closed.previous = std::move(*links);
    }
    return;
  }
}

Status close_into(Closed& closed, const Folder& folder, const std::string& name, std::string_view time) {
  auto fd = folder.open_log(name, O_RDWR | O_APPEND);
  if (!fd) {
    return std::unexpected(fd.error());
  }
  read_first(fd->get(), closed);
  const bool ended = ::flock(fd->get(), LOCK_EX | LOCK_NB) == 0;
  const auto tail = read_tail(fd->get());
  if (!tail) {
    return std::unexpected(tail.error());
  }
  closed.link.open = !ended;
  if (tail->last) {
    closed.link.head = {name, tail->last->seq, tail->last->hash};
  }
  if (ended && (!tail->last || tail->torn_bytes != 0 || tail->line_feed_missing)) {
    auto head = append_recovered(fd->get(), name, *tail, time);
    if (!head) {
      return std::unexpected(head.error());
    }
    closed.link.head = std::move(*head);
  } else if (!tail->last) {
    return fail(Errc::audit_unavailable, "holds no record yet");
  }
  return {};
}

}  // namespace

std::optional<Tail> find_tail(std::string_view suffix, bool whole) {
  Tail tail;
  tail.line_feed_missing = suffix.empty() || suffix.back() != '\n';
  std::size_t end = suffix.size();       // of the line at hand, its LF excluded
  std::size_t torn_end = suffix.size();  // of the torn region, which has no LF at its end
  if (!tail.line_feed_missing) {
    end -= 1;
    torn_end -= 1;
  }
  for (;;) {
    const std::size_t before = end == 0 ? std::string_view::npos : suffix.rfind('\n', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (begin == 0 && !whole) {
      return std::nullopt;
    }
    if (auto record = read_line(suffix.substr(begin, end - begin))) {
      const std::size_t torn_begin = std::min(end + 1, torn_end);
      tail.last = std::move(*record);
      tail.torn_bytes = torn_end - torn_begin;
      tail.torn_digest = sha256_text(suffix.substr(torn_begin, torn_end - torn_begin));
      return tail;
    }
    if (begin == 0) {
      tail.torn_bytes = torn_end;
      tail.torn_digest = sha256_text(suffix.substr(0, torn_end));
      return tail;
    }
    end = begin - 1;
  }
}

Closed close_log(const Folder& folder, const std::string& name, std::string_view time) {
  Closed closed;
  closed.link.head.file = name;
  if (Status done = close_into(closed, folder, name, time); !done) {
    closed.link.damaged = true;
    closed.link.open = false;
    closed.problem = text::cat(folder.path_of(name), ": ", done.error().detail);
  }
  return closed;
}

}  // namespace cordon::audit
