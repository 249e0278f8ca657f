// SPDX-License-Identifier: Apache-2.0
// Doors in a network namespace that somebody else makes. A process of ours enters it from outside, through the user
// namespace that owns it, which belongs to our uid. Inside nobody could: there all capabilities are gone. The look from
// inside sees whether it was the right namespace.
//   bubblewrap tells which process it has made there, and waits;
//   in a container, our own pid 1 asks for its descriptors, and gets them when the doors are open.
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/text.hpp"
#include "sandbox/stage/egress.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::string_view kReason = "network_denied";
constexpr int kPatienceMs = 10'000;
constexpr std::size_t kMaxInfo = 4096;

bool launcher_is_gone(const Stage& stage) {
  pollfd lifeline = {.fd = stage.lifeline.get(), .events = POLLIN, .revents = 0};
  return ::poll(&lifeline, 1, 0) != 0;
}

// {"child-pid": 12, …}; empty when the tool ended before it came to that, which it explains itself.
std::expected<std::string, Failure> read_info(const Stage& stage, int info) {
  std::string text;
  std::array<char, 512> buffer = {};
  while (text.find('}') == std::string::npos) {
    std::array<pollfd, 2> watched = {
        {{.fd = info, .events = POLLIN, .revents = 0}, {.fd = stage.lifeline.get(), .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(watched.data(), watched.size(), kPatienceMs);
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0 || watched[1].revents != 0 || text.size() > kMaxInfo) {
      return refuse("the tool does not tell what it has made", kReason);
    }
    const ssize_t length = ::read(info, buffer.data(), buffer.size());
    if (length <= 0) {
      return std::string();
    }
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return text;
}

pid_t pid_in(std::string_view info) {
  constexpr std::string_view kKey = "\"child-pid\":";
  std::size_t at = info.find(kKey);
  if (at == std::string_view::npos) {
    return -1;
  }
  at = std::min(info.find_first_not_of(' ', at + kKey.size()), info.size());
  pid_t pid = -1;
  std::from_chars(info.data() + at, info.data() + info.size(), pid);
  return pid;
}

// Asked after its namespace was opened: then it was this child all the time, and not another with its number.
bool is_child_of(pid_t pid, pid_t parent) {
  const std::string path = text::cat("/proc/", pid, "/stat");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> buffer = {};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  const std::string_view stat(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) {
    return false;
  }
  const auto words = text::split(stat.substr(name_end + 2), ' ');
  return words.size() > 1 && words[1] == std::to_string(parent);
}

// Asked likewise: a process that has ended has no socket open, and the server does not run yet, so that this one is
// nobody else's.
bool is_connected(int peer) {
  pollfd watched = {.fd = peer, .events = POLLRDHUP, .revents = 0};
  return ::poll(&watched, 1, 0) == 0;
}

// `is_it`: whether the process with that number is the one that is meant.
template <typename IsIt>
Outcome enter_network_of(const Stage& stage, pid_t pid, IsIt is_it) {
  const std::string path = text::cat("/proc/", pid, "/ns/net");
  const UniqueFd network(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!network) {
    return failed(path, kReason);
  }
  struct stat status = {};
  constexpr std::size_t kUser = 0;
  constexpr std::size_t kNet = 3;
  if (!is_it() || ::fstat(network.get(), &status) != 0 || status.st_ino == stage.witness.namespaces.at(kNet)) {
    return refuse("the tool has made no network namespace", kReason);
  }
  const UniqueFd owner(::ioctl(network.get(), NS_GET_USERNS));
  if (!owner || ::fstat(owner.get(), &status) != 0) {
    return failed("NS_GET_USERNS", kReason);
  }
  // The engines of root make it in the one that we are in already.
  if (status.st_ino != stage.witness.namespaces.at(kUser) && ::setns(owner.get(), CLONE_NEWUSER) != 0) {
    return failed("setns user", kReason);
  }
  if (::setns(network.get(), CLONE_NEWNET) != 0) {
    return failed("setns net", kReason);
  }
  return {};
}

// The tool raises it, and fails when somebody else has.
Outcome wait_for_loopback(const Stage& stage) {
  const UniqueFd socket_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  constexpr long kStepNs = 200'000;
  const timespec step = {.tv_sec = 0, .tv_nsec = kStepNs};
  for (long waited_ns = 0; waited_ns < kPatienceMs * 1'000'000L; waited_ns += kStepNs) {
    if (!socket_fd || ::ioctl(socket_fd.get(), SIOCGIFFLAGS, &request) != 0) {
      return failed("lo", kReason);
    }
    if ((request.ifr_flags & IFF_UP) != 0) {
      return {};
    }
    if (launcher_is_gone(stage)) {
      break;
    }
    ::nanosleep(&step, nullptr);
  }
  return refuse("the tool does not bring lo up", kReason);
}

struct Opened {
  std::vector<UniqueFd> sockets = {};
  AgentSockets agent = {};
};

// In the namespace.
std::expected<Opened, Failure> open_here(const Stage& stage, pid_t parent) {
  // Gaining capabilities has cleared it.
  if (!die_with_parent() || ::getppid() != parent) {
    return refuse("the guard is gone");
  }
  if (auto outcome = wait_for_loopback(stage); !outcome) {
    return std::unexpected(outcome.error());
  }
  auto sockets = open_doors(stage.plan.network.doors);
  if (!sockets) {
    return std::unexpected(sockets.error());
  }
  Opened out{.sockets = std::move(*sockets)};
  if (stage.plan.network.doors.agent) {
    if (auto outcome = out.agent.open(); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  if (auto outcome = hand_out(stage, out.sockets, out.agent.outside.get()); !outcome) {
    return std::unexpected(outcome.error());
  }
  return out;
}

std::expected<Opened, Failure> open_from_outside(const Stage& stage, int info, pid_t tool, pid_t parent) {
  const auto text = read_info(stage, info);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (text->empty()) {
    return Opened{};  // the tool has ended
  }
  const pid_t pid = pid_in(*text);
  if (pid <= 0) {
    return refuse("the tool tells no process", kReason);
  }
  if (auto outcome = enter_network_of(stage, pid, [&] { return is_child_of(pid, tool); }); !outcome) {
    return std::unexpected(outcome.error());
  }
  return open_here(stage, parent);
}

// In a child of the guard: does what `open` does, says how it went, and ends or is the agent.
template <typename Open>
[[noreturn]] void serve_as_doorkeeper(Stage& stage, const Word& word, pid_t parent, Open open) {
  if (!die_with_parent() || ::getppid() != parent) {
    ::_exit(kFailureStatus);
  }
  auto opened = open();
  if (!opened) {
    word.say(std::unexpected(opened.error()));
    ::_exit(kFailureStatus);
  }
  if (opened->agent.inside) {
    UniqueFd socket = std::move(opened->agent.inside);
    become_agent(stage, std::move(socket), word);
  }
  word.say({});
  ::_exit(0);
}

}  // namespace

Outcome Doorkeeper::open() {
  for (auto [in, out] : {std::pair(&info_in, &info_out), std::pair(&block_in, &block_out)}) {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return failed("pipe2");
    }
    *in = UniqueFd(ends[0]);
    *out = UniqueFd(ends[1]);
  }
  for (UniqueFd* theirs : {&info_out, &block_in}) {
    UniqueFd parked(::fcntl(theirs->get(), F_DUPFD_CLOEXEC, kToolParkingFd));
    if (!parked) {
      return failed("F_DUPFD");
    }
    *theirs = std::move(parked);
  }
  return {};
}

namespace {

template <typename Open>
Outcome send_doorkeeper(Stage& stage, Open open) {
  Word word;
  if (auto outcome = word.open(); !outcome) {
    return outcome;
  }
  const pid_t parent = ::getpid();
  stage.agent = fork_or_exit(stage, name(Step::egress));
  if (stage.agent == 0) {
    word.in.reset();
    serve_as_doorkeeper(stage, word, parent, [&] { return open(parent); });
  }
  const Outcome outcome = word.hear();
  stage.handover.reset();
  return outcome;
}

}  // namespace

Outcome keep_doors(Stage& stage, Doorkeeper doorkeeper, pid_t tool) {
  doorkeeper.info_out.reset();
  doorkeeper.block_in.reset();
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return failed("prctl SUBREAPER");
  }
  const Outcome outcome = send_doorkeeper(
      stage, [&](pid_t parent) { return open_from_outside(stage, doorkeeper.info_in.get(), tool, parent); });
  if (!outcome) {
    // Before the pipe that the tool's child waits at comes to its end. That child is ours when the tool is gone, and
    // may wait for ever.
    (void)end_all(tool);
    return outcome;
  }
  // A tool that has ended by now explains itself.
  constexpr char kGoOn = '+';
  (void)!::write(doorkeeper.block_out.get(), &kGoOn, 1);
  return {};
}

Outcome open_container_doors(Stage& stage, int peer, pid_t init) {
  if (init <= 0) {
    return refuse("the container's processes are not seen here", kReason);
  }
  return send_doorkeeper(stage, [&](pid_t parent) -> std::expected<Opened, Failure> {
    if (auto outcome = enter_network_of(stage, init, [&] { return is_connected(peer); }); !outcome) {
      return std::unexpected(outcome.error());
    }
    return open_here(stage, parent);
  });
}

}  // namespace cordon::sandbox::stage
