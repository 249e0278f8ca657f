// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/places.hpp"

#include <algorithm>
#include <array>

#include "core/catalog/schema.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxDepth = 512;           // bounds our recursion, see compare.cpp
constexpr std::size_t kMaxPointerBytes = 4'096;  // what lies deeper is told as a whole, at the place above it

// Keeps the first kMaxPlaces of each severity, so that many harmless places cannot push out a bad one.
class Collection {
 public:
  void add(Place place) {
    ++total_;
    worst_ = std::max(worst_, place.severity);
    std::vector<Place>& bucket = buckets_[static_cast<std::size_t>(place.severity)];
    if (bucket.size() < kMaxPlaces) {
      bucket.push_back(std::move(place));
    }
  }
  std::size_t total() const { return total_; }
  bool full(Severity severity) const { return buckets_[static_cast<std::size_t>(severity)].size() >= kMaxPlaces; }
  void count(Severity severity) {
    ++total_;
    worst_ = std::max(worst_, severity);
  }

  Places finish() {
    Places places;
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
      for (Place& place : *bucket) {
        if (places.list.size() < kMaxPlaces) {
          places.list.push_back(std::move(place));
        }
      }
    }
    places.omitted = total_ - places.list.size();
    places.worst = worst_;
    return places;
  }

 private:
  std::array<std::vector<Place>, 4> buckets_ = {};
  std::size_t total_ = 0;
  Severity worst_ = Severity::info;
};

// The two sides of one place; an absent Value where there is nothing on that side.
struct Pair {
  Value before = {};
  Value after = {};
  bool equal() const { return before && after && before.raw() == after.raw(); }
  bool both(Kind kind) const { return before.is(kind) && after.is(kind); }
};

std::string_view raw_or_empty(const Value& value) { return value ? value.raw() : std::string_view(); }

std::vector<json::Member> members_of(const Value& object) {
  std::vector<json::Member> list;
  if (object.is(Kind::object)) {
    for (const json::Member member : object.members()) {
      list.push_back(member);
    }
  }
  return list;
}

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> list;
  for (const Value element : array.elements()) {
    list.push_back(element);
  }
  return list;
}

// Severity by the member of the tool in which a place lies.
Severity tool_member_severity(std::string_view key) {
  constexpr std::array<std::string_view, 4> kLow = {"execution", "icons", "outputSchema", "title"};
  return std::ranges::find(kLow, key) == kLow.end() ? Severity::medium : Severity::low;
}

bool is_true(const Value& value) { return value.is(Kind::boolean) && value.boolean(); }

class Walker {
 public:
  using MemberSeverity = Severity (*)(std::string_view key);
  Walker(MemberSeverity of_member, Position root) : of_member_(of_member), root_(root) {}

  Places run(const Pair& pair) {
    severity_ = of_member_("");
    walk(pair, root_);
    return found_.finish();
  }

 private:
  void walk(const Pair& pair, Position position) {
    if (pair.equal()) {
      return;
    }
    if (pair.both(Kind::object)) {
      walk_members(pair, position);
    } else if (pair.both(Kind::array)) {
      walk_sequence(pair, position);
    } else {
      report(pair);
    }
  }

  // Both objects have their members sorted by decoded key; either side may be absent.
  void walk_members(const Pair& pair, Position position) {
    const std::vector<json::Member> before = members_of(pair.before);
    const std::vector<json::Member> after = members_of(pair.after);
    if (too_deep(before) || too_deep(after)) {
      report_whole(pair);
      return;
    }
    std::size_t b = 0;
    std::size_t a = 0;
    while (b < before.size() || a < after.size()) {
      const std::string before_key = b < before.size() ? before[b].key.string() : std::string();
      const std::string after_key = a < after.size() ? after[a].key.string() : std::string();
      const bool has_before = b < before.size() && (a >= after.size() || before_key <= after_key);
      const bool has_after = a < after.size() && (b >= before.size() || after_key <= before_key);
      const std::string& key = has_before ? before_key : after_key;
      const Pair member = {has_before ? before[b++].value : Value(), has_after ? after[a++].value : Value()};
      walk_member(member, position, key);
    }
  }

  void walk_member(const Pair& pair, Position position, const std::string& key) {
    if (pair.equal()) {
      return;
    }
    const std::size_t length = pointer_.size();
    const Severity outer = severity_;
    if (length == 0) {
      severity_ = of_member_(key);
    }
    if (position == Position::annotations) {
      severity_ = hint_severity(pair, key);
    }
    push(key);
    descend(pair, position, key);
    pointer_.resize(length);
    severity_ = outer;
  }

  void descend(const Pair& pair, Position position, const std::string& key) {
    const Position below_before = pair.before ? member_position(position, key, pair.before) : Position::data;
    const Position below_after = pair.after ? member_position(position, key, pair.after) : Position::data;
    if (below_before == Position::schema_root || below_after == Position::schema_root) {
      facts_before_ = pair.before ? schema_facts(pair.before) : SchemaFacts();
      facts_after_ = pair.after ? schema_facts(pair.after) : SchemaFacts();
    }
    const bool gone_before = !pair.before || omissible(position, key, pair.before, facts_before_);
    const bool gone_after = !pair.after || omissible(position, key, pair.after, facts_after_);
    const bool hints = below_before == Position::annotations || below_after == Position::annotations ||
                       below_before == Position::execution || below_after == Position::execution;
    const std::size_t so_far = found_.total();
    if (hints && pair.before.is(Kind::object) + pair.after.is(Kind::object) + !pair.before + !pair.after == 2) {
      // A missing object reads as one without members, so that each hint is a place of its own.
      walk_members(pair, pair.before ? below_before : below_after);
      if (found_.total() != so_far) {
        return;
      }
    }
    if (gone_before && gone_after) {
      severity_ = Severity::info;
      report(pair);
    } else if (pair.both(Kind::array) && order_free(position, key, pair.before, facts_before_) &&
               order_free(position, key, pair.after, facts_after_)) {
      walk_set(pair);
    } else {
      if (position == Position::tool && key == "annotations") {
        severity_ = hint_severity({pair.before.find("readOnlyHint"), pair.after.find("readOnlyHint")}, "readOnlyHint");
      }
      walk(pair, below_before == below_after ? below_before : Position::data);
    }
  }

