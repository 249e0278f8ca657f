// SPDX-License-Identifier: Apache-2.0
#include "core/policy/condition.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/url_host.hpp"

namespace cordon::policy {
namespace {

using json::Kind;

constexpr std::string_view kNumberRemedy = "a number that programs read differently";

Finding holds() { return {Outcome::holds, Errc::argument_denied, {}, {}}; }
Finding fails(std::string reason) { return {Outcome::fails, Errc::argument_denied, {}, std::move(reason)}; }
Finding unclear(std::string reason, Errc code = Errc::argument_denied) {
  return {Outcome::unclear, code, {}, std::move(reason)};
}
Finding of_kind(const json::Value& value, std::string_view wanted) {
  return unclear(text::cat("is of kind ", json::name(value.kind()), ", not ", wanted));
}

std::optional<json::Decimal> exact(const json::Value& value) {
  std::optional<json::Decimal> number = json::decimal(value.number_text());
  return number && json::same_everywhere(*number) ? number : std::nullopt;
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    i += std::max<std::size_t>(1, text::decode_utf8(text, i).length);
  }
  return count;
}

// All places together: the first that is unclear; a mixture of the others is unclear as well, when a rule is chosen by
// it, and fails when it is a demand. Both are said by `unclear`, which never passes.
Finding together(std::vector<Finding> findings) {
  const auto is = [](Outcome outcome) { return [outcome](const Finding& f) { return f.outcome == outcome; }; };
  if (const auto odd = std::ranges::find_if(findings, is(Outcome::unclear)); odd != findings.end()) {
    return std::move(*odd);
  }
  const auto failed = std::ranges::find_if(findings, is(Outcome::fails));
  if (failed == findings.end()) {
    // Said of what was looked at; what was not there is only said when nothing was.
    const bool nothing = std::ranges::none_of(findings, &std::string::empty, &Finding::reason);
    return nothing && !findings.empty() ? std::move(findings.front()) : holds();
  }
  if (std::ranges::any_of(findings, is(Outcome::holds))) {
    failed->outcome = Outcome::unclear;
  }
  return std::move(*failed);
}

// By what RE2 says of the pattern.
std::string pattern_remedy(std::string_view why) {
  if (why.starts_with("invalid perl operator") || why.starts_with("invalid named capture")) {
    return "RE2 has no looking ahead and behind: say it with matches and not_matches, several patterns if need be";
  }
  if (why.starts_with("invalid escape")) {
    return "RE2 has no references back, and in YAML a backslash stands for itself in single quotes alone";
  }
  if (why.starts_with("missing") || why.starts_with("unexpected")) {
    return "close the bracket, or put a backslash before one that stands for itself";
  }
  if (why.starts_with("no argument") || why.starts_with("bad repetition")) {
    return "write what is to be repeated before * + ? {}, or a backslash before one that stands for itself; these are "
           "patterns, not globs: .* is any text";
  }
  return "write a pattern as https://github.com/google/re2/wiki/Syntax has it";
}

}  // namespace

std::string loosely(std::string_view name) {
  std::string out;
  for (const char c : text::fold_to_ascii(name)) {
    if (c != '_' && c != '-' && c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      out += c;
    }
  }
  return out;
}

bool Condition::wants_string() const {
  return !text_.within.empty() || !text_.hosts.empty() || !matches_.empty() || !not_matches_.empty() ||
         text_.max_length.has_value();
}

