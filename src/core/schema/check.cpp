// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "core/schema/equality.hpp"
#include "core/schema/node.hpp"
#include "core/schema/schema.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Member;
using json::Value;

constexpr std::size_t kMaxDepth = 800;   // of schemas inside each other, counted along references
constexpr std::size_t kBytesAStep = 64;  // text that is looked through
using Seen = std::vector<bool>;          // which members or elements some schema has looked at

void merge(Seen* into, const Seen& from) {
  for (std::size_t i = 0; into != nullptr && i < from.size(); ++i) {
    (*into)[i] = (*into)[i] || from[i];
  }
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

class Checker {
 public:
  Checker(const Program& program, Reading reading, std::size_t max_steps)
      : program_(program), reading_(reading), steps_left_(max_steps) {}

  Finding run(const Value& value) {
    const bool fits = visit(0, value, nullptr);
    if (stopped_) {
      return {*stopped_, stopped_at_, ""};
    }
    return fits ? Finding{} : Finding{Outcome::violates, finding_.place, finding_.keyword};
  }

 private:
  // False when there is no work left to spend.
  bool spend(std::size_t steps) {
    if (steps > steps_left_) {
      stop(Outcome::too_complex);
    }
    steps_left_ -= std::min(steps, steps_left_);
    return !stopped_;
  }
  void stop(Outcome outcome) {
    if (!stopped_) {
      stopped_ = outcome;
      stopped_at_ = place();
    }
  }

  std::string place() const {
    std::string pointer;
    for (const auto& [key, index] : path_) {
      pointer += '/';
      for (const char c : key ? key.string() : std::to_string(index)) {
        pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
      }
    }
    return pointer;
  }

  bool fails(std::string_view keyword) {
    if (quiet_ == 0 && finding_.keyword.empty()) {
      finding_ = {Outcome::violates, place(), keyword};
    }
    return false;
  }

  bool inside(NodeId node, const Value& value, const Value& key, std::size_t index) {
    path_.emplace_back(key, index);
    const bool fits = visit(node, value, nullptr);
    path_.pop_back();
    return fits;
  }

  // Where a failure is no failure of the whole.
  bool quietly(NodeId node, const Value& value, Seen* seen) {
    ++quiet_;
    const bool fits = visit(node, value, seen);
    --quiet_;
    return fits;
  }

  bool visit(NodeId id, const Value& value, Seen* seen) {
    if (depth_ >= kMaxDepth) {
      stop(Outcome::too_complex);
    }
    if (!spend(1)) {
      return false;
    }
    const Node& node = program_.nodes[id];
    if (node.never) {
      return fails("false");
    }
    ++depth_;
    const bool entered = program_.nodes[id].resource != scope_now();
    if (entered) {
      scope_.push_back(node.resource);
    }
    Seen own;
    if (program_.unevaluated && (value.is(Kind::object) || value.is(Kind::array))) {
      own.resize(value.size());
      spend(own.size() / 16);
    }
    const bool fits = scalar(node, value) && logic(node, value, own) && container(node, value, own);
    if (fits) {
      merge(seen, own);
    }
    if (entered) {
      scope_.pop_back();
    }
    --depth_;
    return fits && !stopped_;
  }

  std::size_t scope_now() const { return scope_.empty() ? std::size_t(-1) : scope_.back(); }

  // ---- one value by itself ----

  bool scalar(const Node& node, const Value& value) {
    return type(node, value) && choices(node, value) && numbers(node, value) && texts(node, value);
  }

  Decimal number(const Value& value) {
    Decimal read = decimal(value.number_text());
    if (read.beyond || (reading_ == Reading::unambiguous && !reads_alike(read))) {
      stop(Outcome::ambiguous);
    }
    return read;
  }

  bool type(const Node& node, const Value& value) {
    if (node.types == 0) {
      return true;
    }
    unsigned have = 0;
    switch (value.kind()) {
      case Kind::null:
        have = kNull;
        break;
      case Kind::boolean:
        have = kBoolean;
        break;
      case Kind::number:
        have = kNumber;
        if ((node.types & kNumber) == 0 && (node.types & kInteger) != 0) {
          have = is_integer(number(value)) ? kInteger : kNumber;
        }
        break;
      case Kind::string:
        have = kString;
        break;
      case Kind::array:
        have = kArray;
        break;
      case Kind::object:
        have = kObject;
        break;
    }
    return (node.types & have) != 0 || fails("type");
  }

  bool choices(const Node& node, const Value& value) {
    if (node.choices.empty()) {
      return true;
    }
    if (!spend(value.raw().size() / kBytesAStep)) {
      return false;
    }
    const Key key = key_of(value);
    if (key.ambiguous && reading_ == Reading::unambiguous) {
      stop(Outcome::ambiguous);
    }
    for (const Choice& choice : node.choices) {
      if (!std::ranges::binary_search(choice.keys, key.text)) {
        return fails(choice.keyword);
      }
    }
    return true;
  }

  bool numbers(const Node& node, const Value& value) {
    if (node.bounds.empty() || !value.is(Kind::number)) {
      return true;
    }
    const Decimal have = number(value);
    for (const Bound& bound : node.bounds) {
      const auto order = compare(have, bound.limit);
      const bool holds = bound.keyword == "minimum"            ? order >= 0
                         : bound.keyword == "maximum"          ? order <= 0
                         : bound.keyword == "exclusiveMinimum" ? order > 0
                         : bound.keyword == "exclusiveMaximum" ? order < 0
                                                               : multiple_of(have, bound.limit);
      if (!holds) {
        return fails(bound.keyword);
      }
    }
    return true;
  }

  bool counted(const Node& node, std::string_view least, std::string_view most, std::size_t have) {
    for (const Count& count : node.counts) {
      if ((count.keyword == least && have < count.limit) || (count.keyword == most && have > count.limit)) {
        return fails(count.keyword);
      }
    }
    return true;
  }

  bool texts(const Node& node, const Value& value) {
    if (!value.is(Kind::string) || (node.patterns.empty() && node.counts.empty())) {
      return true;
    }
    if (reading_ == Reading::unambiguous && is_ambiguous_text(value)) {
      stop(Outcome::ambiguous);
    }
    const std::string text = value.string();
    if (!spend(text.size() / kBytesAStep * (1 + node.patterns.size()) + node.patterns.size())) {
      return false;
    }
    if (!counted(node, "minLength", "maxLength", code_points(text))) {
      return false;
    }
    const auto matches = [&](std::size_t pattern) { return program_.patterns[pattern].matches(text); };
    return std::ranges::all_of(node.patterns, matches) || fails("pattern");
  }

  // ---- schemas of the same value ----

  bool logic(const Node& node, const Value& value, Seen& seen) {
    for (const NodeId part : node.all_of) {
      if (!visit(part, value, &seen)) {
        return false;
      }
    }
    if (node.dynamic && !visit(target(*node.dynamic), value, &seen)) {
      return false;
    }
    if (!node.any_of.empty() && !any(node, value, seen)) {
      return fails("anyOf");
    }
    if (!node.one_of.empty() && !one(node, value, seen)) {
      return fails("oneOf");
    }
    if (node.none_of != kNone && quietly(node.none_of, value, nullptr) && !stopped_) {
      return fails("not");
    }
    if (node.condition != kNone) {
      const NodeId branch = quietly(node.condition, value, &seen) ? node.then_branch : node.else_branch;
      return branch == kNone || visit(branch, value, &seen);
    }
    return true;
  }

  bool any(const Node& node, const Value& value, Seen& seen) {
    bool found = false;
    for (const NodeId part : node.any_of) {
      found = quietly(part, value, &seen) || found;
      if (found && !program_.unevaluated) {
        break;
      }
    }
    return found;
  }

  bool one(const Node& node, const Value& value, Seen& seen) {
    std::size_t found = 0;
    for (const NodeId part : node.one_of) {
      found += quietly(part, value, &seen) ? 1U : 0U;
    }
    return found == 1;
  }

  // The outermost schema gone through that has an anchor of that name.
  NodeId target(const Dynamic& dynamic) const {
    if (!dynamic.name.empty()) {
      for (const std::size_t resource : scope_) {
        const auto found = program_.dynamic_anchors.find({resource, dynamic.name});
        if (found != program_.dynamic_anchors.end()) {
          return found->second;
        }
      }
    }
    return dynamic.first;
  }

  // ---- what is in it ----

  bool container(const Node& node, const Value& value, Seen& seen) {
    if (value.is(Kind::object)) {
      return required(node, value) && members(node, value, seen) && dependents(node, value, seen) &&
             unevaluated_members(node, value, seen);
    }
    if (value.is(Kind::array)) {
      return counted(node, "minItems", "maxItems", node.counts.empty() ? 0 : value.size()) &&
             elements(node, value, seen) && contains(node, value, seen) && unique(node, value) &&
             unevaluated_elements(node, value, seen);
    }
    return true;
  }

  // A search through all members, which a big object makes a long one.
  bool has(const Value& value, const std::string& name) {
    return spend(1 + value.raw().size() / 1024) && static_cast<bool>(value.find(name));
  }

  bool required(const Node& node, const Value& value) {
    const auto there = [&](const std::string& name) { return has(value, name); };
    if (!std::ranges::all_of(node.required, there)) {
      return fails("required");
    }
    for (const auto& [name, needed] : node.dependent_required) {
      if (has(value, name) && !std::ranges::all_of(needed, there)) {
        return fails("dependentRequired");
      }
    }
    return node.counts.empty() || counted(node, "minProperties", "maxProperties", value.size());
  }

  bool members(const Node& node, const Value& value, Seen& seen) {
    if (node.properties.empty() && node.pattern_properties.empty() && node.additional_properties == kNone &&
        node.property_names == kNone) {
      return true;
    }
    std::size_t index = 0;
    for (const Member member : value.members()) {
      bool looked = false;
      if (!spend(1) || !member_fits(node, member, looked)) {
        return false;
      }
      if (looked && !seen.empty()) {
        seen[index] = true;
      }
      ++index;
    }
    return true;
  }

  bool member_fits(const Node& node, const Member& member, bool& looked) {
    const std::string name = member.key.string();
    if (node.property_names != kNone && !inside(node.property_names, member.key, member.key, 0)) {
      return fails("propertyNames");
    }
    if (const auto found = node.properties.find(name); found != node.properties.end()) {
      looked = true;
      if (!inside(found->second, member.value, member.key, 0)) {
        return false;
      }
    }
    for (const auto& [pattern, schema] : node.pattern_properties) {
      if (!spend(1 + name.size() / kBytesAStep)) {
        return false;
      }
      if (program_.patterns[pattern].matches(name)) {
        looked = true;
        if (!inside(schema, member.value, member.key, 0)) {
          return false;
        }
      }
    }
    if (!looked && node.additional_properties != kNone) {
      looked = true;
      return inside(node.additional_properties, member.value, member.key, 0) || fails("additionalProperties");
    }
    return true;
  }

  bool dependents(const Node& node, const Value& value, Seen& seen) {
    return std::ranges::all_of(node.dependent_schemas, [&](const auto& dependent) {
      return !has(value, dependent.first) || visit(dependent.second, value, &seen);
    });
  }

  bool elements(const Node& node, const Value& value, Seen& seen) {
    if (node.prefix_items.empty() && node.items == kNone) {
      return true;
    }
    std::size_t index = 0;
    for (const Value element : value.elements()) {
      const NodeId schema = index < node.prefix_items.size() ? node.prefix_items[index] : node.items;
      if (schema == kNone) {
        break;
      }
      if (!inside(schema, element, {}, index)) {
        return false;
      }
      if (!seen.empty()) {
        seen[index] = true;
      }
      ++index;
    }
    return true;
  }

  bool contains(const Node& node, const Value& value, Seen& seen) {
    if (node.contains == kNone) {
      return true;
    }
    std::uint64_t found = 0;
    std::size_t index = 0;
    for (const Value element : value.elements()) {
      if (quietly(node.contains, element, nullptr)) {
        ++found;
        if (node.contains_evaluates && !seen.empty()) {
          seen[index] = true;
        }
      }
      ++index;
    }
    if (found < node.min_contains) {
      return fails("contains");
    }
    return !node.max_contains || found <= *node.max_contains || fails("maxContains");
  }

  bool unique(const Node& node, const Value& value) {
    if (!node.unique) {
      return true;
    }
    if (!spend(value.raw().size() / kBytesAStep)) {
      return false;
    }
    std::vector<std::string> keys;
    for (const Value element : value.elements()) {
      Key key = key_of(element);
      if (key.ambiguous && reading_ == Reading::unambiguous) {
        stop(Outcome::ambiguous);
      }
      keys.push_back(std::move(key.text));
    }
    std::ranges::sort(keys);
    return std::ranges::adjacent_find(keys) == keys.end() || fails("uniqueItems");
  }

  bool unevaluated_members(const Node& node, const Value& value, Seen& seen) {
    if (node.unevaluated_properties == kNone) {
      return true;
    }
    std::size_t index = 0;
    for (const Member member : value.members()) {
      if (!seen[index] && !inside(node.unevaluated_properties, member.value, member.key, 0)) {
        return fails("unevaluatedProperties");
      }
      seen[index++] = true;
    }
    return true;
  }

  bool unevaluated_elements(const Node& node, const Value& value, Seen& seen) {
    if (node.unevaluated_items == kNone) {
      return true;
    }
    std::size_t index = 0;
    for (const Value element : value.elements()) {
      if (!seen[index] && !inside(node.unevaluated_items, element, {}, index)) {
        return fails("unevaluatedItems");
      }
      seen[index++] = true;
    }
    return true;
  }

  const Program& program_;
  Reading reading_;
  std::size_t steps_left_;
  std::size_t depth_ = 0;
  std::size_t quiet_ = 0;
  std::vector<std::pair<Value, std::size_t>> path_ = {};
  std::vector<std::size_t> scope_ = {};
  Finding finding_ = {};
  std::optional<Outcome> stopped_ = {};
  std::string stopped_at_ = {};
};

}  // namespace

Finding Schema::check(const Value& value, Reading reading, std::size_t max_steps) const {
  return Checker(*program_, reading, max_steps).run(value);
}

}  // namespace cordon::schema