  // What is equal at both ends is skipped; between, elements are compared one by one.
  void walk_sequence(const Pair& pair, Position position) {
    const std::vector<Value> before = elements_of(pair.before);
    const std::vector<Value> after = elements_of(pair.after);
    if (pointer_.size() > kMaxPointerBytes) {
      report_whole(pair);
      return;
    }
    const auto same = [](const Value& a, const Value& b) { return a.raw() == b.raw(); };
    const auto [head, head_after] = std::ranges::mismatch(before, after, same);
    const auto start = static_cast<std::size_t>(head - before.begin());
    std::size_t tail = 0;
    while (tail < std::min(before.size(), after.size()) - start &&
           same(before[before.size() - 1 - tail], after[after.size() - 1 - tail])) {
      ++tail;
    }
    for (std::size_t i = start; i < std::max(before.size(), after.size()) - tail; ++i) {
      const Pair element = {i < before.size() - tail ? before[i] : Value(),
                            i < after.size() - tail ? after[i] : Value()};
      walk_element(element, position, i);
    }
  }

  void walk_element(const Pair& pair, Position position, std::size_t index) {
    const std::size_t length = pointer_.size();
    push(std::to_string(index));
    const Position below_before = pair.before ? element_position(position, pair.before) : Position::data;
    const Position below_after = pair.after ? element_position(position, pair.after) : Position::data;
    walk(pair, below_before == below_after ? below_before : Position::data);
    pointer_.resize(length);
  }

  // Both arrays are sorted by their texts.
  void walk_set(const Pair& pair) {
    const std::vector<Value> before = elements_of(pair.before);
    const std::vector<Value> after = elements_of(pair.after);
    std::size_t b = 0;
    std::size_t a = 0;
    while (b < before.size() || a < after.size()) {
      if (b < before.size() && a < after.size() && before[b].raw() == after[a].raw()) {
        ++b;
        ++a;
      } else if (a >= after.size() || (b < before.size() && before[b].raw() < after[a].raw())) {
        report({before[b++], Value()}, true);
      } else {
        report({Value(), after[a++]}, true);
      }
    }
  }

  // Clients skip their own question on readOnlyHint, so one that turns true weighs most.
  Severity hint_severity(const Pair& pair, std::string_view key) const {
    if (key == "readOnlyHint" && is_true(pair.after) && !is_true(pair.before)) {
      return Severity::high;
    }
    return key == "title" ? Severity::low : Severity::medium;
  }

  void push(std::string_view token) {
    pointer_ += '/';
    for (const char c : token) {
      pointer_ += c == '~' ? "~0" : c == '/' ? "~1" : std::string_view(&c, 1);
    }
  }

  bool too_deep(const std::vector<json::Member>& members) const {
    return std::ranges::any_of(members, [&](const json::Member& member) {
      return pointer_.size() + member.key.string_raw().size() > kMaxPointerBytes;
    });
  }

  // Long pointers, repeated for each place below, would cost more than the definition itself. Nobody names members so.
  void report_whole(const Pair& pair) {
    const Severity outer = severity_;
    severity_ = Severity::high;
    report(pair);
    severity_ = outer;
  }

  void report(const Pair& pair, bool element = false) {
    if (found_.full(severity_)) {
      found_.count(severity_);
      return;
    }
    found_.add({.pointer = pointer_,
                .before = std::string(raw_or_empty(pair.before)),
                .after = std::string(raw_or_empty(pair.after)),
                .severity = severity_,
                .element = element});
  }

  MemberSeverity of_member_;
  Position root_;
  std::string pointer_ = {};
  Severity severity_ = Severity::medium;
  SchemaFacts facts_before_ = {};
  SchemaFacts facts_after_ = {};
  Collection found_ = {};
};

Places places_of(std::string_view before, std::string_view after, Walker walker, Severity unreadable) {
  if (before == after) {
    return {};
  }
  const Result<json::Document> old_doc = json::read(std::string(before), {before.size(), kMaxDepth});
  const Result<json::Document> new_doc = json::read(std::string(after), {after.size(), kMaxDepth});
  if (!old_doc || !new_doc) {
    return {.list = {{.before = std::string(before), .after = std::string(after), .severity = unreadable}},
            .worst = unreadable};
  }
  return walker.run({old_doc->root(), new_doc->root()});
}

}  // namespace

Places tool_places(std::string_view before, std::string_view after) {
  return places_of(before, after, Walker(tool_member_severity, Position::tool), Severity::high);
}

Places data_places(std::string_view before, std::string_view after, Severity (*of_member)(std::string_view key)) {
  return places_of(before, after, Walker(of_member, Position::data), of_member(""));
}

}  // namespace cordon::catalog
