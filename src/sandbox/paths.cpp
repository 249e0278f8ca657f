// SPDX-License-Identifier: Apache-2.0
#include "sandbox/paths.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::sandbox {

bool is_normal_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos) {
    return false;
  }
  if (path == "/") {
    return true;
  }
  for (const std::string_view component : text::split(path.substr(1), '/')) {
    if (component.empty() || component == "." || component == "..") {
      return false;
    }
  }
  return true;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") {
    return true;
  }
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string_view> names_in_word(std::string_view word) {
  std::vector<std::string_view> out;
  const auto add = [&out](std::string_view name) {
    if (!name.empty() && std::ranges::find(out, name) == out.end()) {
      out.push_back(name);
    }
  };
  if (!word.starts_with('-')) {
    add(word);
  }
  if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
    add(word.substr(equals + 1));
  }
  // A URL's colon separates no names; that of a class path does.
  const std::string_view separators = word.find("://") == std::string_view::npos ? ":=," : "=,";
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t end = std::min(word.find_first_of(separators, at), word.size());
    std::string_view part = word.substr(at, end - at);
    at = end + 1;
    if (part.starts_with('@')) {
      part.remove_prefix(1);
    } else if (part.starts_with('-')) {
      part = part.substr(std::min(part.find('/'), part.size()));
    }
    add(part);
  }
  return out;
}

std::string rebase(std::string_view path, std::string_view from, std::string_view to) {
  const std::string_view below = path.substr(from == "/" ? 0 : from.size());
  if (to == "/") {
    return below.empty() ? "/" : std::string(below);
  }
  return text::cat(to, below == "/" ? std::string_view() : below);
}

}  // namespace cordon::sandbox
