// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fake server says about itself, honestly and otherwise.

#include <string>
#include <vector>

#include "fakes/fake_options.hpp"

namespace fake {

// The definitions as JSON texts, in order. `drift` is one of description, schema, added, removed, annotations, order,
// instructions, identity, or empty.
std::vector<std::string> tool_definitions(const Options& options, const std::string& drift);
std::string instructions(const std::string& drift);
std::string server_info(const std::string& drift);  // JSON object
std::string capabilities(const Options& options);   // JSON object

}  // namespace fake
