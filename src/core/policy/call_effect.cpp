// SPDX-License-Identifier: Apache-2.0
#include "core/policy/call_effect.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

using catalog::EffectCondition;
using json::Kind;
using json::Value;

int rank(Effect effect) { return catalog::effect_rank(name(effect)).value_or(0); }

Effect effect_of(const EffectCondition& condition) {
  return effect_from_name(condition.effect).value_or(Effect::unknown);
}

struct Found {
  Value value = {};
  Schemas schemas = {};
};

// What an argument of a condition is in this call; an empty array is met as itself. A step meets each element of an
// array on its way: the proposals name the members of elements without a *.
std::vector<Found> find(const ArgumentPointer& pointer, const Value& arguments, const SchemaWalk& schema) {
  std::vector<Found> now = {{arguments, schema.top()}};
  const auto spread = [&](std::vector<Found> from) {
    std::vector<Found> out;
    while (!from.empty()) {
      const Found at = std::move(from.back());
      from.pop_back();
      if (!at.value.is(Kind::array) || at.value.size() == 0) {
        out.push_back(at);
        continue;
      }
      const Schemas below = schema.elements(at.schemas);
      for (const Value element : at.value.elements()) {
        from.push_back({element, below});
      }
    }
    return out;
  };
  for (const std::string& token : pointer.tokens()) {
    std::vector<Found> next;
    const bool names_element =
        token == "*" || (!token.empty() && token.find_first_not_of("0123456789") == std::string::npos);
    for (const Found& at : names_element ? std::move(now) : spread(std::move(now))) {
      if (at.value.is(Kind::string) || at.value.is(Kind::number) || at.value.is(Kind::boolean)) {
        // Met as itself: many servers read a list or an object out of a text.
        next.push_back({at.value, {}});
        continue;
      }
      std::size_t index = 0;
      for (const Value element : at.value.elements()) {
        if (token == "*" || token == std::to_string(index)) {
          next.push_back({element, schema.elements(at.schemas)});
        }
        ++index;
      }
      for (const json::Member member : at.value.members()) {
        if (token == "*" || member.key.string_equals(token)) {
          next.push_back({member.value, schema.member(at.schemas, member.key.string())});
        }
      }
    }
    now = std::move(next);
  }
  return spread(std::move(now));
}

class Judging {
 public:
  explicit Judging(const EffectQuestion& question) : question_(question) {}

  CallEffects run() {
    bool any_value = false;
    for (const EffectCondition& condition : question_.when) {
      if (condition.value && std::ranges::find(done_, condition.argument) == done_.end()) {
        done_.push_back(condition.argument);
        by_value(condition.argument);
        any_value = true;
      } else if (!condition.value) {
        by_presence(condition);
      }
    }
    if (!any_value || !question_.by_person) {
      add(question_.base, question_.reasons ? text::cat("class of the tool: ", name(question_.base)) : std::string());
    }
    if (out_.all.size() > 1) {
      std::ranges::stable_sort(out_.all, std::greater<>(), rank);
    }
    return std::move(out_);
  }

 private:
  void add(Effect effect, std::string reason) {
    // What nobody has confirmed does not count where it is the mildest.
    const Effect counted = effect == Effect::read && !question_.by_person ? Effect::unknown : effect;
    if (std::ranges::find(out_.all, counted) == out_.all.end()) {
      out_.all.push_back(counted);
    }
    if (question_.reasons && !reason.empty()) {
      out_.reasons.push_back(std::move(reason));
    }
  }

  std::vector<Found> found(const std::string& argument) {
    if (argument.empty()) {
      return {{question_.arguments, {}}};
    }
    const auto pointer = ArgumentPointer::parse(argument);
    if (!pointer) {
      add(Effect::unknown, "a condition of the snapshot has a pointer that is none");
      return {};
    }
    return find(*pointer, question_.arguments, question_.schema);
  }

  // A flag that is off is as good as absent.
  void by_presence(const EffectCondition& condition) {
    for (const Found& at : found(condition.argument)) {
      if (!at.value.is(Kind::boolean) || at.value.boolean()) {
        add(effect_of(condition), text::cat(shown(condition.argument), " is given: ", condition.effect));
        return;
      }
    }
  }

  void by_value(const std::string& argument) {
    const std::vector<Found> values = found(argument);
    if (values.empty()) {
      add(question_.base, text::cat(shown(argument), " is absent: class of the tool, ", name(question_.base)));
    }
    for (const Found& at : values) {
      one_value(argument, at);
    }
  }

  void one_value(const std::string& argument, const Found& at) {
    const bool list = std::ranges::any_of(at.schemas, [](const Value& node) {
      const Value type = node.find("type");
      return node.find("items") || (type.is(Kind::string) && type.string_equals("array"));
    });
    if (at.value.is(Kind::array) && list) {
      add(question_.base, text::cat(shown(argument), " is empty: class of the tool, ", name(question_.base)));
      return;
    }
    bool named = false;
    for (const EffectCondition& condition : question_.when) {
      if (condition.argument == argument && condition.value && at.value.is(Kind::string) &&
          at.value.string_equals(*condition.value)) {
        add(effect_of(condition),
            text::cat(shown(argument), " is ", text::printable(*condition.value, 64), ": ", condition.effect));
        named = true;
      }
    }
    if (at.schemas.empty()) {
      add(Effect::unknown, text::cat(shown(argument), " is where the reviewed schema has nothing: unknown"));
    }
    if (named) {
      return;
    }
    const std::vector<std::string> listed = SchemaWalk::values(at.schemas);
    if (at.value.is(Kind::string) && std::ranges::find(listed, at.value.string()) != listed.end()) {
      add(question_.base,
          text::cat(shown(argument), " has another of its values: class of the tool, ", name(question_.base)));
      return;
    }
    for (const EffectCondition& condition : question_.when) {
      if (condition.argument == argument) {
        add(effect_of(condition), {});
      }
    }
    add(Effect::unknown, text::cat(shown(argument), " has a value that was not reviewed: unknown"));
  }

  static std::string shown(const std::string& argument) {
    return argument.empty() ? std::string("a call") : text::printable(argument, 128);
  }

  const EffectQuestion& question_;
  std::vector<std::string> done_ = {};
  CallEffects out_ = {};
};

}  // namespace

CallEffects call_effects(const EffectQuestion& question) { return Judging(question).run(); }

Effect worst_effect(Effect base, const std::vector<EffectCondition>& when) {
  for (const EffectCondition& condition : when) {
    const Effect effect = effect_of(condition);
    base = rank(effect) > rank(base) ? effect : base;
  }
  return base;
}

std::vector<ArgumentPointer> effect_pointers(const std::vector<EffectCondition>& when) {
  std::vector<ArgumentPointer> out;
  for (const EffectCondition& condition : when) {
    if (auto pointer = ArgumentPointer::parse(condition.argument)) {
      out.push_back(std::move(*pointer));
    }
  }
  return out;
}

}  // namespace cordon::policy
