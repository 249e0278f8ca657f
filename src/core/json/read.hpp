// SPDX-License-Identifier: Apache-2.0
#pragma once
// The strict reader.

#include <string>

#include "base/error.hpp"
#include "core/json/limits.hpp"
#include "core/json/value.hpp"

namespace cordon::json {

// Reads exactly one JSON value (RFC 8259) with white space around it. Refused:
//   message_malformed  not JSON: grammar, invalid UTF-8, BOM, raw control characters in strings, text after the value
//   message_ambiguous  readers differ: duplicate members (compared after unescaping, at any depth), a lone surrogate
//                      or U+0000 in a key
//   message_too_large  more than limits.max_bytes, or nested deeper than limits.max_depth
// Accepted and kept as spelled: numbers of any size and precision, lone surrogate escapes in string values.
// `where` of an error is "byte N", counted from 0, when the place is known.
Result<Document> read(std::string text, const Limits& limits);

// The same; `text` is moved from on success only, so that a caller keeps a refused text without copying.
Result<Document> read_from(std::string& text, const Limits& limits);

}  // namespace cordon::json
