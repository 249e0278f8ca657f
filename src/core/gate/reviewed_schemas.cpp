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

std::optional<Error> judged(const schema::Schema& schema, const Value& arguments) {
  const schema::Finding finding = schema.check(arguments, schema::Reading::unambiguous);
  const std::string place = finding.place.empty() ? std::string("an argument")
                                                  : text::cat("an argument at ", text::printable(finding.place, 200));
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
          Errc::argument_denied, "it takes too long to hold the arguments against the reviewed schema", {}, {}};
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
  return judged(*found->second, given ? arguments : none.root());
}

std::optional<Error> ReviewedSchemas::refuse_result(std::string_view tool, const Value& result) const {
  const auto found = outputs_.find(tool);
  const Value failed = result.find("isError");
  const Value content = result.find("structuredContent");
  // An error needs no structure; one that has some is no way round.
  if (found == outputs_.end() || (!content && failed.is(Kind::boolean) && failed.boolean())) {
    return std::nullopt;
  }
  if (!found->second) {
    return Error{Errc::message_malformed, "the reviewed output schema cannot be enforced", {}, {}};
  }
  if (!content) {
    return Error{
        Errc::message_malformed, "the result lacks the structured content of the reviewed output schema", {}, {}};
  }
  const schema::Finding finding = found->second->check(content, schema::Reading::exact);
  if (finding.outcome == schema::Outcome::fits) {
    return std::nullopt;
  }
  // Without the place: its names are the server's, and models read this.
  return Error{
      Errc::message_malformed,
      finding.outcome == schema::Outcome::violates
          ? text::cat("the structured content does not fit `", finding.keyword, "` of the reviewed output schema")
          : std::string("the structured content cannot be held against the reviewed output schema"),
      {},
      {}};
}

}  // namespace cordon::gate
