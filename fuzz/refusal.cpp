// SPDX-License-Identifier: Apache-2.0
// An IPv4 packet. Oracles: what tells of a refusal is TCP of a port, reset and acknowledged with the number 0, in one
// piece, whatever follows it; a packet cut short tells nothing.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "egress/refusal.hpp"

using namespace cordon::egress;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packet = std::as_bytes(std::span(data, size));
  const auto door = refused_door(packet);
  if (!door) {
    return 0;
  }
  const std::size_t head = (data[0] & 0xfU) * std::size_t{4};
  CORDON_ASSERT(size >= head + 20 && data[9] == 6 && (data[6] & 0x3fU) == 0 && data[7] == 0);
  CORDON_ASSERT(data[head] * 256U + data[head + 1] == door->port && door->port != 0);
  CORDON_ASSERT((door->address.value & 0xff) == data[15]);
  CORDON_ASSERT(refused_door(packet.first(head + 20)) == door);
  CORDON_ASSERT(!refused_door(packet.first(head + 19)));
  return 0;
}
