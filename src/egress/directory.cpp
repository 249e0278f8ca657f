// SPDX-License-Identifier: Apache-2.0
#include "egress/directory.hpp"

#include <algorithm>

#include "egress/name.hpp"

namespace cordon::egress {
namespace {

bool names(const Rule& rule, std::string_view name) {
  switch (rule.kind) {
    case HostKind::name:
    case HostKind::address:
      return rule.host == name;
    case HostKind::wildcard:
      return is_below(name, rule.host);
  }
  return false;
}

bool has_port(const Rule& rule, std::uint16_t port) { return std::ranges::find(rule.ports, port) != rule.ports.end(); }

}  // namespace

const Rule* find_rule(const Rules& rules, std::string_view name, std::uint16_t port) {
  for (const bool wildcards : {false, true}) {
    for (const Rule& rule : rules.allow) {
      if ((rule.kind == HostKind::wildcard) == wildcards && names(rule, name) && has_port(rule, port)) {
        return &rule;
      }
    }
  }
  return nullptr;
}

std::vector<std::uint16_t> ports_of(const Rules& rules, std::string_view name) {
  std::vector<std::uint16_t> out;
  for (const Rule& rule : rules.allow) {
    if (names(rule, name)) {
      out.insert(out.end(), rule.ports.begin(), rule.ports.end());
    }
  }
  std::ranges::sort(out);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  return out;
}

Directory::Directory(const Rules& rules, const Doors& doors) : rules_(rules) {
  for (const NameAddress& entry : doors.names) {
    addresses_.emplace(entry.name, entry.address);
    names_.emplace(entry.address, entry.name);
  }
}

std::optional<Ipv4> Directory::address_of(std::string_view name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? std::nullopt : std::optional(found->second);
}

bool Directory::is_below_wildcard(std::string_view name) const {
  return std::ranges::any_of(
      rules_.allow, [&](const Rule& rule) { return rule.kind == HostKind::wildcard && is_below(name, rule.host); });
}

std::optional<Ipv4> Directory::assign(std::string_view name) {
  if (const auto known = address_of(name)) {
    return known;
  }
  if (!is_below_wildcard(name) || is_full()) {
    return std::nullopt;
  }
  const Ipv4 address = next_;
  do {
    ++next_.value;
  } while ((next_.value & 0xff) == 0 || (next_.value & 0xff) == 0xff);
  ++wildcard_names_;
  addresses_.emplace(name, address);
  names_.emplace(address, name);
  return address;
}

Directory::Target Directory::target_of(Door door) const {
  Target out;
  const auto found = names_.find(door.address);
  // 127.0.0.1 stands for localhost, where that is listed with this port, and for itself. Whoever connects there has
  // not said which.
  const bool is_localhost = found != names_.end() && found->second == kLocalhost;
  if (found != names_.end() && (!is_localhost || find_rule(rules_, kLocalhost, door.port) != nullptr)) {
    out.host = found->second;
    out.is_address = is_localhost;
  } else {
    out.host = to_string(door.address);
    out.is_address = true;
  }
  out.rule = find_rule(rules_, out.host, door.port);
  return out;
}

}  // namespace cordon::egress
