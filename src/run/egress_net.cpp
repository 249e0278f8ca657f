// SPDX-License-Identifier: Apache-2.0
#include "run/egress_net.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cordon::run {

LoopTimer::LoopTimer(Loop& loop, std::function<void()> fire) : fire_(std::move(fire)) {
  CORDON_ASSERT(uv_timer_init(loop.raw(), handle_.get()) == 0);
  handle_.opened(this);
}

void LoopTimer::set(std::uint64_t delay_ms) {
  // The loop's idea of now is that of its last turn.
  uv_update_time(handle_.get()->loop);
  CORDON_ASSERT(uv_timer_start(handle_.get(), &LoopTimer::fired, delay_ms, 0) == 0);
}

void LoopTimer::stop() { uv_timer_stop(handle_.get()); }

void LoopTimer::fired(uv_timer_t* handle) noexcept { static_cast<LoopTimer*>(handle->data)->fire_(); }

SocketAddress socket_address(const egress::IpAddress& address, std::uint16_t port) {
  SocketAddress out;
  if (address.v6) {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size = sizeof v6;
  } else {
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), 4);
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.size = sizeof v4;
  }
  return out;
}

std::optional<egress::IpAddress> ip_address_of(const sockaddr* address) {
  egress::IpAddress out;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, address, sizeof v4);
    std::memcpy(out.bytes.data(), &v4.sin_addr, 4);
    return out;
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, address, sizeof v6);
    std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
    out.v6 = true;
    return out;
  }
  return std::nullopt;
}

std::optional<egress::Door> door_of(int accepted) {
  sockaddr_in local = {};
  socklen_t size = sizeof local;
  if (::getsockname(accepted, reinterpret_cast<sockaddr*>(&local), &size) != 0 || local.sin_family != AF_INET) {
    return std::nullopt;
  }
  return egress::Door{egress::Ipv4{ntohl(local.sin_addr.s_addr)}, ntohs(local.sin_port)};
}

bool is_own_address(const egress::IpAddress& address) {
  const UniqueFd probe(::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = socket_address(address, 9);
  SocketAddress from;
  from.size = sizeof from.storage;
  return probe && ::connect(probe.get(), to.get(), to.size) == 0 &&
         ::getsockname(probe.get(), from.get(), &from.size) == 0 && ip_address_of(from.get()) == address;
}

Connecting start_connect(const egress::IpAddress& address, std::uint16_t port) {
  Connecting out;
  out.fd = UniqueFd(::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out.fd) {
    out.error_number = errno;
    return out;
  }
  const SocketAddress to = socket_address(address, port);
  out.error_number = ::connect(out.fd.get(), to.get(), to.size) == 0 ? 0 : errno;
  // On this machine it is a matter of microseconds. Asked again, the kernel tells what it has come to.
  if (out.error_number == EINPROGRESS) {
    const int now = ::connect(out.fd.get(), to.get(), to.size) == 0 ? 0 : errno;
    out.error_number = now == EALREADY ? EINPROGRESS : now == EISCONN ? 0 : now;
  }
  return out;
}

int socket_error(int fd) {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &size) == 0 ? error_number : errno;
}

std::ptrdiff_t receive(int fd, std::span<std::byte> into) {
  const ssize_t got = ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
  return got >= 0 ? got : -errno;
}

std::ptrdiff_t send_some(int fd, std::span<const std::byte> bytes) {
  // sendmsg and not send: the one call for it that our own process may make.
  iovec part = {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t sent = ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent >= 0 ? sent : -errno;
}

void reset(UniqueFd fd) {
  if (fd) {
    const linger now = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace cordon::run
