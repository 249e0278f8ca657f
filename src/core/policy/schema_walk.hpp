// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which arguments a reviewed input schema names. No validator: only the ways into an object or an array are followed.

#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace cordon::policy {

// Every schema that may stand for one value: it, what it refers to inside its own document, and the branches of
// allOf, anyOf, oneOf.
using Schemas = std::vector<json::Value>;

class SchemaWalk {
 public:
  // `root`: the schema of `arguments`; may be absent. Its document must outlive this.
  explicit SchemaWalk(json::Value root) : root_(root) {}

  Schemas top() const { return expand({root_}); }
  // Of the member `name`; empty when no schema names it.
  Schemas member(const Schemas& of, std::string_view name) const;
  Schemas elements(const Schemas& of) const;
  // As `properties` somewhere in them.
  static bool names(const Schemas& of, std::string_view member);
  // Strings that `enum` and `const` list.
  static std::vector<std::string> values(const Schemas& of);

 private:
  Schemas expand(Schemas nodes) const;
  json::Value root_;
};

}  // namespace cordon::policy
