// SPDX-License-Identifier: Apache-2.0
// The boundary, tested from inside: every backend, as whoever runs the tests and as an ordinary user.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "base/text.hpp"
#include "planted.hpp"
#include "sandbox/backend.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::boundary::Verdict;

namespace {

constexpr int kAttemptsAtLeast = 200;

using Edit = std::function<void(sandbox::LaunchSpec&)>;

std::string hold(BackendChoice backend, const Edit& edit = {}, std::string_view not_promised = {}) {
  const test::Planted planted;
  const sandbox::Plan plan = planted.plan(backend, edit);
  const test::Look look = test::look(plan, planted);
  std::string wrong = test::wrong_in(look);
  constexpr int kEgressChecks = 6;
  const auto held = [](const auto& finding) {
    return finding.id.starts_with("egress.") && finding.verdict == Verdict::held;
  };
  if (std::ranges::count_if(look.findings, held) != (plan.network.hosts() ? kEgressChecks : 0)) {
    wrong += "the hosts were not looked at\n";
  }
  for (const auto& finding : look.findings) {
    // The gaps that docs/isolation.md names, and no others.
    if (finding.verdict == Verdict::expected && finding.id != "ipc.fifo_in_grant" && finding.id != not_promised) {
      wrong += text::cat("not promised: ", finding.id, "\n");
    }
  }
  struct stat status = {};
  if (::stat((planted / "write/folder/moved").c_str(), &status) != 0 || status.st_uid != ::geteuid()) {
    wrong += "what was written does not belong to the owner outside\n";
  }
  if (wrong.empty() && look.attempts < kAttemptsAtLeast) {
    return text::cat("only ", look.attempts, " attempts were made");
  }
  return wrong;
}

}  // namespace

TEST_CASE("native holds against the probe") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_we_are([] { return hold(BackendChoice::native); }) == "");
  }
}

TEST_CASE("native holds against the probe as an ordinary user") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_ordinary_user([] { return hold(BackendChoice::native); }) == "");
  }
}

TEST_CASE("bubblewrap holds against the probe") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_we_are([] { return hold(BackendChoice::bubblewrap); }) == "");
  }
}

TEST_CASE("bubblewrap holds against the probe as an ordinary user") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_ordinary_user([] { return hold(BackendChoice::bubblewrap); }) == "");
  }
}

TEST_CASE("with allowed hosts nothing else is reached") {
  const Edit hosts = [](sandbox::LaunchSpec& spec) {
    spec.network.allow = {
        {.host = "one.test", .ports = {443, 8443}},
        {.host = "two.test", .ports = {1}},
        {.kind = egress::HostKind::address, .host = "10.1.2.3", .ports = {5432}, .private_addresses = true}};
  };
  const Edit wildcard = [&](sandbox::LaunchSpec& spec) {
    hosts(spec);
    spec.network.allow.push_back({.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}});
  };
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    CHECK(test::as_we_are([&] { return hold(backend, hosts); }) == "");
    CHECK(test::as_ordinary_user([&] { return hold(backend, hosts); }) == "");
    CHECK(test::as_ordinary_user([&] { return hold(backend, wildcard); }) == "");
  }
}

TEST_CASE("with strict system calls and with user namespaces of its own the rest holds as well") {
  const Edit strict = [](sandbox::LaunchSpec& spec) { spec.strict_syscalls = true; };
  const Edit nested = [](sandbox::LaunchSpec& spec) { spec.nested_userns = true; };
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    CHECK(test::as_we_are([&] { return hold(backend, strict); }) == "");
    CHECK(test::as_ordinary_user([&] { return hold(backend, strict); }) == "");
    CHECK(test::as_we_are([&] { return hold(backend, nested, "syscalls.user_namespace"); }) == "");
    CHECK(test::as_ordinary_user([&] { return hold(backend, nested, "syscalls.user_namespace"); }) == "");
  }
}

TEST_CASE("what a backend calls enforced holds against the probe, whichever backend") {
  for (const sandbox::Backend* backend : sandbox::backends()) {
    CAPTURE(backend->name);
    const auto body = [&]() -> std::string {
      const test::Planted planted;
      std::optional<sandbox::Plan> plan;
      try {
        plan = planted.plan(backend->choice, [&](sandbox::LaunchSpec& spec) {
          spec.require.clear();
          if (backend->choice == BackendChoice::none) {
            spec.deny.clear();
          }
        });
      } catch (const std::exception& refusal) {
        std::fprintf(stderr, "SKIPPED: %s\n", refusal.what());
        return {};
      }
      if (plan->switch_user && !plan->own_namespaces) {
        (void)planted.canaries().give_to(plan->uid, plan->gid);
      }
      const test::Look look = test::look(*plan, planted);
      std::string wrong = look.error;
      for (const auto& finding : look.findings) {
        if (finding.verdict == Verdict::breached) {
          wrong += text::cat(finding.id, ": ", finding.attempt, ": ", finding.got, "\n");
        }
      }
      return wrong;
    };
    CHECK(test::as_we_are(body) == "");
    CHECK(test::as_ordinary_user(body) == "");
  }
}

TEST_CASE("started by mistake, the probe does nothing") {
  sandbox::LaunchSpec spec = test::spec_for({CORDON_TEST_PROBE, "key=/etc/hostname"}, BackendChoice::none);
  const test::Outcome outcome = test::run(test::plan_for(spec));
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.find("\"id\":\"probe.token\"") != std::string::npos);
  CHECK(outcome.out.find('\n') == outcome.out.size() - 1);
}

TEST_CASE("outside, with a token, the probe does only what is harmless") {
  const test::Planted planted;
  const test::Look look =
      test::look(planted.plan(BackendChoice::none, [](sandbox::LaunchSpec& spec) { spec.deny.clear(); }), planted);
  CHECK(look.error == "");
  for (const auto& finding : look.findings) {
    CAPTURE(finding.id);
    if (finding.id == "processes.inside") {
      CHECK(finding.verdict == Verdict::not_applicable);
    }
    for (const char* id : {"network.addresses", "network.metadata", "processes.signal", "syscalls.mounts",
                           "proc.kernel_settings", "filesystem.write_system", "limits.fork_bomb", "devices.nodes"}) {
      if (finding.id == id) {
        CHECK(finding.verdict == Verdict::not_applicable);
        CHECK(finding.reason.find("not tried: ") == 0);
      }
    }
  }
}
