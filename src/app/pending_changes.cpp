// SPDX-License-Identifier: Apache-2.0
#include "app/pending_changes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "app/paths.hpp"
#include "base/fd.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kFormat = "mcp-cordon.pending";
constexpr std::uint64_t kMaxBytes = 400'000'000;
constexpr std::string_view kRemedy = "remove it, then mcp-cordon update or rollback mends what was cut off";

struct Pending {
  FileChange change = {};
  std::string before = {};  // digest of what the file held; empty: there was none
};

std::string pending_folder(const Caller& caller) { return caller.data_home + "/mcp-cordon/pending"; }

std::string pending_path(const Caller& caller, const std::string& policy) {
  return text::cat(pending_folder(caller), '/', hex(sha256(policy)).substr(0, 32), ".json");
}

Result<std::optional<std::string>> text_of(const std::string& path) {
  const auto file = run::read_trusted_if_present(path, {.max_bytes = kMaxBytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  return *file ? std::optional((*file)->content) : std::optional<std::string>();
}

std::string digest_of(const std::optional<std::string>& text) { return text ? sha256_text(*text) : std::string(); }

Status apply(const FileChange& change) {
  if (!change.text) {
    return ::unlink(change.path.c_str()) == 0 || errno == ENOENT
               ? Status()
               : fail(Errc::file_unreadable, errno_text("unlink", errno), change.path);
  }
  return run::write_atomic(change.path, *change.text, {.replace = run::Replace::existing, .mode = change.mode});
}

std::string written(const std::string& policy, const std::vector<Pending>& list) {
  json::Writer writer;
  writer.begin_object();
  writer.member("format", kFormat).member("policy", policy);
  writer.key("changes").begin_array();
  for (const Pending& one : list) {
    writer.begin_object();
    writer.member("path", one.change.path).member("before", one.before);
    writer.member("mode", text::cat(one.change.mode));
    if (one.change.text) {
      writer.member("text", *one.change.text);
    }
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return writer.take();
}

std::optional<Pending> read_one(const json::Value& value) {
  Pending out;
  std::string mode;
  for (const auto& [name, into] :
       {std::pair{std::string_view("path"), &out.change.path}, std::pair{std::string_view("before"), &out.before},
        std::pair{std::string_view("mode"), &mode}}) {
    const json::Value member = value.find(name);
    if (!member.is(json::Kind::string)) {
      return std::nullopt;
    }
    *into = member.string();
  }
  if (const json::Value text = value.find("text"); text.is(json::Kind::string)) {
    out.change.text = text.string();
  }
  unsigned number = 0;
  const auto end = std::from_chars(mode.data(), mode.data() + mode.size(), number);
  if (end.ec != std::errc() || end.ptr != mode.data() + mode.size() || number > 0777 ||
      !out.change.path.starts_with('/')) {
    return std::nullopt;
  }
  out.change.mode = static_cast<mode_t>(number);
  return out;
}

// A policy, a record, a snapshot or its signature: nothing else ever changes so.
bool is_ours(const std::string& text) {
  return text.starts_with("-----BEGIN SSH SIGNATURE-----") ||
         (text.starts_with('{') && text.find("\n  \"format\": \"mcp-cordon.") != std::string::npos);
}

Result<std::vector<Pending>> read_all(const std::string& content, const std::string& path, const std::string& policy) {
  const Result<json::Document> document = json::read(content, {.max_bytes = kMaxBytes, .max_depth = 8});
  const auto broken = [&] { return fail(Errc::launch_failed, "is no list of changes", path, std::string(kRemedy)); };
  if (!document || !document->root().is(json::Kind::object)) {
    return broken();
  }
  const json::Value root = document->root();
  const json::Value list = root.find("changes");
  if (!root.find("format").is(json::Kind::string) || root.find("format").string() != kFormat ||
      !root.find("policy").is(json::Kind::string) || root.find("policy").string() != policy ||
      !list.is(json::Kind::array)) {
    return broken();
  }
  std::vector<Pending> out;
  for (const json::Value& value : list.elements()) {
    std::optional<Pending> one = read_one(value);
    if (!one) {
      return broken();
    }
    out.push_back(std::move(*one));
  }
  return out;
}

// One at a time, so that nobody completes what somebody else is about to finish.
Result<UniqueFd> take_lock(const Caller& caller) {
  const std::string path = pending_folder(caller) + "/lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (lock && ::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      lock.reset();
    }
  }
  return lock ? Result<UniqueFd>(std::move(lock)) : fail(Errc::file_unreadable, errno_text("lock", errno), path);
}

// Every command may be the one that completes, so that it is told here, and not by each of them.
void say_completed(const std::string& policy) {
  const std::string line =
      text::cat("mcp-cordon: an update, rollback or installation that was cut off is now complete: ",
                text::printable(policy, 1000), " with its record and snapshot\n");
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

Status put_back(const std::vector<Pending>& list, const std::vector<std::optional<std::string>>& before,
                std::size_t count) {
  Status out;
  for (std::size_t i = count; i-- > 0;) {
    const Status back = apply({list[i].change.path, before[i], list[i].change.mode});
    out = out ? back : out;
  }
  return out;
}

}  // namespace

Status change_together(const Caller& caller, const std::string& policy, const std::vector<FileChange>& changes) {
  if (const auto folder = run::ensure_private_folder(pending_folder(caller)); !folder) {
    return std::unexpected(folder.error());
  }
  const Result<UniqueFd> lock = take_lock(caller);
  if (!lock) {
    return std::unexpected(lock.error());
  }
  std::vector<Pending> list;
  std::vector<std::optional<std::string>> before;
  for (const FileChange& change : changes) {
    Result<std::optional<std::string>> text = text_of(change.path);
    if (!text) {
      return std::unexpected(text.error());
    }
    const bool is_done = !change.stays && *text == change.text;  // by another one that wanted the same
    if (change.before && digest_of(*text) != *change.before && !is_done) {
      return fail(Errc::launch_changed, "was changed meanwhile, by another update, rollback or editor", change.path,
                  "nothing was switched: look at what there is now, and do it again if it is still wanted");
    }
    if (change.stays) {
      continue;
    }
    list.push_back({change, digest_of(*text)});
    before.push_back(std::move(*text));
  }
  const std::string path = pending_path(caller, policy);
  if (Status kept = run::write_atomic(path, written(policy, list)); !kept) {
    return kept;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    Status done = apply(list[i].change);
    if (!done) {
      // What cannot be put back either is completed by whoever comes next.
      if (put_back(list, before, i)) {
        ::unlink(path.c_str());
      }
      return done;
    }
  }
  ::unlink(path.c_str());
  return {};
}

Status complete_changes(const Caller& caller, const std::string& policy) {
  const std::string path = pending_path(caller, policy);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    return {};
  }
  const Result<UniqueFd> lock = take_lock(caller);
  if (!lock) {
    return std::unexpected(lock.error());
  }
  const Result<std::optional<std::string>> content = text_of(path);
  if (!content || !*content) {
    return content ? Status() : std::unexpected(content.error());
  }
  const Result<std::vector<Pending>> list = read_all(**content, path, policy);
  if (!list) {
    return std::unexpected(list.error());
  }
  for (const Pending& one : *list) {
    const Result<std::optional<std::string>> now = text_of(one.change.path);
    if (!now) {
      return std::unexpected(now.error());
    }
    const auto fits = [&](const std::optional<std::string>& text) {
      return one.change.path == policy || !text || is_ours(*text);
    };
    if (!fits(one.change.text) || !fits(*now)) {
      return fail(Errc::launch_failed,
                  text::cat("would change ", text::printable(one.change.path, 1000), ", which is none of our files"),
                  path, std::string(kRemedy));
    }
    const std::string digest = digest_of(*now);
    if (digest != one.before && digest != digest_of(one.change.text)) {
      ::unlink(path.c_str());
      return fail(Errc::launch_failed,
                  "an update was cut off, and this file was changed since, so it was not completed", one.change.path,
                  "mcp-cordon update or rollback mends what does not fit together");
    }
  }
  for (const Pending& one : *list) {
    if (Status done = apply(one.change); !done) {
      return done;
    }
  }
  ::unlink(path.c_str());
  say_completed(policy);
  return {};
}

}  // namespace cordon::app
