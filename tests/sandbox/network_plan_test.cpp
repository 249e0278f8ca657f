// SPDX-License-Identifier: Apache-2.0
// What a plan says when hosts are allowed. Made without privileges.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::able_host;
using cordon::test::simple_spec;

namespace {

const egress::Rule kApi = {.host = "api.test", .ports = {443, 8443}, .reason = "why", .line = 7};
const egress::Rule kDatabase = {
    .kind = egress::HostKind::address, .host = "10.1.2.3", .ports = {5432}, .private_addresses = true};
const egress::Rule kWild = {.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}};

LaunchSpec spec_with(std::vector<egress::Rule> allow, BackendChoice backend = BackendChoice::native) {
  LaunchSpec spec = simple_spec();
  spec.backend = backend;
  spec.network.allow = std::move(allow);
  return spec;
}

Plan plan_of(const LaunchSpec& spec, const HostFacts& facts = able_host()) {
  auto plan = select(spec, facts);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().to_string()));
  return *plan;
}

std::string refusal(const LaunchSpec& spec, const HostFacts& facts = able_host()) {
  const auto plan = select(spec, facts);
  return plan ? std::string("accepted") : plan.error().to_string();
}

std::string outer_steps(const Plan& plan) {
  std::string out;
  for (const Step step : plan.steps.outer) {
    out += text::cat(out.empty() ? "" : " ", name(step));
  }
  return out;
}

// "network enforced; network.outside enforced; …"
std::string network_of(const Plan& plan) {
  std::string out;
  for (const Guarantee& guarantee : plan.guarantees) {
    if (guarantee_of(guarantee.name) == "network") {
      out += text::cat(out.empty() ? "" : "; ", guarantee.name, " ", name(guarantee.strength),
                       guarantee.strength == Strength::enforced ? "" : text::cat(" ", guarantee.reason));
    }
  }
  return out;
}

std::string content_of(const Plan& plan, std::string_view target) {
  const auto found = std::ranges::find(plan.view, target, &ViewEntry::target);
  return found == plan.view.end() ? std::string() : found->text;
}

}  // namespace

TEST_CASE("doors are opened after lo is up, and an agent is left outside of the pid namespace") {
  CHECK(outer_steps(plan_of(spec_with({kApi}))) == "session descriptors namespaces loopback egress");
  CHECK(outer_steps(plan_of(spec_with({kApi, kWild}))) ==
        "session descriptors namespaces loopback egress process_namespace");
  CHECK(outer_steps(plan_of(spec_with({kApi}), test::root_on(able_host()))) ==
        "session descriptors sources identity namespaces loopback egress");
  CHECK(outer_steps(plan_of(simple_spec())) == "session descriptors namespaces loopback");
  CHECK(outer_steps(plan_of(spec_with({kApi}, BackendChoice::bubblewrap))) == "session descriptors sources");
}

TEST_CASE("a plan with hosts prints them, their addresses and the doors") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    const Plan plan = plan_of(spec_with({kApi, kDatabase, kWild}, backend));
    CHECK(to_json(plan).find(R"("network":{"mode":"transparent","sni":"match",)"
                             R"("allow":["api.test:443,8443","10.1.2.3:5432 private","*.wild.test:443"],)"
                             R"("names":{"api.test":"198.18.1.1"},)"
                             R"("listen":["10.1.2.3:5432","198.18.1.1:443","198.18.1.1:8443"],"agent":true},)") !=
          std::string::npos);
    CHECK(to_text(plan).find("network: transparent, sni match\n  api.test:443,8443 at 198.18.1.1\n"
                             "  10.1.2.3:5432 private\n  *.wild.test:443\nlimits:\n") != std::string::npos);
    const auto back = decode(encode(plan, {}));
    REQUIRE(back);
    CHECK(to_json(back->plan) == to_json(plan));
    CHECK(back->plan.network.rules == plan.network.rules);
    CHECK(back->plan.network.doors == plan.network.doors);
  }
  CHECK(to_text(plan_of(simple_spec())).find("network: none\n") != std::string::npos);
  CHECK(to_json(plan_of(simple_spec())).find(R"("network":{"mode")") == std::string::npos);
}

TEST_CASE("who is allowed is part of the plan's digest, why is not") {
  const std::string before = digest(plan_of(spec_with({kApi})));
  egress::Rule other = kApi;
  other.reason = "another";
  other.line = 9;
  CHECK(digest(plan_of(spec_with({other}))) == before);
  other.ports = {443};
  CHECK(digest(plan_of(spec_with({other}))) != before);
}

