// SPDX-License-Identifier: Apache-2.0
// Two JSON texts, split at the first line end, as two definitions of one tool. Whatever they are, the forms are stable,
// a definition equals itself, and relation, digest, places and typed changes agree with each other.
// The second is also read as what an interface holds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/catalog/compare.hpp"
#include "core/catalog/definition_changes.hpp"
#include "core/catalog/effects.hpp"
#include "core/catalog/interface.hpp"
#include "core/catalog/places.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

using namespace cordon;

namespace {

std::string canonical_or_raw(std::string_view text) {
  const Result<json::Document> document = json::read(std::string(text), {});
  return document ? json::canonical(document->root()) : std::string(text);
}

void check_forms(const std::string& definition) {
  const std::string comparison = catalog::comparison_form(definition);
  const std::string cosmetic = catalog::cosmetic_form(definition);
  CORDON_ASSERT(catalog::comparison_form(comparison) == comparison);
  CORDON_ASSERT(catalog::cosmetic_form(cosmetic) == cosmetic);
  CORDON_ASSERT(catalog::cosmetic_form(comparison) == cosmetic);
  CORDON_ASSERT(catalog::comparison_form(cosmetic) == cosmetic);
  CORDON_ASSERT(canonical_or_raw(comparison) == comparison);
  CORDON_ASSERT(canonical_or_raw(cosmetic) == cosmetic);
  CORDON_ASSERT(catalog::relate(definition, definition) == catalog::Relation::equal);
  CORDON_ASSERT(catalog::relate(definition, comparison) == catalog::Relation::equal);
  CORDON_ASSERT(catalog::relate(definition, cosmetic) != catalog::Relation::changed);
}

void check_pair(const std::string& before, const std::string& after) {
  const catalog::Relation relation = catalog::relate(before, after);
  CORDON_ASSERT(relation == catalog::relate(after, before));
  const bool same_digest = catalog::tool_digest(before) == catalog::tool_digest(after);
  CORDON_ASSERT(same_digest == (relation == catalog::Relation::equal));
  const catalog::Places places = catalog::data_places(before, after);
  CORDON_ASSERT(places.list.size() <= catalog::kMaxPlaces);
  CORDON_ASSERT(places.list.empty() == (before == after));
  const catalog::Places changes =
      catalog::definition_changes(catalog::comparison_form(before), catalog::comparison_form(after), {});
  CORDON_ASSERT(changes.list.size() <= catalog::kMaxPlaces);
  CORDON_ASSERT(changes.list.empty() == (catalog::comparison_form(before) == catalog::comparison_form(after)));
  CORDON_ASSERT(relation != catalog::Relation::changed || changes.worst != catalog::Severity::info);
  const catalog::EffectProposal proposal = catalog::propose_effect(after);
  CORDON_ASSERT(catalog::effect_rank(proposal.effect).has_value());
  if (canonical_or_raw(before) == before && canonical_or_raw(after) == after) {
    // Longer member names are told at the object around them, as if it had changed.
    const bool short_names = before.size() < 4096 && after.size() < 4096;
    CORDON_ASSERT(relation != catalog::Relation::cosmetic || changes.worst == catalog::Severity::info || !short_names);
  }
}

// As the content of an interface: what is said of it is canonical, and so is its summary.
void check_interface(const std::string& result) {
  const Result<json::Document> document = json::read(result, {});
  if (!document) {
    return;
  }
  const std::string facts = catalog::interface_facts(document->root());
  CORDON_ASSERT(canonical_or_raw(facts) == facts);
  const std::string summary = catalog::interface_summary("sha256:0", facts);
  CORDON_ASSERT(canonical_or_raw(summary) == summary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  const std::string before = canonical_or_raw(input.substr(0, end));
  const std::string after = end == std::string_view::npos ? before : canonical_or_raw(input.substr(end + 1));
  check_forms(before);
  check_forms(after);
  check_pair(before, after);
  check_interface(after);
  return 0;
}
