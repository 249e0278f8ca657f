// SPDX-License-Identifier: Apache-2.0
#include "app/capture_twice.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "app/capture_attempts.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/catalog/variables.hpp"
#include "core/gate/variable_view.hpp"
#include "core/json/read.hpp"
#include "formats/reports/words.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kShown = 8;  // places per launch; the diff of two candidates shows all

bool is_word(char c) { return c != ' ' && c != '\n' && c != '\t' && c != '"' && c != '(' && c != ')' && c != ','; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool fits(std::string_view text, std::string_view shape) {
  return text.size() >= shape.size() && std::ranges::equal(text.substr(0, shape.size()), shape, [](char c, char s) {
           return s == 'd' ? is_digit(c) : c == s;
         });
}

std::string text_of(const std::string& json) {
  const auto document = json::read(json, {.max_bytes = json.size(), .max_depth = 2});
  return document && document->root().is(json::Kind::string) ? document->root().string() : std::string();
}

std::string describe_place(const catalog::ItemChange& change, const catalog::Place& place) {
  std::string line = text::cat("  ", change.item, change.name.empty() ? "" : " ", text::printable(change.name, 100),
                               ' ', text::printable(formats::readable_pointer(place.pointer), 200));
  const std::string before = text_of(place.before);
  const std::string after = text_of(place.after);
  if (before.empty() || after.empty()) {
    return text::cat(line, ": ", catalog::name(change.kind), '\n');
  }
  const DifferingParts parts = differing_parts(before, after);
  const std::string_view kind = kind_of_text(parts.before);
  return text::cat(line, ": ", kind == kind_of_text(parts.after) ? kind : "text", ": '",
                   text::printable(parts.before, 80), "' and '", text::printable(parts.after, 80), "'\n");
}

}  // namespace

bool Twice::stable() const {
  return std::ranges::all_of(
      variations, [](const Variation& variation) { return variation.changes.empty() && variation.failure.empty(); });
}

std::string_view kind_of_text(std::string_view text) {
  if (fits(text, "dddd-dd-dd") || fits(text, "dddd/dd/dd") || fits(text, "dd/dd/dddd") || fits(text, "dd.dd.dddd") ||
      fits(text, "dd:dd")) {
    return "a date";
  }
  if (text.starts_with('/') || text.starts_with("~/") || text.starts_with("file://")) {
    return "a path";
  }
  if (!text.empty() && std::ranges::all_of(text, is_digit)) {
    return "a number";
  }
  const std::string_view digits = text.starts_with('v') ? text.substr(1) : text;
  if (!digits.empty() && is_digit(digits.front()) && digits.find('.') != std::string_view::npos) {
    return "a version";
  }
  return "text";
}

DifferingParts differing_parts(std::string_view before, std::string_view after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) {
    ++head;
  }
  while (head > 0 && is_word(before[head - 1])) {
    --head;
  }
  std::size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  while (tail > 0 && is_word(before[before.size() - tail])) {
    --tail;
  }
  return {before.substr(head, before.size() - head - tail), after.substr(head, after.size() - head - tail)};
}

void mark_unstable(const policy::Policy& policy, Twice& twice) {
  const catalog::VariableRules rules = gate::variable_rules(policy.catalog, {});
  for (const Variation& variation : twice.variations) {
    for (const catalog::ItemChange& change : variation.changes) {
      for (const catalog::Place& place : change.places) {
        const std::string before = text_of(place.before);
        const std::string after = text_of(place.after);
        const DifferingParts parts = differing_parts(before, after);
        std::vector<std::string> fitting;
        for (const auto& [name, rule] : rules) {
          if (rule.fits(rule, parts.before) && rule.fits(rule, parts.after)) {
            fitting.push_back(name);
          }
        }
        if (before.empty() || fitting.size() != 1) {
          continue;
        }
        catalog::Snapshot marked = twice.candidate;
        marked.variables.push_back({change.item, change.name, place.pointer,
                                    static_cast<std::size_t>(parts.before.data() - before.data()), parts.before.size(),
                                    fitting.front()});
        std::ranges::sort(marked.variables);
        // The numbers in pointers of a diff are not always those of the definition, and a place may be marked already.
        if (catalog::check_places(marked)) {
          catalog::seal(marked);
          twice.candidate = std::move(marked);
        }
      }
    }
  }
}

