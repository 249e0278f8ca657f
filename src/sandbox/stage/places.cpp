// SPDX-License-Identifier: Apache-2.0
// What steers other programs and does not exist has to be kept from coming into being, and only a mount can do that,
// which needs a place. So an empty folder (or a short file) is put there for the time of the launch: exclusively, never
// over anything, and marked by its time of last change, which anybody who puts something into it changes.
//
// A keeper of places, a process of its own that runs nothing foreign, waits until guard and init are gone, whatever
// ended them, and takes away what is still as it was put there. Launches that share a folder share its places: each
// holds a shared lock, and only who gets the exclusive one takes a place away. A keeper that is killed leaves places
// behind; the next launch takes them over, and takes them away at its end.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/stage/groups.hpp"
#include "sandbox/stage/stage.hpp"
#include "sandbox/steering.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr int kTries = 200;
constexpr int kSweepTimeoutMs = 2000;

struct Place {
  UniqueFd parent = {};
  std::string name = {};
  UniqueFd object = {};  // carries the lock; empty: it is not ours to take away
  bool file = false;
  off_t size = 0;
};

// A lock that the server cannot get in our way with: it reaches a file of ours read-only, which is not enough for an
// exclusive lock of this kind, and a folder not at all, since its view shows another empty one in its place.
bool lock(const Place& place, bool exclusive) {
  if (!place.file) {
    return ::flock(place.object.get(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
  }
  struct flock request = {};
  request.l_type = static_cast<short>(exclusive ? F_WRLCK : F_RDLCK);
  request.l_whence = SEEK_SET;
  return ::fcntl(place.object.get(), F_OFD_SETLK, &request) == 0;
}

// Is the object still what its name leads to, untouched?
bool is_as_put(const Place& place) {
  struct stat object = {};
  struct stat named = {};
  return ::fstat(place.object.get(), &object) == 0 &&
         ::fstatat(place.parent.get(), place.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         object.st_dev == named.st_dev && object.st_ino == named.st_ino && object.st_mtim.tv_sec == kHeldMark &&
         (place.file ? S_ISREG(object.st_mode) && object.st_size == place.size : S_ISDIR(object.st_mode));
}

Outcome mark(const Place& place) {
  const std::array<timespec, 2> times = {{{.tv_sec = kHeldMark, .tv_nsec = 0}, {.tv_sec = kHeldMark, .tv_nsec = 0}}};
  return ::futimens(place.object.get(), times.data()) == 0 ? Outcome{} : failed(text::cat("mark ", place.name));
}

Outcome open_object(Place& place, int more) {
  const int flags = place.file ? O_RDWR : O_RDONLY | O_DIRECTORY;
  place.object = UniqueFd(
      ::openat(place.parent.get(), place.name.c_str(), flags | more | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644));
  return place.object ? Outcome{} : failed(place.name);
}

// True when it was made, false when something is there already.
std::expected<bool, Failure> make(Place& place, const ViewEntry& entry) {
  if (place.file) {
    if (auto opened = open_object(place, O_CREAT | O_EXCL); !opened) {
      return opened.error().error_number == EEXIST ? std::expected<bool, Failure>(false)
                                                   : std::unexpected(opened.error());
    }
    const auto size = static_cast<ssize_t>(entry.text.size());
    if (::write(place.object.get(), entry.text.data(), entry.text.size()) != size) {
      return failed(text::cat("write ", entry.source));
    }
    return true;
  }
  if (::mkdirat(place.parent.get(), place.name.c_str(), 0755) != 0) {
    return errno == EEXIST ? std::expected<bool, Failure>(false) : failed(entry.source);
  }
  if (auto opened = open_object(place, 0); !opened) {
    return std::unexpected(opened.error());
  }
  return true;
}

// One try: made, or found as another launch has put it. nullopt: somebody is just taking it away.
std::expected<bool, Failure> take(Place& place, const ViewEntry& entry) {
  const auto made = make(place, entry);
  if (!made) {
    return std::unexpected(made.error());
  }
  if (*made) {
    if (auto marked = mark(place); !marked) {
      return std::unexpected(marked.error());
    }
  } else if (auto opened = open_object(place, 0); !opened) {
    const int reason = opened.error().error_number;
    if (reason == ENOENT) {
      return false;
    }
    return refuse(text::cat(entry.source, ": came into being while the launch was prepared; start again"));
  }
  return lock(place, false) && is_as_put(place);
}

Outcome put(const ViewEntry& entry, std::vector<Place>& places) {
  auto parent = open_exactly(std::string(parent_path(entry.source)));
  if (!parent) {
    return std::unexpected(parent.error());
  }
  Place place{.parent = std::move(*parent),
              .name = std::string(last_component(entry.source)),
              .file = (entry.mode & 0100) == 0,
              .size = static_cast<off_t>(entry.text.size())};
  for (int tries = 0; tries < kTries; ++tries) {
    const auto taken = take(place, entry);
    if (!taken) {
      return std::unexpected(taken.error());
    }
    if (*taken) {
      places.push_back(std::move(place));
      return {};
    }
    struct stat status = {};
    if (place.object && ::fstat(place.object.get(), &status) == 0 && status.st_mtim.tv_sec != kHeldMark) {
      break;
    }
    const timespec pause = {.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return refuse(text::cat(entry.source, ": came into being while the launch was prepared; start again"));
}

void take_away(std::vector<Place>& places) {
  for (Place& place : places) {
    if (lock(place, true) && is_as_put(place)) {
      // A folder that holds something stays: rmdir asks.
      (void)::unlinkat(place.parent.get(), place.name.c_str(), place.file ? 0 : AT_REMOVEDIR);
    }
    place.object.reset();
  }
}

// Never returns. Holds nothing of the launch but its places and two pipes.
[[noreturn]] void keep_places(Stage& stage, std::vector<Place>& places, UniqueFd held, UniqueFd swept) {
  stage.held_out.reset();
  stage.swept_in.reset();
  stage.status.reset();
  stage.go.reset();
  stage.lifeline.reset();
  stage.binary.reset();
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(fd);
  }
  (void)::setsid();
  (void)!::chdir("/");
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  char byte = 0;
  while (::read(held.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  take_away(places);
  swept.reset();
  ::_exit(0);
}

}  // namespace

Outcome put_places(Stage& stage) {
  std::array<int, 2> held = {-1, -1};
  std::array<int, 2> swept = {-1, -1};
  if (::pipe2(held.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  UniqueFd held_in(held[0]);
  stage.held_out = UniqueFd(held[1]);
  if (::pipe2(swept.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  stage.swept_in = UniqueFd(swept[0]);
  UniqueFd swept_out(swept[1]);
  std::vector<Place> places;
  for (const ViewEntry& entry : stage.plan.view) {
    if (!entry.held) {
      continue;
    }
    if (auto outcome = put(entry, places); !outcome) {
      take_away(places);
      return outcome;
    }
  }
  // A grandchild: what the guard does to its children at the end must not hit it.
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t keeper = ::fork();
    if (keeper == 0) {
      let_go_of_groups(stage);
      keep_places(stage, places, std::move(held_in), std::move(swept_out));
    }
    ::_exit(keeper < 0 ? 1 : 0);
  }
  int status = 1;
  while (between > 0 && ::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (between < 0 || status != 0) {
    take_away(places);
    return failed("fork");
  }
  return {};
}

void wait_until_swept(Stage& stage) {
  stage.held_out.reset();
  if (stage.swept_in) {
    pollfd end = {.fd = stage.swept_in.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&end, 1, kSweepTimeoutMs);
    stage.swept_in.reset();
  }
  wait_for_groups(stage);
}

}  // namespace cordon::sandbox::stage
