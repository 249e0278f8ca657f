// SPDX-License-Identifier: Apache-2.0
#include "egress/plan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>

#include <set>

using namespace cordon;
using namespace cordon::egress;

namespace {

Rule rule(HostKind kind, std::string host, std::vector<std::uint16_t> ports, bool private_addresses = false) {
  Rule out;
  out.kind = kind;
  out.host = std::move(host);
  out.ports = std::move(ports);
  out.private_addresses = private_addresses;
  return out;
}

std::vector<UniqueFd> descriptors(std::size_t count) {
  std::vector<UniqueFd> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  return out;
}

}  // namespace

TEST_CASE("an address has one spelling") {
  CHECK(to_string(ipv4(198, 18, 0, 255)) == "198.18.0.255");
  CHECK(ipv4_from_text("127.0.0.1") == ipv4(127, 0, 0, 1));
  for (const char* wrong : {"", "1", "127.1", "127.0.0.01", "256.0.0.1", "1.2.3.4.", "1.2.3.4.5", " 1.2.3.4",
                            "0x7f.0.0.1", "1.2.3.-4", "1..2.3", "0177.0.0.1"}) {
    CHECK_MESSAGE(!ipv4_from_text(wrong), wrong);
  }
}

TEST_CASE("each exact name has one address of its own, and one door per port") {
  Rules rules;
  rules.allow = {rule(HostKind::name, "b.test", {443, 80}),
                 rule(HostKind::name, "a.test", {443}),
                 rule(HostKind::name, "b.test", {8443}),
                 rule(HostKind::wildcard, "example.com", {443}),
                 rule(HostKind::address, "127.0.0.1", {5432}, true),
                 rule(HostKind::address, "10.0.0.7", {22}, true)};
  const auto doors = plan_doors(rules);
  REQUIRE(doors);
  REQUIRE(doors->names.size() == 2);
  CHECK(doors->names[0] == NameAddress{"b.test", ipv4(198, 18, 1, 1)});
  CHECK(doors->names[1] == NameAddress{"a.test", ipv4(198, 18, 1, 2)});
  CHECK(doors->listen == std::vector<Door>{{ipv4(10, 0, 0, 7), 22},
                                           {ipv4(127, 0, 0, 1), 5432},
                                           {ipv4(198, 18, 1, 1), 80},
                                           {ipv4(198, 18, 1, 1), 443},
                                           {ipv4(198, 18, 1, 1), 8443},
                                           {ipv4(198, 18, 1, 2), 443}});
  CHECK(doors->routes == std::vector<Ipv4>{ipv4(10, 0, 0, 7)});
  CHECK(doors->agent);
  CHECK(plan_doors(rules) == *doors);
}

TEST_CASE("addresses of names stay in their half of the pool and off its edges; too many doors are refused") {
  Rules rules;
  for (std::size_t i = 0; i < kMaxDoors; ++i) {
    rules.allow.push_back(rule(HostKind::name, "h" + std::to_string(i) + ".test", {443}));
  }
  const auto doors = plan_doors(rules);
  REQUIRE(doors);
  std::set<Ipv4> seen;
  for (const NameAddress& entry : doors->names) {
    CHECK(in_pool(entry.address));
    CHECK(entry.address < kFirstWildcard);
    CHECK((entry.address.value & 0xff) != 0);
    CHECK((entry.address.value & 0xff) != 255);
    CHECK(seen.insert(entry.address).second);
  }
  rules.allow.push_back(rule(HostKind::name, "more.test", {443}));
  const auto more = plan_doors(rules);
  REQUIRE(!more);
  CHECK(more.error().code == Errc::policy_invalid);
}

TEST_CASE("an address of the pool cannot be allowed; a proxy has one door") {
  Rules rules;
  rules.allow = {rule(HostKind::address, "198.18.1.1", {443}, true)};
  CHECK(!plan_doors(rules));
  rules.allow = {rule(HostKind::name, "a.test", {443})};
  rules.mode = EgressMode::proxy;
  CHECK(plan_doors(rules) == Doors{.listen = {{kProxy, kProxyPort}}});
}

