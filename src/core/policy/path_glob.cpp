// SPDX-License-Identifier: Apache-2.0
#include "core/policy/path_glob.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/policy/evaluate.hpp"

namespace cordon::policy {
namespace {

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts = text::split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  return parts;
}

}  // namespace

bool path_admitted(std::string_view glob, std::string_view path) {
  const std::vector<std::string_view> wanted = components(glob);
  const std::vector<std::string_view> parts = components(path);
  // reached[i]: some beginning of the glob, taken so far, matches the first i components of the path. Once the whole
  // glob matches any of these beginnings, the path lies in what it admits. Glob × path steps, whatever they hold.
  std::vector<bool> reached(parts.size() + 1, false);
  reached[0] = true;
  for (const std::string_view component : wanted) {
    std::vector<bool> next(parts.size() + 1, false);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (component == "**") {
        next[i] = reached[i] || (i > 0 && next[i - 1]);
      } else if (i > 0 && reached[i - 1]) {
        next[i] = glob_match(component, parts[i - 1]);
      }
    }
    reached = std::move(next);
  }
  return std::ranges::find(reached, true) != reached.end();
}

}  // namespace cordon::policy
