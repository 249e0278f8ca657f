// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel refused inside. Nobody listens at what is not listed, so a connection there is answered by the kernel
// with a reset; a packet socket that sees these resets and nothing else is how it becomes known. The kernel has written
// them: the server can send no packet of its own making.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "egress/plan.hpp"

namespace cordon::egress {

// Of the IPv4 packet that answers it; the filter of the socket lets through no more than this.
inline constexpr std::uint32_t kRefusalBytes = 80;
// Where a connection was refused: `packet` begins with the IPv4 header. Nothing: this packet says something else.
std::optional<Door> refused_door(std::span<const std::byte> packet);

}  // namespace cordon::egress
