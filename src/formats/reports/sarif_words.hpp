// SPDX-License-Identifier: Apache-2.0
#pragma once
// How text of strangers and paths are written in SARIF.

#include <string>
#include <string_view>

namespace cordon::formats {

// Viewers make links of [text](target); a backslash takes that away.
std::string sarif_text(std::string_view untrusted);

// A relative URI reference: a colon in its first segment would be a scheme.
std::string sarif_uri(std::string_view path);

}  // namespace cordon::formats
