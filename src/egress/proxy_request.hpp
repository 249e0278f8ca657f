// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a client tells a proxy: CONNECT of HTTP/1 (RFC 9110, 9.3.6) or SOCKS5 without authentication (RFC 1928), told
// apart by the first byte. Bounded, strict, and never a byte further than the request: what follows is for the host.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "egress/http_host.hpp"

namespace cordon::egress {

class ProxyRequest {
 public:
  enum class State : std::uint8_t {
    more,
    reply,    // say reply(), then go on
    done,     // target() is asked for
    refused,  // say reply(), and no more
  };

  // Takes bytes in any pieces, up to the end of what can be judged: taken() of them. Go on with the rest after `reply`.
  State feed(std::span<const std::byte> bytes);
  State state() const { return state_; }
  std::size_t taken() const { return taken_; }
  // Once: for what feed() came to.
  const std::string& reply() const { return reply_; }
  // A canonical name, or an address as text, with a port.
  const HostPort& target() const { return target_; }
  // refused: "malformed", "not_connect", "authentication", "not_tcp".
  std::string_view why() const { return why_; }
  // With State::done: what the client is told before it is connected, or sent away.
  std::string answer(bool allowed) const;

  static constexpr std::size_t kMaxBytes = 8192;

 private:
  enum class Kind : std::uint8_t { unknown, http, socks_greeting, socks_request };
  State take(std::byte byte);
  State judge_http();
  State judge_greeting();
  State judge_request();
  State refuse(std::string_view why, std::string reply);

  Kind kind_ = Kind::unknown;
  State state_ = State::more;
  std::string said_ = {};
  std::size_t taken_ = 0;
  std::string reply_ = {};
  HostPort target_ = {};
  std::string_view why_ = {};
};

}  // namespace cordon::egress
