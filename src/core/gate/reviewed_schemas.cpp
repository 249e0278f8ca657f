// SPDX-License-Identifier: Apache-2.0
#include "core/gate/reviewed_schemas.hpp"

#include <utility>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Value;

bool wants_inputs(const policy::Policy& policy) {
  using policy::DriftAction;
  return policy.tools.schema == policy::SchemaCheck::enforce || policy.catalog.drift.changed == DriftAction::pinned ||
         policy.catalog.drift.changed_schema == DriftAction::pinned;
}

std::optional<Error> judged(const schema::Schema& schema, const Value& value, schema::Reading reading,
                            std::string_view what) {
  const schema::Finding finding = schema.check(value, reading);
  const std::string place =
      finding.place.empty() ? std::string(what) : text::cat(what, " at ", text::printable(finding.place, 200));
  switch (finding.outcome) {
    case schema::Outcome::fits:
      return std::nullopt;
    case schema::Outcome::violates:
      return Error{Errc::argument_denied,
                   text::cat(place, " does not fit `", finding.keyword, "` of the reviewed schema"),
                   {},
                   {}};
    case schema::Outcome::ambiguous:
      return Error{
          Errc::message_ambiguous, text::cat(place, " is a number or text that programs read differently"), {}, {}};
    case schema::Outcome::too_complex:
      return Error{
          Errc::argument_denied, text::cat(what, " takes too long to hold against the reviewed schema"), {}, {}};
  }
  CORDON_ASSERT(false);
}

}  // namespace

ReviewedSchemas::ReviewedSchemas(const catalog::Snapshot& snapshot, const policy::Policy& policy) {
  const bool inputs = wants_inputs(policy);
  const bool outputs = policy.results.structured == policy::SchemaCheck::enforce;
  for (const catalog::PinnedTool& tool : snapshot.tools) {
    if (!inputs && !outputs) {
      return;
    }
    const json::Document definition = parse_own(tool.definition);
    if (inputs) {
      add(inputs_, tool.name, "input", definition.root().find("inputSchema"));
    }
    if (const Value schema = definition.root().find("outputSchema"); outputs && schema) {
      add(outputs_, tool.name, "output", schema);
    }
  }
}

void ReviewedSchemas::add(Entries& entries, const std::string& tool, std::string_view what, const Value& schema) {
  auto compiled = schema ? schema::Schema::compile(schema) : std::unexpected<std::string>("there is none");
  if (compiled) {
    entries.emplace(tool, std::move(*compiled));
    return;
  }
  entries.emplace(tool, std::nullopt);
  not_understood_.push_back(text::cat("the ", what, " schema of tool '", text::printable(tool, 100),
                                      "' cannot be enforced: ", text::printable(compiled.error(), 300)));
}

std::optional<Error> ReviewedSchemas::refuse_arguments(std::string_view tool, const Value& arguments) const {
  const auto found = inputs_.find(tool);
  if (found == inputs_.end() || !found->second) {
    return Error{Errc::argument_denied, "there is no reviewed schema that its arguments could be held against", {}, {}};
  }
  const json::Document none = parse_own("{}");
  const bool given = arguments && !arguments.is(Kind::null);
  return judged(*found->second, given ? arguments : none.root(), schema::Reading::unambiguous, "an argument");
}

std::optional<Error> ReviewedSchemas::refuse_result(std::string_view tool, const Value& result) const {
  const auto found = outputs_.find(tool);
  const Value failed = result.find("isError");
  if (found == outputs_.end() || (failed.is(Kind::boolean) && failed.boolean())) {
    return std::nullopt;
  }
  if (!found->second) {
    return Error{Errc::tool_blocked, "the reviewed output schema cannot be enforced", {}, {}};
  }
  const Value content = result.find("structuredContent");
  if (!content) {
    return Error{Errc::tool_blocked, "the result lacks the structured content of the reviewed output schema", {}, {}};
  }
  auto refusal = judged(*found->second, content, schema::Reading::exact, "the structured content");
  if (refusal) {
    refusal->code = Errc::tool_blocked;
  }
  return refusal;
}

}  // namespace cordon::gate
