// SPDX-License-Identifier: Apache-2.0
#pragma once
// .npmrc: "key = value" lines.

#include <map>
#include <string>
#include <string_view>

namespace cordon::formats {

using NpmSettings = std::map<std::string, std::string>;

// Later lines win. Comments, sections, lists ("key[] = x") and lines without "=" are passed over, as is a value that
// names a variable which is not set: npm leaves that as it stands, and it is of no use to anybody. `variables` are
// for ${NAME}.
NpmSettings read_npmrc(std::string_view text, const std::map<std::string, std::string>& variables);

}  // namespace cordon::formats
