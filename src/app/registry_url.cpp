// SPDX-License-Identifier: Apache-2.0
#include "app/registry_url.hpp"

#include <algorithm>
#include <charconv>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxFile = 8'000'000;

}  // namespace

std::optional<Url> read_url(std::string_view text) {
  Url out;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  out.scheme = text::lower_ascii(text.substr(0, colon));
  text.remove_prefix(colon + 3);
  const std::size_t slash = std::min(text.find('/'), text.size());
  out.path = slash == text.size() ? "/" : std::string(text.substr(slash));
  std::string_view authority = text.substr(0, slash);
  // Where one of these ends the host for others: "https://a.example?@b.example/" is at a.example.
  if (authority.find_first_of("?#\\ \t\r\n") != std::string_view::npos) {
    return std::nullopt;
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    out.credentials = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const std::size_t port = authority.rfind(':');
  out.host = text::lower_ascii(authority.substr(0, port));
  out.port = out.scheme == "https" ? 443 : 80;
  if (port != std::string_view::npos) {
    const std::string_view digits = authority.substr(port + 1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || out.port == 0) {
      return std::nullopt;
    }
  }
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  const bool known = out.scheme == "https" || out.scheme == "http";
  if (!known || out.host.empty() || !std::ranges::all_of(out.host, in_name)) {
    return std::nullopt;
  }
  return out;
}

std::string to_text(const Url& url) {
  return text::cat(url.scheme, "://", url.host, ':', url.port, url.path, url.path.ends_with('/') ? "" : "/");
}

void leave_localhost(Url& url) {
  if (url.host == "localhost") {
    url.host = "127.0.0.1";
  }
}

void allow_host(const Url& url, egress::Rules& network) {
  const auto same = [&url](const egress::Rule& rule) { return rule.host == url.host; };
  auto rule = std::ranges::find_if(network.allow, same);
  if (rule == network.allow.end()) {
    const bool address = egress::ipv4_from_text(url.host).has_value();
    network.allow.push_back({.kind = address ? egress::HostKind::address : egress::HostKind::name,
                             .host = url.host,
                             .private_addresses = true});
    rule = network.allow.end() - 1;
  }
  if (std::ranges::find(rule->ports, url.port) == rule->ports.end()) {
    rule->ports.push_back(url.port);
    std::ranges::sort(rule->ports);
  }
}

std::optional<std::string> through_proxy(const std::string& written, egress::Rules& network) {
  std::optional<Url> url = read_url(written);
  if (!url) {
    return std::nullopt;
  }
  leave_localhost(*url);
  network = {};
  network.sni = egress::SniCheck::off;
  allow_host(*url, network);
  const std::string user = url->credentials.empty() ? std::string() : url->credentials + "@";
  return text::cat(url->scheme, "://", user, url->host, ':', url->port, '/');
}

Status copy_certificates(const std::string& path, std::string_view name, std::map<std::string, std::string>& files) {
  if (path.empty()) {
    return {};
  }
  const Result<run::TrustedFile> file = run::read_trusted(resolved(path), {.max_bytes = kMaxFile});
  if (!file) {
    return std::unexpected(file.error());
  }
  files[std::string(name)] = file->content;
  return {};
}

std::string variable(const Caller& caller, const std::string& name) {
  const auto found = caller.environment.find(name);
  return found == caller.environment.end() ? std::string() : found->second;
}

}  // namespace cordon::app
