// SPDX-License-Identifier: Apache-2.0
// Sockets. Only reached when lo is the sole interface, so that no address dialled here can be a real one.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "probe.hpp"

namespace cordon::probe {
namespace {

int open_socket(int family, int type, int protocol) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, protocol);
  const int error_number = result_of(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  return error_number;
}

int connect_ip(const char* address, int port, int type) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address, &target.sin_addr);
  const int error_number = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&target), sizeof target));
  ::close(fd);
  return error_number;
}

// `name` with a leading '@' is abstract.
int connect_unix(const std::string& name) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un target = {};
  target.sun_family = AF_UNIX;
  std::memcpy(target.sun_path, name.data(), name.size());
  if (name.front() == '@') {
    target.sun_path[0] = '\0';
  }
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int error_number = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&target), length));
  ::close(fd);
  return error_number;
}

int own_listener() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in local = {};
  local.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof local;
  int error_number = result_of(::bind(fd, reinterpret_cast<sockaddr*>(&local), sizeof local));
  if (error_number == 0) {
    error_number = result_of(::listen(fd, 1));
  }
  if (error_number == 0) {
    error_number = result_of(::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length));
  }
  if (error_number == 0) {
    error_number = connect_ip("127.0.0.1", ntohs(local.sin_port), SOCK_STREAM);
  }
  ::close(fd);
  return error_number;
}

}  // namespace

void check_network(const Canaries& canaries) {
  check("connect_path_socket_outside", "denied", [&] { return connect_unix(canaries.at("socket")); });
  check("connect_abstract_socket_outside", "denied", [&] { return connect_unix("@" + canaries.at("abstract")); });
  check("connect_loopback_outside", "denied",
        [&] { return connect_ip("127.0.0.1", std::atoi(canaries.at("port").c_str()), SOCK_STREAM); });
  check("connect_address", "ENETUNREACH", [] { return connect_ip("192.0.2.1", 443, SOCK_STREAM); });
  check("connect_metadata_address", "ENETUNREACH", [] { return connect_ip("169.254.169.254", 80, SOCK_STREAM); });
  check("connect_udp", "ENETUNREACH", [] { return connect_ip("192.0.2.1", 53, SOCK_DGRAM); });
  check("own_loopback_listener", "allowed", own_listener);
  check("socket_unix", "EAFNOSUPPORT", [] { return open_socket(AF_UNIX, SOCK_STREAM, 0); });
  check("socket_inet6", "allowed", [] { return open_socket(AF_INET6, SOCK_STREAM, 0); });
  check("socket_netlink_route", "allowed", [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); });
  check("socket_netlink_audit", "EAFNOSUPPORT", [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); });
  check("socket_netlink_netfilter", "EAFNOSUPPORT",
        [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); });
  check("socket_raw", "EPERM", [] { return open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); });
  check("socket_raw6", "EPERM", [] { return open_socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6); });
  check("socket_sctp", "EPERM", [] { return open_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP); });
  check("socket_packet", "EAFNOSUPPORT", [] { return open_socket(AF_PACKET, SOCK_RAW, 0); });
  check("socket_vsock", "EAFNOSUPPORT", [] { return open_socket(AF_VSOCK, SOCK_STREAM, 0); });
  check("socket_alg", "EAFNOSUPPORT", [] { return open_socket(AF_ALG, SOCK_SEQPACKET, 0); });
  check("socket_bluetooth", "EAFNOSUPPORT", [] { return open_socket(AF_BLUETOOTH, SOCK_RAW, 0); });
  check("socket_xdp", "EAFNOSUPPORT", [] { return open_socket(44, SOCK_RAW, 0); });
  check("socket_tipc", "EAFNOSUPPORT", [] { return open_socket(AF_TIPC, SOCK_STREAM, 0); });
}

}  // namespace cordon::probe