TEST_CASE("the place of our own resolver cannot be allowed") {
  Rules rules;
  rules.allow = {rule(HostKind::address, "127.0.0.1", {53, 5432}, true)};
  CHECK(!plan_doors(rules));
  rules.allow = {rule(HostKind::address, "127.0.0.1", {5432}, true), rule(HostKind::address, "127.0.0.2", {53}, true)};
  CHECK(plan_doors(rules));
}

TEST_CASE("what is handed over has to be what was planned") {
  Rules rules;
  rules.allow = {rule(HostKind::name, "a.test", {443, 80}), rule(HostKind::wildcard, "b.test", {443})};
  const Doors doors = plan_doors(rules).value();
  const MessageBytes message = handover_bytes(doors);
  const auto sockets = take_handover(doors, message, descriptors(5));
  REQUIRE(sockets);
  CHECK(sockets->dns_udp);
  CHECK(sockets->dns_tcp);
  REQUIRE(sockets->listeners.size() == 2);
  CHECK(sockets->listeners[0].port == 80);
  CHECK(sockets->listeners[1].address == ipv4(198, 18, 1, 1));
  CHECK(sockets->agent);
  CHECK(!take_handover(doors, message, descriptors(4)));
  CHECK(!take_handover(doors, message, descriptors(6)));
  MessageBytes other = message;
  other[4] = std::byte{1};
  CHECK(!take_handover(doors, other, descriptors(5)));
  CHECK(!take_handover(doors, std::span(message).first(15), descriptors(5)));
  CHECK(!sockets->watch);

  const MessageBytes watched = handover_bytes(doors, Watch::there);
  const auto more = take_handover(doors, watched, descriptors(6));
  REQUIRE(more);
  CHECK(more->agent);
  CHECK(more->watch);
  CHECK(!take_handover(doors, watched, descriptors(5)));
}

TEST_CASE("programs find listed names in a file, and localhost where they look for it") {
  Rules rules;
  rules.allow = {rule(HostKind::name, "a.test", {443}), rule(HostKind::name, "localhost", {5432}, true),
                 rule(HostKind::wildcard, "b.test", {443}), rule(HostKind::name, "c.test", {443})};
  const Doors doors = plan_doors(rules).value();
  CHECK(hosts_text(doors) == "198.18.1.1 a.test\n198.18.1.2 c.test\n");
  CHECK(std::ranges::find(doors.listen, Door{ipv4(127, 0, 0, 1), 5432}) != doors.listen.end());
  CHECK(doors.routes.empty());
  rules.allow = {rule(HostKind::name, "localhost", {53}, true)};
  CHECK(!plan_doors(rules));
}

TEST_CASE("requests to the agent and its replies survive the way; anything else is refused") {
  const AgentRequest request{7, {ipv4(198, 19, 0, 1), 443}};
  const AgentReply reply{7, 98};
  CHECK(agent_request(to_bytes(request)) == request);
  CHECK(agent_reply(to_bytes(reply)) == reply);
  CHECK(agent_reply(to_bytes(AgentReply{1, -1})) == AgentReply{1, -1});
  CHECK(!agent_request(to_bytes(reply)));
  CHECK(!agent_reply(to_bytes(request)));
  MessageBytes bytes = to_bytes(request);
  bytes[15] = std::byte{1};
  CHECK(!agent_request(bytes));
  CHECK(!agent_request(std::span(bytes).first(8)));
  CHECK(agent_may_open(request.door));
  CHECK(!agent_may_open({ipv4(198, 18, 1, 1), 443}));
  CHECK(!agent_may_open({ipv4(127, 0, 0, 1), 443}));
  CHECK(!agent_may_open({ipv4(198, 20, 0, 1), 443}));
  CHECK(!agent_may_open({ipv4(198, 19, 0, 1), 0}));
}

TEST_CASE("equal rules have one spelling") {
  CHECK(canonical(rule(HostKind::name, "a.test", {80, 443})) == "a.test:80,443");
  CHECK(canonical(rule(HostKind::wildcard, "a.test", {443})) == "*.a.test:443");
  CHECK(canonical(rule(HostKind::address, "127.0.0.1", {1}, true)) == "127.0.0.1:1 private");
}
