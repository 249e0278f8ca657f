// SPDX-License-Identifier: Apache-2.0
#include "egress/directory.hpp"

#include <doctest/doctest.h>

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

Rules rules() {
  Rules out;
  out.allow = {rule(HostKind::wildcard, "w.test", {443}), rule(HostKind::name, "a.test", {443}),
               rule(HostKind::name, "x.w.test", {80}), rule(HostKind::address, "127.0.0.1", {5432}, true)};
  return out;
}

}  // namespace

TEST_CASE("a rule is found by name and port, exact ones first") {
  const Rules all = rules();
  CHECK(find_rule(all, "a.test", 443) == &all.allow[1]);
  CHECK(find_rule(all, "a.test", 80) == nullptr);
  CHECK(find_rule(all, "x.w.test", 80) == &all.allow[2]);
  CHECK(find_rule(all, "x.w.test", 443) == &all.allow[0]);
  CHECK(find_rule(all, "w.test", 443) == nullptr);
  CHECK(find_rule(all, "xw.test", 443) == nullptr);
  CHECK(ports_of(all, "x.w.test") == std::vector<std::uint16_t>{80, 443});
}

TEST_CASE("a door stands for one host") {
  const Rules all = rules();
  const Doors doors = plan_doors(all).value();
  Directory directory(all, doors);
  const auto target = directory.target_of({ipv4(198, 18, 1, 1), 443});
  CHECK(target.host == "a.test");
  CHECK(target.rule == &all.allow[1]);
  CHECK(directory.target_of({ipv4(198, 18, 1, 1), 80}).rule == nullptr);
  const auto address = directory.target_of({ipv4(127, 0, 0, 1), 5432});
  CHECK(address.is_address);
  CHECK(address.rule == &all.allow[3]);
  CHECK(directory.target_of({ipv4(198, 19, 0, 1), 443}).rule == nullptr);
}

TEST_CASE("127.0.0.1 stands for localhost and for itself, each with its own ports") {
  Rules all;
  all.allow = {rule(HostKind::name, "localhost", {5432}, true), rule(HostKind::address, "127.0.0.1", {6379}, true)};
  const Doors doors = plan_doors(all).value();
  const Directory directory(all, doors);
  CHECK(directory.address_of("localhost") == ipv4(127, 0, 0, 1));
  const auto by_name = directory.target_of({ipv4(127, 0, 0, 1), 5432});
  CHECK(by_name.host == "localhost");
  CHECK(by_name.rule == &all.allow[0]);
  CHECK(by_name.is_address);
  const auto by_address = directory.target_of({ipv4(127, 0, 0, 1), 6379});
  CHECK(by_address.host == "127.0.0.1");
  CHECK(by_address.rule == &all.allow[1]);
  CHECK(directory.target_of({ipv4(127, 0, 0, 1), 80}).rule == nullptr);
}

TEST_CASE("names below a wildcard get addresses of their own, up to a bound") {
  const Rules all = rules();
  const Doors doors = plan_doors(all).value();
  Directory directory(all, doors);
  CHECK(directory.assign("a.test") == ipv4(198, 18, 1, 1));
  CHECK(!directory.assign("other.test"));
  const auto first = directory.assign("one.w.test");
  CHECK(first == kFirstWildcard);
  CHECK(directory.assign("one.w.test") == first);
  CHECK(directory.target_of({*first, 443}).rule == &all.allow[0]);
  for (std::size_t i = 1; i < kMaxWildcardNames; ++i) {
    const auto next = directory.assign("n" + std::to_string(i) + ".w.test");
    REQUIRE(next);
    CHECK(agent_may_open({*next, 443}));
  }
  CHECK(directory.is_full());
  CHECK(!directory.assign("more.w.test"));
  CHECK(directory.assign("one.w.test") == first);
}
