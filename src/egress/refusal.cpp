// SPDX-License-Identifier: Apache-2.0
#include "egress/refusal.hpp"

namespace cordon::egress {
namespace {

constexpr std::size_t kIpHead = 20;
constexpr std::size_t kTcpHead = 20;
constexpr unsigned kTcp = 6;
constexpr unsigned kResetAndAck = 0x14;

std::uint32_t number(std::span<const std::byte> packet, std::size_t at, std::size_t bytes) {
  std::uint32_t out = 0;
  for (const std::byte byte : packet.subspan(at, bytes)) {
    out = (out << 8) | std::to_integer<std::uint32_t>(byte);
  }
  return out;
}

}  // namespace

std::optional<Door> refused_door(std::span<const std::byte> packet) {
  if (packet.size() < kIpHead || number(packet, 0, 1) >> 4 != 4) {
    return std::nullopt;
  }
  const std::size_t head = (number(packet, 0, 1) & 0xf) * std::size_t{4};
  const bool is_fragment = (number(packet, 6, 2) & 0x3fff) != 0;
  if (head < kIpHead || packet.size() < head + kTcpHead || number(packet, 9, 1) != kTcp || is_fragment) {
    return std::nullopt;
  }
  // The answer to a first packet has the number 0; a connection that is reset later has another.
  if ((number(packet, head + 13, 1) & 0x3f) != kResetAndAck || number(packet, head + 4, 4) != 0) {
    return std::nullopt;
  }
  const Door door = {Ipv4{number(packet, 12, 4)}, static_cast<std::uint16_t>(number(packet, head, 2))};
  return door.port == 0 ? std::nullopt : std::optional(door);
}

}  // namespace cordon::egress
