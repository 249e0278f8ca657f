// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secrets inside a text: values that we know, and tokens that are told by their usual form. Linear in the text.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/mask.hpp"

namespace cordon::gate {

struct SecretSpan {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string kind = {};  // in our words: "GitHub token", "secret API_TOKEN"
};

// In the order of the text, without overlaps. A form says which characters it may have and how many, so that nothing
// but a token can hide behind one.
std::vector<SecretSpan> find_secrets(std::string_view text, const std::vector<NamedSecret>& known);

}  // namespace cordon::gate
