// SPDX-License-Identifier: Apache-2.0
#include "egress/address.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace cordon::egress;

namespace {

Scope scope(std::string_view text, std::span<const IpAddress> own = {}) {
  const auto address = ip_address_from_text(text);
  REQUIRE_MESSAGE(address, text);
  return scope_of(*address, own);
}

}  // namespace

TEST_CASE("addresses are what the registries say") {
  const std::pair<const char*, Scope> kCases[] = {{"8.8.8.8", Scope::global},
                                                  {"1.0.0.0", Scope::global},
                                                  {"0.0.0.0", Scope::unspecified},
                                                  {"0.255.255.255", Scope::unspecified},
                                                  {"10.0.0.1", Scope::private_use},
                                                  {"9.255.255.255", Scope::global},
                                                  {"11.0.0.0", Scope::global},
                                                  {"100.63.255.255", Scope::global},
                                                  {"100.64.0.0", Scope::carrier},
                                                  {"100.127.255.255", Scope::carrier},
                                                  {"100.128.0.0", Scope::global},
                                                  {"100.100.100.200", Scope::metadata},
                                                  {"127.0.0.1", Scope::loopback},
                                                  {"127.255.255.255", Scope::loopback},
                                                  {"169.254.0.1", Scope::link_local},
                                                  {"169.254.169.254", Scope::metadata},
                                                  {"169.254.170.2", Scope::metadata},
                                                  {"168.63.129.16", Scope::metadata},
                                                  {"172.15.255.255", Scope::global},
                                                  {"172.16.0.0", Scope::private_use},
                                                  {"172.31.255.255", Scope::private_use},
                                                  {"172.32.0.0", Scope::global},
                                                  {"192.168.1.1", Scope::private_use},
                                                  {"192.0.0.192", Scope::metadata},
                                                  {"192.0.0.8", Scope::reserved},
                                                  {"192.0.2.1", Scope::example},
                                                  {"198.17.255.255", Scope::global},
                                                  {"198.18.0.0", Scope::benchmark},
                                                  {"198.19.255.255", Scope::benchmark},
                                                  {"198.20.0.0", Scope::global},
                                                  {"224.0.0.1", Scope::multicast},
                                                  {"239.255.255.255", Scope::multicast},
                                                  {"240.0.0.1", Scope::reserved},
                                                  {"255.255.255.255", Scope::broadcast},
                                                  {"::", Scope::unspecified},
                                                  {"::1", Scope::loopback},
                                                  {"::2", Scope::embedded},
                                                  {"::127.0.0.1", Scope::embedded},
                                                  {"::ffff:127.0.0.1", Scope::embedded},
                                                  {"::ffff:8.8.8.8", Scope::embedded},
                                                  {"::ffff:0:8.8.8.8", Scope::embedded},
                                                  {"64:ff9b::8.8.8.8", Scope::global},
                                                  {"64:ff9b::10.0.0.1", Scope::private_use},
                                                  {"64:ff9b::169.254.169.254", Scope::metadata},
                                                  {"64:ff9b::127.0.0.1", Scope::loopback},
                                                  {"64:ff9b:1::8.8.8.8", Scope::embedded},
                                                  {"fe80::1", Scope::link_local},
                                                  {"febf::1", Scope::link_local},
                                                  {"fec0::1", Scope::private_use},
                                                  {"fc00::1", Scope::private_use},
                                                  {"fd00:ec2::254", Scope::metadata},
                                                  {"fd20:ce::254", Scope::metadata},
                                                  {"fd00:ec2::253", Scope::private_use},
                                                  {"ff02::1", Scope::multicast},
                                                  {"2001::1", Scope::embedded},
                                                  {"2001:10::1", Scope::reserved},
                                                  {"2001:db8::1", Scope::example},
                                                  {"2001:4860:4860::8888", Scope::global},
                                                  {"2002:7f00:1::", Scope::embedded},
                                                  {"2606:4700::1111", Scope::global},
                                                  {"3fff::1", Scope::example},
                                                  {"4000::1", Scope::reserved},
                                                  {"5f00::1", Scope::reserved},
                                                  {"100::1", Scope::reserved}};
  for (const auto& [text, expected] : kCases) {
    CHECK_MESSAGE(name(scope(text)) == name(expected), text);
  }
}

TEST_CASE("what is this host's own is not the world") {
  const IpAddress own[] = {*ip_address_from_text("8.8.4.4"), *ip_address_from_text("2606:4700::1"),
                           *ip_address_from_text("192.168.1.5"), *ip_address_from_text("169.254.3.4")};
  CHECK(scope("8.8.4.4", own) == Scope::own);
  CHECK(scope("64:ff9b::8.8.4.4", own) == Scope::own);
  CHECK(scope("2606:4700::1", own) == Scope::own);
  CHECK(scope("192.168.1.5", own) == Scope::own);
  CHECK(scope("169.254.3.4", own) == Scope::link_local);
  CHECK(scope("8.8.4.5", own) == Scope::global);
}

TEST_CASE("private: true opens private networks and never credentials") {
  for (int i = 0; i <= static_cast<int>(Scope::reserved); ++i) {
    const auto one = static_cast<Scope>(i);
    CHECK(may_connect(one, false) == (one == Scope::global));
    const bool admitted = one == Scope::global || one == Scope::own || one == Scope::loopback ||
                          one == Scope::private_use || one == Scope::carrier || one == Scope::example;
    CHECK_MESSAGE(may_connect(one, true) == admitted, name(one));
  }
}

TEST_CASE("an address is read in one spelling per family") {
  CHECK(!ip_address_from_text(std::string_view("::1\0x", 5)));
  CHECK(!ip_address_from_text("127.1"));
  CHECK(!ip_address_from_text("fe80::1%eth0"));
  CHECK(to_string(*ip_address_from_text("2001:DB8:0::1")) == "2001:db8::1");
  CHECK(to_string(ip_address(ipv4(1, 2, 3, 4))) == "1.2.3.4");
}
