// SPDX-License-Identifier: Apache-2.0
// What the arguments of a call have to be: the mappings `when` and `arguments` of a rule.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/condition.hpp"
#include "core/policy/url_host.hpp"
#include "egress/name.hpp"
#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

using policy::ArgumentCondition;

constexpr std::int64_t kMostExact = std::int64_t{1} << 53;
constexpr std::uint64_t kMostCounted = 1'000'000'000;
constexpr std::size_t kMaxConditions = 64;  // of one rule

// One text, or a list of them.
std::vector<std::string> text_or_texts(Faults& faults, const yaml::Node& node, const std::string& what) {
  if (node.kind == yaml::Kind::sequence) {
    return read_texts(faults, node, what, {}, ListEmptiness::refused).value_or(std::vector<std::string>());
  }
  auto text = read_text(faults, node, what);
  return text ? std::vector<std::string>{std::move(*text)} : std::vector<std::string>();
}

// A value as JSON: true, false, null and numbers stand without quotes, everything else is a string.
std::optional<std::string> read_value(Faults& faults, const yaml::Node& node, const std::string& what) {
  if (node.kind == yaml::Kind::null) {
    return "null";
  }
  if (node.kind == yaml::Kind::quoted) {
    return json::quoted(node.text);
  }
  if (node.kind != yaml::Kind::plain) {
    faults.add(
        node.position,
        text::cat("an item of ", what, " must be a string, a number, true, false or null, not ", kind_name(node)),
        "a list or mapping is judged by the pointers to what is in it");
    return std::nullopt;
  }
  const bool number =
      !node.text.empty() && (node.text.front() == '-' || (node.text.front() >= '0' && node.text.front() <= '9'));
  if (number || node.text == "true" || node.text == "false") {
    if (const auto read = json::read(node.text, {.max_bytes = node.text.size(), .max_depth = 1})) {
      return json::canonical(read->root());
    }
  }
  const auto text = read_text(faults, node, text::cat("an item of ", what));
  return text ? std::optional(json::quoted(*text)) : std::nullopt;
}

std::optional<std::int64_t> read_bound(Faults& faults, const yaml::Node& node, const std::string& what) {
  std::int64_t number = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, number);
  if (node.kind != yaml::Kind::plain || error != std::errc() || stop != end || number > kMostExact ||
      number < -kMostExact) {
    faults.add(node.position,
               text::cat(what, " must be an integer between -2^53 and 2^53, not ",
                         node.kind == yaml::Kind::plain ? quote(node.text) : std::string(kind_name(node))),
               "write an integer without quotes");
    return std::nullopt;
  }
  return number;
}

void read_within(Faults& faults, const yaml::Node& node, const std::string& what, ArgumentCondition& out) {
  const auto* items = read_list(faults, node, what, ListEmptiness::refused);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const yaml::Node& item = (*items)[i];
    auto folder = read_text(faults, item, text::cat("an item of ", what));
    if (!folder) {
      continue;
    }
    if (!folder->starts_with('/') || policy::lexically_normal(*folder) != *folder) {
      faults.add(
          item.position, text::cat("a folder of ", what, " must be absolute and plain, not ", quote(*folder)),
          "write it as the server sees it, from / on, without .., . and a / at its end; its home is /home/cordon");
      continue;
    }
    out.within.push_back(std::move(*folder));
  }
}

// An address, spelled as url_host gives it.
std::optional<std::string> as_address(const std::string& written) {
  const bool v6 = written.find(':') != std::string::npos;
  if (!v6 && written.find_first_not_of("0123456789.") != std::string::npos) {
    return std::nullopt;
  }
  const Result<std::string> host = policy::url_host(v6 ? text::cat("x://[", written, ']') : text::cat("x://", written));
  return host ? std::optional(*host) : std::nullopt;
}

void read_hosts(Faults& faults, const yaml::Node& node, const std::string& what, ArgumentCondition& out) {
  const auto* items = read_list(faults, node, what, ListEmptiness::refused);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const yaml::Node& item = (*items)[i];
    const auto written = read_text(faults, item, text::cat("an item of ", what));
    if (!written) {
      continue;
    }
    if (auto address = as_address(*written)) {
      out.hosts.push_back(std::move(*address));
      continue;
    }
    const bool wildcard = written->starts_with("*.");
    const Result<std::string> host = egress::canonical_policy_host(wildcard ? written->substr(2) : *written);
    if (!host) {
      faults.add(item.position, text::cat(quote(*written), " in ", what, ": ", host.error().detail),
                 "write a host name without scheme and port, *.SUFFIX, or an address without brackets");
      continue;
    }
    out.hosts.push_back(wildcard ? text::cat("*.", *host) : *host);
  }
}

