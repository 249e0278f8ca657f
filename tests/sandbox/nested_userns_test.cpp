// SPDX-License-Identifier: Apache-2.0
// User namespaces of the server's own lift nothing, and a real browser keeps its sandbox with them.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "everywhere.hpp"
#include "planted.hpp"
#include "sandbox/plan.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

using test::everywhere;
using test::kBackends;

std::string lifts_nothing(BackendChoice backend) {
  const test::TempFolder folder;
  test::write_file(folder / "key", "secret");
  constexpr int kProcesses = 64;
  const test::TempFolder granted;
  sandbox::LaunchSpec spec =
      test::spec_for({CORDON_TEST_NESTED_PROBE, text::cat("key=", folder / "key"), text::cat("pid=", ::getpid()),
                      text::cat("processes=", kProcesses), "write=/granted"},
                     backend);
  spec.mounts = {{.source = granted.path(), .target = "/granted", .writable = true}};
  spec.default_limits.processes = kProcesses;
  spec.nested_userns = true;
  const test::Outcome outcome = test::run(test::plan_for(spec));
  std::string wrong = text::cat(outcome.status, outcome.err);
  int checks = 0;
  bool complete = false;
  for (const std::string_view line : text::split(outcome.out, '\n')) {
    const std::vector<std::string_view> words = text::split(line, ' ');  // ID EXPECTED GOT
    if (words.size() == 3) {
      ++checks;
      complete = complete || words[0] == "complete";
      wrong += words[1] == words[2] ? std::string() : text::cat(line, "\n");
    }
  }
  constexpr int kAtLeast = 48;
  return complete && checks >= kAtLeast ? wrong : text::cat(wrong, "only ", checks, " checks were made");
}

// Debian's Chromium with its own sandbox, which it refuses to start without.
std::string dumps(BackendChoice backend, bool nested) {
  const test::TempFolder folder;
  sandbox::LaunchSpec spec =
      test::spec_for({"/usr/bin/chromium", "--headless", "--disable-gpu", "--user-data-dir=/tmp/profile", "--dump-dom",
                      "data:text/html,<p id=x></p><script>x.textContent=6*7</script>"},
                     backend);
  spec.runtime = {"browser"};
  // As a server has it: below Landlock ABI 9 nothing connects then, and it has to bear that.
  spec.mounts = {{.source = folder.path(), .target = "/granted"}};
  sandbox::Plan plan = test::plan_for(spec);
  plan.filter.nested_userns = nested;
  const test::Outcome outcome = test::run(plan);
  const bool drawn = outcome.out.find("<p id=\"x\">42</p>") != std::string::npos;
  if (nested) {
    return drawn ? std::string() : text::cat(outcome.status, outcome.out, outcome.err);
  }
  // The counter-proof: it insists on a sandbox, and user namespaces are what it needs for it.
  const bool refused = outcome.err.find("No usable sandbox") != std::string::npos;
  return drawn || !refused ? text::cat("without user namespaces: ", outcome.out, outcome.err) : std::string();
}

}  // namespace

TEST_CASE("capabilities in a user namespace of its own lift nothing") { everywhere(lifts_nothing); }

TEST_CASE("where they are not allowed, the guarantee says so and is held") {
  for (const BackendChoice backend : kBackends) {
    if (test::must_skip(backend)) {
      continue;
    }
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", "echo ran"}, backend);
    const auto strength = [&] {
      return sandbox::find_guarantee(test::plan_for(spec), "syscalls.user_namespaces")->strength;
    };
    CHECK(strength() == sandbox::Strength::enforced);
    spec.runtime = {"browser"};
    CHECK(strength() == sandbox::Strength::no);
    spec.runtime = {"system"};
    spec.nested_userns = true;
    CHECK(strength() == sandbox::Strength::no);
    CHECK(test::run(test::plan_for(spec)).out == "ran\n");
  }
}

TEST_CASE("Chromium runs with its own sandbox, and needs the preset for it") {
  if (::access("/usr/bin/chromium", X_OK) != 0) {
    MESSAGE("skipped: no /usr/bin/chromium");
    return;
  }
  everywhere([](BackendChoice backend) { return dumps(backend, true); });
  everywhere([](BackendChoice backend) { return dumps(backend, false); });
}
