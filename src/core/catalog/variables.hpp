// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts of parameterised servers: reviewed text with places that may hold other values (product §7).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/catalog/catalog.hpp"

namespace cordon::catalog {

// Does a value fit? Given for each variable that the policy declares; the caller knows kinds and known values.
struct VariableRule {
  bool (*fits)(const VariableRule& rule, std::string_view value) = nullptr;
  std::string argument = {};              // what `fits` compares with: a known value or a glob
  std::optional<std::string> known = {};  // shown to the client in place of the reviewed value
};
using VariableRules = std::map<std::string, VariableRule>;

inline constexpr std::size_t kMaxVariableBytes = 256;

enum class Shown : std::uint8_t {
  reviewed,  // the text as it was reviewed
  known,     // with the values that we know
};

// One reading of one list: a variable has one value in all of it, the first that was seen.
class VariableReader {
 public:
  // `values`: of variables that were seen already, in other lists of the same catalog.
  VariableReader(const VariableRules& rules, const std::vector<VariablePlace>& places, Shown shown,
                 std::map<std::string, std::string> values = {})
      : rules_(&rules), places_(&places), shown_(shown), values_(std::move(values)) {}

  const std::map<std::string, std::string>& values() const { return values_; }

  // `live` again with the reviewed text, as `shown` says, at each marked string whose live text differs from it in
  // values of declared variables only. Texts that do not match stay as they are, so that they count as changed.
  std::string settled(std::string_view item, std::string_view key, std::string_view pinned, std::string_view live);
  // The same for plain text.
  std::string settled_text(std::string_view item, std::string_view pinned, std::string_view live);

 private:
  bool matches(const std::vector<const VariablePlace*>& places, std::string_view pinned, std::string_view live);

  const VariableRules* rules_;
  const std::vector<VariablePlace>* places_;
  Shown shown_;
  std::map<std::string, std::string> values_;
};

// The reviewed definition with the values that we know at its marked places: what the client gets.
std::string with_known_values(const VariableRules& rules, const std::vector<VariablePlace>& places,
                              std::string_view item, std::string_view key, std::string_view pinned);
std::string text_with_known_values(const VariableRules& rules, const std::vector<VariablePlace>& places,
                                   std::string_view item, std::string_view text);

// Every place of `snapshot` where a known value stands as a whole word, for variables that have one.
std::vector<VariablePlace> places_of_known(const VariableRules& rules, const Snapshot& snapshot);

// The places of those sources whose item has the very text that it has in `snapshot`. For each item the first source
// that has any decides.
std::vector<VariablePlace> places_that_hold(const Snapshot& snapshot, const std::vector<const Snapshot*>& sources);

// snapshot_invalid when a place leads to no string, lies outside of it or inside a character, overlaps the one before,
// or the places are not in order.
Status check_places(const Snapshot& snapshot);

}  // namespace cordon::catalog
