// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keywords of JSON Schema by how a difference in them is told, and what their values mean.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::catalog {

enum class Keyword : std::uint8_t {
  alternatives,
  constraint,
  data,
  definitions,
  floor,
  initial,
  ceiling,
  choice,
  schema,
  openness,
  properties,
  reference,
  required,
  schemas_by_name,
  text,
  title,
  type,
  unique,
  conjunction,
  sequence,
  dialect,
};

Keyword keyword_of(std::string_view name);  // `data` for one that is not known

// The types that are let through, one bit each; all when there is no `type`; nothing when it cannot be read.
std::optional<unsigned> types_of(const json::Value& type);
// Nothing for what is no number, or none that a double can hold.
std::optional<double> number_of(const json::Value& value);
// What a local reference names in `root`; absent when it leads nowhere we can follow.
json::Value resolved(const json::Value& root, std::string_view reference);

}  // namespace cordon::catalog
