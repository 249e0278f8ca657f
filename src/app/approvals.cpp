// SPDX-License-Identifier: Apache-2.0
#include "app/approvals.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "run/files.hpp"
#include "run/loop.hpp"
#include "run/trust.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kWaiting = ".waiting";
constexpr std::string_view kAnswers = ".answers";
constexpr std::size_t kMaxSessions = 1'000;
constexpr std::size_t kMaxFileBytes = 2'000'000;
constexpr int kReadAttempts = 20;
constexpr std::int64_t kTakenMs = 3'000;
constexpr long kPauseNs = 20'000'000;

std::string folder_of(const Caller& caller) { return caller.state_folder() + "/approve"; }

std::string answers_of(const std::string& waiting) {
  return waiting.substr(0, waiting.size() - kWaiting.size()) + std::string(kAnswers);
}

void pause() {
  const timespec nap{.tv_sec = 0, .tv_nsec = kPauseNs};
  ::nanosleep(&nap, nullptr);
}

std::vector<std::string> waiting_files(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end && out.size() < kMaxSessions;
       entry.increment(error)) {
    if (entry->path().filename().string().ends_with(kWaiting)) {
      out.push_back(entry->path().string());
    }
  }
  std::ranges::sort(out);
  return out;
}

// The lock of a file is held by its session as long as that lives.
bool session_is_gone(int fd) { return ::flock(fd, LOCK_SH | LOCK_NB) == 0; }

void remove_ended(const std::string& folder) {
  for (const std::string& path : waiting_files(folder)) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (fd && session_is_gone(fd.get())) {
      ::unlink(path.c_str());
      ::unlink(answers_of(path).c_str());
    }
  }
}

Result<UniqueFd> create(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return fail(Errc::file_unreadable, errno_text("create", errno), text::printable(path),
                "the state folder must be writable; or write tools: {confirm: {without_client_support: block}}");
  }
  return fd;
}

// Nothing while the session writes it, or when that has ended.
Result<std::optional<std::string>> read_lines(const std::string& path) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    Result<run::OpenedFile> file = run::open_trusted(path, {.max_bytes = kMaxFileBytes});
    if (!file) {
      return std::unexpected(file.error());
    }
    if (session_is_gone(file->fd.get())) {
      return std::optional<std::string>();
    }
    std::string content(kMaxFileBytes, '\0');
    const ssize_t got = ::pread(file->fd.get(), content.data(), content.size(), 0);
    content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (std::optional<std::string> lines = run::read_waiting_file(content)) {
      return lines;
    }
    pause();
  }
  return std::optional<std::string>();
}

std::optional<WaitingCall> read_call(const std::string& file, std::string_view line) {
  const Result<json::Document> document = json::read(std::string(line), {.max_bytes = kMaxFileBytes, .max_depth = 4});
  if (!document) {
    return std::nullopt;
  }
  const json::Value root = document->root();
  WaitingCall call;
  call.file = file;
  call.digest = hex(sha256(line));
  for (const auto& [name, out] : {std::pair("id", &call.id), std::pair("server", &call.server),
                                  std::pair("tool", &call.tool), std::pair("text", &call.text)}) {
    const json::Value member = root.find(name);
    if (!member.is(json::Kind::string)) {
      return std::nullopt;
    }
    *out = member.string();
  }
  call.until = {root.find("until_ms") ? root.find("until_ms").safe_integer().value_or(0) : 0};
  return call;
}

Result<std::vector<WaitingCall>> calls_in(const std::string& file) {
  const Result<std::optional<std::string>> lines = read_lines(file);
  if (!lines) {
    return std::unexpected(lines.error());
  }
  std::vector<WaitingCall> out;
  const std::string content = lines->value_or("");
  for (const std::string_view line : text::split(content, '\n')) {
    if (std::optional<WaitingCall> call = read_call(file, line)) {
      out.push_back(std::move(*call));
    }
  }
  return out;
}

Result<bool> still_waits(const WaitingCall& call) {
  const Result<std::vector<WaitingCall>> calls = calls_in(call.file);
  if (!calls) {
    return std::unexpected(calls.error());
  }
  return std::ranges::any_of(*calls, [&](const WaitingCall& one) { return one.digest == call.digest; });
}