// Two demands that no value can meet, or that say nothing.
void check_sense(Faults& faults, const yaml::Member& member, const ArgumentCondition& condition) {
  const auto fault = [&](std::string_view what, std::string_view remedy) {
    faults.add(member.position, text::cat("the condition on ", quote(member.key), ' ', what), std::string(remedy));
  };
  const bool of_text = !condition.within.empty() || !condition.hosts.empty() || !condition.matches.empty() ||
                       !condition.not_matches.empty() || condition.max_length.has_value();
  const bool of_number = condition.minimum.has_value() || condition.maximum.has_value();
  const bool of_list = condition.max_items.has_value();
  if (condition.minimum && condition.maximum && *condition.minimum > *condition.maximum) {
    fault("can never hold: its minimum is more than its maximum", "swap them");
  }
  if (int{of_text} + int{of_number} + int{of_list} > 1) {
    fault("can never hold: it asks for values of different kinds",
          "within, hosts, matches, not_matches and max_length are for strings, minimum and maximum for numbers, "
          "max_items for lists");
  }
  if (!condition.within.empty() && !condition.hosts.empty()) {
    fault("can never hold: no text is both a path and a URL with a host", "keep one of within and hosts");
  }
  if (condition.optional && !condition.forbid && !of_text && !of_number && !of_list && condition.one_of.empty()) {
    fault("says nothing: the argument may be absent, and may be anything", "add what it has to be, or leave it out");
  }
  if (condition.forbid && (condition.optional || of_text || of_number || of_list || !condition.one_of.empty())) {
    fault("forbids the argument, and says more of it", "forbid: true stands alone");
  }
}

// Each value of one_of meets the rest of the condition, or can never be the reason for which it holds.
void check_values(Faults& faults, const yaml::Member& member, const ArgumentCondition& condition) {
  ArgumentCondition rest = condition;
  rest.one_of.clear();
  rest.within.clear();  // nothing can be looked up here
  rest.pointer = "/x";
  const auto ready = policy::Condition::compile(rest);
  for (const std::string& value : ready ? condition.one_of : std::vector<std::string>()) {
    const auto document = json::read(text::cat(R"({"x":)", value, '}'), {});
    if (document && ready->check(document->root(), {}).outcome != policy::Outcome::holds) {
      faults.add(member.position,
                 text::cat("the condition on ", quote(member.key), " can never hold for the value ",
                           text::printable(value, 100), " of its one_of"),
                 "remove the value, or what it does not meet");
    }
  }
}

ArgumentCondition read_condition(Faults& faults, const yaml::Member& member, const std::string& name) {
  ArgumentCondition out;
  out.pointer = member.key;
  out.position = member.position;
  const std::string what = text::cat(name, '.', member.key);
  const Section section(faults, member.value, what,
                        {"optional", "forbid", "within", "matches", "not_matches", "one_of", "hosts", "max_length",
                         "max_items", "minimum", "maximum"});
  section.boolean("optional", out.optional);
  section.boolean("forbid", out.forbid);
  if (const yaml::Member* found = section.find("within")) {
    read_within(faults, found->value, section.path("within"), out);
  }
  if (const yaml::Member* found = section.find("hosts")) {
    read_hosts(faults, found->value, section.path("hosts"), out);
  }
  if (const yaml::Member* found = section.find("matches")) {
    out.matches = text_or_texts(faults, found->value, section.path("matches"));
  }
  if (const yaml::Member* found = section.find("not_matches")) {
    out.not_matches = text_or_texts(faults, found->value, section.path("not_matches"));
  }
  if (const yaml::Member* found = section.find("one_of")) {
    const auto* items = read_list(faults, found->value, section.path("one_of"), ListEmptiness::refused);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
      if (auto value = read_value(faults, (*items)[i], section.path("one_of"))) {
        out.one_of.push_back(std::move(*value));
      }
    }
  }
  for (const auto& [key, into] : {std::pair("max_length", &out.max_length), std::pair("max_items", &out.max_items)}) {
    if (const yaml::Member* found = section.find(key)) {
      *into = read_integer(faults, found->value, section.path(key), {0, kMostCounted});
    }
  }
  for (const auto& [key, into] : {std::pair("minimum", &out.minimum), std::pair("maximum", &out.maximum)}) {
    if (const yaml::Member* found = section.find(key)) {
      *into = read_bound(faults, found->value, section.path(key));
    }
  }
  return out;
}

}  // namespace

std::vector<ArgumentCondition> read_conditions(Faults& faults, const yaml::Node& node, const std::string& name) {
  std::vector<ArgumentCondition> out;
  if (node.kind != yaml::Kind::mapping) {
    faults.add(node.position, text::cat(name, " must be a mapping of pointers to conditions, not ", kind_name(node)),
               "write /argument: {within: [/folder]}");
    return out;
  }
  if (node.members.empty() || node.members.size() > kMaxConditions) {
    faults.add(node.position,
               text::cat(name, node.members.empty() ? " names no argument" : " names too many arguments"),
               text::cat("name between 1 and ", kMaxConditions, ", or leave it out"));
    return out;
  }
  for (const yaml::Member& member : node.members) {
    ArgumentCondition condition = read_condition(faults, member, name);
    if (const auto ready = policy::Condition::compile(condition); !ready) {
      faults.add(member.position, text::cat("the condition on ", quote(member.key), ": ", ready.error().detail),
                 ready.error().remedy);
      continue;
    }
    check_sense(faults, member, condition);
    check_values(faults, member, condition);
    out.push_back(std::move(condition));
  }
  return out;
}

}  // namespace cordon::formats
