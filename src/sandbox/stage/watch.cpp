// SPDX-License-Identifier: Apache-2.0
// What is tried beside the doors: a packet socket that sees the kernel's refusals in this namespace, and a route by
// which a connection to any address is refused there instead of finding no way, so that it is seen. Both are for the
// record alone: a kernel that has them not is as tight.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "egress/refusal.hpp"
#include "sandbox/stage/egress.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr int kBufferBytes = 65536;
constexpr sock_filter statement(unsigned code, std::uint32_t value) {
  return {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = value};
}
constexpr sock_filter jump(unsigned code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | code | BPF_K), .jt = yes, .jf = no, .k = value};
}

// Over the IPv4 packet: TCP, not a fragment, RST and ACK, number 0, not from the server's own loopback. refused_door()
// asks the same again.
constexpr std::array kFilter = {
    statement(BPF_LD | BPF_B | BPF_ABS, 9),
    jump(BPF_JEQ, IPPROTO_TCP, 0, 10),
    statement(BPF_LD | BPF_H | BPF_ABS, 6),
    jump(BPF_JSET, 0x3fff, 8, 0),
    statement(BPF_LD | BPF_B | BPF_ABS, 12),
    jump(BPF_JEQ, IN_LOOPBACKNET, 6, 0),
    statement(BPF_LDX | BPF_B | BPF_MSH, 0),
    statement(BPF_LD | BPF_B | BPF_IND, 13),
    jump(BPF_JEQ, 0x14, 0, 3),
    statement(BPF_LD | BPF_W | BPF_IND, 4),
    jump(BPF_JEQ, 0, 0, 1),
    statement(BPF_RET | BPF_K, egress::kRefusalBytes),
    statement(BPF_RET | BPF_K, 0),
};

struct RouteRequest {
  nlmsghdr head = {};
  rtmsg route = {};
  rtattr interface = {.rta_len = RTA_LENGTH(sizeof(std::uint32_t)), .rta_type = RTA_OIF};
  std::uint32_t lo = ::if_nametoindex("lo");
};

// `local 0.0.0.0/0 dev lo`, in the table of local addresses: elsewhere the kernel takes no address of it for a source.
void refuse_all_addresses() {
  const UniqueFd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  RouteRequest request;
  request.head = {.nlmsg_len = sizeof request,
                  .nlmsg_type = RTM_NEWROUTE,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL,
                  .nlmsg_seq = 1,
                  .nlmsg_pid = 0};
  request.route.rtm_family = AF_INET;
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_BOOT;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  (void)!::send(netlink.get(), &request, sizeof request, 0);
}

}  // namespace

UniqueFd open_watch() {
  // Of no protocol until it has its filter: it sees nothing before.
  UniqueFd watch(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  std::array filter = kFilter;
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  const int on = 1;
  sockaddr_ll place = {};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETH_P_IP);
  place.sll_ifindex = static_cast<int>(::if_nametoindex("lo"));
  if (!watch || ::setsockopt(watch.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0 ||
      ::setsockopt(watch.get(), SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on) != 0 ||
      ::setsockopt(watch.get(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes) != 0 ||
      ::bind(watch.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    return {};
  }
  refuse_all_addresses();
  return watch;
}

}  // namespace cordon::sandbox::stage
