// SPDX-License-Identifier: Apache-2.0
// The end of a launch with allowed hosts: the agent, and who opens doors for bubblewrap, end with it, whoever is
// killed.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/text.hpp"
#include "blows.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

constexpr std::array kBackends = {BackendChoice::native, BackendChoice::bubblewrap};

sandbox::Plan plan_of(BackendChoice backend, const std::string& script) {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
  spec.network.allow = {{.host = "one.test", .ports = {443}},
                        {.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}}};
  return test::plan_for(spec);
}

template <typename Body>
void under_each(Body body) {
  for (const BackendChoice backend : kBackends) {
    if (!test::must_skip(backend)) {
      CAPTURE(backend);
      CHECK(test::in_child([&] { return body(backend); }) == "");
      CHECK(test::as_ordinary_user([&] { return body(backend); }) == "");
    }
  }
}

// Every process below us, as the kernel lists them.
void add_below(pid_t pid, std::vector<pid_t>& out) {
  const std::string list = test::read_file(text::cat("/proc/", pid, "/task/", pid, "/children"));
  for (const std::string_view word : text::split(list, ' ')) {
    if (!word.empty()) {
      const auto child = static_cast<pid_t>(std::stol(std::string(word)));
      out.push_back(child);
      add_below(child, out);
    }
  }
}

std::vector<pid_t> tree_of(pid_t pid) {
  std::vector<pid_t> out = {pid};
  add_below(pid, out);
  return out;
}

// The one below `pid` that is neither in a pid namespace of its own nor leads to one: it has no child. With bubblewrap
// and native alike that is the agent.
pid_t agent_of(const sandbox::Launched& launched) {
  for (const pid_t pid : tree_of(launched.pid)) {
    std::vector<pid_t> below;
    add_below(pid, below);
    const std::string status = test::read_file(text::cat("/proc/", pid, "/status"));
    const std::size_t line = status.find("NSpid:");
    const bool outside = status.substr(line, status.find('\n', line) - line).find('\t', 7) == std::string::npos;
    if (below.empty() && outside) {
      return pid;
    }
  }
  return -1;
}

std::string field(pid_t pid, std::string_view key) {
  for (const std::string& line : {test::read_file(text::cat("/proc/", pid, "/status"))}) {
    const std::size_t at = line.find(key);
    const std::size_t end = line.find('\n', at);
    return at == std::string::npos ? std::string() : line.substr(at + key.size(), end - at - key.size());
  }
  return {};
}

}  // namespace

TEST_CASE("a launcher or a guard killed at any moment leaves no agent and no door behind") {
  under_each([](BackendChoice backend) {
    const sandbox::Plan plan = plan_of(backend, "trap '' TERM; echo up; exec sleep 1000");
    const int step_us = backend == BackendChoice::native ? 300 : 800;
    std::string wrong;
    for (int i = 0; i < 24; ++i) {
      wrong += test::kill_launcher(plan, std::chrono::microseconds(step_us * i));
      wrong += test::kill_guard(plan, std::chrono::microseconds(step_us * i));
    }
    return wrong;
  });
}

TEST_CASE("whichever process is killed, nothing of the launch stays, but the agent can be spared") {
  under_each([](BackendChoice backend) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sandbox::Plan plan = plan_of(backend, "trap '' TERM; echo up; exec sleep 1000");
    std::string wrong;
    std::size_t processes = 2;
    for (std::size_t i = 0; i < processes; ++i) {
      const sandbox::Launched launched = test::start(plan);
      (void)test::read_until(launched.server_out.get(), "up\n");
      const std::vector<pid_t> tree = tree_of(launched.pid);
      const pid_t agent = agent_of(launched);
      processes = tree.size();
      if (i >= tree.size() || agent < 0) {
        wrong += text::cat("no agent among ", tree.size());
      } else if (tree[i] == agent) {
        ::kill(agent, SIGKILL);
        // Names below a wildcard are reached no more; the server goes on.
        wrong += ::kill(launched.pid, 0) == 0 ? "" : "gone with the agent";
        ::kill(launched.pid, SIGKILL);
      } else {
        ::kill(tree[i], SIGKILL);
      }
      wrong += test::all_gone(text::cat("process ", i), {});
    }
    return processes >= 3 ? wrong : text::cat(wrong, "only ", processes, " processes");
  });
}

TEST_CASE("the end of the server is the end of the agent") {
  under_each([](BackendChoice backend) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const test::Outcome outcome = test::run(plan_of(backend, "exit 5"));
    return outcome.exit_code == 5 ? test::all_gone("nobody", {}) : text::cat(outcome.status, outcome.exit_code);
  });
}

TEST_CASE("when its socket closes, the agent ends, and the server goes on") {
  under_each([](BackendChoice backend) -> std::string {
    const sandbox::Plan plan = plan_of(backend, "echo up; cat");
    sandbox::Launched launched = test::start(plan);
    (void)test::read_to_end(launched.status.get());
    auto sockets = sandbox::receive_sockets(plan, launched);
    const pid_t agent = agent_of(launched);
    if (!sockets || agent <= 0) {
      return "no agent";
    }
    // It is reaped by the guard: its entry is gone when it is.
    const UniqueFd watched(static_cast<int>(::syscall(SYS_pidfd_open, agent, 0)));
    sockets->agent.reset();
    pollfd ended = {.fd = watched.get(), .events = POLLIN, .revents = 0};
    constexpr int kPatienceMs = 5000;
    const bool gone = ::poll(&ended, 1, kPatienceMs) == 1;
    const test::Outcome outcome = test::finish(std::move(launched), "still here\n");
    return gone && outcome.out == "up\nstill here\n" ? std::string() : text::cat("gone ", gone, outcome.out);
  });
}

TEST_CASE("the agent has one capability, no way back, and nothing open but socket and lifeline") {
  under_each([](BackendChoice backend) -> std::string {
    const sandbox::Plan plan = plan_of(backend, "echo up; cat");
    const sandbox::Launched launched = test::start(plan);
    (void)test::read_to_end(launched.status.get());
    const pid_t agent = agent_of(launched);
    std::string wrong;
    for (const auto& [key, expected] : {std::pair("CapEff:\t", "0000000000000400"),
                                        {"CapPrm:\t", "0000000000000400"},
                                        {"CapInh:\t", "0000000000000000"},
                                        {"CapBnd:\t", "0000000000000000"},
                                        {"NoNewPrivs:\t", "1"},
                                        {"Seccomp:\t", "2"}}) {
      wrong += field(agent, key) == expected ? "" : text::cat(key, field(agent, key), "\n");
    }
    if (::geteuid() == 0) {
      // Nobody else may look: it is not dumpable.
      std::size_t open = 0;
      for ([[maybe_unused]] const auto& entry :
           std::filesystem::directory_iterator(text::cat("/proc/", agent, "/fd"))) {
        ++open;
      }
      wrong += open == 2 ? "" : text::cat(open, " descriptors\n");
    } else {
      std::error_code error;
      (void)std::filesystem::directory_iterator(text::cat("/proc/", agent, "/fd"), error);
      wrong += error ? "" : "its descriptors can be seen\n";
    }
    return wrong;
  });
}
