// SPDX-License-Identifier: Apache-2.0
// The network. Addresses are dialled only where lo is the sole interface; the listener on the machine's own loopback
// address is one that the launcher has planted.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "probe/check.hpp"
#include "probe/sockets.hpp"

namespace cordon::probe {
namespace {

void loopback_outside(const Request& request, Result& result) {
  if (request.number("port") <= 0) {
    result.not_applicable("nothing was planted");
    return;
  }
  result.denied("connect", [&] { return connect_ip("127.0.0.1", request.number("port"), SOCK_STREAM); });
}

void addresses(const Request&, Result& result) {
  result.denied("TCP", [] { return connect_ip("192.0.2.1", 443, SOCK_STREAM); });
  result.denied("private address", [] { return connect_ip("10.0.0.1", 22, SOCK_STREAM); });
}

void datagrams(const Request&, Result& result) {
  result.denied("UDP", [] { return connect_ip("192.0.2.1", 53, SOCK_DGRAM); });
}

void metadata(const Request&, Result& result) {
  result.denied("TCP", [] { return connect_ip("169.254.169.254", 80, SOCK_STREAM); });
}

void own_listener(const Request& request, Result& result) {
  if (request.calls("strict")) {
    result.not_applicable("this plan lets nothing connect");
    return;
  }
  result.allowed("listen and connect", [] {
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
  });
}

void usual_sockets(const Request& request, Result& result) {
  if (request.calls("strict")) {
    result.refused("inet", "EAFNOSUPPORT", [] { return open_socket(AF_INET, SOCK_STREAM, 0); });
    return;
  }
  if (request.one("unix_calls") != "none") {
    result.allowed("unix", [] { return open_socket(AF_UNIX, SOCK_STREAM, 0); });
  }
  result.allowed("inet6", [] { return open_socket(AF_INET6, SOCK_STREAM, 0); });
  result.allowed("netlink route", [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); });
}

void raw_sockets(const Request& request, Result& result) {
  const char* refusal = request.calls("strict") ? "EAFNOSUPPORT" : "EPERM";
  result.refused("IPv4", refusal, [] { return open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); });
  result.refused("IPv6", refusal, [] { return open_socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6); });
  result.refused("SCTP", refusal, [] { return open_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP); });
}

void packet_sockets(const Request&, Result& result) {
  result.refused("packet", "EAFNOSUPPORT", [] { return open_socket(AF_PACKET, SOCK_RAW, 0); });
  result.refused("xdp", "EAFNOSUPPORT", [] { return open_socket(44, SOCK_RAW, 0); });
}

void machine_sockets(const Request&, Result& result) {
  result.refused("vsock", "EAFNOSUPPORT", [] { return open_socket(AF_VSOCK, SOCK_STREAM, 0); });
  result.refused("bluetooth", "EAFNOSUPPORT", [] { return open_socket(AF_BLUETOOTH, SOCK_RAW, 0); });
  result.refused("tipc", "EAFNOSUPPORT", [] { return open_socket(AF_TIPC, SOCK_STREAM, 0); });
}

void kernel_sockets(const Request&, Result& result) {
  result.refused("alg", "EAFNOSUPPORT", [] { return open_socket(AF_ALG, SOCK_SEQPACKET, 0); });
  result.refused("netlink audit", "EAFNOSUPPORT", [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); });
  result.refused("netlink netfilter", "EAFNOSUPPORT",
                 [] { return open_socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); });
}

constexpr std::array kChecks = {
    Check{"network.loopback_outside", "network.outside", "network namespace", Place::anywhere, loopback_outside},
    Check{"network.addresses", "network.outside", "network namespace", Place::lo_only, addresses},
    Check{"network.datagrams", "network.outside", "network namespace", Place::lo_only, datagrams},
    Check{"network.metadata", "network.outside", "network namespace", Place::lo_only, metadata},
    Check{"network.own_listener", "network.outside", "lo", Place::lo_only, own_listener},
    Check{"network.usual_sockets", "network.outside", "none", Place::inside, usual_sockets},
    Check{"syscalls.raw_sockets", "syscalls.filter", "seccomp", Place::inside, raw_sockets},
    Check{"syscalls.packet_sockets", "syscalls.filter", "seccomp", Place::inside, packet_sockets},
    Check{"syscalls.machine_sockets", "syscalls.filter", "seccomp", Place::inside, machine_sockets},
    Check{"syscalls.kernel_sockets", "syscalls.filter", "seccomp", Place::inside, kernel_sockets},
};

}  // namespace

std::span<const Check> network_checks() { return kChecks; }

}  // namespace cordon::probe
