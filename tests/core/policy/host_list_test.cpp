// SPDX-License-Identifier: Apache-2.0
#include "core/policy/host_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using cordon::policy::host_admitted;
using cordon::policy::HostGrant;

TEST_CASE("hosts are admitted by name, port and kind of address") {
  const std::vector<HostGrant> most = {
      {"api.example.org", {443}, false}, {"*.cdn.example", {80, 443}, false}, {"db.internal", {}, true}};
  CHECK(host_admitted(most, {"API.example.org.", {443}, false}));
  CHECK_FALSE(host_admitted(most, {"api.example.org", {80}, false}));
  CHECK_FALSE(host_admitted(most, {"api.example.org", {443, 80}, false}));
  CHECK_FALSE(host_admitted(most, {"api.example.org", {443}, true}));
  CHECK_FALSE(host_admitted(most, {"api.example.org", {}, false}));
  CHECK(host_admitted(most, {"a.b.cdn.example", {80}, false}));
  CHECK(host_admitted(most, {"*.a.cdn.example", {443}, false}));
  CHECK(host_admitted(most, {"*.cdn.example", {443, 80}, false}));
  CHECK_FALSE(host_admitted(most, {"cdn.example", {80}, false}));
  CHECK_FALSE(host_admitted(most, {"xcdn.example", {80}, false}));
  CHECK_FALSE(host_admitted(most, {"*.example", {80}, false}));
  CHECK(host_admitted(most, {"db.internal", {}, true}));
  CHECK(host_admitted(most, {"db.internal", {1}, false}));
  CHECK_FALSE(host_admitted({}, {"db.internal", {1}, false}));
}

namespace {

// All names of one to four labels; lists use a and b, so z stands for every label that nobody thought of.
std::vector<std::string> universe() {
  std::vector<std::string> out = {"a", "b", "z"};
  for (std::size_t begin = 0, round = 0; round < 3; ++round) {
    const std::size_t end = out.size();
    for (; begin < end; ++begin) {
      for (const char* label : {"a.", "b.", "z."}) {
        out.push_back(label + out[begin]);
      }
    }
  }
  return out;
}

// One destination, by the meaning of a grant and not by how grants compare. Port 9 stands for those not named.
bool reaches(const HostGrant& grant, const std::string& host, int port, bool is_private) {
  const bool named = grant.host.starts_with("*.") ? host.ends_with(grant.host.substr(1)) : host == grant.host;
  const bool open = grant.ports.empty() || std::ranges::find(grant.ports, port) != grant.ports.end();
  return named && open && (!is_private || grant.private_addresses);
}

HostGrant random_grant(std::mt19937& random) {
  HostGrant out;
  for (std::size_t labels = 1 + random() % 3; labels > 0; --labels) {
    out.host += std::string(out.host.empty() ? "" : ".") + (random() % 2 == 0 ? "a" : "b");
  }
  out.host = (random() % 3 == 0 ? "*." : "") + out.host;
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}}) {
    if (random() % 2 == 0) {
      out.ports.push_back(port);
    }
  }
  out.private_addresses = random() % 2 == 0;
  return out;
}

}  // namespace

TEST_CASE("random lists against random grants: exactly when each destination is reached") {
  std::mt19937 random(20261129);
  const std::vector<std::string> hosts = universe();
  int admitted = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::vector<HostGrant> most;
    for (std::size_t entries = random() % 5; entries > 0; --entries) {
      most.push_back(random_grant(random));
    }
    const HostGrant asked = random_grant(random);
    bool expected = true;
    for (const std::string& host : hosts) {
      for (const int port : {1, 2, 9}) {
        for (const bool is_private : {false, true}) {
          const auto reached = [&](const HostGrant& entry) { return reaches(entry, host, port, is_private); };
          expected = expected && (!reached(asked) || std::ranges::any_of(most, reached));
        }
      }
    }
    CAPTURE(asked.host);
    REQUIRE(host_admitted(most, asked) == expected);
    admitted += expected ? 1 : 0;
  }
  CHECK(admitted > 100);
  CHECK(admitted < 2'900);
}
