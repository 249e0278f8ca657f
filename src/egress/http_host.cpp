// SPDX-License-Identifier: Apache-2.0
#include "egress/http_host.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.hpp"
#include "egress/address.hpp"
#include "egress/name.hpp"

namespace cordon::egress {
namespace {

constexpr std::size_t kMaxMethod = 32;
constexpr std::size_t kMaxRequestLine = 16'384;
constexpr std::string_view kBlanks = " \t\v\f\r";
constexpr std::string_view kEnd = "\r\n\r\n";

// RFC 9110: what methods and names of fields consist of.
bool is_token_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_byte); }

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool fine = error == std::errc() && end == text.data() + text.size() && port != 0 && text[0] != '0';
  return fine ? std::optional(port) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// "GET /x HTTP/1.1" in its three parts; nothing when it is none.
struct RequestLine {
  std::string_view method = {};
  std::string_view target = {};
  std::string_view version = {};
};
std::optional<RequestLine> request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) {
    return std::nullopt;
  }
  return RequestLine{line.substr(0, first), line.substr(first + 1, last - first - 1), line.substr(last + 1)};
}

// HTTP/0.9, which servers still take: "GET http://HOST/", with no field that would name the host. Lower case is left to
// the caches and stores whose commands look like it.
bool is_request_without_version(std::string_view line) {
  constexpr std::array<std::string_view, 8> kMethods = {"DELETE", "GET",  "HEAD", "OPTIONS",
                                                        "PATCH",  "POST", "PUT",  "TRACE"};
  const std::size_t method_end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string_view method = line.substr(0, method_end);
  std::string_view target = line.substr(std::min(line.find_first_not_of(kBlanks, method_end), line.size()));
  const std::size_t target_end = target.find_first_of(kBlanks);
  // OPTIONS is a word of other protocols, too: "OPTIONS rtsp://HOST/ RTSP/1.0".
  if (std::ranges::find(kMethods, method) == kMethods.end() ||
      (method == "OPTIONS" && target_end != std::string_view::npos)) {
    return false;
  }
  target = target.substr(0, target_end);
  return target.starts_with('/') || target.contains("://");
}

bool is_printable_target(std::string_view target) {
  return !target.empty() && std::ranges::all_of(target, [](char c) { return c > ' ' && c != 0x7f; });
}

// The authority of http://HOST/…; an empty one for a path or *; nothing when it is neither.
std::optional<std::string_view> authority_of(std::string_view method, std::string_view target) {
  if (method == "CONNECT") {
    return target;
  }
  if (target.starts_with('/') || target == "*") {
    return std::string_view();
  }
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = target.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  // A user before the host: where one ends and the other begins has been read in more than one way.
  return authority.empty() || authority.contains('@') ? std::nullopt : std::optional(authority);
}

}  // namespace

std::optional<HostPort> read_host_port(std::string_view text) {
  HostPort out;
  std::string_view host = text;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    const auto address = ip_address_from_text(text.substr(1, close - 1));
    if (!address || !address->v6) {
      return std::nullopt;
    }
    out.host = to_string(*address);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !rest.starts_with(':')) {
      return std::nullopt;
    }
    if (!rest.empty()) {
      out.port = read_port(rest.substr(1));
      return out.port ? std::optional(std::move(out)) : std::nullopt;
    }
    return out;
  }
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    out.port = read_port(text.substr(colon + 1));
    if (!out.port) {
      return std::nullopt;
    }
  }
  if (const auto address = ipv4_from_text(host)) {
    out.host = to_string(*address);
    return out;
  }
  auto name = canonical_host(host);
  if (!name) {
    return std::nullopt;
  }
  out.host = std::move(*name);
  return out;
}

Peek HttpHost::feed(std::span<const std::byte> bytes) {
  if (state_ != Peek::more) {
    return state_;
  }
  const std::size_t taken = std::min(bytes.size(), kMaxBytes + 1 - head_.size());
  for (const std::byte byte : bytes.first(taken)) {
    head_ += static_cast<char>(byte);
  }
  state_ = judge();
  if (state_ != Peek::more) {
    head_ = {};
  }
  return state_;
}

Peek HttpHost::judge() {
  if (!is_http_ && !head_.empty()) {
    // Servers skip empty lines, and some blanks, before a request, so that what begins with one could be anything.
    if (std::string_view(" \t\v\f\r\n").contains(head_.front())) {
      return Peek::malformed;
    }
    // What stands behind the first word, where lenient servers take more than a space.
    const auto word_end = std::ranges::find_if_not(head_, is_token_byte);
    const auto word = static_cast<std::size_t>(word_end - head_.begin());
    if (word == 0 || word > kMaxMethod ||
        (word_end != head_.end() && !std::string_view(" \t\v\f\r\n").contains(*word_end))) {
      return Peek::other;
    }
    const std::size_t line_end = head_.find('\n');
    if (std::min(line_end, head_.size()) > kMaxRequestLine) {
      return Peek::malformed;  // whether its end has come already or not
    }
    if (line_end == std::string::npos) {
      return Peek::more;
    }
    std::string_view line = std::string_view(head_).substr(0, line_end);
    const bool strict = line.ends_with('\r');
    line = trimmed(strict ? line.substr(0, line.size() - 1) : line);
    const std::size_t last = line.find_last_of(kBlanks);
    if (last == std::string_view::npos || !text::lower_ascii(line.substr(last + 1)).starts_with("http/")) {
      return is_request_without_version(line) ? Peek::malformed : Peek::other;
    }
    if (!strict) {
      return Peek::malformed;
    }
    is_http_ = true;
  }
  const std::size_t end = head_.find(kEnd, scanned_);
  if (end == std::string::npos) {
    scanned_ = head_.size() < kEnd.size() ? 0 : head_.size() - kEnd.size() + 1;
    return head_.size() > kMaxBytes ? Peek::malformed : Peek::more;
  }
  request_.head_bytes = end + kEnd.size();
  return read_head(std::string_view(head_).substr(0, end));
}

// Without the empty line.
Peek HttpHost::read_head(std::string_view head) {
  const std::size_t first_end = std::min(head.find("\r\n"), head.size());
  const std::string_view first = head.substr(0, first_end);
  const std::optional<RequestLine> line = request_line(first);
  if (!line || !is_token(line->method) || !is_printable_target(line->target) ||
      (line->version != "HTTP/1.1" && line->version != "HTTP/1.0")) {
    return Peek::malformed;
  }
  std::optional<std::string_view> host;
  std::string_view rest = head.substr(std::min(first_end + 2, head.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\r\n"), rest.size());
    const std::string_view field = rest.substr(0, end);
    rest = rest.substr(std::min(end + 2, rest.size()));
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos || !is_token(field.substr(0, colon)) ||
        field.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      return Peek::malformed;
    }
    if (text::lower_ascii(field.substr(0, colon)) == "host") {
      if (host) {
        return Peek::malformed;
      }
      host = trimmed(field.substr(colon + 1));
    }
  }
  const std::optional<std::string_view> authority = authority_of(line->method, line->target);
  std::optional<HostPort> named = host ? read_host_port(*host) : std::nullopt;
  if (!named || !authority) {
    return Peek::malformed;
  }
  if (!authority->empty()) {
    const std::optional<HostPort> target = read_host_port(*authority);
    if (!target || target->host != named->host) {
      return Peek::malformed;
    }
    named = target;
  }
  request_.method = line->method;
  request_.target = line->target;
  request_.host = std::move(*named);
  return Peek::done;
}

}  // namespace cordon::egress