void mark_today(const policy::Policy& policy, const std::vector<std::string>& spellings, Twice& twice) {
  const catalog::VariableRules rules = gate::variable_rules(policy.catalog, {});
  for (const std::string& day : spellings) {
    const catalog::VariableRules looked_for = {{"today", {.known = day}}};
    for (catalog::VariablePlace& place : catalog::places_of_known(looked_for, twice.candidate)) {
      const bool varies = std::ranges::any_of(twice.candidate.variables, [&](const catalog::VariablePlace& known) {
        return known.item == place.item && known.key == place.key && known.pointer == place.pointer;
      });
      if (varies) {
        continue;
      }
      twice.today.push_back(text::cat(place.item, place.key.empty() ? "" : " ", text::printable(place.key, 100), ' ',
                                      text::printable(formats::readable_pointer(place.pointer), 200), ": ", day));
      std::vector<std::string> fitting;
      for (const auto& [name, rule] : rules) {
        if (policy.catalog.variables.at(name).kind == policy::Variable::Kind::date && rule.fits(rule, day)) {
          fitting.push_back(name);
        }
      }
      if (fitting.size() != 1) {
        continue;
      }
      place.variable = fitting.front();
      catalog::Snapshot marked = twice.candidate;
      marked.variables.push_back(std::move(place));
      std::ranges::sort(marked.variables);
      if (catalog::check_places(marked)) {
        catalog::seal(marked);
        twice.candidate = std::move(marked);
      }
    }
  }
}

Result<Twice> capture_twice(const CaptureRequest& request) {
  Result<catalog::Snapshot> first = capture_candidate(request);
  if (!first) {
    return std::unexpected(first.error());
  }
  Twice out{.candidate = std::move(*first)};
  for (const Attempt& attempt : attempts(request)) {
    Variation variation{attempt.label, {}, {}};
    const Result<catalog::Snapshot> again = capture_candidate(
        {request.caller, attempt.loaded, attempt.client_command, request.version, request.reviewed, request.own_files});
    if (again) {
      variation.changes = catalog::diff(out.candidate, *again).changes;
      std::erase_if(variation.changes, [](const catalog::ItemChange& change) { return change.item == "launch"; });
    } else {
      variation.failure = again.error().to_string();
    }
    out.variations.push_back(std::move(variation));
  }
  mark_unstable(request.loaded.policy, out);
  mark_today(request.loaded.policy, spellings_of_day(std::time(nullptr)), out);
  return out;
}

std::string describe(const Twice& twice) {
  std::string out;
  for (const Variation& variation : twice.variations) {
    if (!variation.failure.empty()) {
      out += text::cat(variation.label, ": no catalog: ", text::printable(variation.failure, 500), '\n');
    } else if (variation.changes.empty()) {
      out += text::cat(variation.label, ": the same catalog\n");
    } else {
      out += text::cat(variation.label, ": the catalog differs\n");
      std::size_t shown = 0;
      for (const catalog::ItemChange& change : variation.changes) {
        for (const catalog::Place& place : change.places) {
          out += ++shown <= kShown ? describe_place(change, place) : std::string();
        }
      }
      out += shown > kShown ? text::cat("  and ", shown - kShown, " more\n") : std::string();
      out += "  If it means nothing, name it in the policy: catalog: {variables: {NAME: KIND}}, and capture again\n";
    }
  }
  for (const std::string& place : twice.today) {
    out += text::cat("today's date stands in ", place, "\n");
  }
  if (!twice.today.empty()) {
    out += "  The clock cannot be varied. If it is another one tomorrow: catalog: {variables: {NAME: date}}\n";
  }
  return out;
}

}  // namespace cordon::app
