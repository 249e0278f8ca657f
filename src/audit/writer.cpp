// SPDX-License-Identifier: Apache-2.0
#include "audit/writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "audit/flat_body.hpp"
#include "audit/record.hpp"
#include "audit/tail.hpp"
#include "base/text.hpp"

namespace cordon::audit {
namespace {

constexpr int kNameAttempts = 100;
constexpr std::size_t kMaxSessionBytes = 64;
constexpr std::int64_t kNameCheckMs = 100;

std::int64_t real_unix_us() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

Instant instant(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return {std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000};
}

// The launches that a new one has to name: the newest, and those that lived when an earlier launch named them, until
// one names them with their last record. So the end of every log is vouched for by a later launch.
std::vector<Link> close_earlier(const Folder& folder, const std::vector<std::string>& logs, std::string_view time,
                                std::vector<std::string>& problems) {
  std::vector<Link> links;
  std::vector<std::string> open;
  const auto take = [&](const std::string& name) {
    Closed closed = close_log(folder, name, time);
    if (closed.problem) {
      problems.push_back(std::move(*closed.problem));
    }
    for (const Link& link : closed.previous) {
      if (link.open) {
        open.push_back(link.head.file);
      }
    }
    links.push_back(std::move(closed.link));
    return closed.has_first_record;
  };
  // A launch that died before its first record was written names nothing, so go on to the one before it.
  auto newest = logs.rbegin();
  while (newest != logs.rend() && !take(*newest)) {
    ++newest;
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::string name = open[i];
    const bool known = std::ranges::any_of(links, [&](const Link& link) { return link.head.file == name; });
    if (known || !is_log_name(name)) {
      continue;
    }
    if (std::ranges::binary_search(logs, name)) {
      const std::size_t own = open.size();
      take(name);
      open.resize(own);  // what that one named as open, the newest one names too, if it still was
    } else {
      problems.push_back(text::cat(folder.path_of(name), ": the log of an earlier launch is gone"));
    }
  }
  return links;
}

bool good_session_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxSessionBytes && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

}  // namespace

std::int64_t Writer::now_us() const { return config_.unix_us != nullptr ? config_.unix_us() : real_unix_us(); }

Instant Writer::now() const { return config_.monotonic != nullptr ? config_.monotonic() : instant(CLOCK_MONOTONIC); }

// Some milliseconds late, and a fraction of the price.
Instant Writer::about_now() const {
  return config_.monotonic != nullptr ? config_.monotonic() : instant(CLOCK_MONOTONIC_COARSE);
}

Result<Writer> Writer::open(WriterConfig config) {
  if (!good_session_id(config.session_id)) {
    return fail(Errc::internal, "the session id does not fit into a file name", "audit");
  }
  auto folder = Folder::create(config.state_dir, config.server);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  Writer writer;
  writer.config_ = std::move(config);
  writer.folder_ = std::move(*folder);
  const auto lock = writer.folder_.lock();
  if (!lock) {
    return std::unexpected(lock.error());
  }
  const auto logs = writer.folder_.logs();
  if (!logs) {
    return std::unexpected(logs.error());
  }
  const std::vector<Link> previous = close_earlier(writer.folder_, *logs, time_text(writer.now_us()), writer.problems_);
  if (Status made = writer.create(previous, logs->empty() ? std::string() : logs->back()); !made) {
    return std::unexpected(made.error());
  }
  return writer;
}

Status Writer::create(const std::vector<Link>& previous, const std::string& newest) {
  // Names sort like launches even when the clock went back.
  std::int64_t stamp = now_us();
  if (const auto last = parse_file_time(newest); last && stamp <= *last) {
    stamp = *last + 1;
  }
  for (int attempt = 0;; ++attempt, ++stamp) {
    name_ = text::cat(file_time_text(stamp), "-", config_.session_id, ".jsonl");
    fd_ = UniqueFd(
        ::openat(folder_.fd(), name_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    path_ = folder_.path_of(name_);
    if (fd_) {
      head_.file = name_;
      break;
    }
    if (errno != EEXIST || attempt == kNameAttempts) {
      return refuse(errno_text("create", errno));
    }
  }
  // A reader that asks whether this log is live may hold a shared lock for a moment.
  while (::flock(fd_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return refuse(errno_text("flock", errno));
    }
  }
  struct stat info{};
  if (::fstat(fd_.get(), &info) != 0) {
    return refuse(errno_text("fstat", errno));
  }
  device_ = info.st_dev;
  inode_ = info.st_ino;
  const auto chained = std::ranges::find_if(previous, [](const Link& link) { return !link.damaged; });
  const std::string prev = chained == previous.end() ? std::string(no_previous()) : chained->head.hash;
  return write_record(begin_members(name_, config_.server, config_.session_id, config_.version, previous), prev);
}

Status Writer::refuse(std::string detail) {
  broken_ = Error{Errc::audit_unavailable, std::move(detail), text::printable(path_),
                  "free space or repair the file system, then start again"};
  fd_.reset();
  return std::unexpected(*broken_);
}

// A record counts only if it stands in a file that is still there, and nobody else wrote to it. Times are not asked
// for: since Linux 6.13 asking makes the next write slower. The name is looked up now and then only; a log that was
// moved away still gets its records.
Status Writer::check_file() {
  struct statx info{};
  if (::statx(fd_.get(), "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE, &info) != 0) {
    return refuse(errno_text("statx", errno));
  }
  if (info.stx_nlink == 0) {
    return refuse("the log was removed");
  }
  if (info.stx_size != size_) {
    return refuse("something else wrote to the log");
  }
  const Instant at = about_now();
  if (next_seq_ != 0 && at - name_checked_ < kNameCheckMs) {
    return {};
  }
  name_checked_ = at;
  struct stat named{};
  if (::fstatat(folder_.fd(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return refuse(errno_text("the log was moved", errno));
  }
  if (named.st_dev != device_ || named.st_ino != inode_) {
    return refuse("the log was replaced by another file");
  }
  return {};
}

const std::string& Writer::time_now() {
  const std::int64_t at = now_us();
  if (at / 1000 != time_ms_) {
    time_ms_ = at / 1000;
    time_text_ = time_text(at);
  }
  return time_text_;
}

Status Writer::write_record(std::string_view members, std::string_view prev) {
  SealedLine sealed = seal(next_seq_, time_now(), prev, members);
  ssize_t written = -1;
  do {
    written = ::write(fd_.get(), sealed.line.data(), sealed.line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    return refuse(errno_text("write", errno));
  }
  if (static_cast<std::size_t>(written) != sealed.line.size()) {
    return refuse("only a part of the record could be written");
  }
  size_ += sealed.line.size();
  if (Status stands = check_file(); !stands) {
    return stands;
  }
  if (config_.sync == Sync::disk && ::fdatasync(fd_.get()) != 0) {
    return refuse(errno_text("fdatasync", errno));
  }
  head_.seq = next_seq_++;
  head_.hash = std::move(sealed.hash);
  return {};
}

Status Writer::append(std::string_view body) {
  if (broken_) {
    return std::unexpected(*broken_);
  }
  if (const auto flat = admit_flat_body(body, config_.masker)) {
    return append(flat->members, flat->event, flat->from_server, body.size());
  }
  const auto admitted = admit_body(body, config_.masker);
  if (!admitted) {
    return refuse(admitted.error().to_string());
  }
  return append(admitted->members, admitted->event, admitted->from_server, body.size());
}

Status Writer::append(std::string_view members, std::string_view event, bool from_server, std::size_t bytes) {
  if (Limited* limited = limit_of(event, from_server)) {
    if (!limited->rate.admit(bytes, now())) {
      return {};
    }
    if (Status said = write_suppressed(*limited); !said) {
      return said;
    }
  }
  return write_record(members, head_.hash);
}

// The event names are ours, so there are few of them.
Writer::Limited* Writer::limit_of(std::string_view event, bool from_server) {
  if (!from_server && std::ranges::find(config_.limited_events, event) == config_.limited_events.end()) {
    return nullptr;
  }
  auto found = std::ranges::find(limited_, event, &Limited::event);
  if (found == limited_.end()) {
    limited_.push_back({std::string(event), RateLimit(config_.limited_burst, config_.limited_per_second)});
    found = limited_.end() - 1;
  }
  return &*found;
}

Status Writer::write_suppressed(Limited& limited) {
  if (!limited.rate.has_dropped()) {
    return {};
  }
  const RateLimit::Dropped dropped = limited.rate.take_dropped();
  return write_record(text::cat("\"event\":\"", kSuppressedEvent, "\",\"of\":\"", limited.event,
                                "\",\"records\":", dropped.items, ",\"bytes\":", dropped.bytes),
                      head_.hash);
}

Status Writer::flush() {
  if (broken_) {
    return std::unexpected(*broken_);
  }
  for (Limited& limited : limited_) {
    if (Status said = write_suppressed(limited); !said) {
      return said;
    }
  }
  return {};
}

std::optional<Instant> Writer::next_deadline() const {
  std::optional<Instant> first;
  for (const Limited& limited : limited_) {
    const auto due = limited.rate.summary_due();
    if (!broken_ && due && (!first || *due < *first)) {
      first = due;
    }
  }
  return first;
}

}  // namespace cordon::audit
