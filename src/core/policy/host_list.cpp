// SPDX-License-Identifier: Apache-2.0
#include "core/policy/host_list.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

std::string folded(std::string_view host) {
  if (host.ends_with('.')) {
    host.remove_suffix(1);
  }
  return text::lower_ascii(host);
}

bool name_admitted(std::string_view most, std::string_view asked) {
  if (!most.starts_with("*.")) {
    return most == asked;
  }
  const std::string_view suffix = most.substr(1);  // ".example.org"
  return asked.size() > suffix.size() && asked.ends_with(suffix);
}

bool reaches(std::span<const HostGrant> most, const HostGrant& asked, std::optional<std::uint16_t> port) {
  return std::ranges::any_of(most, [&](const HostGrant& entry) {
    const bool has_port = entry.ports.empty() || (port && std::ranges::find(entry.ports, *port) != entry.ports.end());
    return has_port && (entry.private_addresses || !asked.private_addresses) &&
           name_admitted(folded(entry.host), folded(asked.host));
  });
}

}  // namespace

std::string to_text(const HostGrant& grant) {
  std::string out = grant.host;
  for (std::size_t i = 0; i < grant.ports.size(); ++i) {
    out += text::cat(i == 0 ? ":" : ",", grant.ports[i]);
  }
  return grant.private_addresses ? out + " private" : out;
}

std::string_view name(SniCheck check) {
  switch (check) {
    case SniCheck::off:
      return "off";
    case SniCheck::flag:
      return "flag";
    case SniCheck::match:
      return "match";
  }
  return "";
}

std::string_view name(NetworkMode mode) {
  switch (mode) {
    case NetworkMode::proxy:
      return "proxy";
    case NetworkMode::transparent:
      return "transparent";
  }
  return "";
}

bool host_admitted(std::span<const HostGrant> most, const HostGrant& asked) {
  if (asked.ports.empty()) {
    return reaches(most, asked, std::nullopt);
  }
  return std::ranges::all_of(asked.ports, [&](std::uint16_t port) { return reaches(most, asked, port); });
}

}  // namespace cordon::policy
