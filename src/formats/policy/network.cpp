// SPDX-License-Identifier: Apache-2.0
// The hosts that a policy lets a server reach. Each name is canonical afterwards, so that nothing later has to compare
// two spellings.
#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "egress/address.hpp"
#include "egress/name.hpp"
#include "egress/plan.hpp"
#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

constexpr std::string_view kAllow = "isolation.network.allow";
constexpr Range kPorts = {1, 65'535};
constexpr std::string_view kExample = "write \"api.example.com:443\", or {host: api.example.com, ports: [443]}";

class Reader {
 public:
  Reader(Faults& faults, NetworkReader reader) : faults_(faults), reader_(reader) {}

  std::vector<policy::HostGrant> read(const yaml::Node& node) {
    const auto* items = read_list(faults_, node, kAllow, ListEmptiness::allowed);
    if (items == nullptr) {
      return {};
    }
    if (items->empty()) {
      fault(node, text::cat(kAllow, " names nothing"), "write network: none, or name a host and a port");
    }
    for (const yaml::Node& item : *items) {
      policy::HostGrant grant;
      grant.line = item.position.line;
      grant.column = item.position.column;
      const bool fine = item.kind == yaml::Kind::mapping ? read_mapping(item, grant) : read_short(item, grant);
      if (fine && is_new(item, grant)) {
        grants_.push_back(std::move(grant));
      }
    }
    if (pairs_.size() > egress::kMaxDoors && reader_ == NetworkReader::policy) {
      fault(node, text::cat(kAllow, " has ", pairs_.size(), " pairs of a host and a port"),
            text::cat("at most ", egress::kMaxDoors, " are possible"));
    }
    return std::move(grants_);
  }

 private:
  void fault(const yaml::Node& node, std::string detail, std::string remedy) {
    faults_.add(node.position, std::move(detail), std::move(remedy));
  }

  // "host:port"
  bool read_short(const yaml::Node& node, policy::HostGrant& grant) {
    const auto written = read_text(faults_, node, text::cat("an item of ", kAllow));
    if (!written) {
      return false;
    }
    if (written->find("://") != std::string::npos) {
      fault(node, text::cat("an item of ", kAllow, " is no URL: ", quote(*written)), std::string(kExample));
      return false;
    }
    const std::size_t colon = written->rfind(':');
    if (written->starts_with('[') || egress::ip_address_from_text(*written)) {
      // "[2001:db8::1]:443", or an address without its port
      const std::string_view inside = std::string_view(*written).substr(0, written->find(']'));
      const bool v6 = inside.find(':') != std::string_view::npos;
      if (v6) {
        refuse_v6(node, *written);
        return false;
      }
    }
    if (colon == std::string::npos || written->find(':') != colon) {
      fault(node, text::cat("an item of ", kAllow, " must be host:port, not ", quote(*written)), std::string(kExample));
      return false;
    }
    const std::string_view digits = std::string_view(*written).substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || digits.front() == '0') {
      fault(node, text::cat("no port from 1 to 65535: ", quote(digits)), std::string(kExample));
      return false;
    }
    grant.ports = {port};
    return read_host(node, written->substr(0, colon), grant);
  }

  bool read_mapping(const yaml::Node& node, policy::HostGrant& grant) {
    const Section section(faults_, node, std::string(kAllow), {"host", "ports", "private", "reason"});
    section.boolean("private", grant.private_addresses);
    section.text("reason", grant.reason, {TextForm::free, Emptiness::refused});
    const yaml::Member* host = section.find("host");
    const yaml::Member* ports = section.find("ports");
    if (host == nullptr || ports == nullptr) {
      fault(node, text::cat("an item of ", kAllow, " names no ", host == nullptr ? "host" : "ports"),
            std::string(kExample));
      return false;
    }
    const bool has_ports = read_ports(ports->value, grant);
    const auto written = read_text(faults_, host->value, section.path("host"));
    return written && read_host(host->value, *written, grant) && has_ports && !section.has_faulty_key();
  }

  bool read_ports(const yaml::Node& node, policy::HostGrant& grant) {
    const std::string what = text::cat(kAllow, ".ports");
    const auto* items = read_list(faults_, node, what, ListEmptiness::refused);
    if (items == nullptr) {
      return false;
    }
    for (const yaml::Node& item : *items) {
      const auto port = read_integer(faults_, item, text::cat("an item of ", what), kPorts);
      if (!port) {
        return false;
      }
      grant.ports.push_back(static_cast<std::uint16_t>(*port));
    }
    std::ranges::sort(grant.ports);
    return true;
  }

  bool read_host(const yaml::Node& node, const std::string& written, policy::HostGrant& grant) {
    if (egress::ip_address_from_text(written)) {
      return read_address(node, written, grant);
    }
    const bool wildcard = written.starts_with("*.");
    const Result<std::string> host = egress::canonical_policy_host(wildcard ? written.substr(2) : written);
    if (!host) {
      fault(node, text::cat(quote(written), ": ", host.error().detail),
            written.contains('*') ? "write *. in front of a name: *.example.com"
                                  : "write a name such as api.example.com");
      return false;
    }
    if (wildcard && reader_ == NetworkReader::policy && egress::is_public_suffix(*host)) {
      fault(node, text::cat(quote(written), ": anybody can have a name below ", *host),
            "name the hosts, or a wildcard below a name that has one owner");
      return false;
    }
    grant.host = wildcard ? text::cat("*.", *host) : *host;
    return true;
  }

  void refuse_v6(const yaml::Node& node, const std::string& written) {
    faults_.unsupported(
        node.position, text::cat(kAllow, " with the IPv6 address ", quote(written)),
        "inside there is IPv4 alone: name the host, whose IPv6 addresses are connected to from outside; "
        "one without a name gets one in /etc/hosts of this machine");
  }

  bool read_address(const yaml::Node& node, const std::string& written, policy::HostGrant& grant) {
    const egress::IpAddress address = *egress::ip_address_from_text(written);
    if (address.v6) {
      refuse_v6(node, written);
      return false;
    }
    const egress::Scope scope = egress::scope_of(address, {});
    if (!egress::may_connect(scope, true)) {
      fault(node, text::cat(quote(written), " can never be allowed: it is of the kind ", egress::name(scope)),
            "take it out");
      return false;
    }
    if (!grant.private_addresses) {
      fault(node, text::cat("the address ", quote(written), " needs private: true"),
            text::cat("write {host: ", written, ", ports: [443], private: true}, or a name"));
      return false;
    }
    const bool our_resolver = written == egress::to_string(egress::kResolver) &&
                              std::ranges::find(grant.ports, egress::kResolverPort) != grant.ports.end();
    if (our_resolver) {
      fault(node, "127.0.0.1:53 is the resolver inside", "take port 53 out");
      return false;
    }
    grant.host = written;
    return true;
  }

  bool is_new(const yaml::Node& node, const policy::HostGrant& grant) {
    for (const std::uint16_t port : grant.ports) {
      if (!pairs_.insert({grant.host, port}).second) {
        fault(node, text::cat(kAllow, " names ", quote(text::cat(grant.host, ':', port)), " twice"),
              "keep one of them");
        return false;
      }
    }
    return true;
  }

  Faults& faults_;
  NetworkReader reader_;
  std::vector<policy::HostGrant> grants_ = {};
  std::set<std::pair<std::string, std::uint16_t>> pairs_ = {};
};

}  // namespace

