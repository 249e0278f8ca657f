// SPDX-License-Identifier: Apache-2.0
#pragma once
// The head of a plain HTTP/1 request: which host it means. Strict, because a proxy behind the server may read what is
// let through loosely: CRLF alone ends a line, no folded lines, exactly one Host, and a target that names a host names
// the same one. RFC 9112.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "egress/client_hello.hpp"

namespace cordon::egress {

// "host", "host:port", "[v6]:port": the host canonical (an address as it stands), the port if there is one.
struct HostPort {
  std::string host = {};
  std::optional<std::uint16_t> port = {};
  bool operator==(const HostPort&) const = default;
};
std::optional<HostPort> read_host_port(std::string_view text);

struct HttpRequest {
  std::string method = {};
  std::string target = {};
  HostPort host = {};
  std::size_t head_bytes = 0;  // with the empty line
};

class HttpHost {
 public:
  // Takes bytes in any pieces. `other` as soon as it cannot be a request line.
  Peek feed(std::span<const std::byte> bytes);
  // With Peek::done.
  const HttpRequest& request() const { return request_; }

  static constexpr std::size_t kMaxBytes = 32'768;

 private:
  Peek judge();
  Peek read_head(std::string_view head);

  std::string head_ = {};
  std::size_t scanned_ = 0;  // there is no end of the head before this
  bool is_http_ = false;     // the request line says so
  Peek state_ = Peek::more;
  HttpRequest request_ = {};
};

}  // namespace cordon::egress
