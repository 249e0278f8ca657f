// SPDX-License-Identifier: Apache-2.0
#include "formats/netrc.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::formats {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// The next word, without quotes; what follows "#" at the beginning of one is a comment up to the end of the line.
std::optional<std::string> next_word(std::string_view& rest) {
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    if (!rest.starts_with('#')) {
      break;
    }
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  if (rest.empty()) {
    return std::nullopt;
  }
  std::string out;
  if (rest.front() == '"') {
    std::size_t at = 1;
    for (; at < rest.size() && rest[at] != '"'; ++at) {
      at += rest[at] == '\\' && at + 1 < rest.size() ? 1U : 0U;
      out += rest[at];
    }
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return out;
  }
  const std::size_t end = std::min(rest.find_first_of(kBlank), rest.size());
  out = rest.substr(0, end);
  rest.remove_prefix(end);
  return out;
}

// Its lines, up to an empty one, are no entries.
void skip_macro(std::string_view& rest) {
  const std::size_t end = std::min(rest.find("\n\n"), rest.size());
  rest.remove_prefix(end);
}

}  // namespace

std::vector<NetrcEntry> read_netrc(std::string_view text) {
  std::vector<NetrcEntry> out;
  while (const auto word = next_word(text)) {
    if (*word == "machine") {
      out.push_back({.host = text::lower_ascii(next_word(text).value_or(""))});
    } else if (*word == "default") {
      out.emplace_back();
    } else if (*word == "macdef") {
      skip_macro(text);
    } else if (!out.empty() && (*word == "login" || *word == "user")) {
      out.back().login = next_word(text).value_or("");
    } else if (!out.empty() && *word == "password") {
      out.back().password = next_word(text).value_or("");
    } else if (*word == "account") {
      next_word(text);
    }
  }
  return out;
}

std::optional<NetrcEntry> netrc_entry(const std::vector<NetrcEntry>& entries, std::string_view host) {
  auto found = std::ranges::find(entries, host, &NetrcEntry::host);
  if (found == entries.end()) {
    found = std::ranges::find(entries, std::string_view(), &NetrcEntry::host);
  }
  return found == entries.end() ? std::nullopt : std::optional(*found);
}

}  // namespace cordon::formats
