// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sockets and timers of the egress broker: each call does one thing, never blocks, and says what it came to.

#include <netinet/in.h>
#include <sys/socket.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "egress/address.hpp"
#include "egress/plan.hpp"
#include "run/loop.hpp"

namespace cordon::run {

// A timer of libuv's: there may be hundreds, and a descriptor for each would be dear.
class LoopTimer {
 public:
  LoopTimer(Loop& loop, std::function<void()> fire);
  // Once, in that many milliseconds; replaces what was set.
  void set(std::uint64_t delay_ms);
  void stop();

 private:
  static void fired(uv_timer_t* handle) noexcept;
  Handle<uv_timer_t> handle_ = {};
  std::function<void()> fire_;
};

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};
SocketAddress socket_address(const egress::IpAddress& address, std::uint16_t port);
std::optional<egress::IpAddress> ip_address_of(const sockaddr* address);

// Where this connection, accepted inside, was meant to go. Nothing: it is gone, or is no IPv4 one.
std::optional<egress::Door> door_of(int accepted);

// Would the kernel send this from and to the same address? Then it is this host's own, whatever list of addresses
// there is. Nothing is sent.
bool is_own_address(const egress::IpAddress& address);

struct Connecting {
  UniqueFd fd = {};
  int error_number = 0;  // 0: connected, or EINPROGRESS
};
Connecting start_connect(const egress::IpAddress& address, std::uint16_t port);
// Of a socket whose connect has ended: 0 when it is connected.
int socket_error(int fd);

// Reading and writing without SIGPIPE. Gives the bytes, 0 for the end, or a negative errno.
std::ptrdiff_t receive(int fd, std::span<std::byte> into);
std::ptrdiff_t send_some(int fd, std::span<const std::byte> bytes);
// The other side gets a reset instead of an end.
void reset(UniqueFd fd);
void no_delay(int fd);

}  // namespace cordon::run