TEST_CASE("the resolver file points at lo, with patience where somebody answers") {
  CHECK(content_of(plan_of(spec_with({kApi})), "/etc/resolv.conf") ==
        "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n");
  CHECK(content_of(plan_of(simple_spec()), "/etc/resolv.conf") ==
        "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  CHECK(content_of(plan_of(spec_with({kApi, kWild})), "/etc/hosts").ends_with("::1 localhost\n198.18.1.1 api.test\n"));
  CHECK(content_of(plan_of(spec_with({kApi})), "/etc/nsswitch.conf").find("hosts: files dns\n") != std::string::npos);
}

TEST_CASE("named hosts are enforced; wildcards and unlooked-at names are partial, and accepted") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    CHECK(network_of(plan_of(spec_with({kApi, kDatabase}, backend))) ==
          "network enforced; network.outside enforced; network.hosts enforced; network.names enforced");
    CHECK(network_of(plan_of(spec_with({kApi, kWild}, backend))) ==
          "network partial wildcard; network.outside enforced; network.hosts enforced; "
          "network.names partial wildcard");
  }
  LaunchSpec spec = spec_with({kWild});
  spec.network.sni = egress::SniCheck::off;
  CHECK(find_guarantee(plan_of(spec), "network")->reason == "wildcard, sni_off");
  spec.network.allow = {kApi};
  spec.network.sni = egress::SniCheck::flag;
  CHECK(find_guarantee(plan_of(spec), "network")->reason == "sni_flag");
  CHECK(network_of(plan_of(simple_spec())) == "network enforced; network.outside enforced");
}

TEST_CASE("a proxy has one door, is partial, and accepted where doors are opened") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    LaunchSpec spec = spec_with({kApi, kWild}, backend);
    spec.network.mode = egress::EgressMode::proxy;
    const Plan plan = plan_of(spec);
    CHECK(
        network_of(plan) ==
        "network partial proxy; network.outside enforced; network.hosts partial proxy; network.names partial wildcard");
    CHECK(plan.network.doors == egress::Doors{.listen = {{egress::kProxy, egress::kProxyPort}}});
    CHECK(content_of(plan, "/etc/resolv.conf") == "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n");
    CHECK(content_of(plan, "/etc/hosts").find("api.test") == std::string::npos);
  }
}

TEST_CASE("a backend that opens no doors is refused, whatever is required") {
  for (const Backend* backend : backends()) {
    if (backend->choice == BackendChoice::native || backend->choice == BackendChoice::bubblewrap ||
        backend->choice == BackendChoice::podman) {
      continue;
    }
    LaunchSpec spec = spec_with({kApi}, backend->choice);
    spec.require.clear();
    spec.none_reason = "test";
    spec.temp_source = "/state/tmp";
    spec.from_template = true;
    test::give_image(spec);
    CAPTURE(backend->name);
    for (const egress::EgressMode mode : {egress::EgressMode::transparent, egress::EgressMode::proxy}) {
      spec.network.mode = mode;
      CHECK(refusal(spec).find("requirement network.hosts is not enforced (asked for by isolation.network): reason "
                               "not_offered") != std::string::npos);
    }
  }
}

TEST_CASE("what contradicts hosts, or cannot be had, is refused with what to do") {
  LaunchSpec strict = spec_with({kApi});
  strict.strict_syscalls = true;
  CHECK(refusal(strict).find("isolation.syscalls: strict leaves out what reaching a host needs") != std::string::npos);

  HostFacts facts = able_host();
  facts.bubblewrap.setuid = true;
  CHECK(refusal(spec_with({kApi}, BackendChoice::bubblewrap), facts).find("set-id bit") != std::string::npos);
  LaunchSpec closed = simple_spec();
  closed.backend = BackendChoice::bubblewrap;
  CHECK(refusal(closed, facts) == "accepted");

  std::vector<egress::Rule> many;
  for (std::size_t i = 0; i <= egress::kMaxDoors; ++i) {
    many.push_back({.host = text::cat("h", i, ".test"), .ports = {443}});
  }
  CHECK(refusal(spec_with(many)).find("isolation.network.allow") != std::string::npos);
  many.pop_back();
  CHECK(refusal(spec_with(many)) == "accepted");
}

TEST_CASE("a browser that reaches hosts connects by init, so that sockets in its grants stay closed") {
  LaunchSpec spec = spec_with({kApi});
  spec.runtime = {"browser"};
  spec.mounts = {{.source = "/data", .target = "/data"}};
  const Plan plan = plan_of(spec);
  CHECK(plan.unix_sockets == UnixSockets::supervised);
  CHECK(find_guarantee(plan, "ipc.unix_sockets")->strength == Strength::enforced);
}
