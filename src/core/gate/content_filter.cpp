// SPDX-License-Identifier: Apache-2.0
#include "core/gate/content_filter.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "core/gate/own_name.hpp"
#include "core/gate/text_treatment.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Value;
using policy::Results;

constexpr std::array<std::string_view, 10> kForPrograms = {"uri",           "nextCursor", "requestState", "mimeType",
                                                           "progressToken", "requestId",  "taskId",       "resultType",
                                                           "blob",          "url"};

// Of these, what people are shown as well. No control character belongs in one.
constexpr std::array<std::string_view, 3> kShownToo = {"uri", "url", "mimeType"};

// Structured content has names of its own choice.
enum class Place : bool { protocol, data };

class Filter {
 public:
  Filter(const Results& policy, const SecretFinder& secrets) : policy_(policy), secrets_(secrets) {}

  // Words of ours, which no treatment is for.
  void leave_alone(const Value& value) { ours_ = value.raw().data(); }

  void walk(const Value& value, Place place) {
    if (value.raw().data() == ours_) {
      return;
    }
    if (value.is(Kind::string)) {
      replace(value, treated(value));
    } else if (value.is(Kind::array)) {
      for (const Value element : value.elements()) {
        walk(element, place);
      }
    } else if (value.is(Kind::object)) {
      walk_members(value, place);
    }
  }

  Treated finish(std::string_view text) {
    if (edits_.empty()) {
      return std::move(treated_);
    }
    std::size_t from = 0;
    for (const Edit& edit : edits_) {
      treated_.text += text.substr(from, edit.begin - from);
      treated_.text += edit.replacement;
      from = edit.begin + edit.length;
    }
    treated_.text += text.substr(from);
    return std::move(treated_);
  }

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t length = 0;
    std::string replacement = {};
  };

  void walk_members(const Value& object, Place place) {
    const Value type = place == Place::protocol ? object.find("type") : Value();
    const bool media = type.is(Kind::string) && (type.string_equals("image") || type.string_equals("audio"));
    Names names;
    for (const json::Member member : object.members()) {
      const std::string key = member.key.string();
      // Under these names only strings are for programs: a field of a form may be called url.
      const bool for_programs =
          member.value.is(Kind::string) &&
          ((media && key == "data") || std::ranges::find(kForPrograms, key) != kForPrograms.end());
      if (place == Place::protocol && (key == "_meta" || for_programs)) {
        if (for_programs && std::ranges::find(kShownToo, key) != kShownToo.end()) {
          replace(member.value, without_escapes(member.value));
        }
        continue;
      }
      look_at_name(object, member.key, names);
      if (place == Place::protocol && key == "inputRequests") {
        for (const json::Member question : member.value.members()) {
          walk(question.value, Place::protocol);
        }
        continue;
      }
      // The payload of a log message is data as well.
      const bool data =
          place == Place::data || key == "structuredContent" || key == "properties" || (key == "data" && !type);
      walk(member.value, data ? Place::data : Place::protocol);
    }
  }

  struct Names {
    std::set<std::string> taken = {};
    std::size_t renamed = 0;
  };

  // Names that a server chose are read as its text is. What is left of two of them stays two.
  void look_at_name(const Value& object, const Value& key, Names& names) {
    const std::optional<std::string> now = treated(key);
    if (!now) {
      return;
    }
    if (names.taken.empty()) {
      for (const json::Member member : object.members()) {
        names.taken.insert(member.key.string());
      }
    }
    std::string fresh = *now;
    while (!names.taken.insert(fresh).second) {
      fresh = text::cat(*now, '_', ++names.renamed);
    }
    replace(key, fresh);
  }

  void replace(const Value& value, const std::optional<std::string>& now) {
    if (now) {
      const std::string_view whole = value.raw();
      const auto begin = static_cast<std::size_t>(whole.data() - value.tape()->text.data());
      edits_.push_back({begin, whole.size(), json::quoted(*now)});
    }
  }

  // The form of a token survives the short escapes of JSON.
  bool plainly_without_secrets(std::string_view raw, const Glance& glance) const {
    return secrets_.values_are_plain() && !glance.spelled && secrets_.find(raw, SecretFinder::Reach::run).empty();
  }

  std::optional<std::string> without_escapes(const Value& value) {
    if (!glance_at(value.string_raw()).worth_a_look) {
      return std::nullopt;
    }
    const std::string before = value.string();
    std::string now = before;
    treat(before, now, policy_.terminal_escapes, treated_.escapes, without_terminal_escapes);
    return now == before ? std::nullopt : std::optional(std::move(now));
  }

  // The text of a string where it has to be another.
  std::optional<std::string> treated(const Value& value) {
    const std::string_view raw = value.string_raw();
    const bool by_secrets = policy_.secrets != Results::Secrets::off;
    const Glance glance = glance_at(raw);
    const bool by_look = glance.worth_a_look;
    if (!by_look && (!by_secrets || plainly_without_secrets(raw, glance))) {
      return std::nullopt;
    }
    const std::string before = value.string();
    std::string now = before;
    if (by_secrets) {
      // First, and in what is put together without hidden characters: what is let through must not hide a secret.
      std::optional<std::string> without =
          secrets_.without_secrets(before, by_look ? SecretFinder::Look::closely : SecretFinder::Look::plainly,
                                   treated_.secrets, treated_.kinds);
      if (without && policy_.secrets == Results::Secrets::redact) {
        now = *std::move(without);
      }
    }
    if (by_look) {
      treated_.own_name += lines_as_us(seen_text(before, Drop::sequences).text);
      treat(before, now, policy_.terminal_escapes, treated_.escapes, without_terminal_escapes);
      treat(before, now, policy_.hidden_text, treated_.hidden, without_hidden_text);
    }
    return now == before ? std::nullopt : std::optional(std::move(now));
  }

  // Counted is what the server wrote.
  static void treat(const std::string& before, std::string& now, Results::Treatment treatment, std::size_t& count,
                    std::string (*without)(std::string_view, std::size_t&)) {
    if (treatment == Results::Treatment::off) {
      return;
    }
    const std::size_t found = count;
    without(before, count);
    if (treatment == Results::Treatment::strip && count != found) {
      std::size_t again = 0;
      now = without(now, again);
    }
  }

  const Results& policy_;
  const SecretFinder& secrets_;
  Treated treated_ = {};
  std::vector<Edit> edits_ = {};
  const char* ours_ = nullptr;
};