Result<Condition> Condition::compile(const ArgumentCondition& condition) {
  Condition out;
  out.text_ = condition;
  Result<ArgumentPointer> pointer = ArgumentPointer::parse(condition.pointer);
  if (!pointer) {
    return fail(pointer.error().code, pointer.error().detail, {}, "name the argument as /path, or /list/*/member");
  }
  out.pointer_ = std::move(*pointer);
  for (const auto& [texts, patterns] :
       {std::pair(&condition.matches, &out.matches_), std::pair(&condition.not_matches, &out.not_matches_)}) {
    for (const std::string& text : *texts) {
      std::expected<Regex, std::string> strict = Regex::compile(text);
      std::expected<Regex, std::string> loose = Regex::compile(text, Regex::Dot::any);
      if (!strict || !loose) {
        const std::string why = strict ? loose.error() : strict.error();
        return fail(Errc::policy_invalid, text::cat("'", text::printable(text, 100), "' is no pattern of RE2: ", why),
                    {}, pattern_remedy(why));
      }
      patterns->push_back({std::move(*strict), std::move(*loose)});
    }
  }
  for (const std::string& text : condition.one_of) {
    const Result<json::Document> document = json::read(text, {.max_bytes = text.size(), .max_depth = 64});
    if (!document) {
      return fail(Errc::policy_invalid, text::cat("one_of: ", document.error().detail), {},
                  "list strings in quotes, numbers, true, false and null");
    }
    const json::Value root = document->root();
    Value value{root.kind(), json::canonical(root), {}, {}};
    if (root.is(Kind::string)) {
      value.folded = loosely(root.string());
    } else if (root.is(Kind::number) && !(value.number = exact(root))) {
      return fail(Errc::policy_invalid, text::cat("one_of: ", kNumberRemedy), {},
                  "list numbers within 2^53 and of at most 15 digits");
    }
    out.one_of_.push_back(std::move(value));
  }
  return out;
}

Finding Condition::one_of(const json::Value& value) const {
  const bool same_kind = std::ranges::any_of(one_of_, [&](const Value& listed) { return listed.kind == value.kind(); });
  if (!same_kind) {
    return unclear(text::cat("is of kind ", json::name(value.kind()), ", as none of one_of is"));
  }
  if (value.is(Kind::number)) {
    const auto number = exact(value);
    if (!number) {
      return unclear(std::string(kNumberRemedy), Errc::message_ambiguous);
    }
    const bool found = std::ranges::any_of(one_of_, [&](const Value& listed) { return listed.number == number; });
    return found ? holds() : fails("is none of one_of");
  }
  const std::string canonical = json::canonical(value);
  if (std::ranges::any_of(one_of_, [&](const Value& listed) { return listed.canonical == canonical; })) {
    return holds();
  }
  if (value.is(Kind::string)) {
    const std::string folded = loosely(value.string());
    // "DELETE" is what `delete` is to many servers: neither the value, nor safely another one.
    if (std::ranges::any_of(
            one_of_, [&](const Value& listed) { return listed.kind == Kind::string && listed.folded == folded; })) {
      return unclear("is one of one_of in another spelling");
    }
  }
  return fails("is none of one_of");
}

Finding Condition::number(const json::Value& value) const {
  if (!value.is(Kind::number)) {
    return of_kind(value, "number");
  }
  const auto number = exact(value);
  if (!number) {
    return unclear(std::string(kNumberRemedy), Errc::message_ambiguous);
  }
  if (text_.minimum && json::compare(*number, json::decimal(*text_.minimum)) < 0) {
    return fails(text::cat("is less than ", *text_.minimum));
  }
  if (text_.maximum && json::compare(*number, json::decimal(*text_.maximum)) > 0) {
    return fails(text::cat("is more than ", *text_.maximum));
  }
  return holds();
}

Finding Condition::path(const std::string& value, const ServerView& view) const {
  PathFinding found = contains(text_.within, value, view);
  switch (found.containment) {
    case Containment::inside:
      return holds();
    case Containment::outside:
      return fails("leads out of the folders of `within`");
    case Containment::unclear:
      return unclear(text::cat("is no clear path: ", found.reason));
  }
  CORDON_ASSERT(false);
}

Finding Condition::host(const std::string& value) const {
  const Result<std::string> host = url_host(value);
  if (!host) {
    return unclear(text::cat("is no clear URL: ", host.error().detail));
  }
  return host_listed(text_.hosts, *host) ? holds() : fails("names a host that is not listed");
}

