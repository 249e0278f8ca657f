// SPDX-License-Identifier: Apache-2.0
// The section `results`, and the limits of tool rules.
#include <optional>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

constexpr std::uint64_t kDaySeconds = 86'400;

void read_limit(Faults& faults, const Section& section, std::string_view key, Range range,
                std::optional<std::uint32_t>& out) {
  if (const yaml::Member* member = section.find(key)) {
    if (const auto value = read_integer(faults, member->value, section.path(key), range)) {
      out = static_cast<std::uint32_t>(*value);
    }
  }
}

}  // namespace

policy::Results read_results(Faults& faults, const yaml::Node& node) {
  using policy::Results;
  using policy::SchemaCheck;
  using Treatment = Results::Treatment;
  Results results;
  const Section section(faults, node, "results", {"hidden_text", "terminal_escapes", "secrets", "schema", "max_bytes"});
  for (auto [key, out] :
       {std::pair("hidden_text", &results.hidden_text), std::pair("terminal_escapes", &results.terminal_escapes)}) {
    section.choice<Treatment>(key, *out,
                              {{"off", Treatment::off}, {"flag", Treatment::flag}, {"strip", Treatment::strip}});
  }
  section.choice<Results::Secrets>(
      "secrets", results.secrets,
      {{"off", Results::Secrets::off}, {"flag", Results::Secrets::flag}, {"redact", Results::Secrets::redact}});
  section.choice<SchemaCheck>("schema", results.structured,
                              {{"off", SchemaCheck::off}, {"enforce", SchemaCheck::enforce}});
  section.size("max_bytes", results.max_bytes, {1'000, 10'000'000});
  return results;
}

void read_limits(Faults& faults, const Section& section, policy::Rule& rule) {
  read_limit(faults, section, "calls_per_minute", {1, 10'000}, rule.calls_per_minute);
  read_limit(faults, section, "calls_in_flight", {1, 10'000}, rule.calls_in_flight);
  read_limit(faults, section, "answer_timeout_seconds", {1, kDaySeconds}, rule.answer_timeout_seconds);
}

void read_answer_timeout(Faults& faults, const Section& section, policy::Messages& messages) {
  std::optional<std::uint32_t> seconds;
  read_limit(faults, section, "answer_timeout_seconds", {0, kDaySeconds}, seconds);
  messages.answer_timeout_seconds = seconds.value_or(0);
}

}  // namespace cordon::formats
