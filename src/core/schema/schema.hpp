// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/schema: does a JSON value fit a JSON Schema? 2020-12 and draft-07; own code, see docs/adr/0007.
// Must not: fetch anything, know MCP, take a number for a double, run longer than a number of steps allows.
// Start reading here; then node.hpp (what a schema is compiled to), compile.cpp and check.cpp.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::schema {

enum class Outcome : std::uint8_t {
  fits,
  violates,
  ambiguous,    // a number or string that the schema reads is not the same to every reader
  too_complex,  // more work than a check may be
};

struct Finding {
  Outcome outcome = Outcome::fits;
  std::string place = {};         // JSON pointer into the value; its names are the value's own
  std::string_view keyword = {};  // which one did not hold: "required"
};

enum class Reading : std::uint8_t {
  exact,        // every digit counts
  unambiguous,  // numbers and strings that readers read differently are refused where the schema reads them
};

inline constexpr std::size_t kMaxSteps = 2'000'000;

struct Program;

class Schema {
 public:
  // Nothing that a schema demands is left out: a dialect, reference, keyword value or pattern that is not understood
  // makes an error, which says why, printable. `format` and unknown keywords are no demands.
  static std::expected<Schema, std::string> compile(const json::Value& schema);

  Schema(Schema&& other) noexcept;
  Schema& operator=(Schema&& other) noexcept;
  ~Schema();

  Finding check(const json::Value& value, Reading reading, std::size_t max_steps = kMaxSteps) const;

 private:
  explicit Schema(std::unique_ptr<const Program> program);

  std::unique_ptr<const Program> program_;
};

}  // namespace cordon::schema
