// SPDX-License-Identifier: Apache-2.0
#pragma once
// Could a URI template (RFC 6570) have given a URI? Used to tell which reads a reviewed template stands for.

#include <string_view>

namespace cordon::gate {

// Whole-string match. `{x}` stands for one or more characters without / ? and #; `{+x}` for any; `{/x}`, `{.x}`,
// `{;x}`,
// `{?x}`, `{&x}` and `{#x}` for their prefix and a value, or for nothing. A template with an unclosed or empty
// expression matches nothing. Linear in the product of the two lengths, whatever the text.
bool template_matches(std::string_view uri_template, std::string_view uri);

}  // namespace cordon::gate
