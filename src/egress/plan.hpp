// SPDX-License-Identifier: Apache-2.0
#pragma once
// egress: which hosts a server may reach, and everything about reaching them that needs no I/O: the rules, names, DNS
// answers, addresses, what a TLS or HTTP client says first. Must not: open a socket, ask a resolver, know MCP.
// Start reading here. The server's network namespace holds nothing but lo; each allowed name has an address there that
// exists nowhere else, and who connects to it reaches a socket that run/egress_broker answers from outside.
//
// This header is the seam between the two sides. The inside (sandbox) makes the namespace, routes and sockets that
// Doors asks for and hands them out; the outside (run) answers them.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::egress {

struct Ipv4 {
  std::uint32_t value = 0;  // host byte order
  auto operator<=>(const Ipv4&) const = default;
};
constexpr Ipv4 ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return Ipv4{(std::uint32_t{a} << 24) | (std::uint32_t{b} << 16) | (std::uint32_t{c} << 8) | d};
}
std::string to_string(Ipv4 address);
// Four decimal numbers without leading zeros, nothing else.
std::optional<Ipv4> ipv4_from_text(std::string_view text);

// ---- what is allowed ----

enum class HostKind : std::uint8_t {
  name,      // api.github.com
  wildcard,  // *.example.com: every name below example.com, not itself; `host` holds "example.com"
  address,   // 127.0.0.1; IPv4 only, with `private_addresses` only
};
enum class SniCheck : std::uint8_t { match, flag, off };
enum class EgressMode : std::uint8_t { transparent, proxy };
std::string_view name(HostKind kind);
std::string_view name(SniCheck check);
std::string_view name(EgressMode mode);

// One entry of isolation.network.allow.
struct Rule {
  HostKind kind = HostKind::name;
  std::string host = {};                  // canonical (name.hpp)
  std::vector<std::uint16_t> ports = {};  // ascending, each once, at least one
  bool private_addresses = false;         // private and loopback addresses too; never link-local or metadata ones
  std::string reason = {};
  int line = 0;  // in the policy
  bool operator==(const Rule&) const = default;
};

// Empty `allow`: no network at all, and nothing of this folder is in play.
struct Rules {
  std::vector<Rule> allow = {};
  SniCheck sni = SniCheck::match;
  EgressMode mode = EgressMode::transparent;
  bool empty() const { return allow.empty(); }
  bool operator==(const Rules&) const = default;
};

// "api.github.com:443,8443", "*.example.com:443", "127.0.0.1:5432 private": one spelling for equal rules, without
// reason and line.
std::string canonical(const Rule& rule);

// ---- what the inside provides ----

inline constexpr Ipv4 kPool = ipv4(198, 18, 0, 0);       // benchmark networks (RFC 2544): routed nowhere
inline constexpr int kPoolBits = 15;                     // 198.18.0.0 … 198.19.255.255, all of it local to lo inside
inline constexpr Ipv4 kFirstName = ipv4(198, 18, 1, 1);  // below: for ourselves
inline constexpr Ipv4 kFirstWildcard =
    ipv4(198, 19, 0, 1);  // names below a wildcard, in the order in which they are asked for
inline constexpr Ipv4 kResolver = ipv4(127, 0, 0, 1);  // DNS, UDP and TCP; the only `nameserver` of /etc/resolv.conf
inline constexpr std::uint16_t kResolverPort = 53;
// Stands for 127.0.0.1 inside, too, since no program asks anybody for it.
inline constexpr std::string_view kLocalhost = "localhost";
// With EgressMode::proxy the one door there is: who connects says there, in HTTP or SOCKS5, whom it means.
inline constexpr Ipv4 kProxy = ipv4(127, 0, 0, 1);
inline constexpr std::uint16_t kProxyPort = 1080;
// Content of /etc/resolv.conf inside.
std::string resolver_text(const Rules& rules);
struct Doors;
// Lines of /etc/hosts inside: programs find the names that are listed without a question to anybody. Names below a
// wildcard are not among them.
std::string hosts_text(const Doors& doors);
constexpr bool in_pool(Ipv4 address) {
  return (address.value >> (32 - kPoolBits)) == (kPool.value >> (32 - kPoolBits));
}