// Locked, so that of two terminals one comes second, and sees what the first has written.
Result<UniqueFd> open_answers(const WaitingCall& call, uid_t user) {
  const std::string path = answers_of(call.file);
  const Result<run::TrustedPlace> place = run::walk_to_file(path, user);
  if (!place) {
    return std::unexpected(place.error());
  }
  UniqueFd fd(::openat(place->folder.get(), place->name.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("open", errno), text::printable(path));
  }
  if (const Status trusted = run::check_trusted_file(info, path, user); !trusted) {
    return std::unexpected(trusted.error());
  }
  if (::flock(fd.get(), LOCK_EX) != 0) {
    return fail(Errc::file_unreadable, errno_text("lock", errno), text::printable(path));
  }
  return fd;
}

bool was_answered(int fd, const std::string& id) {
  std::string content(1'000'000, '\0');
  const ssize_t got = ::pread(fd, content.data(), content.size(), 0);
  content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return content.contains(text::cat(' ', id, ' '));
}

std::unexpected<Error> no_longer(std::string detail) {
  return fail(Errc::confirmation_unavailable, std::move(detail), {}, "mcp-cordon approve lists what waits");
}

}  // namespace

bool may_wait_for_approval(const policy::Tools& tools) {
  const auto asks = [](const auto& action) { return action == policy::Action::confirm; };
  return tools.confirm.without_client_support == policy::Confirm::Fallback::approve &&
         (std::ranges::any_of(tools.effects, asks, [](const auto& entry) { return entry.second; }) ||
          std::ranges::any_of(tools.rules, asks, &policy::Rule::action));
}

Result<run::ApprovalDesk> open_approval_desk(const Caller& caller, const std::string& session_id) {
  const Result<std::string> folder = run::ensure_private_folder(folder_of(caller));
  if (!folder) {
    return std::unexpected(folder.error());
  }
  remove_ended(*folder);
  const std::string base = text::cat(*folder, '/', session_id);
  const std::string waiting = base + std::string(kWaiting);
  const std::string made = base + ".new";
  Result<UniqueFd> calls = create(made, O_RDWR);
  if (!calls) {
    return std::unexpected(calls.error());
  }
  // Locked before it has its name: nobody takes it for one of a session that has ended.
  if (::flock(calls->get(), LOCK_EX | LOCK_NB) != 0 || ::rename(made.c_str(), waiting.c_str()) != 0) {
    const int number = errno;
    ::unlink(made.c_str());
    return fail(Errc::file_unreadable, errno_text("lock or rename", number), text::printable(waiting));
  }
  Result<UniqueFd> answers = create(answers_of(waiting), O_RDONLY);
  if (!answers) {
    ::unlink(waiting.c_str());
    return std::unexpected(answers.error());
  }
  run::ApprovalDesk desk(std::move(*calls), std::move(*answers));
  if (const Status written = desk.publish({}); !written) {
    return std::unexpected(written.error());
  }
  return desk;
}

Result<std::vector<WaitingCall>> waiting_calls(const Caller& caller, Instant now) {
  std::vector<WaitingCall> out;
  for (const std::string& file : waiting_files(folder_of(caller))) {
    Result<std::vector<WaitingCall>> calls = calls_in(file);
    if (!calls) {
      return calls;
    }
    for (WaitingCall& call : *calls) {
      if (now < call.until) {
        out.push_back(std::move(call));
      }
    }
  }
  std::ranges::sort(out, {}, [](const WaitingCall& call) { return call.until.ms; });
  return out;
}

Status decide_call(const Caller& caller, const WaitingCall& call, Approval approval) {
  const Result<UniqueFd> answers = open_answers(call, caller.uid);
  if (!answers) {
    return std::unexpected(answers.error());
  }
  if (was_answered(answers->get(), call.id)) {
    return no_longer("this call was decided about on another terminal");
  }
  Result<bool> waits = still_waits(call);
  if (!waits) {
    return std::unexpected(waits.error());
  }
  const Instant begin = run::monotonic_now();
  if (!*waits || begin >= call.until) {
    return no_longer("this call does not wait any more");
  }
  const std::string line =
      text::cat(approval == Approval::allow ? "allow " : "refuse ", call.id, ' ', call.digest, '\n');
  if (::write(answers->get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail(Errc::file_unreadable, errno_text("write", errno), text::printable(answers_of(call.file)));
  }
  while (run::monotonic_now() - begin < kTakenMs) {
    waits = still_waits(call);
    if (!waits || !*waits) {
      return {};
    }
    pause();
  }
  return fail(Errc::timed_out, "the session did not take the decision", text::printable(call.file));
}

}  // namespace cordon::app
