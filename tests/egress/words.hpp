// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds what clients say first.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "egress/plan.hpp"

namespace cordon::egress::test {

inline std::vector<std::byte> bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline std::string number(std::size_t value, std::size_t count) {
  std::string out;
  for (std::size_t i = count; i-- > 0;) {
    out += static_cast<char>((value >> (8 * i)) & 0xff);
  }
  return out;
}
inline std::string vector(std::string_view content, std::size_t length_bytes) {
  return number(content.size(), length_bytes) + std::string(content);
}

inline std::string extension(std::size_t kind, std::string_view content) {
  return number(kind, 2) + vector(content, 2);
}
inline std::string server_name(std::string_view host) {
  return extension(0, vector(number(0, 1) + vector(host, 2), 2));
}

// The handshake message.
inline std::string hello_message(std::string_view extensions) {
  std::string body = "\x03\x03" + std::string(32, 'r') + vector("", 1) + vector("\x13\x01\x13\x02", 2) +
                     vector(std::string(1, '\0'), 1) + vector(extensions, 2);
  return number(1, 1) + vector(body, 3);
}

// Cut into records of `size` bytes.
inline std::string records(std::string_view message, std::size_t size = 16'384) {
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += size) {
    out += number(22, 1) + number(0x0301, 2) + vector(message.substr(at, size), 2);
  }
  return out;
}

inline std::string hello(std::string_view host) {
  return records(
      hello_message(extension(0x000a, number(0x0002001d, 4)) + server_name(host) + extension(0x002b, "\x02\x03\x04")));
}

// The kernel's answer to a connection where nobody listens: IPv4, TCP, RST and ACK, number 0.
inline std::string refusal(Ipv4 from, std::uint16_t port) {
  return number(0x4500, 2) + number(40, 2) + number(0x00004000, 4) + number(0x40060000, 4) + number(from.value, 4) +
         number(from.value, 4) + number(port, 2) + number(40'000, 2) + number(0, 4) + number(77, 4) +
         number(0x5014, 2) + number(0, 6);
}

}  // namespace cordon::egress::test
