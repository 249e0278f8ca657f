// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which schema a reference means, within one document: `$id`, `$anchor`, JSON pointers.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace cordon::schema {

enum class Dialect : std::uint8_t { draft_07, v2020_12 };

// How the value of a keyword holds schemas. One table (resources.cpp).
enum class Holds : std::uint8_t { nothing, schema, list, map, schema_or_list, map_of_some };
Holds holds(std::string_view keyword);

class Resources {
 public:
  // Looks through all schemas of the document; `error()` says what stands against understanding it.
  Resources(const json::Value& root, Dialect dialect);

  const std::string& error() const { return error_; }

  // Absent when the reference, which stands in the schema `from`, leads out of the document or nowhere.
  json::Value resolve(const json::Value& from, std::string_view reference);
  // The number of the resource that a schema is part of.
  std::size_t resource_of(const json::Value& schema);

  struct DynamicAnchor {
    std::size_t resource = 0;
    std::string name = {};
    json::Value schema = {};
  };
  const std::vector<DynamicAnchor>& dynamic_anchors() const { return dynamic_; }
  bool is_dynamic(const json::Value& schema, std::string_view name) const;

 private:
  void scan(const json::Value& schema, std::string base);
  std::string base_below(const json::Value& schema, const std::string& base);
  void anchor(const json::Value& schema, const std::string& base);
  void add(std::map<std::string, json::Value, std::less<>>& names, std::string name, const json::Value& schema);

  Dialect dialect_;
  json::Value root_;
  std::string error_ = {};
  std::map<std::uint32_t, std::string> bases_ = {};  // by where a schema stands
  std::map<std::string, json::Value, std::less<>> roots_ = {};
  std::map<std::string, json::Value, std::less<>> anchors_ = {};  // "URI#NAME"
  std::vector<DynamicAnchor> dynamic_ = {};
};

}  // namespace cordon::schema
