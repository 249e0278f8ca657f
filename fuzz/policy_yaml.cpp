// SPDX-License-Identifier: Apache-2.0
// Any bytes as a policy file. Oracle: read_policy and check_policy agree; reading twice gives the same; every place
// that is named lies within the text; all that is said is printable; what is accepted keeps the promises that the
// launch and the gate rely on.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/policy_yaml.hpp"

namespace {

using cordon::Error;
using cordon::policy::Policy;
using cordon::policy::Position;

// Characters of each line; one more place than that may be named, for what is missing at its end.
std::vector<int> line_lengths(std::string_view text) {
  std::vector<int> lengths = {0};
  for (const char c : text) {
    if (c == '\n') {
      lengths.push_back(0);
    } else {
      lengths.back() += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    }
  }
  return lengths;
}

void check_place(const std::vector<int>& lengths, Position position) {
  CORDON_ASSERT(position.line >= 1 && position.column >= 1);
  // A text without a last line end is read as if it had one.
  const auto line = static_cast<std::size_t>(position.line);
  CORDON_ASSERT(line <= lengths.size() + 1);
  CORDON_ASSERT(position.column <= (line <= lengths.size() ? lengths[line - 1] : 0) + 1);
}

int last_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  CORDON_ASSERT(colon != std::string_view::npos);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  CORDON_ASSERT(error == std::errc() && end == text.data() + text.size());
  text = text.substr(0, colon);
  return number;
}

bool is_plain(std::string_view text) {
  return cordon::text::valid_utf8(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

void check_error(const std::vector<int>& lengths, const Error& error) {
  CORDON_ASSERT(error.code == cordon::Errc::policy_invalid);
  CORDON_ASSERT(!error.detail.empty() && !error.remedy.empty());
  CORDON_ASSERT(is_plain(error.to_string()));
  CORDON_ASSERT(error.detail.size() < 2000);
  std::string_view where = error.where;
  const int column = last_number(where);
  const int line = last_number(where);
  CORDON_ASSERT(where == "fuzz.yaml");
  check_place(lengths, {line, column});
}

void check_places(const std::vector<int>& lengths, const Policy& policy) {
  check_place(lengths, policy.launch.position);
  if (policy.isolation.position.line != 0) {
    check_place(lengths, policy.isolation.position);
  }
  for (const auto* grants : {&policy.isolation.read, &policy.isolation.write, &policy.isolation.deny}) {
    for (const auto& grant : *grants) {
      check_place(lengths, grant.position);
    }
  }
  for (const auto& rule : policy.tools.rules) {
    check_place(lengths, rule.position);
  }
  for (const auto& [effect, position] : policy.tools.effect_positions) {
    check_place(lengths, position);
  }
}

bool is_safe_path(std::string_view path) {
  const auto parts = cordon::text::split(path, '/');
  return is_plain(path) && (path.starts_with('/') || path == "~" || path.starts_with("~/")) &&
         std::ranges::find(parts, "..") == parts.end();
}

void check_promises(const Policy& policy) {
  CORDON_ASSERT(cordon::formats::is_server_name(policy.server));
  CORDON_ASSERT(policy.launch.command_from_client || !policy.launch.command.empty());
  CORDON_ASSERT(!policy.launch.command_from_client || policy.launch.secrets.empty());
  CORDON_ASSERT(policy.launch.cwd.empty() || is_safe_path(policy.launch.cwd));
  for (const auto& [name, value] : policy.launch.set) {
    CORDON_ASSERT(name != "PATH" && name != "HOME" && name.find('=') == std::string::npos);
    CORDON_ASSERT(value.find('\0') == std::string::npos && !policy.launch.secrets.contains(name));
  }
  CORDON_ASSERT(policy.isolation.backend != cordon::policy::Backend::none || !policy.isolation.reason.empty());
  CORDON_ASSERT(!policy.isolation.runtime.empty());
  for (const auto* grants : {&policy.isolation.read, &policy.isolation.write, &policy.isolation.deny}) {
    for (const auto& grant : *grants) {
      CORDON_ASSERT(is_safe_path(grant.path));
      CORDON_ASSERT(grant.at.empty() || (grant.at.starts_with('/') && is_safe_path(grant.at)));
    }
  }
  for (const auto& rule : policy.tools.rules) {
    CORDON_ASSERT(rule.action.has_value() && !rule.tools.empty());
    CORDON_ASSERT(std::ranges::none_of(rule.tools, [](const std::string& glob) { return glob.empty(); }));
  }
  CORDON_ASSERT(policy.tools.effects.size() == 6);
  CORDON_ASSERT(policy.messages.max_bytes <= 10'000'000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto policy = cordon::formats::read_policy(text, "fuzz.yaml");
  const auto errors = cordon::formats::check_policy(text, "fuzz.yaml");
  CORDON_ASSERT(policy.has_value() == errors.empty());
  CORDON_ASSERT(policy.has_value() || policy.error() == errors.front());
  CORDON_ASSERT(policy == cordon::formats::read_policy(text, "fuzz.yaml"));
  const std::vector<int> lengths = line_lengths(text);
  for (const Error& error : errors) {
    check_error(lengths, error);
  }
  if (policy) {
    check_places(lengths, *policy);
    check_promises(*policy);
  }
  return 0;
}