Finding Condition::string(const json::Value& value, const ServerView& view) const {
  if (!value.is(Kind::string)) {
    return of_kind(value, "string");
  }
  if (value.has_lone_surrogate() || value.has_nul()) {
    return unclear("holds a lone surrogate or U+0000", Errc::message_ambiguous);
  }
  const std::string text = value.string();
  std::vector<Finding> all;
  if (text_.max_length && code_points(text) > *text_.max_length) {
    all.push_back(fails(text::cat("is longer than ", *text_.max_length, " characters")));
  }
  const bool lines = text.find('\n') != std::string::npos;
  const auto whole = [&](const Regex& pattern) { return pattern.full_match(text); };
  if (!matches_.empty() && std::ranges::none_of(matches_, whole, &Pattern::strict)) {
    all.push_back(lines && std::ranges::any_of(matches_, whole, &Pattern::loose)
                      ? unclear("matches only where a dot stands for a line end as well")
                      : fails("does not match"));
  }
  const auto anywhere = [&](const Regex& pattern) { return pattern.partial_match(text); };
  if (std::ranges::any_of(not_matches_, anywhere, &Pattern::strict)) {
    all.push_back(fails("matches what it must not"));
  } else if (lines && std::ranges::any_of(not_matches_, anywhere, &Pattern::loose)) {
    all.push_back(unclear("matches what it must not where a dot stands for a line end as well"));
  }
  if (!text_.within.empty()) {
    all.push_back(path(text, view));
  }
  if (!text_.hosts.empty()) {
    all.push_back(host(text));
  }
  // One clear no is enough, whatever else is unclear.
  for (const Outcome outcome : {Outcome::fails, Outcome::unclear}) {
    for (Finding& finding : all) {
      if (finding.outcome == outcome) {
        return std::move(finding);
      }
    }
  }
  return holds();
}

Finding Condition::judge(const json::Value& value, const ServerView& view) const {
  if (!one_of_.empty()) {
    if (value.is(Kind::string) && (value.has_lone_surrogate() || value.has_nul())) {
      return unclear("holds a lone surrogate or U+0000", Errc::message_ambiguous);
    }
    if (Finding found = one_of(value); found.outcome != Outcome::holds) {
      return found;
    }
  }
  if (text_.max_items) {
    if (!value.is(Kind::array) && !value.is(Kind::object)) {
      return of_kind(value, "array");
    }
    if (value.size() > *text_.max_items) {
      return fails(text::cat("has more than ", *text_.max_items, " items"));
    }
  }
  if (text_.minimum || text_.maximum) {
    if (Finding found = number(value); found.outcome != Outcome::holds) {
      return found;
    }
  }
  return wants_string() ? string(value, view) : holds();
}

// Each path is looked up where the server's files are, and the session waits for it.
bool Condition::names_too_many_paths(const std::vector<ArgumentPointer::Place>& places) const {
  constexpr std::size_t kMostPaths = 1'000;
  constexpr std::size_t kMostBytes = 100'000;
  std::size_t bytes = 0;
  for (const ArgumentPointer::Place& place : places) {
    bytes += place.value ? place.value.raw().size() : 0;
  }
  return !text_.within.empty() && places.size() > 1 && (places.size() > kMostPaths || bytes > kMostBytes);
}

Finding Condition::check(const json::Value& arguments, const ServerView& view) const {
  std::vector<Finding> all;
  const std::vector<ArgumentPointer::Place> places = pointer_.places(arguments);
  if (names_too_many_paths(places)) {
    Finding found = unclear("names more paths than are looked up for one call");
    found.pointer = text_.pointer;
    return found;
  }
  for (const ArgumentPointer::Place& place : places) {
    Finding found;
    if (place.wrong_kind) {
      found = unclear("stands below something that has no members");
    } else if (!place.value) {
      found = text_.forbid || text_.optional ? holds() : fails("is absent");
      found.reason = "is absent";
    } else {
      found = text_.forbid ? fails("is given") : judge(place.value, view);
    }
    found.pointer = place.pointer;
    all.push_back(std::move(found));
    if (all.back().outcome == Outcome::unclear) {
      break;  // the first that is unclear decides
    }
  }
  return together(std::move(all));
}

}  // namespace cordon::policy