void mark(json::Writer& w, std::string_view name, std::string_view action, std::size_t count) {
  w.key(name).begin_object().member("action", action).member_int("count", static_cast<std::int64_t>(count));
}

}  // namespace

std::string Treated::marks(const Results& policy) const {
  const auto action = [](Results::Treatment treatment) {
    return treatment == Results::Treatment::strip ? "stripped" : "flagged";
  };
  json::Writer w;
  w.begin_object();
  if (escapes > 0) {
    mark(w, "terminal_escapes", action(policy.terminal_escapes), escapes);
    w.end_object();
  }
  if (hidden > 0) {
    mark(w, "hidden_text", action(policy.hidden_text), hidden);
    w.end_object();
  }
  if (secrets > 0) {
    mark(w, "secrets", policy.secrets == Results::Secrets::redact ? "redacted" : "flagged", secrets);
    w.key("kinds").begin_array();
    for (const std::string& kind : kinds) {
      w.string(kind);
    }
    w.end_array().end_object();
  }
  if (own_name > 0) {
    mark(w, "own_name", "flagged", own_name);
    w.end_object();
  }
  w.end_object();
  return w.take();
}

Treated treat_content(const json::Document& message, const Results& policy, const SecretFinder& secrets) {
  if (policy.secrets == Results::Secrets::off && !worth_a_look(message.text())) {
    return {};
  }
  Filter filter(policy, secrets);
  for (const std::string_view part : {"result", "error", "params"}) {
    if (const Value value = message.root().find(part)) {
      // What stands in a task for the answer of the call; what servers write under our prefix was taken out before.
      if (const Value payload = value.find("result"); payload.find("_meta").find("dev.mcp-cordon/refusal")) {
        filter.leave_alone(payload);
      }
      filter.walk(value, Place::protocol);
    }
  }
  return filter.finish(message.text());
}

}  // namespace cordon::gate
