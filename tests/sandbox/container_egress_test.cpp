// SPDX-License-Identifier: Apache-2.0
// Allowed hosts from inside a container of podman.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/text.hpp"
#include "fake_broker.hpp"
#include "image.hpp"
#include "planted.hpp"
#include "sandbox/probe_host.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

constexpr const char* kClient = "/bin/client";

const test::Image* image() {
  static const std::optional<test::Image> made = test::Image::make({{kClient, CORDON_TEST_EGRESS_MUSL}});
  return made ? &*made : nullptr;
}

bool must_skip() {
  std::string reason;
  const auto facts = sandbox::probe_host(test::spec_for({"/bin/sh"}, BackendChoice::podman), "");
  if (std::string_view(CORDON_TEST_EGRESS_MUSL).empty()) {
    reason = "no musl-gcc (apt-get install musl-tools)";
  } else if (!facts || !facts->podman.trial.works) {
    reason = facts ? text::cat("podman: ", facts->podman.trial.hint) : facts.error().to_string();
  } else if (image() == nullptr) {
    reason = "podman cannot import an image";
  }
  if (reason.empty()) {
    return false;
  }
  const char* required = std::getenv("CORDON_REQUIRE_SANDBOX");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL("CORDON_REQUIRE_SANDBOX=1, but: ", reason);
  }
  std::fprintf(stderr, "SKIPPED: %s\n", reason.c_str());
  return true;
}

void allow_some(egress::Rules& rules) {
  rules.allow = {{.host = "one.test", .ports = {443, 8443}},
                 {.kind = egress::HostKind::address, .host = "10.1.2.3", .ports = {22}, .private_addresses = true},
                 {.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}}};
}

sandbox::LaunchSpec spec_in(const test::Place& place, std::vector<std::string> argv) {
  sandbox::LaunchSpec spec = test::spec_for(std::move(argv), BackendChoice::podman);
  spec.image.reference = image()->reference();
  spec.scratch = place.scratch;
  allow_some(spec.network);
  return spec;
}

// With somebody who answers, once the server runs.
test::Outcome run_answered(const sandbox::Plan& plan) {
  sandbox::Launched launched = test::start(plan);
  std::string status = test::read_to_end(launched.status.get());
  std::unique_ptr<test::FakeBroker> broker;
  if (status.empty()) {
    auto sockets = sandbox::receive_sockets(plan, launched);
    if (sockets) {
      broker = std::make_unique<test::FakeBroker>(plan.network.rules, plan.network.doors, std::move(*sockets));
    } else {
      status = sockets.error().to_string();
    }
  }
  test::Outcome outcome = test::finish(std::move(launched));
  outcome.status += status;
  return outcome;
}

std::string missing_in(const test::Outcome& outcome, std::initializer_list<std::string_view> lines) {
  std::string wrong = outcome.status;
  for (const std::string_view line : lines) {
    if (outcome.out.find(text::cat(line, "\n")) == std::string::npos) {
      wrong += text::cat("not there: ", line, "\n");
    }
  }
  return wrong.empty() ? wrong : text::cat(wrong, outcome.out, outcome.err);
}

void add_below(pid_t pid, std::vector<pid_t>& out) {
  const std::string list = test::read_file(text::cat("/proc/", pid, "/task/", pid, "/children"));
  for (const std::string_view word : text::split(list, ' ')) {
    if (!word.empty()) {
      out.push_back(static_cast<pid_t>(std::stol(std::string(word))));
      add_below(out.back(), out);
    }
  }
}

