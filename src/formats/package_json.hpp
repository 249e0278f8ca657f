// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs of an npm package, by its package.json.

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::formats {

// The path of a program below the package's folder. `bin`: its name. A package whose one program has another name than
// the package is asked for by the package's name, too, as npx takes it. launch_failed names what there is.
Result<std::string> package_program(std::string_view text, std::string_view file, std::string_view package,
                                    std::string_view bin);

}  // namespace cordon::formats
