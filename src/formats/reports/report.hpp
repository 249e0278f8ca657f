// SPDX-License-Identifier: Apache-2.0
#pragma once
// formats/reports: one file per way to show a catalog::Diff. Text in, text out; nothing hostile leaves raw.
// A new report is one file that defines its `Report` and one word in meson.build.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/catalog/diff.hpp"

namespace cordon::formats {

struct RenderOptions {
  bool colour = false;                    // ANSI colours; for terminals only
  std::size_t width = 80;                 // columns, where a report is laid out in lines
  std::string artifact = "catalog.json";  // the file that findings are about, where a format wants one
};

struct Report {
  std::string_view name = {};  // as given to --format
  std::string (*render)(const catalog::Diff& diff, const RenderOptions& options) = nullptr;
};

// All of them, in the order of meson.build; the first is the default.
std::span<const Report* const> reports();
const Report* find_report(std::string_view name);  // nullptr when there is none

}  // namespace cordon::formats
