// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions to the resolver of a World.
#include <string>
#include <string_view>

#include "egress/words.hpp"
#include "run/egress_world.hpp"

namespace cordon::run::test {

inline std::string query(std::string_view dotted, std::size_t type = 1) {
  std::string out = egress::test::number(0x4242, 2) + egress::test::number(0x0100, 2) + egress::test::number(1, 2) +
                    egress::test::number(0, 6);
  while (!dotted.empty()) {
    const std::size_t dot = std::min(dotted.find('.'), dotted.size());
    out += egress::test::vector(dotted.substr(0, dot), 1);
    dotted.remove_prefix(std::min(dot + 1, dotted.size()));
  }
  return out + std::string(1, '\0') + egress::test::number(type, 2) + egress::test::number(1, 2);
}

inline std::string ask_udp(std::uint16_t port, const std::string& message) {
  const Socket socket(UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  const sockaddr_in where = at(World::door(250), port);
  ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof where);
  socket.say(message);
  return socket.hear(1);
}

inline int code(const std::string& answer) { return answer.size() < 12 ? -1 : answer[3] & 0xf; }
inline std::string address(const std::string& answer) {
  return answer.size() < 4 ? "" : answer.substr(answer.size() - 4);
}

}  // namespace cordon::run::test
