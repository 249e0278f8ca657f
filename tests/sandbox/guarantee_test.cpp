// SPDX-License-Identifier: Apache-2.0
#include "sandbox/guarantee.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/json/write.hpp"
#include "facts.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::simple_spec;

namespace {

std::set<std::string> names(const std::vector<Requirement>& list) {
  std::set<std::string> out;
  for (const Requirement& requirement : list) {
    out.insert(requirement.name + " " + requirement.because);
  }
  return out;
}

const Guarantee& of(const std::vector<Guarantee>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &Guarantee::name);
  REQUIRE(found != list.end());
  return *found;
}

}  // namespace

TEST_CASE("each guarantee has details, and each detail a guarantee") {
  std::set<std::string_view> seen;
  for (const Detail& detail : details()) {
    CHECK_MESSAGE(std::ranges::find(kGuarantees, guarantee_of(detail.name)) != kGuarantees.end(), detail.name);
    CHECK_MESSAGE(detail.name.find('.') != std::string_view::npos, detail.name);
    seen.insert(guarantee_of(detail.name));
  }
  CHECK(seen.size() == kGuarantees.size());
}

TEST_CASE("a policy's requirements are those details that its launch depends on") {
  LaunchSpec spec = simple_spec();
  spec.require = {"filesystem", "syscalls"};
  auto wanted = names(requirements(spec));
  CHECK(wanted.contains("filesystem.read isolation.require"));
  CHECK(wanted.contains("syscalls.user_namespaces isolation.require"));
  CHECK(!wanted.contains("filesystem.deny isolation.require"));
  CHECK(!wanted.contains("network.outside isolation.require"));
  spec.deny = {"/data/private"};
  spec.nested_userns = true;
  wanted = names(requirements(spec));
  CHECK(wanted.contains("filesystem.deny isolation.require"));
  CHECK(!wanted.contains("syscalls.user_namespaces isolation.require"));
}

TEST_CASE("a limit that is written is required by its own line, the others only by `limits`") {
  LaunchSpec spec = simple_spec();
  spec.require.clear();
  CHECK(requirements(spec).empty());
  spec.limits.memory_bytes = 1;
  spec.limits.cpu_seconds = 1;
  CHECK(names(requirements(spec)) == std::set<std::string>{"limits.memory isolation.limits.memory",
                                                           "limits.cpu_seconds isolation.limits.cpu_seconds"});
  spec.require = {"limits"};
  CHECK(names(requirements(spec)).contains("limits.processes isolation.require"));
  CHECK(names(requirements(spec)).contains("limits.memory isolation.limits.memory"));
}

TEST_CASE("a guarantee is as strong as its weakest detail, and silence is `no`") {
  LaunchSpec spec = simple_spec();
  Statements statements;
  statements.enforced("filesystem.read", "a root of its own").enforced("filesystem.write", "a root of its own");
  statements.lacks("filesystem.proc", Strength::partial, "proc_masked", "unmask it", 1);
  const auto all = statements.complete(spec);
  CHECK(of(all, "filesystem").strength == Strength::partial);
  CHECK(of(all, "filesystem").reason == "proc_masked");
  CHECK(of(all, "filesystem").error_number == 1);
  CHECK(of(all, "filesystem.read").strength == Strength::enforced);
  CHECK(of(all, "network").strength == Strength::no);
  CHECK(of(all, "network.outside").reason == "not_offered");
  // Not needed by this launch, not spoken of: not there.
  CHECK(std::ranges::find(all, "filesystem.deny", &Guarantee::name) == all.end());
}

TEST_CASE("what is said last of a detail counts") {
  Statements statements;
  statements.enforced("ipc.own", "a namespace").lacks("ipc.own", Strength::no, "platform");
  const auto all = statements.complete(simple_spec());
  CHECK(of(all, "ipc.own").strength == Strength::no);
  CHECK(std::ranges::count(all, "ipc.own", &Guarantee::name) == 1);
}

TEST_CASE("guarantees are written with strength, reason, errno and hint") {
  const std::vector<Guarantee> list = {{"network", Strength::enforced, "lo only"},
                                       {"limits.memory", Strength::partial, "no_cgroup_delegation", 13, "do this"}};
  json::Writer out;
  write_guarantees(out, list);
  CHECK(out.take() == R"({"network":{"strength":"enforced","reason":"lo only"},)"
                      R"("limits.memory":{"strength":"partial","reason":"no_cgroup_delegation","errno":13,)"
                      R"("hint":"do this"}})");
}
