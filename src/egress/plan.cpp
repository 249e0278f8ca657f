// SPDX-License-Identifier: Apache-2.0
#include "egress/plan.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace cordon::egress {
namespace {

constexpr std::uint32_t letters(char a, char b, char c, char d) {
  return static_cast<std::uint32_t>(a) | (static_cast<std::uint32_t>(b) << 8) | (static_cast<std::uint32_t>(c) << 16) |
         (static_cast<std::uint32_t>(d) << 24);
}
constexpr std::uint32_t kHandover = letters('c', 'E', 'G', 's');
constexpr std::uint32_t kRequest = letters('c', 'E', 'G', 'q');
constexpr std::uint32_t kReply = letters('c', 'E', 'G', 'r');

using Words = std::array<std::uint32_t, kMessageBytes / 4>;

MessageBytes pack(const Words& words) {
  MessageBytes out = {};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>((words[i / 4] >> (8 * (i % 4))) & 0xff);
  }
  return out;
}

std::optional<Words> unpack(std::span<const std::byte> message, std::uint32_t kind) {
  if (message.size() != kMessageBytes) {
    return std::nullopt;
  }
  Words words = {};
  for (std::size_t i = 0; i < message.size(); ++i) {
    words[i / 4] |= std::to_integer<std::uint32_t>(message[i]) << (8 * (i % 4));
  }
  return words[0] == kind ? std::optional(words) : std::nullopt;
}

// Addresses that end in .0 or .255 are left out: programs have been seen to refuse them as those of a network.
Ipv4 next_address(Ipv4 address) {
  do {
    ++address.value;
  } while ((address.value & 0xff) == 0 || (address.value & 0xff) == 0xff);
  return address;
}

bool is_loopback(Ipv4 address) { return address.value >> 24 == 127; }

}  // namespace

std::string to_string(Ipv4 address) {
  return text::cat(address.value >> 24, '.', (address.value >> 16) & 0xff, '.', (address.value >> 8) & 0xff, '.',
                   address.value & 0xff);
}

std::optional<Ipv4> ipv4_from_text(std::string_view text) {
  const std::vector<std::string_view> parts = text::split(text, '.');
  if (parts.size() != 4) {
    return std::nullopt;
  }
  Ipv4 out;
  for (const std::string_view part : parts) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number > 255 || part.size() > 3 ||
        (part.size() > 1 && part[0] == '0')) {
      return std::nullopt;
    }
    out.value = (out.value << 8) | number;
  }
  return out;
}

std::string_view name(HostKind kind) {
  switch (kind) {
    case HostKind::name:
      return "name";
    case HostKind::wildcard:
      return "wildcard";
    case HostKind::address:
      return "address";
  }
  return "";
}

std::string_view name(SniCheck check) {
  switch (check) {
    case SniCheck::match:
      return "match";
    case SniCheck::flag:
      return "flag";
    case SniCheck::off:
      return "off";
  }
  return "";
}

std::string_view name(EgressMode mode) {
  switch (mode) {
    case EgressMode::transparent:
      return "transparent";
    case EgressMode::proxy:
      return "proxy";
  }
  return "";
}

std::string canonical(const Rule& rule) {
  std::string out = text::cat(rule.kind == HostKind::wildcard ? "*." : "", rule.host, ':');
  for (std::size_t i = 0; i < rule.ports.size(); ++i) {
    out += text::cat(i == 0 ? "" : ",", rule.ports[i]);
  }
  return rule.private_addresses ? out + " private" : out;
}

// Who answers on lo answers at once or not at all: without hosts nobody does.
std::string resolver_text(const Rules& rules) {
  return text::cat("nameserver ", to_string(kResolver),
                   !rules.empty() ? "\noptions timeout:2 attempts:2\n" : "\noptions timeout:1 attempts:1\n");
}

std::string hosts_text(const Doors& doors) {
  std::string out;
  for (const NameAddress& one : doors.names) {
    if (one.name != kLocalhost) {
      out += text::cat(to_string(one.address), ' ', one.name, '\n');
    }
  }
  return out;
}

