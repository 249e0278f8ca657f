// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/groups.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "base/text.hpp"
#include "sandbox/group_calls.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::string_view kReason = "no_cgroup_delegation";

std::string read_all(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  std::array<char, 4096> buffer = {};
  ssize_t length = 0;
  while (file && (length = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out;
}

int write_to(const std::string& path, const std::string& value) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size()) ? 0 : errno;
}

GroupCalls machine() {
  return {.make = [](const std::string& folder) { return ::mkdir(folder.c_str(), 0755) == 0 ? 0 : errno; },
          .write = write_to,
          .read = read_all};
}

UniqueFd locked(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  return folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(folder) : UniqueFd();
}

// "mcp-cordon-PID-…": does the process that made it still live?
bool maker_lives(std::string_view name) {
  const std::string_view rest = name.substr(kGroupPrefix.size());
  const std::string pid(rest.substr(0, rest.find('-')));
  return ::access(text::cat("/proc/", pid).c_str(), F_OK) == 0;
}

// What a launch left whose watcher was killed. The kernel removes no group that holds a process; one that is still
// empty has a maker, or, where that is in another pid namespace, a lock.
void remove_stale(const std::string& holder) {
  std::error_code error;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator at(holder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(kGroupPrefix) && !maker_lives(name)) {
      found.push_back(at->path());
    }
  }
  for (const std::string& path : found) {
    if (const UniqueFd lock = locked(path); lock) {
      ::rmdir(path.c_str());
    }
  }
}

// Who reads our name in a group's should see which launch it is.
std::string unused_name() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return text::cat(kGroupPrefix, ::getpid(), "-", now.tv_sec, "-", now.tv_nsec);
}

// The kernel signals the eventfd when the group has no memory left. Version 1 only.
bool signals_out_of_memory(const std::string& path, int event) {
  const UniqueFd control(::open((path + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
  return control && write_to(path + "/cgroup.event_control", text::cat(event, " ", control.get())) == 0;
}

std::expected<std::vector<WatchedGroup>, Failure> to_be_watched(const Plan& plan, const std::string& name) {
  std::vector<WatchedGroup> list;
  for (const ControlGroup& group : plan.groups) {
    const auto limits = [&](std::string_view start) {
      return std::ranges::any_of(group.files, [&](const GroupFile& file) { return file.name.starts_with(start); });
    };
    WatchedGroup one{.path = text::cat(group.folder, "/", name),
                     .unified = group.unified,
                     .memory = limits("memory."),
                     .processes = limits("pids.")};
    if (one.memory && !one.unified) {
      one.out_of_memory = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      if (!one.out_of_memory) {
        return failed("eventfd");
      }
    }
    list.push_back(std::move(one));
  }
  return list;
}

Outcome make_one(Stage& stage, const ControlGroup& group, const WatchedGroup& watched) {
  if (const GroupFault fault = make_group(group, stage.group_name, machine()); !fault.what.empty()) {
    errno = fault.error_number;
    return fault.error_number == 0 ? refuse(fault.what, kReason) : failed(fault.what, kReason);
  }
  UniqueFd lock = locked(watched.path);
  if (!lock || (watched.out_of_memory && !signals_out_of_memory(watched.path, watched.out_of_memory.get()))) {
    return failed(watched.path, kReason);
  }
  stage.group_locks.push_back(std::move(lock));
  // Opened now: who opens it decides whether it lets in, and the one who goes in may do nothing here.
  stage.group_doors.emplace_back(::open((watched.path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  return stage.group_doors.back() ? Outcome{} : failed("cgroup.procs", kReason);
}

// How many of our groups this process is in.
std::size_t groups_entered(const std::string& name) {
  const std::string list = read_all("/proc/self/cgroup");
  const std::string tail = text::cat("/", name);
  return static_cast<std::size_t>(
      std::ranges::count_if(text::split(list, '\n'), [&tail](std::string_view line) { return line.ends_with(tail); }));
}

}  // namespace

Outcome make_groups(Stage& stage) {
  stage.group_name = unused_name();
  const auto watched = to_be_watched(stage.plan, stage.group_name);
  if (!watched) {
    return std::unexpected(watched.error());
  }
  if (auto outcome = start_group_watch(stage, *watched); !outcome) {
    return outcome;
  }
  for (std::size_t i = 0; i < watched->size(); ++i) {
    const ControlGroup& group = stage.plan.groups[i];
    remove_stale(group.folder);
    if (auto outcome = make_one(stage, group, (*watched)[i]); !outcome) {
      return outcome;
    }
  }
  return {};
}

Outcome enter_groups(Stage& stage) {
  if (stage.group_doors.size() != stage.plan.groups.size()) {
    return refuse("no control group was made");
  }
  for (const UniqueFd& door : stage.group_doors) {
    if (::write(door.get(), "0", 1) != 1) {
      return failed("enter the control group", kReason);
    }
  }
  if (!stage.plan.groups.empty() && groups_entered(stage.group_name) != stage.plan.groups.size()) {
    return refuse("not in its control groups");
  }
  let_go_of_groups(stage);
  return {};
}

Outcome attest_groups(const Stage& stage) {
  // A tool makes its own view of groups, in which ours are the root: there `enter_groups` was the last look.
  if (stage.plan.groups.empty() || stage.inside) {
    return {};
  }
  if (stage.group_name.empty() || groups_entered(stage.group_name) != stage.plan.groups.size()) {
    return refuse("not in its control groups");
  }
  return {};
}

void let_go_of_groups(Stage& stage) {
  stage.group_doors.clear();
  stage.group_locks.clear();
  stage.group_hold.reset();
  stage.group_done.reset();
  stage.notes.reset();
}

void wait_for_groups(Stage& stage) {
  stage.group_hold.reset();
  if (stage.group_done) {
    constexpr int kPatienceMs = 3000;
    pollfd done = {.fd = stage.group_done.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&done, 1, kPatienceMs);
    stage.group_done.reset();
  }
}

}  // namespace cordon::sandbox::stage
