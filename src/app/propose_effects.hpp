// SPDX-License-Identifier: Apache-2.0
#pragma once
// effects: the effect class that is proposed for each tool of a catalog.

#include <string>
#include <string_view>

#include "app/capture.hpp"
#include "app/style.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct EffectsRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::string file = {};  // a catalog file; then no policy is read
  std::string version = {};
  std::string format = "text";  // or json
  Style style = {};
  std::size_t width = 80;
};

// The report. With a policy: of its snapshot, or of the live catalog when nobody has reviewed one yet.
Result<std::string> propose_effects(const EffectsRequest& request);

// Is this word the path of a catalog rather than a policy's NAME? A name has no slash and no ending.
bool is_catalog_path(std::string_view word);

}  // namespace cordon::app
