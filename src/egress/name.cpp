// SPDX-License-Identifier: Apache-2.0
#include "egress/name.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "egress/name_tables.hpp"

namespace cordon::egress {
namespace {

constexpr std::size_t kMaxWrittenBytes = 1024;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_label_byte(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_'; }

// The last label decides whether a name may be taken for an IPv4 address: 127.1, 0x7f.1 and 0177.0.0.1 are such.
bool reads_as_number(std::string_view label) { return std::ranges::all_of(label, is_digit) || label.starts_with("0x"); }

std::string_view fault_of_label(std::string_view label) {
  if (label.empty()) {
    return "an empty label";
  }
  if (label.size() > kMaxLabelBytes) {
    return "a label of more than 63 bytes";
  }
  if (!std::ranges::all_of(label, is_label_byte)) {
    return "a character that no host name has";
  }
  if (label.front() == '-' || label.back() == '-') {
    return "a label that begins or ends with a hyphen";
  }
  return {};
}

// Of a name in lower case without the dot at its end; empty: none.
std::string_view fault_of(std::string_view name) {
  if (name.empty()) {
    return "nothing in it";
  }
  if (name.size() > kMaxNameBytes) {
    return "more than 253 bytes";
  }
  const std::vector<std::string_view> labels = text::split(name, '.');
  for (const std::string_view label : labels) {
    if (const std::string_view fault = fault_of_label(label); !fault.empty()) {
      return fault;
    }
  }
  return reads_as_number(labels.back()) ? "a last label that reads as a number of an address" : std::string_view();
}

std::string lowered(std::string_view text) {
  if (text.ends_with('.')) {
    text.remove_suffix(1);
  }
  return text::lower_ascii(text);
}

// IDNA maps what nobody sees to nothing, and other dots to dots: two names that look the same would not be.
bool is_visible(std::string_view written) {
  for (std::size_t at = 0; at < written.size();) {
    const text::CodePoint point = text::decode_utf8(written, at);
    if (point.length == 0 || (point.value >= 0x80 && !text::is_visible_letter(point.value))) {
      return false;
    }
    at += point.length;
  }
  return true;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::unexpected<Error> no_name(std::string_view fault) {
  return fail(Errc::policy_invalid, text::cat("no host name: it has ", fault));
}

}  // namespace

std::optional<std::string> canonical_host(std::string_view text) {
  if (text.size() > kMaxNameBytes + 1) {
    return std::nullopt;
  }
  std::string name = lowered(text);
  return fault_of(name).empty() ? std::optional(std::move(name)) : std::nullopt;
}

Result<std::string> canonical_policy_host(std::string_view text) {
  if (text.size() > kMaxWrittenBytes) {
    return no_name("more than 253 bytes");
  }
  // Before any library looks at it: what IDNA would map away or take for a separator.
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '.' && !is_label_byte(c) && !(c >= 'A' && c <= 'Z')) {
      return no_name("a character that no host name has");
    }
  }
  if (!is_visible(text)) {
    return no_name("a character that no host name has");
  }
  std::string name = lowered(text);
  if (!is_ascii(text) || name.starts_with("xn--") || name.find(".xn--") != std::string::npos) {
    std::optional<std::string> mapped = to_a_labels(name);
    if (!mapped) {
      return no_name("letters that no registry accepts in a name");
    }
    name = std::move(*mapped);
  }
  if (const std::string_view fault = fault_of(name); !fault.empty()) {
    return no_name(fault);
  }
  return name;
}

bool is_below(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() + 1 && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

}  // namespace cordon::egress