Result<Doors> plan_doors(const Rules& rules) {
  Doors out;
  if (rules.mode == EgressMode::proxy) {
    out.listen = {{kProxy, kProxyPort}};
    return out;
  }
  Ipv4 next = kFirstName;
  for (const Rule& rule : rules.allow) {
    Ipv4 address;
    if (rule.kind == HostKind::wildcard) {
      out.agent = true;
      continue;
    }
    if (rule.kind == HostKind::address) {
      address = ipv4_from_text(rule.host).value_or(Ipv4());
      if (address == Ipv4() || in_pool(address)) {
        return fail(Errc::policy_invalid, text::cat(rule.host, " cannot be an allowed address"),
                    "isolation.network.allow");
      }
      if (!is_loopback(address)) {
        out.routes.push_back(address);
      }
    } else if (const auto known = std::ranges::find(out.names, rule.host, &NameAddress::name);
               known != out.names.end()) {
      address = known->address;
    } else if (rule.host == kLocalhost) {
      address = kResolver;
      out.names.push_back({rule.host, address});
    } else {
      address = next;
      next = next_address(next);
      out.names.push_back({rule.host, address});
    }
    for (const std::uint16_t port : rule.ports) {
      if (address == kResolver && port == kResolverPort) {
        return fail(Errc::policy_invalid, text::cat(rule.host, ':', port, " is where our own resolver answers inside"),
                    "isolation.network.allow", "take it out: names are answered there anyway");
      }
      out.listen.push_back({address, port});
    }
  }
  const auto once = [](auto& list) {
    std::ranges::sort(list);
    const auto rest = std::ranges::unique(list);
    list.erase(rest.begin(), rest.end());
  };
  once(out.listen);
  once(out.routes);
  if (out.listen.size() > kMaxDoors) {
    return fail(Errc::policy_invalid,
                text::cat(out.listen.size(), " pairs of a host and a port are allowed, at most ", kMaxDoors, " can be"),
                "isolation.network.allow");
  }
  return out;
}

MessageBytes handover_bytes(const Doors& doors, Watch watch) {
  return pack({kHandover, kHandoverVersion, static_cast<std::uint32_t>(doors.listen.size()),
               (doors.agent ? 1U : 0U) | (watch == Watch::there ? 2U : 0U)});
}

Result<Sockets> take_handover(const Doors& doors, std::span<const std::byte> message,
                              std::vector<UniqueFd> descriptors) {
  const bool watched = std::ranges::equal(message, handover_bytes(doors, Watch::there));
  const std::size_t count = 2 + doors.listen.size() + (doors.agent ? 1 : 0) + (watched ? 1 : 0);
  if ((!watched && !std::ranges::equal(message, handover_bytes(doors))) || descriptors.size() != count) {
    return fail(
        Errc::launch_failed,
        text::cat("the sockets of the namespace did not come as planned (", descriptors.size(), " of ", count, ")"),
        "egress");
  }
  Sockets out;
  out.dns_udp = std::move(descriptors[0]);
  out.dns_tcp = std::move(descriptors[1]);
  for (std::size_t i = 0; i < doors.listen.size(); ++i) {
    out.listeners.push_back({std::move(descriptors[2 + i]), doors.listen[i].address, doors.listen[i].port});
  }
  if (doors.agent) {
    out.agent = std::move(descriptors[2 + doors.listen.size()]);
  }
  if (watched) {
    out.watch = std::move(descriptors.back());
  }
  return out;
}

MessageBytes to_bytes(const AgentRequest& request) {
  return pack({kRequest, request.number, request.door.address.value, request.door.port});
}

MessageBytes to_bytes(const AgentReply& reply) {
  return pack({kReply, reply.number, static_cast<std::uint32_t>(reply.error), 0});
}

std::optional<AgentRequest> agent_request(std::span<const std::byte> message) {
  const std::optional<Words> words = unpack(message, kRequest);
  if (!words || (*words)[3] > 0xffff) {
    return std::nullopt;
  }
  return AgentRequest{(*words)[1], {Ipv4{(*words)[2]}, static_cast<std::uint16_t>((*words)[3])}};
}

std::optional<AgentReply> agent_reply(std::span<const std::byte> message) {
  const std::optional<Words> words = unpack(message, kReply);
  if (!words || (*words)[3] != 0) {
    return std::nullopt;
  }
  return AgentReply{(*words)[1], static_cast<std::int32_t>((*words)[2])};
}

}  // namespace cordon::egress
