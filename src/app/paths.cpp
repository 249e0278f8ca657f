// SPDX-License-Identifier: Apache-2.0
#include "app/paths.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace cordon::app {

std::string normalised(std::string_view absolute) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : text::split(absolute, '/')) {
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      if (!parts.empty()) {
        parts.pop_back();
      }
      continue;
    }
    parts.push_back(part);
  }
  std::string out;
  for (const std::string_view part : parts) {
    out += text::cat('/', part);
  }
  return out.empty() ? "/" : out;
}

std::string resolved(std::string_view absolute) {
  std::error_code error;
  const std::filesystem::path out = std::filesystem::weakly_canonical(std::filesystem::path(absolute), error);
  return normalised(error ? std::string(absolute) : out.string());
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") {
    return true;
  }
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string rebased(std::string_view path, std::string_view from, std::string_view to) {
  CORDON_ASSERT(is_within(path, from));
  const std::string_view rest = from == "/" ? path : path.substr(from.size());
  return normalised(text::cat(to, '/', rest));
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace cordon::app