bool has_capability_to_bind_alone(pid_t pid) {
  return test::read_file(text::cat("/proc/", pid, "/status")).find("CapPrm:\t0000000000000400\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a program of an image reaches the hosts that are listed, and nothing else") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  const test::Outcome outcome = run_answered(test::plan_for(
      spec_in(place, {kClient, "resolve:one.test", "get:one.test:443", "get:one.test:8443", "get:10.1.2.3:22",
                      "get:a.wild.test:443", "dns-tcp:one.test", "resolve:three.test", "connect:198.18.1.1:444",
                      "connect:10.1.2.3:443", "connect:192.0.2.1:443", "connect:169.254.169.254:80",
                      "connect:127.0.0.1:22", "udp:198.18.1.1:443", "udp:8.8.8.8:53"})));
  CHECK(missing_in(outcome, {"resolve one.test 198.18.1.1", "get one.test:443 door 198.18.1.1:443",
                             "get one.test:8443 door 198.18.1.1:8443", "get 10.1.2.3:22 door 10.1.2.3:22",
                             "get a.wild.test:443 door 198.19.0.1:443", "dns-tcp one.test rcode 0 answers 1",
                             "resolve three.test EAI_NONAME", "connect 198.18.1.1:444 ECONNREFUSED",
                             "connect 10.1.2.3:443 ECONNREFUSED", "connect 192.0.2.1:443 ECONNREFUSED",
                             "connect 169.254.169.254:80 ECONNREFUSED", "connect 127.0.0.1:22 ECONNREFUSED",
                             "udp 198.18.1.1:443 ECONNREFUSED", "udp 8.8.8.8:53 ECONNREFUSED"}) == "");
  CHECK(test::all_gone(place) == "");
}

TEST_CASE("with hosts, the server in a container has no capability, and names our resolver alone") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  const test::Outcome outcome = run_answered(test::plan_for(spec_in(
      place, {"sh", "-c", "cat /etc/resolv.conf /proc/self/status; echo >> /etc/resolv.conf || echo refused"})));
  CHECK(missing_in(outcome, {"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000",
                             "refused"}) == "");
  CHECK(outcome.out.starts_with("nameserver 127.0.0.1\noptions timeout:2 attempts:2\nName:"));
}

TEST_CASE("with hosts, podman holds against the probe") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  const test::Planted planted;
  const sandbox::Plan plan = planted.plan(BackendChoice::podman, [&](sandbox::LaunchSpec& spec) {
    spec.argv = {"true"};
    spec.image.reference = image()->reference();
    spec.scratch = place.scratch;
    allow_some(spec.network);
  });
  const test::Look look = test::look(plan, planted);
  CHECK(test::wrong_in(look) == "");
}

TEST_CASE("a door that cannot be opened refuses the launch of a container, and nothing stays") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  sandbox::Plan plan = test::plan_for(spec_in(place, {"echo", "started"}));
  plan.network.doors.listen.push_back({egress::ipv4(192, 0, 2, 1), 443});
  const test::Outcome outcome = test::run(plan);
  CHECK(outcome.out == "");
  CHECK(outcome.status.find("bind 192.0.2.1:443") != std::string::npos);
  CHECK(outcome.status.find("reason=network_denied") != std::string::npos);
  CHECK(test::all_gone(place) == "");
}

TEST_CASE("whoever of a container's launch with hosts is killed, nothing stays behind") {
  if (must_skip()) {
    return;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const std::string victim : {"guard", "keeper", "agent", "launcher"}) {
    CAPTURE(victim);
    const test::Place place;
    sandbox::Launched launched =
        test::start(test::plan_for(spec_in(place, {"sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done"})));
    REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
    std::vector<pid_t> below;
    add_below(launched.pid, below);
    const auto agent = std::ranges::find_if(below, has_capability_to_bind_alone);
    REQUIRE(agent != below.end());
    if (victim == "agent") {
      ::kill(*agent, SIGKILL);
      CHECK(::kill(launched.pid, 0) == 0);  // names below a wildcard are reached no more; the server goes on
      launched.lifeline.reset();
    } else if (victim == "launcher") {
      launched.lifeline.reset();
    } else {
      ::kill(victim == "guard" ? launched.pid : below.front(), SIGKILL);
    }
    CHECK(test::all_gone(place) == "");
  }
}