// More sockets than these do not go into one message: SCM_RIGHTS carries 253, two are DNS, one the agent's.
inline constexpr std::size_t kMaxDoors = 250;

// A listening socket (TCP, bound to exactly this pair).
struct Door {
  Ipv4 address = {};
  std::uint16_t port = 0;
  auto operator<=>(const Door&) const = default;
};
struct NameAddress {
  std::string name = {};
  Ipv4 address = {};
  bool operator==(const NameAddress&) const = default;
};
struct Doors {
  std::vector<NameAddress> names =
      {};                         // each exact name once, in the order of the rules; an address is never used again
  std::vector<Door> listen = {};  // ascending, each once
  // Allowed addresses outside 127.0.0.0/8, which are local already: each needs a route of type local to lo (/32)
  // inside.
  std::vector<Ipv4> routes = {};
  bool agent = false;  // there is a wildcard: somebody inside has to open doors later
  bool operator==(const Doors&) const = default;
};
// Pure: the same rules give the same doors. For EgressMode::proxy only that of the proxy. policy_invalid: more than
// kMaxDoors.
Result<Doors> plan_doors(const Rules& rules);

// ---- what is handed out ----

struct Listener {
  UniqueFd fd = {};
  Ipv4 address = {};
  std::uint16_t port = 0;
};
// All non-blocking and close-on-exec; the TCP ones listen already (backlog 128 or more).
struct Sockets {
  UniqueFd dns_udp = {};
  UniqueFd dns_tcp = {};
  std::vector<Listener> listeners = {};
  UniqueFd agent = {};  // SOCK_SEQPACKET to the agent; invalid without one
  UniqueFd watch = {};  // sees what the kernel refuses inside (refusal.hpp); invalid where the kernel lends none
};

// The one message that carries them. Its descriptors, in this order: dns_udp, dns_tcp, one per Doors::listen in that
// order, the agent's socket if there is one, the watching one if there is one. 16 bytes, numbers little-endian: "cEGs",
// version (u32), number of listeners (u32), agent 0|1 and watch 0|2 (u32).
inline constexpr std::size_t kMessageBytes = 16;
inline constexpr std::size_t kMostDescriptors = 253;  // what the kernel lets into one message
inline constexpr std::uint32_t kHandoverVersion = 2;
using MessageBytes = std::array<std::byte, kMessageBytes>;
enum class Watch : std::uint8_t { none, there };
MessageBytes handover_bytes(const Doors& doors, Watch watch = Watch::none);
// Takes the descriptors of a received message: their number has to be the one that `doors` asks for. On failure all are
// closed.
Result<Sockets> take_handover(const Doors& doors, std::span<const std::byte> message,
                              std::vector<UniqueFd> descriptors);

// The broker asks the agent to listen, and waits for the answer before it asks again. One packet each, 16 bytes,
// little-endian. Request: "cEGq", number of the request (u32), address (u32), port (u16), 0 (u16). Reply:   "cEGr",
// number of the request (u32), errno (i32; 0: exactly one descriptor is attached, listening, non-blocking), 0 (u32).
// The agent listens only in the pool, from kFirstWildcard on (else EACCES); it ends when its socket is closed, and on
// anything that is not a request. Its socket is bound for the life of the namespace: nothing takes a door back.
struct AgentRequest {
  std::uint32_t number = 0;
  Door door = {};
  bool operator==(const AgentRequest&) const = default;
};
struct AgentReply {
  std::uint32_t number = 0;
  std::int32_t error = 0;
  bool operator==(const AgentReply&) const = default;
};
MessageBytes to_bytes(const AgentRequest& request);
MessageBytes to_bytes(const AgentReply& reply);
std::optional<AgentRequest> agent_request(std::span<const std::byte> message);
std::optional<AgentReply> agent_reply(std::span<const std::byte> message);
// What the agent asks itself before it binds.
constexpr bool agent_may_open(Door door) {
  return in_pool(door.address) && door.address >= kFirstWildcard && door.port != 0;
}

}  // namespace cordon::egress
