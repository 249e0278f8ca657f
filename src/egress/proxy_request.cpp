// SPDX-License-Identifier: Apache-2.0
#include "egress/proxy_request.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "egress/address.hpp"
#include "egress/name.hpp"

namespace cordon::egress {
namespace {

constexpr char kSocksVersion = 5;
constexpr std::string_view kConnect = "CONNECT ";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
// Of a SOCKS request: version, command, 0, kind of address.
constexpr std::size_t kSocksHead = 4;

enum SocksReply : unsigned char {
  kSucceeded = 0,
  kFailed = 1,
  kNotAllowed = 2,
  kNotTheCommand = 7,
  kNotTheAddress = 8,
};

std::string socks_reply(SocksReply code) {
  // The address of our end, which is nobody's business: 0.0.0.0:0.
  return {kSocksVersion, static_cast<char>(code), '\0', '\x01', '\0', '\0', '\0', '\0', '\0', '\0'};
}

std::string http_reply(std::string_view status) {
  return text::cat("HTTP/1.1 ", status, "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// Two programs that end a line differently read another head.
bool is_clean_head(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    const bool line_end = head[i] == '\r' && i + 1 < head.size() && head[i + 1] == '\n';
    if (line_end) {
      ++i;
    } else if ((byte_at(head, i) < ' ' && head[i] != '\t') || head[i] == '\x7f') {
      return false;
    }
  }
  return true;
}

// A name in its one spelling, or four numbers; nothing with NUL, %, @ or a colon in it.
std::optional<std::string> host_of(std::string_view text) {
  if (const auto address = ipv4_from_text(text)) {
    return to_string(*address);
  }
  return canonical_host(text);
}

}  // namespace

ProxyRequest::State ProxyRequest::feed(std::span<const std::byte> bytes) {
  taken_ = 0;
  if (state_ == State::reply) {
    state_ = State::more;
  }
  reply_.clear();
  while (state_ == State::more && taken_ < bytes.size()) {
    state_ = take(bytes[taken_++]);
    if (state_ == State::more && said_.size() >= kMaxBytes) {
      state_ = refuse("malformed", http_reply("431 Request Header Fields Too Large"));
    }
  }
  return state_;
}

ProxyRequest::State ProxyRequest::take(std::byte byte) {
  said_ += static_cast<char>(byte);
  if (kind_ == Kind::unknown) {
    kind_ = said_[0] == kSocksVersion ? Kind::socks_greeting : Kind::http;
  }
  switch (kind_) {
    case Kind::socks_greeting:
      return judge_greeting();
    case Kind::socks_request:
      return judge_request();
    case Kind::http:
    case Kind::unknown:
      return judge_http();
  }
  return State::more;
}

ProxyRequest::State ProxyRequest::refuse(std::string_view why, std::string reply) {
  why_ = why;
  reply_ = std::move(reply);
  return State::refused;
}

ProxyRequest::State ProxyRequest::judge_http() {
  // Other methods would send one request after the other, each to another host.
  const std::size_t begun = std::min(said_.size(), kConnect.size());
  if (said_.compare(0, begun, kConnect, 0, begun) != 0) {
    return refuse("not_connect", http_reply("501 Not Implemented"));
  }
  if (!said_.ends_with(kHeadEnd)) {
    return State::more;
  }
  const std::string_view line = std::string_view(said_).substr(0, said_.find("\r\n"));
  const std::size_t last = line.rfind(' ');
  const std::string_view version = line.substr(last + 1);
  std::optional<HostPort> target;
  if (is_clean_head(said_) && last > kConnect.size() && (version == "HTTP/1.1" || version == "HTTP/1.0")) {
    target = read_host_port(line.substr(kConnect.size(), last - kConnect.size()));
  }
  if (!target || !target->port) {
    return refuse("malformed", http_reply("400 Bad Request"));
  }
  target_ = std::move(*target);
  return State::done;
}

// 5, number of methods, methods; of these 0 is no authentication.
ProxyRequest::State ProxyRequest::judge_greeting() {
  if (said_.size() < 2 || said_.size() < 2 + byte_at(said_, 1)) {
    return byte_at(said_, said_.size() - 1) == 0 && said_.size() == 2 ? refuse("authentication", {'\x05', '\xff'})
                                                                      : State::more;
  }
  if (std::string_view(said_).substr(2).find('\0') == std::string_view::npos) {
    return refuse("authentication", {'\x05', '\xff'});
  }
  said_.clear();
  kind_ = Kind::socks_request;
  reply_ = {'\x05', '\0'};
  return State::reply;
}

ProxyRequest::State ProxyRequest::judge_request() {
  constexpr unsigned kIpv4 = 1;
  constexpr unsigned kName = 3;
  constexpr unsigned kIpv6 = 4;
  if (said_.size() <= kSocksHead) {
    return State::more;
  }
  if (said_[0] != kSocksVersion || said_[2] != '\0') {
    return refuse("malformed", socks_reply(kFailed));
  }
  if (said_[1] != '\x01') {
    return refuse("not_tcp", socks_reply(kNotTheCommand));
  }
  const unsigned kind = byte_at(said_, 3);
  const std::size_t before = kind == kName ? 1 : 0;
  const std::size_t length = kind == kIpv4 ? 4 : kind == kIpv6 ? 16 : kind == kName ? byte_at(said_, kSocksHead) : 0;
  if (length == 0) {
    return refuse("malformed", socks_reply(kNotTheAddress));
  }
  const std::size_t port_at = kSocksHead + before + length;
  if (said_.size() < port_at + 2) {
    return State::more;
  }
  const std::string_view place = std::string_view(said_).substr(kSocksHead + before, length);
  std::optional<std::string> host;
  if (kind == kName) {
    host = host_of(place);
  } else {
    IpAddress address{.v6 = kind == kIpv6};
    std::ranges::transform(place, address.bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    host = to_string(address);
  }
  const unsigned port = byte_at(said_, port_at) << 8U | byte_at(said_, port_at + 1);
  if (!host || port == 0) {
    return refuse("malformed", socks_reply(kFailed));
  }
  target_ = {std::move(*host), static_cast<std::uint16_t>(port)};
  return State::done;
}

std::string ProxyRequest::answer(bool allowed) const {
  if (kind_ == Kind::socks_request) {
    return socks_reply(allowed ? kSucceeded : kNotAllowed);
  }
  return allowed ? "HTTP/1.1 200 Connection established\r\n\r\n" : http_reply("403 Forbidden");
}

}  // namespace cordon::egress
