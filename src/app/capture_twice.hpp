// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a catalog hangs on besides the server: captures it again under other circumstances and compares.

#include <string>
#include <string_view>
#include <vector>

#include "app/capture.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/catalog/diff.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// One more launch than the first, and what was different of it.
struct Variation {
  std::string label = {};                         // "another HOME and working directory"
  std::vector<catalog::ItemChange> changes = {};  // against the first launch; launch itself aside
  std::string failure = {};                       // why there is no catalog to compare
};

struct Twice {
  catalog::Snapshot candidate = {};  // of the first launch, which is the one that `run` would make
  std::vector<Variation> variations = {};
  std::vector<std::string> today = {};  // where today's date stands, for a person
  bool stable() const;
};

// Fails where the first launch fails.
Result<Twice> capture_twice(const CaptureRequest& request);

// For a person: what is unstable, where, and what the difference looks like. Ends with a line feed.
std::string describe(const Twice& twice);

// Marks what differs between the launches and fits exactly one of the policy's variables as a place of it.
void mark_unstable(const policy::Policy& policy, Twice& twice);

// Looks for today's date, which no launch varies, and marks it where the policy has exactly one date.
void mark_today(const policy::Policy& policy, const std::vector<std::string>& spellings, Twice& twice);

// What a text looks like that differs: "a date", "a path", "a version", "a number", else "text".
std::string_view kind_of_text(std::string_view text);

// The parts of two texts that differ, from the start of the first differing word to the end of the last.
struct DifferingParts {
  std::string_view before = {};
  std::string_view after = {};
};
DifferingParts differing_parts(std::string_view before, std::string_view after);

}  // namespace cordon::app
