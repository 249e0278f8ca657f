// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sections of "key = value" lines as Python's configparser reads them: pip.conf and entry_points.txt.

#include <map>
#include <string>
#include <string_view>

namespace cordon::formats {

using IniSection = std::map<std::string, std::string>;
using Ini = std::map<std::string, IniSection>;

// Later lines win; a line that begins with a blank goes on with the value before it, and is joined by a newline. Lines
// without "=" (or ":", with `colons`) are passed over, as are those in front of the first section.
Ini read_ini(std::string_view text, bool colons);

}  // namespace cordon::formats
