// SPDX-License-Identifier: Apache-2.0
// A JSON Schema and a value, split at the first line end. Whatever they are: the work is bounded, the order of members
// makes no difference, a schema inside of allOf says what it says alone, and inside of not the contrary.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/schema/schema.hpp"

using namespace cordon;
using schema::Outcome;

namespace {

constexpr std::size_t kSteps = 20'000;

// Nothing when the schema is not understood, or the check did not come to an end.
std::optional<bool> fits(const std::string& schema_text, const json::Value& value, bool& understood) {
  const Result<json::Document> document = json::read(schema_text, {});
  CORDON_ASSERT(document.has_value());
  const auto compiled = schema::Schema::compile(document->root());
  understood = compiled.has_value();
  if (!compiled) {
    CORDON_ASSERT(!compiled.error().empty());
    return std::nullopt;
  }
  const schema::Finding finding = compiled->check(value, schema::Reading::exact, kSteps);
  CORDON_ASSERT(finding.outcome == compiled->check(value, schema::Reading::exact, kSteps).outcome);
  CORDON_ASSERT((finding.outcome == Outcome::violates) == !finding.keyword.empty());
  // What is read the same by everybody is never let through where exact reading lets it not.
  const schema::Finding careful = compiled->check(value, schema::Reading::unambiguous, kSteps);
  CORDON_ASSERT(careful.outcome != Outcome::fits || finding.outcome == Outcome::fits);
  if (finding.outcome == Outcome::ambiguous || finding.outcome == Outcome::too_complex) {
    return std::nullopt;
  }
  return finding.outcome == Outcome::fits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const std::size_t cut = input.find('\n');
  if (cut == std::string::npos) {
    return 0;
  }
  const Result<json::Document> schema = json::read(input.substr(0, cut), {});
  const Result<json::Document> value = json::read(input.substr(cut + 1), {});
  if (!schema || !value) {
    return 0;
  }
  bool understood = false;
  const std::string text(schema->root().raw());
  const auto plain = fits(text, value->root(), understood);
  const std::string sorted_value = json::canonical(value->root());
  const Result<json::Document> sorted = json::read(sorted_value, {});
  CORDON_ASSERT(sorted.has_value());
  bool sorted_understood = false;
  const auto again = fits(json::canonical(schema->root()), sorted->root(), sorted_understood);
  CORDON_ASSERT(understood == sorted_understood);
  CORDON_ASSERT(!plain || !again || *plain == *again);
  // References are told from the root, which moves.
  if (text.find('$') != std::string::npos || text.find('\\') != std::string::npos) {
    return 0;
  }
  bool inner_understood = false;
  const auto all = fits(text::cat(R"({"allOf":[)", text, "]}"), value->root(), inner_understood);
  CORDON_ASSERT(understood == inner_understood);
  CORDON_ASSERT(!plain || !all || *plain == *all);
  const auto contrary = fits(text::cat(R"({"not":)", text, "}"), value->root(), inner_understood);
  CORDON_ASSERT(!plain || !contrary || *plain != *contrary);
  return 0;
}
