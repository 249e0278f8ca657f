// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/schema/checker.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxDepth = 800;  // of schemas inside each other, counted along references

void merge(std::vector<bool>* into, const std::vector<bool>& from) {
  for (std::size_t i = 0; into != nullptr && i < from.size(); ++i) {
    (*into)[i] = (*into)[i] || from[i];
  }
}

}  // namespace

Finding Checker::run(const Value& value) {
  const bool fits = visit(0, value, nullptr);
  if (stopped_) {
    return {*stopped_, stopped_at_, ""};
  }
  return fits ? Finding{} : Finding{Outcome::violates, finding_.place, finding_.keyword};
}

void Checker::stop(Outcome outcome) {
  if (!stopped_) {
    stopped_ = outcome;
    stopped_at_ = place();
  }
}

std::string Checker::place() const {
  std::string pointer;
  for (const auto& [key, index] : path_) {
    pointer += '/';
    for (const char c : key ? key.string() : std::to_string(index)) {
      pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
  }
  return pointer;
}

bool Checker::fails(std::string_view keyword) {
  if (quiet_ == 0 && finding_.keyword.empty()) {
    finding_ = {Outcome::violates, place(), keyword};
  }
  return false;
}

bool Checker::inside(NodeId node, const Value& value, const Value& key, std::size_t index) {
  path_.emplace_back(key, index);
  const bool fits = visit(node, value, nullptr);
  path_.pop_back();
  return fits;
}

bool Checker::quietly(NodeId node, const Value& value, Seen* seen) {
  ++quiet_;
  const bool fits = visit(node, value, seen);
  --quiet_;
  return fits;
}

bool Checker::visit(NodeId id, const Value& value, Seen* seen) {
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

bool Checker::logic(const Node& node, const Value& value, Seen& seen) {
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

bool Checker::any(const Node& node, const Value& value, Seen& seen) {
  bool found = false;
  for (const NodeId part : node.any_of) {
    found = quietly(part, value, &seen) || found;
    if (found && !program_.unevaluated) {
      break;
    }
  }
  return found;
}

bool Checker::one(const Node& node, const Value& value, Seen& seen) {
  std::size_t found = 0;
  for (const NodeId part : node.one_of) {
    found += quietly(part, value, &seen) ? 1U : 0U;
  }
  return found == 1;
}

NodeId Checker::target(const Dynamic& dynamic) const {
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

Finding Schema::check(const Value& value, Reading reading, std::size_t max_steps) const {
  return Checker(*program_, reading, max_steps).run(value);
}

}  // namespace cordon::schema
