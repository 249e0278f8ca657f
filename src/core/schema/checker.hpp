// SPDX-License-Identifier: Apache-2.0
#pragma once
// One value held against a program of schemas: check.cpp goes from schema to schema, check_value.cpp judges a value by
// itself, check_container.cpp what is in it.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/value.hpp"
#include "core/schema/decimal.hpp"
#include "core/schema/node.hpp"
#include "core/schema/schema.hpp"

namespace cordon::schema {

inline constexpr std::size_t kBytesAStep = 64;  // text that is looked through

class Checker {
 public:
  Checker(const Program& program, Reading reading, std::size_t max_steps)
      : program_(program), reading_(reading), steps_left_(max_steps) {}
  Finding run(const json::Value& value);

 private:
  using Seen = std::vector<bool>;  // which members or elements some schema has looked at

  // False when there is no work left to spend.
  bool spend(std::size_t steps) {
    if (steps > steps_left_) {
      stop(Outcome::too_complex);
    }
    steps_left_ -= std::min(steps, steps_left_);
    return !stopped_;
  }
  void stop(Outcome outcome);
  std::string place() const;
  bool fails(std::string_view keyword);
  bool inside(NodeId node, const json::Value& value, const json::Value& key, std::size_t index);
  // Where a failure is no failure of the whole.
  bool quietly(NodeId node, const json::Value& value, Seen* seen);
  bool visit(NodeId id, const json::Value& value, Seen* seen);
  std::size_t scope_now() const { return scope_.empty() ? std::size_t(-1) : scope_.back(); }

  // ---- one value by itself ----
  bool scalar(const Node& node, const json::Value& value);
  Decimal number(const json::Value& value);
  bool type(const Node& node, const json::Value& value);
  bool choices(const Node& node, const json::Value& value);
  bool numbers(const Node& node, const json::Value& value);
  bool counted(const Node& node, std::string_view least, std::string_view most, std::size_t have);
  bool texts(const Node& node, const json::Value& value);

  // ---- schemas of the same value ----
  bool logic(const Node& node, const json::Value& value, Seen& seen);
  bool any(const Node& node, const json::Value& value, Seen& seen);
  bool one(const Node& node, const json::Value& value, Seen& seen);
  // The outermost schema gone through that has an anchor of that name.
  NodeId target(const Dynamic& dynamic) const;

  // ---- what is in it ----
  bool container(const Node& node, const json::Value& value, Seen& seen);
  // A search through all members, which a big object makes a long one.
  bool has(const json::Value& value, const std::string& name);
  bool required(const Node& node, const json::Value& value);
  bool members(const Node& node, const json::Value& value, Seen& seen);
  bool member_fits(const Node& node, const json::Member& member, bool& looked);
  bool dependents(const Node& node, const json::Value& value, Seen& seen);
  bool elements(const Node& node, const json::Value& value, Seen& seen);
  bool contains(const Node& node, const json::Value& value, Seen& seen);
  bool unique(const Node& node, const json::Value& value);
  bool unevaluated_members(const Node& node, const json::Value& value, Seen& seen);
  bool unevaluated_elements(const Node& node, const json::Value& value, Seen& seen);

  const Program& program_;
  Reading reading_;
  std::size_t steps_left_;
  std::size_t depth_ = 0;
  std::size_t quiet_ = 0;
  std::vector<std::pair<json::Value, std::size_t>> path_ = {};
  std::vector<std::size_t> scope_ = {};
  Finding finding_ = {};
  std::optional<Outcome> stopped_ = {};
  std::string stopped_at_ = {};
};

}  // namespace cordon::schema
