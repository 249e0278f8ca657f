// SPDX-License-Identifier: Apache-2.0
#include "core/policy/url_host.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::unexpected<Error> unclear(std::string_view what) { return fail(Errc::argument_denied, std::string(what)); }

// Ends in what some program reads as a number: 127.1, 0x7f.1, 017700000001.
bool ends_in_number(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return std::ranges::all_of(last, is_digit) || last.starts_with("0x");
}

// Four decimal numbers without leading zeros, and no other of the dozen spellings.
bool plain_ipv4(std::string_view host) {
  const std::vector<std::string_view> parts = text::split(host, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           int number = -1;
           const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
           return error == std::errc() && end == part.data() + part.size() && number >= 0 && number <= 255 &&
                  std::to_string(number) == part;
         });
}

using Groups = std::array<std::uint16_t, 8>;

// Groups of hexadecimal digits between colons; false for anything else.
bool read_groups(std::string_view text, std::vector<std::uint16_t>& out) {
  if (text.empty()) {
    return true;
  }
  for (const std::string_view part : text::split(text, ':')) {
    std::uint16_t group = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), group, 16);
    if (part.empty() || part.size() > 4 || error != std::errc() || end != part.data() + part.size()) {
      return false;
    }
    out.push_back(group);
  }
  return out.size() <= 8;
}

std::optional<Groups> ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  std::vector<std::uint16_t> head;
  std::vector<std::uint16_t> tail;
  if (gap != std::string_view::npos && text.find("::", gap + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  if (!read_groups(text.substr(0, gap), head) ||
      (gap != std::string_view::npos && !read_groups(text.substr(gap + 2), tail))) {
    return std::nullopt;
  }
  const std::size_t count = head.size() + tail.size();
  if (gap == std::string_view::npos ? count != 8 : count > 7) {
    return std::nullopt;
  }
  Groups out = {};
  std::ranges::copy(head, out.begin());
  std::ranges::copy(tail, out.end() - static_cast<std::ptrdiff_t>(tail.size()));
  return out;
}

// RFC 5952: the longest run of at least two zero groups is left out.
std::string to_text(const Groups& groups) {
  std::size_t best = 8;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < groups.size();) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) {
      ++end;
    }
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
    i = std::max(end, i + 1);
  }
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == best) {
      out += "::";
      i += best_length - 1;
      continue;
    }
    std::array<char, 4> digits = {};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), groups[i], 16);
    out += out.empty() || out.ends_with(':') ? "" : ":";
    out.append(digits.data(), end);
  }
  return out;
}

Result<std::string> bracketed(std::string_view inside) {
  const auto groups = ipv6(text::lower_ascii(inside));
  if (!groups) {
    return unclear("its host is no plain IPv6 address");
  }
  // ::ffff:127.0.0.1 and its older kin are another address to some.
  if (std::all_of(groups->begin(), groups->begin() + 5, [](std::uint16_t group) { return group == 0; }) &&
      ((*groups)[5] == 0xffff || ((*groups)[5] == 0 && ((*groups)[6] != 0 || (*groups)[7] > 1)))) {
    return unclear("its host is an IPv4 address within an IPv6 one");
  }
  return to_text(*groups);
}

Result<std::string> named(std::string_view written) {
  const std::string host = text::lower_ascii(written);
  if (host.size() > kMaxNameBytes) {
    return unclear("its host is too long for a name");
  }
  for (const std::string_view label : text::split(host, '.')) {
    const bool plain =
        std::ranges::all_of(label, [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '_'; });
    if (label.empty() || label.size() > kMaxLabelBytes || !plain || label.front() == '-' || label.back() == '-') {
      return unclear("its host is no plain name: letters, digits and hyphens between dots, none at the end");
    }
  }
  if (ends_in_number(host) && !plain_ipv4(host)) {
    return unclear("its host is a number that programs read as different addresses");
  }
  return host;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool is_userinfo(std::string_view text) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:%";
  return std::ranges::all_of(
      text, [&](char c) { return is_digit(c) || is_letter(c) || kMarks.find(c) != std::string_view::npos; });
}

// A reader that decodes first finds the end of the authority, or another @, in such a name.
bool hides_separator(std::string_view user) {
  constexpr std::array<std::string_view, 7> kSeparators = {"%2f", "%5c", "%3f", "%23", "%40", "%25", "%00"};
  const std::string lower = text::lower_ascii(user);
  return std::ranges::any_of(kSeparators, [&](std::string_view one) { return lower.contains(one); });
}

// Schemes of code, of data and of files: what stands where the host should is none to whoever opens them.
bool names_no_host(std::string_view scheme) {
  constexpr std::array<std::string_view, 18> kSchemes = {
      "file",       "about",  "blob",  "data", "duckdb", "expect", "glob",        "jar",      "javascript",
      "local-file", "netdoc", "npipe", "phar", "php",    "unix",   "view-source", "vbscript", "zip"};
  return std::ranges::find(kSchemes, scheme) != kSchemes.end() || scheme.starts_with("compress.") ||
         scheme.starts_with("sqlite") || scheme.ends_with("+unix");
}

