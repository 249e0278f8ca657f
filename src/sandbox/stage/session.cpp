// SPDX-License-Identifier: Apache-2.0
// First steps of the outer stage: own session, no descriptor that is not ours, no root.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "base/text.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/privileges.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

bool is_hung_up(int pipe) {
  pollfd poll_one = {.fd = pipe, .events = POLLIN, .revents = 0};
  return ::poll(&poll_one, 1, 0) != 0;  // nobody writes to it: anything is the end
}

// One that the launcher gave, and nobody else is to get.
bool take(UniqueFd& to, int number) {
  to = UniqueFd(number);
  return ::fcntl(number, F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace

Outcome die_with_parent() {
  // The kernel sends it when the *thread* that forked us ends; the lifeline is what counts, this is for a guard that
  // is itself killed.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return failed("prctl PDEATHSIG");
  }
  return {};
}

Outcome outlive_parent() {
  if (::prctl(PR_SET_PDEATHSIG, 0) != 0) {
    return failed("prctl PDEATHSIG");
  }
  return {};
}

Outcome enter_session(Stage& stage) {
  // Signals from the user's terminal are the launcher's business; it tells us what to do.
  if (::setsid() < 0) {
    return failed("setsid");
  }
  if (auto outcome = die_with_parent(); !outcome) {
    return outcome;
  }
  if (is_hung_up(stage.lifeline.get())) {
    return refuse("the launcher is gone");
  }
  return {};
}

Outcome close_descriptors(Stage& stage) {
  // Whatever the launcher or its parents left open without close-on-exec ends here, before anything is opened.
  std::vector<unsigned> kept;
  if (stage.plan.trace) {
    kept.push_back(kTraceFd);
  }
  if (stage.plan.network.hosts()) {
    kept.push_back(kHandoverFd);
  }
  if (stage.held) {
    kept.push_back(kGoFd);
  }
  if (!stage.plan.groups.empty()) {
    stage.notes = UniqueFd(::fcntl(kNotesFd, F_DUPFD_CLOEXEC, kFirstFreeFd));
    if (!stage.notes) {
      return failed("notes");
    }
    kept.push_back(static_cast<unsigned>(stage.notes.get()));
  }
  unsigned first = kPlanFd;
  for (const unsigned fd : kept) {  // ascending
    if (fd > first && kernel::close_range(first, fd - 1, 0) != 0) {
      return failed("close_range");
    }
    first = fd + 1;
  }
  if (kernel::close_range(first, ~0U, 0) != 0) {
    return failed("close_range");
  }
  if (stage.plan.trace && !take(stage.trace, kTraceFd)) {
    return failed("trace");
  }
  if (stage.plan.network.hosts() && !take(stage.handover, kHandoverFd)) {
    return failed("handover");
  }
  if (stage.held && !take(stage.go, kGoFd)) {
    return failed("go");
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) {
      return failed(text::cat("standard descriptor ", fd));
    }
  }
  for (const int fd : {stage.status.get(), stage.lifeline.get()}) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
      return failed("FD_CLOEXEC");
    }
  }
  if (!stage.plan.tool.empty()) {
    stage.binary = UniqueFd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (!stage.binary) {
      return failed("open /proc/self/exe");
    }
  }
  return {};
}

Outcome switch_identity(Stage& stage) {
  const uid_t uid = stage.plan.uid;
  const gid_t gid = stage.plan.gid;
  if (uid == 0 || gid == 0) {
    return refuse("the server would run as uid or gid 0", "running_as_root");
  }
  // The pipes were made by root: programs open /dev/stdin and /dev/stderr again, which asks for the owner.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fchown(fd, uid, gid) != 0) {
      return failed(text::cat("fchown ", fd));
    }
  }
  // A set-id tool needs it, and empties it itself.
  if (stage.plan.shared_host && stage.plan.tool.empty()) {
    if (auto outcome = empty_bounding_set(); !outcome) {
      return outcome;
    }
  }
  // Folders of ours that no mount maps to another owner.
  for (const ViewEntry& entry : stage.plan.view) {
    if (entry.owners != Owners::given) {
      continue;
    }
    const auto folder = open_exactly(entry.source);
    if (!folder) {
      return std::unexpected(folder.error());
    }
    if (::fchownat(folder->get(), "", uid, gid, AT_EMPTY_PATH) != 0) {
      return failed(text::cat("chown ", entry.source));
    }
  }
  // Groups first: only root may. Supplementary groups survive in a user namespace and docker's is as good as root.
  if (::setgroups(0, nullptr) != 0) {
    return failed("setgroups", "running_as_root");
  }
  if (::setresgid(gid, gid, gid) != 0) {
    return failed("setresgid", "running_as_root");
  }
  if (::setresuid(uid, uid, uid) != 0) {
    return failed("setresuid", "running_as_root");
  }
  if (::setuid(0) == 0 || ::setgid(0) == 0) {
    return refuse("could become root again", "running_as_root");
  }
  // Changing the uid made us non-dumpable, and /proc/self/uid_map root's.
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) {
    return failed("prctl DUMPABLE");
  }
  return die_with_parent();
}

}  // namespace cordon::sandbox::stage
