// SPDX-License-Identifier: Apache-2.0
// Routes, sockets, and how they leave the namespace.
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/stage/egress.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::string_view kReason = "network_denied";
constexpr int kBacklog = 128;
constexpr std::uint32_t kWholeAddress = 32;

// An attribute with four bytes, as the kernel lays it out.
struct Attribute {
  rtattr head = {};
  std::uint32_t value = 0;
};
struct RouteRequest {
  nlmsghdr head = {};
  rtmsg route = {};
  Attribute destination = {};
  Attribute interface = {};
};
struct RouteReply {
  nlmsghdr head = {};
  nlmsgerr result = {};
};

Attribute attribute(unsigned short type, std::uint32_t value) {
  return {.head = {.rta_len = sizeof(Attribute), .rta_type = type}, .value = value};
}

// `local ADDRESS/BITS dev lo`: every address in it is one of this namespace's own.
Outcome add_route(int netlink, egress::Ipv4 address, std::uint32_t bits, unsigned lo) {
  RouteRequest request;
  request.head = {.nlmsg_len = sizeof request,
                  .nlmsg_type = RTM_NEWROUTE,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                  .nlmsg_seq = 1,
                  .nlmsg_pid = 0};
  request.route.rtm_family = AF_INET;
  request.route.rtm_dst_len = static_cast<unsigned char>(bits);
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_BOOT;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  request.destination = attribute(RTA_DST, htonl(address.value));
  request.interface = attribute(RTA_OIF, lo);
  RouteReply reply;
  const std::string what = text::cat("route ", egress::to_string(address), '/', bits);
  if (::send(netlink, &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request) ||
      ::recv(netlink, &reply, sizeof reply, 0) < static_cast<ssize_t>(sizeof reply)) {
    return failed(what, kReason);
  }
  if (reply.head.nlmsg_type != NLMSG_ERROR || reply.result.error != 0) {
    errno = reply.head.nlmsg_type == NLMSG_ERROR ? -reply.result.error : EPROTO;
    return failed(what, kReason);
  }
  return {};
}

Outcome add_routes(const egress::Doors& doors) {
  const UniqueFd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const unsigned lo = ::if_nametoindex("lo");
  if (!netlink || lo == 0) {
    return failed("netlink", kReason);
  }
  if (auto outcome = add_route(netlink.get(), egress::kPool, egress::kPoolBits, lo); !outcome) {
    return outcome;
  }
  for (const egress::Ipv4 address : doors.routes) {
    if (auto outcome = add_route(netlink.get(), address, kWholeAddress, lo); !outcome) {
      return outcome;
    }
  }
  return {};
}

// Bound to exactly this pair: what is not listed is refused by the kernel.
std::expected<UniqueFd, Failure> bound(egress::Door door, int type) {
  UniqueFd made(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_port = htons(door.port);
  place.sin_addr.s_addr = htonl(door.address.value);
  if (!made || ::bind(made.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    return failed(text::cat("bind ", egress::to_string(door.address), ':', door.port), kReason);
  }
  return made;
}

}  // namespace

std::expected<UniqueFd, Failure> open_door(egress::Door door) {
  auto made = bound(door, SOCK_STREAM);
  if (made && ::listen(made->get(), kBacklog) != 0) {
    return failed("listen", kReason);
  }
  return made;
}

std::expected<std::vector<UniqueFd>, Failure> open_doors(const egress::Doors& doors) {
  if (auto outcome = add_routes(doors); !outcome) {
    return std::unexpected(outcome.error());
  }
  std::vector<UniqueFd> sockets;
  const egress::Door resolver{egress::kResolver, egress::kResolverPort};
  auto datagrams = bound(resolver, SOCK_DGRAM);
  if (!datagrams) {
    return std::unexpected(datagrams.error());
  }
  sockets.push_back(std::move(*datagrams));
  std::vector<egress::Door> listen = {resolver};
  listen.insert(listen.end(), doors.listen.begin(), doors.listen.end());
  for (const egress::Door door : listen) {
    auto made = open_door(door);
    if (!made) {
      return std::unexpected(made.error());
    }
    sockets.push_back(std::move(*made));
  }
  return sockets;
}

Outcome hand_out(const Stage& stage, const std::vector<UniqueFd>& sockets, int agent) {
  std::vector<int> numbers;
  for (const UniqueFd& socket : sockets) {
    numbers.push_back(socket.get());
  }
  if (agent >= 0) {
    numbers.push_back(agent);
  }
  const UniqueFd watch = numbers.size() < egress::kMostDescriptors ? open_watch() : UniqueFd();
  if (watch) {
    numbers.push_back(watch.get());
  }
  egress::MessageBytes bytes =
      egress::handover_bytes(stage.plan.network.doors, watch ? egress::Watch::there : egress::Watch::none);
  std::vector<char> control(CMSG_SPACE(numbers.size() * sizeof(int)));
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(numbers.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), numbers.data(), numbers.size() * sizeof(int));
  if (::sendmsg(stage.handover.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    return failed("hand out the sockets", kReason);
  }
  return {};
}

Outcome AgentSockets::open() {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return failed("socketpair", kReason);
  }
  inside = UniqueFd(ends[0]);
  outside = UniqueFd(ends[1]);
  return {};
}

Outcome Word::open() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  in = UniqueFd(ends[0]);
  out = UniqueFd(ends[1]);
  return {};
}

// "+" for fine, else errno, reason and detail with a NUL after each but the last.
void Word::say(const Outcome& outcome) const {
  const std::string text = outcome
                               ? std::string("+")
                               : text::cat(outcome.error().error_number, std::string_view("\0", 1),
                                           outcome.error().reason, std::string_view("\0", 1), outcome.error().detail);
  (void)!::write(out.get(), text.data(), text.size());
}

Outcome Word::hear() {
  out.reset();
  std::string heard;
  std::array<char, 1024> buffer = {};
  for (;;) {
    const ssize_t length = ::read(in.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      break;
    }
    heard.append(buffer.data(), static_cast<std::size_t>(length));
    if (heard == "+") {
      return {};
    }
  }
  const std::vector<std::string_view> parts = text::split(heard, '\0');
  if (parts.size() != 3) {
    return refuse("ended without a word");
  }
  Failure failure{.detail = std::string(parts[2]), .reason = std::string(parts[1])};
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), failure.error_number);
  return std::unexpected(failure);
}

}  // namespace cordon::sandbox::stage
