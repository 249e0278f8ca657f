// SPDX-License-Identifier: Apache-2.0
// Every step counts: a plan without one of them does not get as far as the server, or the probe finds the hole; and
// without the look from inside as well, the probe still does. So neither of the two is there for show.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/text.hpp"
#include "planted.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::Plan;
using sandbox::Step;
using sandbox::ToolArgumentKind;

namespace {

void leave_out(Plan& plan, Step step) {
  for (auto* steps : {&plan.steps.outer, &plan.steps.init, &plan.steps.server}) {
    std::erase(*steps, step);
  }
}

// "" when leaving the step out was noticed, by the stage or by the probe.
std::string unnoticed(const Plan& plan, const test::Planted& planted, std::string_view what) {
  return test::wrong_in(test::look(plan, planted)).empty() ? text::cat("not noticed: without ", what, "\n")
                                                           : std::string();
}

std::vector<Step> all_steps(const Plan& plan) {
  std::vector<Step> all;
  for (const auto* steps : {&plan.steps.outer, &plan.steps.init, &plan.steps.server}) {
    all.insert(all.end(), steps->begin(), steps->end());
  }
  return all;
}

// `session` has a test of its own (life_test), `attest` changes nothing by itself, what `identify_sources` is for is
// tested below.
bool shows_in_probe(Step step) {
  return step != Step::session && step != Step::attest && step != Step::identify_sources;
}

// bwrap sets no_new_privs and drops all capabilities by itself; there our step only makes sure.
bool done_by_tool(Step step) { return step == Step::no_new_privileges || step == Step::capabilities; }

void allow_hosts(sandbox::LaunchSpec& spec) {
  spec.network.allow = {{.host = "one.test", .ports = {443}},
                        {.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}}};
}

std::string without_each_step(BackendChoice backend, const std::function<void(sandbox::LaunchSpec&)>& edit = {}) {
  const test::Planted planted;
  const Plan whole = planted.plan(backend, edit);
  std::string wrong = test::wrong_in(test::look(whole, planted));
  // A second look finds nothing either: what the first left behind would be noticed for every step.
  wrong += test::wrong_in(test::look(whole, planted));
  for (const Step step : all_steps(whole)) {
    if (!shows_in_probe(step) || (!whole.tool.empty() && done_by_tool(step))) {
      continue;
    }
    Plan plan = whole;
    leave_out(plan, step);
    wrong += unnoticed(plan, planted, name(step));
    leave_out(plan, Step::attest);
    wrong += unnoticed(plan, planted, text::cat(name(step), " and attest"));
  }
  return wrong;
}

// Arguments of bubblewrap whose loss must show. The user namespace is implied by the others.
std::string without_each_argument() {
  const test::Planted planted;
  const Plan whole = planted.plan(BackendChoice::bubblewrap);
  std::string wrong = test::wrong_in(test::look(whole, planted));
  for (const std::string_view option :
       {"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--as-pid-1"}) {
    Plan plan = whole;
    std::erase_if(plan.tool_arguments, [&](const auto& argument) { return argument.text == option; });
    if (plan.tool_arguments.size() == whole.tool_arguments.size()) {
      return text::cat("no ", option);
    }
    wrong += unnoticed(plan, planted, option);
  }
  for (const ToolArgumentKind kind : {ToolArgumentKind::freeze, ToolArgumentKind::cover}) {
    Plan plan = whole;
    std::erase_if(plan.tool_arguments, [&](const auto& argument) { return argument.kind == kind; });
    wrong += unnoticed(plan, planted, "freezes or covers");
  }
  Plan plan = whole;
  const auto remount = std::find_if(plan.tool_arguments.rbegin(), plan.tool_arguments.rend(),
                                    [](const auto& argument) { return argument.text == "--remount-ro"; });
  plan.tool_arguments.erase(remount.base() - 1, remount.base() + 1);
  return wrong + unnoticed(plan, planted, "the read-only root");
}

// What a race would do: bubblewrap mounts something else than what was looked at.
std::string with_another_source() {
  const test::Planted planted;
  Plan plan = planted.plan(BackendChoice::bubblewrap);
  std::filesystem::create_directory(planted.folder() / "other");
  for (auto& argument : plan.tool_arguments) {
    if (argument.kind == ToolArgumentKind::source && plan.view[argument.entry].target == planted / "read") {
      argument = {.text = planted.folder() / "other"};
    }
  }
  std::erase_if(plan.tool_arguments, [](const auto& argument) { return argument.kind == ToolArgumentKind::cover; });
  const std::string status = test::run(plan).status;
  return status.find("identify_sources: ") == 0 ? std::string() : text::cat("accepted: ", status);
}

}  // namespace

TEST_CASE("native without any one step is noticed") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_ordinary_user([] { return without_each_step(BackendChoice::native); }) == "");
  }
}

TEST_CASE("native with allowed hosts without any one step is noticed") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_ordinary_user([] { return without_each_step(BackendChoice::native, allow_hosts); }) == "");
  }
}

TEST_CASE("bubblewrap without any one step is noticed") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_ordinary_user([] { return without_each_step(BackendChoice::bubblewrap); }) == "");
  }
}

TEST_CASE("bubblewrap without any one argument is noticed") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_ordinary_user(without_each_argument) == "");
  }
}

TEST_CASE("something else mounted than what was checked is noticed") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_ordinary_user(with_another_source) == "");
  }
}

TEST_CASE("root that does not stop being root is noticed") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    if (::geteuid() != 0 || test::must_skip(backend)) {
      continue;
    }
    // Only the steps of root's own: the others are left out as an ordinary user, who could do no harm.
    const test::Planted planted;
    for (const Step step : {Step::identity, Step::sources}) {
      Plan plan = planted.plan(backend);
      leave_out(plan, step);
      CHECK(unnoticed(plan, planted, name(step)) == "");
    }
  }
}
