// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/places.hpp"

#include <algorithm>

#include "core/catalog/change_list.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxDepth = 512;           // bounds our recursion, see compare.cpp
constexpr std::size_t kMaxPointerBytes = 4'096;  // what lies deeper is told as a whole, at the place above it

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> list;
  for (const Value element : array.elements()) {
    list.push_back(element);
  }
  return list;
}

class Walker {
 public:
  Places run(const Sides& sides) {
    walk(sides);
    return std::move(found_);
  }

 private:
  void walk(const Sides& sides) {
    if (sides.equal()) {
      return;
    }
    if (sides.both(Kind::object)) {
      walk_members(sides);
    } else if (sides.both(Kind::array)) {
      walk_sequence(sides);
    } else {
      report(sides);
    }
  }

  void walk_members(const Sides& sides) {
    const std::vector<MemberPair> members = differing_members(sides);
    // Long pointers, repeated for each place below, would cost more than the definition itself. Nobody names members
    // so.
    const bool too_deep = std::ranges::any_of(
        members, [&](const MemberPair& member) { return pointer_.size() + member.key.size() > kMaxPointerBytes; });
    if (too_deep) {
      report(sides);
      return;
    }
    for (const MemberPair& member : members) {
      below(member.key, member.sides);
    }
  }

  // What is equal at both ends is skipped; between, elements are compared one by one.
  void walk_sequence(const Sides& sides) {
    const std::vector<Value> before = elements_of(sides.before);
    const std::vector<Value> after = elements_of(sides.after);
    if (pointer_.size() > kMaxPointerBytes) {
      report(sides);
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
      below(std::to_string(i),
            {i < before.size() - tail ? before[i] : Value(), i < after.size() - tail ? after[i] : Value()});
    }
  }

  void below(std::string_view token, const Sides& sides) {
    const std::size_t length = pointer_.size();
    push(token);
    walk(sides);
    pointer_.resize(length);
  }

  void push(std::string_view token) {
    pointer_ += '/';
    for (const char c : token) {
      pointer_ += c == '~' ? "~0" : c == '/' ? "~1" : std::string_view(&c, 1);
    }
  }

  void report(const Sides& sides) {
    if (found_.list.size() >= kMaxPlaces) {
      ++found_.omitted;
      return;
    }
    const auto raw = [](const Value& value) { return std::string(value ? value.raw() : std::string_view()); };
    found_.list.push_back({.pointer = pointer_, .before = raw(sides.before), .after = raw(sides.after)});
  }

  std::string pointer_ = {};
  Places found_ = {};
};

}  // namespace

Places data_places(std::string_view before, std::string_view after) {
  if (before == after) {
    return {};
  }
  const Result<json::Document> old_doc = json::read(std::string(before), {before.size(), kMaxDepth});
  const Result<json::Document> new_doc = json::read(std::string(after), {after.size(), kMaxDepth});
  if (!old_doc || !new_doc) {
    return {.list = {{.before = std::string(before), .after = std::string(after)}}};
  }
  return Walker().run({old_doc->root(), new_doc->root()});
}

}  // namespace cordon::catalog
