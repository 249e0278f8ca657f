// SPDX-License-Identifier: Apache-2.0
// What is tried beside the doors: a packet socket that sees the kernel's refusals in this namespace, and a table of
// routes by which a TCP connection to any address is refused there instead of finding no way, so that it is seen. Both
// are for the record alone: a kernel that has them not is as tight.
#include <arpa/inet.h>
#include <linux/fib_rules.h>
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
constexpr unsigned char kTable = 100;
// Behind the main table (32766): for what has no route otherwise.
constexpr std::uint32_t kPriority = 40'000;

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

template <typename Value>
struct Attribute {
  explicit Attribute(unsigned short type, Value its_value)
      : head{.rta_len = RTA_LENGTH(sizeof(Value)), .rta_type = type}, value(its_value) {}
  rtattr head;
  alignas(4) Value value;
};

struct RuleRequest {
  nlmsghdr head = {};
  fib_rule_hdr rule = {};
  Attribute<std::uint32_t> priority = Attribute<std::uint32_t>(FRA_PRIORITY, kPriority);
  Attribute<std::uint8_t> protocol = Attribute<std::uint8_t>(FRA_IP_PROTO, IPPROTO_TCP);
};
struct RouteRequest {
  nlmsghdr head = {};
  rtmsg route = {};
  Attribute<std::uint32_t> interface = Attribute<std::uint32_t>(RTA_OIF, ::if_nametoindex("lo"));
};

template <typename Request>
bool ask(int netlink, Request request, unsigned short type) {
  request.head = {.nlmsg_len = sizeof request,
                  .nlmsg_type = type,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                  .nlmsg_seq = 1,
                  .nlmsg_pid = 0};
  struct {
    nlmsghdr head;
    nlmsgerr result;
  } reply = {};
  return ::send(netlink, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request) &&
         ::recv(netlink, &reply, sizeof reply, 0) >= static_cast<ssize_t>(sizeof reply) &&
         reply.head.nlmsg_type == NLMSG_ERROR && reply.result.error == 0;
}

// UDP keeps finding no way, which programs take better than silence.
void refuse_all_streams() {
  const UniqueFd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  RouteRequest route;
  route.route.rtm_family = AF_INET;
  route.route.rtm_table = kTable;
  route.route.rtm_protocol = RTPROT_BOOT;
  route.route.rtm_scope = RT_SCOPE_HOST;
  route.route.rtm_type = RTN_LOCAL;
  RuleRequest rule;
  rule.rule.family = AF_INET;
  rule.rule.table = kTable;
  rule.rule.action = FR_ACT_TO_TBL;
  (void)(netlink && ask(netlink.get(), route, RTM_NEWROUTE) && ask(netlink.get(), rule, RTM_NEWRULE));
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
  refuse_all_streams();
  return watch;
}

}  // namespace cordon::sandbox::stage
