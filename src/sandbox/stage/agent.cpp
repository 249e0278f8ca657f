// SPDX-License-Identifier: Apache-2.0
// The agent: stays in the server's network namespace, outside of its pid namespace, and opens doors for names below a
// wildcard when it is asked to. The step that starts it is here, too.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/stage/egress.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/privileges.hpp"
#include "sandbox/syscall_filter.hpp"

namespace cordon::sandbox::stage {
namespace {

// The broker caps the names it takes; this is a bound on what a fault there could make us do.
constexpr int kMostDoors = 4096;

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::array<std::string_view, 14> kAgentCalls = {
    "poll", "ppoll",      "recvmsg",      "sendmsg",         "bind", "listen", "close", "write",
    "exit", "exit_group", "rt_sigreturn", "restart_syscall", "brk",  "munmap"};
constexpr std::array kAgentRules = {
    CallRule{
        "socket", 0, 3, {{{0, kAll, AF_INET}, {1, kAll, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}, {2, kAll, 0}}}},
    CallRule{"mmap", 0, 1, {{{2, PROT_EXEC, 0}}}},
};

bool port_is_listed(const egress::Rules& rules, std::uint16_t port) {
  return std::ranges::any_of(rules.allow, [port](const egress::Rule& rule) {
    return rule.kind == egress::HostKind::wildcard && std::ranges::find(rule.ports, port) != rule.ports.end();
  });
}

// Low ports are all that it has to be privileged for, in this namespace alone.
Outcome keep_one_capability() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets = {};
  sets[0].permitted = sets[0].effective = 1U << CAP_NET_BIND_SERVICE;
  if (::syscall(SYS_capset, &header, sets.data()) != 0) {
    return failed("capset");
  }
  return {};
}

Outcome close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned first = 0;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > first && kernel::close_range(first, number - 1, 0) != 0) {
      return failed("close_range");
    }
    first = number + 1;
  }
  return kernel::close_range(first, ~0U, 0) == 0 ? Outcome{} : failed("close_range");
}

Outcome confine_agent() {
  if (auto outcome = empty_bounding_set(); !outcome) {
    return outcome;
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return failed("prctl");
  }
  if (auto outcome = keep_one_capability(); !outcome) {
    return outcome;
  }
  auto code = build_filter({.allowed = kAgentCalls, .rules = kAgentRules});
  if (!code) {
    return refuse(code.error().detail, "platform");
  }
  const sock_fprog program = {.len = static_cast<unsigned short>(code->size()), .filter = code->data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    return failed("seccomp", "no_seccomp");
  }
  return {};
}

// False when it cannot be sent: nobody is there any more.
bool answer(int socket, egress::AgentReply reply, int door) {
  egress::MessageBytes bytes = egress::to_bytes(reply);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (door >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof door);
    std::memcpy(CMSG_DATA(head), &door, sizeof door);
  }
  // It waits for each answer before it asks again, so that there is room.
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

class Agent {
 public:
  Agent(const egress::Rules& rules, int socket, int lifeline) : rules_(rules), socket_(socket), lifeline_(lifeline) {}

  void serve() {
    for (;;) {
      std::array<pollfd, 2> watched = {
          {{.fd = socket_, .events = POLLIN, .revents = 0}, {.fd = lifeline_, .events = POLLIN, .revents = 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
        return;
      }
      if (watched[1].revents != 0 || (watched[0].revents != 0 && !take_one())) {
        return;
      }
    }
  }

 private:
  // False: the end, or something that is no request.
  bool take_one() {
    std::array<std::byte, egress::kMessageBytes> bytes = {};
    iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t length = ::recvmsg(socket_, &message, 0);
    if (length < 0) {
      return errno == EINTR || errno == EAGAIN;
    }
    const bool whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    const auto request = egress::agent_request(std::span(bytes).first(static_cast<std::size_t>(length)));
    if (!whole || !request) {
      return false;
    }
    const auto door = open(request->door);
    const int error = door ? 0 : door.error().error_number;
    return answer(socket_, {request->number, error}, door ? door->get() : -1);
  }

  std::expected<UniqueFd, Failure> open(egress::Door door) {
    errno = 0;
    if (!egress::agent_may_open(door) || !port_is_listed(rules_, door.port)) {
      errno = EACCES;
    } else if (opened_ == kMostDoors) {
      errno = EMFILE;
    }
    if (errno != 0) {
      return failed("door");
    }
    ++opened_;
    return open_door(door);
  }

  const egress::Rules& rules_;
  int socket_;
  int lifeline_;
  int opened_ = 0;
};

}  // namespace

void become_agent(const Stage& stage, UniqueFd socket, const Word& word) {
  const Outcome closed = close_all_but({socket.get(), stage.lifeline.get(), word.out.get()});
  const Outcome confined = closed ? confine_agent() : closed;
  word.say(confined);
  ::close(word.out.get());
  if (confined) {
    Agent(stage.plan.network.rules, socket.get(), stage.lifeline.get()).serve();
  }
  ::_exit(confined ? 0 : kFailureStatus);
}

Outcome open_egress(Stage& stage) {
  auto sockets = open_doors(stage.plan.network.doors);
  if (!sockets) {
    return std::unexpected(sockets.error());
  }
  AgentSockets agent;
  if (stage.plan.network.doors.agent) {
    Word word;
    for (const Outcome& outcome : {agent.open(), word.open()}) {
      if (!outcome) {
        return outcome;
      }
    }
    const pid_t parent = ::getpid();
    stage.agent = fork_or_exit(stage, name(Step::egress));
    if (stage.agent == 0) {
      if (!die_with_parent() || ::getppid() != parent) {
        ::_exit(kFailureStatus);
      }
      become_agent(stage, std::move(agent.inside), word);
    }
    agent.inside.reset();
    if (const Outcome outcome = word.hear(); !outcome) {
      return refuse(text::cat("agent: ", outcome.error().detail), outcome.error().reason);
    }
  }
  const Outcome outcome = hand_out(stage, *sockets, agent.outside.get());
  stage.handover.reset();
  return outcome;
}

Outcome enter_process_namespace(Stage&) {
  if (::unshare(CLONE_NEWPID) != 0) {
    return failed("unshare", "userns_denied");
  }
  return {};
}

}  // namespace cordon::sandbox::stage
