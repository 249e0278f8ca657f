// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where typed changes of one item are gathered: it knows the place that is looked at, and keeps the worst.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/cues.hpp"
#include "core/catalog/places.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

// The two sides of one place; an absent Value where there is nothing on that side.
struct Sides {
  json::Value before = {};
  json::Value after = {};
  bool equal() const { return before && after && before.raw() == after.raw(); }
  bool both(json::Kind kind) const { return before.is(kind) && after.is(kind); }
};

// One member of two objects whose members are sorted.
struct MemberPair {
  std::string key = {};
  Sides sides = {};
};
// Members of either side, sorted by decoded key; those that are equal on both sides are left out.
std::vector<MemberPair> differing_members(const Sides& objects);

class ChangeList {
 public:
  explicit ChangeList(const CueNames& names) : names_(names) {}

  // While it lives, the place is one step deeper.
  class Step {
   public:
    Step(ChangeList& list, std::string_view token);
    ~Step() { list_.pointer_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    ChangeList& list_;
    std::size_t length_;
  };

  struct Options {
    bool element = false;
  };
  void add(What what, const Sides& sides, Options options);
  void add(What what, const Sides& sides) { add(what, sides, Options{}); }
  // A place that was found by other means; its pointer goes below the present one.
  void add_below(What what, Place place);

  // Nothing that is added weighs more, cues aside.
  void cap(Severity most) { most_ = most; }
  // Pointers so long, repeated for each place below, would cost more than the definition itself.
  bool too_deep() const;
  std::size_t total() const { return total_; }
  Places finish();

 private:
  const CueNames& names_;
  std::string pointer_ = {};
  Severity most_ = Severity::critical;
  std::array<std::vector<Place>, 5> buckets_ = {};  // so that many harmless places cannot push out a bad one
  std::size_t total_ = 0;
  Severity worst_ = Severity::info;
};

}  // namespace cordon::catalog