policy::Network read_network(Faults& faults, const yaml::Node& node, NetworkReader reader) {
  using policy::NetworkMode;
  using policy::SniCheck;
  policy::Network out;
  if (node.kind != yaml::Kind::mapping) {
    const bool word = node.kind == yaml::Kind::plain || node.kind == yaml::Kind::quoted;
    if (!word || node.text != "none") {
      faults.add(
          node.position,
          text::cat("isolation.network must be none or a mapping, not ", word ? quote(node.text) : kind_name(node)),
          "write none, or {allow: [\"api.github.com:443\"]}");
    }
    return out;
  }
  const Section section(faults, node, "isolation.network", {"allow", "sni", "mode"});
  const yaml::Member* allow = section.find("allow");
  if (allow == nullptr) {
    if (!section.has_faulty_key()) {
      faults.add(node.position, "isolation.network allows nothing",
                 "write none, or {allow: [\"api.example.com:443\"]}");
    }
    return out;
  }
  section.choice<SniCheck>("sni", out.sni,
                           {{"match", SniCheck::match}, {"flag", SniCheck::flag}, {"off", SniCheck::off}});
  section.choice<NetworkMode>("mode", out.mode,
                              {{"transparent", NetworkMode::transparent}, {"proxy", NetworkMode::proxy}});
  out.allow = Reader(faults, reader).read(allow->value);
  return out;
}

}  // namespace cordon::formats
