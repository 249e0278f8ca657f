// SPDX-License-Identifier: Apache-2.0
#include "egress/refusal.hpp"

#include <doctest/doctest.h>

#include "words.hpp"

using namespace cordon::egress;
using cordon::egress::test::bytes;
using cordon::egress::test::refusal;

namespace {

std::optional<Door> read(const std::string& packet) { return refused_door(bytes(packet)); }

std::string with(std::string packet, std::size_t at, char byte) {
  packet[at] = byte;
  return packet;
}

}  // namespace

TEST_CASE("the kernel's answer to a connection where nobody listens tells where that was") {
  const Door door = {ipv4(198, 18, 1, 1), 8080};
  const std::string packet = refusal(door.address, door.port);
  CHECK(read(packet) == door);
  CHECK(read(packet + "more") == door);
  // With options in the head of the packet.
  CHECK(read(with(packet.substr(0, 20), 0, '\x46') + std::string(4, '\0') + packet.substr(20)) == door);
}

TEST_CASE("other packets tell nothing") {
  const std::string packet = refusal(ipv4(198, 18, 1, 1), 8080);
  for (std::size_t size = 0; size < packet.size(); ++size) {
    CHECK(!read(packet.substr(0, size)));
  }
  CHECK(!read(with(packet, 0, '\x65')));   // IPv6
  CHECK(!read(with(packet, 0, '\x44')));   // no whole head
  CHECK(!read(with(packet, 0, '\x4f')));   // a longer head than there is
  CHECK(!read(with(packet, 6, '\x20')));   // a fragment
  CHECK(!read(with(packet, 9, '\x11')));   // UDP
  CHECK(!read(with(packet, 33, '\x12')));  // accepted
  CHECK(!read(with(packet, 27, '\x01')));  // a reset later on
  CHECK(!read(refusal(ipv4(198, 18, 1, 1), 0)));
}