int hex_value(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The letters and digits of a parameter's name, decoded and in lower case.
std::string parameter_name(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      c = static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    }
    if (is_digit(c) || is_letter(c)) {
      out += c;
    }
  }
  return text::lower_ascii(out);
}

// URLs of databases and the like: drivers let a parameter take the place of the host (postgres://a/x?host=b).
bool names_host_again(std::string_view scheme, std::string_view behind) {
  constexpr std::array<std::string_view, 5> kWeb = {"http", "https", "ws", "wss", "ftp"};
  constexpr std::array<std::string_view, 21> kNames = {
      "addr",        "address",    "althosts",  "connectionstring", "datasource", "dsn",
      "endpoint",    "host",       "hostaddr",  "hostname",         "hosts",      "ip",
      "odbcconnect", "proxy",      "proxyhost", "server",           "service",    "servicefile",
      "socket",      "socketpath", "unixsocket"};
  if (std::ranges::find(kWeb, scheme) != kWeb.end() || behind.find('?') == std::string_view::npos) {
    return false;
  }
  std::string_view query = behind.substr(behind.find('?') + 1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;?#"), query.size());
    const std::string name = parameter_name(query.substr(0, query.substr(0, end).find('=')));
    if (std::ranges::find(kNames, name) != kNames.end()) {
      return true;
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return false;
}

// Another URL behind a comma and the like: what a server that takes lists would read.
bool looks_like_list(std::string_view behind) {
  for (std::size_t at = behind.find("://"); at != std::string_view::npos; at = behind.find("://", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_letter(behind[begin - 1])) {
      --begin;
    }
    if (begin > 0 && begin < at && std::string_view(",;|").find(behind[begin - 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// What is left of the authority after the user's name, which only some readers know.
Result<std::string_view> without_user(std::string_view authority) {
  const std::size_t at = authority.find('@');
  if (at == std::string_view::npos) {
    return authority;
  }
  const std::string_view user = authority.substr(0, at);
  if (authority.find('@', at + 1) != std::string_view::npos || !is_userinfo(user) || hides_separator(user)) {
    return unclear("programs disagree where the user's name in it ends");
  }
  if (user.starts_with('-')) {
    return unclear("its user's name begins with -, which programs take for an option");
  }
  return authority.substr(at + 1);
}

Result<std::string> host_of(std::string_view place) {
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    const std::string_view rest = end == std::string_view::npos ? std::string_view() : place.substr(end + 1);
    if (end == std::string_view::npos || (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1))))) {
      return unclear("its host and port cannot be told apart");
    }
    return bracketed(place.substr(1, end - 1));
  }
  const std::size_t colon = place.find(':');
  if (colon != std::string_view::npos && !is_port(place.substr(colon + 1))) {
    return unclear("its port is no number");
  }
  return named(place.substr(0, colon));
}

}  // namespace

Result<std::string> url_host(std::string_view url) {
  // Some readers drop tabs and line ends, take \ for /, or cut blanks off.
  if (std::ranges::any_of(url,
                          [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\'; })) {
    return unclear("a blank, a control character or a backslash is in it");
  }
  const std::size_t colon = url.find(':');
  const std::string_view scheme = url.substr(0, colon);
  constexpr std::string_view kSchemeMarks = "+-.";
  const bool plain = !scheme.empty() && is_letter(scheme.front()) && std::ranges::all_of(scheme, [&](char c) {
    return is_letter(c) || is_digit(c) || kSchemeMarks.find(c) != std::string_view::npos;
  });
  if (colon == std::string_view::npos || !plain || !url.substr(colon).starts_with("://")) {
    return unclear("it is no URL of the form scheme://host");
  }
  const std::string kind = text::lower_ascii(scheme);
  if (names_no_host(kind)) {
    return unclear(kind == "file" ? "a file URL has no host" : "URLs of its scheme have no host");
  }
  const std::string_view rest = url.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  if (looks_like_list(rest)) {
    return unclear("it looks like a list of URLs, which servers take apart");
  }
  if (names_host_again(kind, rest.substr(end))) {
    return unclear("a parameter of it can name another host");
  }
  // A reader that knows no query would look for the host behind it.
  const std::string_view after = rest.substr(end, std::min(rest.find('/', end), rest.size()) - end);
  if (after.find('@') != std::string_view::npos) {
    return unclear("programs disagree where its host ends");
  }
  const auto place = without_user(rest.substr(0, end));
  return place ? host_of(*place) : std::unexpected(place.error());
}

bool host_listed(const std::vector<std::string>& hosts, std::string_view host) {
  return std::ranges::any_of(hosts, [&](const std::string& entry) {
    return entry.starts_with("*.") ? host.size() > entry.size() - 1 && host.ends_with(std::string_view(entry).substr(1))
                                   : entry == host;
  });
}

}  // namespace cordon::policy
