// SPDX-License-Identifier: Apache-2.0
#include "sandbox/select.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "facts.hpp"
#include "sandbox/backend.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::able_host;
using cordon::test::root_on;
using cordon::test::simple_spec;

namespace {

HostFacts without_namespaces() {
  HostFacts facts = able_host();
  facts.namespaces = {
      .works = false, .step = "uid_map", .error_number = EPERM, .reason = "apparmor", .hint = "install the profile"};
  return facts;
}

HostFacts without_bubblewrap(HostFacts facts) {
  facts.bubblewrap = {
      .trial = {.step = "find", .error_number = ENOENT, .reason = "backend_missing", .hint = "install it"}};
  return facts;
}

}  // namespace

TEST_CASE("native is preferred") {
  const auto plan = select(simple_spec(), able_host());
  REQUIRE(plan);
  CHECK(plan->backend == "native");
}

TEST_CASE("bubblewrap takes over where our own namespaces are refused") {
  const auto plan = select(simple_spec(), without_namespaces());
  REQUIRE(plan);
  CHECK(plan->backend == "bubblewrap");
}

TEST_CASE("with neither, the launch is refused with both reasons and never falls to none") {
  const auto plan = select(simple_spec(), without_bubblewrap(without_namespaces()));
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::unsupported_isolation);
  CHECK(plan.error().where == "native, bubblewrap");
  CHECK(plan.error().detail.find("reason apparmor (errno 1,") != std::string::npos);
  CHECK(plan.error().detail.find("reason backend_missing (errno 2,") != std::string::npos);
  CHECK(plan.error().remedy == "install the profile");
}

TEST_CASE("a named backend is never replaced by another") {
  LaunchSpec spec = simple_spec();
  spec.backend = BackendChoice::native;
  const auto refused = select(spec, without_namespaces());
  REQUIRE(!refused);
  CHECK(refused.error().where == "native");
  spec.backend = BackendChoice::bubblewrap;
  CHECK(select(spec, without_namespaces())->backend == "bubblewrap");
  CHECK(select(spec, without_bubblewrap(able_host())).error().detail.find("backend_missing") != std::string::npos);
}

TEST_CASE("none needs its name and a reason") {
  LaunchSpec spec = simple_spec();
  spec.require.clear();
  spec.backend = BackendChoice::none;
  CHECK(select(spec, able_host()).error().code == Errc::policy_invalid);
  spec.none_reason = "it is a debugger";
  const auto plan = select(spec, able_host());
  REQUIRE(plan);
  CHECK(plan->backend == "none");
  CHECK(find_guarantee(*plan, "filesystem")->strength == Strength::no);
}

TEST_CASE("none cannot give what is required") {
  LaunchSpec spec = simple_spec();
  spec.backend = BackendChoice::none;
  spec.none_reason = "it is a debugger";
  const auto plan = select(spec, able_host());
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::unsupported_isolation);
  CHECK(plan.error().detail ==
        "requirement filesystem.read is not enforced (asked for by isolation.require): reason backend_none");
}

TEST_CASE("the syscall guarantee goes with the filter") {
  LaunchSpec spec = simple_spec();
  spec.syscall_filter = false;
  CHECK(select(spec, able_host()).error().detail.find("switched_off") != std::string::npos);
  spec.require = {"filesystem"};
  CHECK(!select(spec, able_host())->syscall_filter);
  HostFacts facts = able_host();
  facts.seccomp = false;
  CHECK(select(simple_spec(), facts).error().detail.find("no_seccomp") != std::string::npos);
  facts = able_host();
  facts.architecture.clear();
  CHECK(select(simple_spec(), facts).error().detail.find("platform") != std::string::npos);
}

TEST_CASE("unknown guarantees are refused with the nearest name") {
  LaunchSpec spec = simple_spec();
  spec.require = {"netwrok"};
  const auto plan = select(spec, able_host());
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::policy_invalid);
  CHECK(plan.error().remedy == "did you mean 'network'?");
}

TEST_CASE("started by root, no server runs as uid or gid 0") {
  for (const Backend* backend : backends()) {
    LaunchSpec spec = simple_spec();
    spec.backend = backend->choice;
    spec.none_reason = "test";
    cordon::test::give_image(spec);
    spec.from_template = backend->choice == BackendChoice::command;
    spec.require.clear();
    const auto plan = select(spec, root_on(able_host()));
    REQUIRE(plan);
    CHECK((plan->switch_user || plan->in_container()));
    CHECK(plan->uid == 65534);
    CHECK(plan->gid == 65534);
    HostFacts facts = root_on(able_host());
    facts.server_gid = 0;
    CHECK(select(spec, facts).error().detail.find("running_as_root") != std::string::npos);
    facts = able_host();
    facts.user_error = "no account 'x'";
    CHECK(select(spec, facts).error().code == Errc::unsupported_isolation);
  }
}

TEST_CASE("a limit that the policy writes is required: one for each process is none for all of them") {
  LaunchSpec spec = simple_spec();
  CHECK(find_guarantee(*select(spec, able_host()), "limits.memory") == nullptr);
  spec.limits.memory_bytes = 1000000;
  const auto refused = select(spec, able_host());
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::unsupported_isolation);
  CHECK(refused.error().detail.find("limits.memory is not enforced (asked for by isolation.limits.memory): reason "
                                    "no_cgroup_delegation") != std::string::npos);
}

TEST_CASE("doctor sees every backend and why one will not do") {
  const auto all = assess(simple_spec(), without_namespaces());
  REQUIRE(all.size() == backends().size());
  CHECK(all[0].backend == "native");
  CHECK(!all[0].usable);
  CHECK(all[0].error.code == Errc::unsupported_isolation);
  CHECK(all[1].usable);
  CHECK(find_guarantee({.guarantees = all[1].guarantees}, "network.outside")->strength == Strength::enforced);
}

TEST_CASE("programs, arguments and variables that cannot be are refused") {
  const auto refused = [](auto change) {
    LaunchSpec spec = simple_spec();
    HostFacts facts = able_host();
    change(spec, facts);
    const auto plan = select(spec, facts);
    return plan ? std::string("accepted") : std::string(name(plan.error().code));
  };
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.argv.clear(); }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.argv.push_back(std::string("a\0b", 3)); }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.argv = {"server"}; }) == "internal");
  CHECK(refused([](LaunchSpec&, HostFacts& facts) { facts.program.found = false; }) == "launch_failed");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.environment = {"NAME"}; }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.environment = {"=x"}; }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.environment = {"A=1", "A=2"}; }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.cwd = "data"; }) == "policy_invalid");
  CHECK(refused([](LaunchSpec& spec, HostFacts&) { spec.runtime = {"ruby"}; }) == "policy_invalid");
}
