// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input and output schemas that were reviewed, ready to be held against arguments and structured content.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"
#include "core/schema/schema.hpp"

namespace cordon::gate {

class ReviewedSchemas {
 public:
  ReviewedSchemas() = default;
  // Only those that `policy` asks for are made ready.
  ReviewedSchemas(const catalog::Snapshot& snapshot, const policy::Policy& policy);

  // Tools whose schema cannot be used, each with the reason, for the person.
  const std::vector<std::string>& not_understood() const { return not_understood_; }

  // Why these arguments (absent: none) may not pass, in our own words; nothing when they fit. A tool without a usable
  // schema is refused.
  std::optional<Error> refuse_arguments(std::string_view tool, const json::Value& arguments) const;
  // The same of a result: an error result and a tool without output schema are not looked at.
  std::optional<Error> refuse_result(std::string_view tool, const json::Value& result) const;

 private:
  using Entry = std::optional<schema::Schema>;  // nothing: it was not understood
  using Entries = std::map<std::string, Entry, std::less<>>;
  void add(Entries& entries, const std::string& tool, std::string_view what, const json::Value& schema);

  Entries inputs_ = {};
  Entries outputs_ = {};
  std::vector<std::string> not_understood_ = {};
};

}  // namespace cordon::gate
