// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "egress/rules.hpp"
#include "formats/policy/sections.hpp"
#include "formats/yaml.hpp"

using namespace cordon;
using namespace cordon::formats;
using policy::HostGrant;
using policy::Network;

namespace {

struct Reading {
  Network network = {};
  std::string faults = {};
};

Reading read(std::string text, NetworkReader reader = NetworkReader::policy) {
  const auto root = yaml::read("network: " + text + "\n", "p");
  REQUIRE(root);
  Faults faults("p");
  Reading out;
  out.network = read_network(faults, root->members.front().value, reader);
  for (const Error& error : faults.take()) {
    out.faults += error.where + ": " + error.detail + (error.remedy.empty() ? "" : " (" + error.remedy + ")") + "\n";
  }
  return out;
}

std::string fault(const std::string& entry) { return read("{allow: [" + entry + "]}").faults; }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("hosts are read into their canonical form") {
  const Reading found = read(
      "{allow: [\"API.GitHub.com.:443\", {host: \"*.Example.com\", ports: [8443, 443], reason: \"mirrors\"}, "
      "{host: 127.0.0.1, ports: [5432], private: true}], sni: flag, mode: transparent}");
  CHECK(found.faults.empty());
  REQUIRE(found.network.allow.size() == 3);
  CHECK(found.network.allow[0] == HostGrant{"api.github.com", {443}, false, "", 1, 19});
  CHECK(found.network.allow[1].host == "*.example.com");
  CHECK(found.network.allow[1].ports == std::vector<std::uint16_t>{443, 8443});
  CHECK(found.network.allow[1].reason == "mirrors");
  CHECK(found.network.allow[2].private_addresses);
  CHECK(found.network.sni == policy::SniCheck::flag);
  CHECK(read("none").network == Network());
  const egress::Rules rules = egress::rules_of(found.network);
  CHECK(egress::canonical(rules.allow[0]) == "api.github.com:443");
  CHECK(egress::canonical(rules.allow[1]) == "*.example.com:443,8443");
  CHECK(egress::canonical(rules.allow[2]) == "127.0.0.1:5432 private");
  CHECK(rules.allow[0].line == 1);
  CHECK(rules.sni == egress::SniCheck::flag);
}

TEST_CASE("what is no host, port or address says where and why") {
  CHECK(fault("api.github.com") ==
        "p:1:19: an item of isolation.network.allow must be host:port, not 'api.github.com' (write "
        "\"api.example.com:443\", or {host: api.example.com, ports: [443]})\n");
  CHECK(has(fault("\"a.test:0\""), "no port from 1 to 65535: '0'"));
  CHECK(has(fault("\"a.test:65536\""), "no port"));
  CHECK(has(fault("\"a.test:http\""), "no port"));
  CHECK(has(fault("\"a.test:+1\""), "no port"));
  CHECK(has(fault("\"[a.test]:443\""), "no host name"));
  CHECK(has(fault("\"user@a.test:443\""), "no host name: it has a character that no host name has"));
  CHECK(has(fault("\"a.test%00:443\""), "no host name"));
  CHECK(has(fault("\"127.1:443\""), "reads as a number of an address"));
  CHECK(has(fault("\"https://a.test:443\""), "is no URL"));
  CHECK(has(fault("{host: a.test}"), "names no ports"));
  CHECK(has(fault("{ports: [443]}"), "names no host"));
  CHECK(has(fault("{host: a.test, ports: []}"), "ports"));
  CHECK(has(fault("{host: a.test, ports: [0]}"), "ports"));
  CHECK(has(fault("{host: a.test, ports: [443], prot: udp}"), "unknown key 'prot'"));
  CHECK(has(fault("\"a.test:443\", {host: A.test, ports: [80, 443]}"), "names 'a.test:443' twice"));
}

TEST_CASE("a wildcard stands in front of a name that has one owner") {
  CHECK(fault("\"*.example.com:443\"").empty());
  for (const char* wide : {"\"*.com:443\"", "\"*.co.uk:443\"", "\"*.github.io:443\"", "\"*.internal:443\""}) {
    CHECK_MESSAGE(has(fault(wide), "anybody can have a name below"), wide);
  }
  for (const char* wrong :
       {"\"*:443\"", "\"*.:443\"", "\"a.*.example.com:443\"", "\"*a.example.com:443\"", "\"*.*.example.com:443\""}) {
    CHECK_MESSAGE(has(fault(wrong), "no host name"), wrong);
  }
  CHECK(read("{allow: [\"*.com:443\"]}", NetworkReader::ceiling).faults.empty());
}

TEST_CASE("an address needs private: true, and some are never allowed") {
  CHECK(has(fault("\"127.0.0.1:5432\""), "needs private: true"));
  CHECK(has(fault("\"8.8.8.8:443\""), "needs private: true"));
  CHECK(fault("{host: 10.1.2.3, ports: [22], private: true}").empty());
  for (const char* never : {"169.254.169.254", "169.254.1.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.1.1",
                            "100.100.100.200", "168.63.129.16"}) {
    CHECK_MESSAGE(has(fault("{host: " + std::string(never) + ", ports: [80], private: true}"), "can never be allowed"),
                  never);
  }
  CHECK(has(fault("{host: \"::1\", ports: [80], private: true}"), "not supported by this version"));
  CHECK(has(fault("{host: 127.0.0.1, ports: [53], private: true}"), "is the resolver inside"));
}

TEST_CASE("a network is none or allows something") {
  CHECK(has(read("{}").faults, "isolation.network allows nothing"));
  CHECK(has(read("{sni: off}").faults, "isolation.network allows nothing"));
  CHECK(has(read("{allow: []}").faults, "names nothing"));
  CHECK(has(read("{allow: none}").faults, "isolation.network.allow"));
  CHECK(has(read("{alow: []}").faults, "unknown key 'alow'"));
  CHECK(has(read("host").faults, "isolation.network must be none or a mapping, not 'host'"));
  CHECK(has(read("{allow: [\"a.test:443\"], sni: of}").faults, "sni"));
  CHECK(read("{allow: [\"a.test:443\"], mode: proxy}").network.mode == policy::NetworkMode::proxy);
  CHECK(read("{allow: [\"a.test:443\"], mode: proxy}", NetworkReader::ceiling).network.mode ==
        policy::NetworkMode::proxy);
  std::string many;
  for (int i = 0; i < 251; ++i) {
    many += (i == 0 ? "\"h" : ", \"h") + std::to_string(i) + ".test:443\"";
  }
  CHECK(has(read("{allow: [" + many + "]}").faults, "251 pairs"));
}

TEST_CASE("an IPv6 address is refused as what it is, in every spelling") {
  for (const char* written : {"\"[2001:db8::1]:443\"", "\"2001:db8::1\"", "\"[::1]:80\"",
                              "{host: \"2001:db8::1\", ports: [443], private: true}"}) {
    const std::string found = fault(written);
    CHECK_MESSAGE(has(found, "the IPv6 address "), found);
    CHECK_MESSAGE(has(found, "not supported by this version"), found);
    CHECK_MESSAGE(has(found, "name the host"), found);
  }
  CHECK(has(fault("\"[10.0.0.1]:80\""), "[10.0.0.1]"));
  CHECK_FALSE(has(fault("\"[10.0.0.1]:80\""), "IPv6"));
}
