// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/json: the one strict document model. Text goes in once, decisions, diffs, digests and rewriting use json::Value.
// Must not: know MCP, do I/O. simdjson is included by read.cpp alone. Start reading at value.hpp.

#include <cstddef>

namespace cordon::json {

struct Limits {
  std::size_t max_bytes = 10'000'000;  // of one text
  std::size_t max_depth = 128;         // of nested arrays and objects
};

}  // namespace cordon::json
