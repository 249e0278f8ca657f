// SPDX-License-Identifier: Apache-2.0
#include "app/way.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/grants.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr int kMaxSymlinks = 40;  // as the kernel

std::optional<std::string> link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) {
    return std::nullopt;
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// Puts the components of `path` in front of those that are left; the next one is the last.
void push(std::string_view path, std::vector<std::string>& left) {
  std::vector<std::string_view> parts = text::split(path, '/');
  std::ranges::reverse(parts);
  for (const std::string_view part : parts) {
    if (!part.empty() && part != ".") {
      left.emplace_back(part);
    }
  }
}

}  // namespace

std::vector<std::string> way_to(std::string_view path, const std::vector<sandbox::Mount>& mounts) {
  std::vector<std::string> out;
  std::vector<std::string> left;
  push(path, left);
  std::string here = "/";
  int links = 0;
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (name == "..") {
      here = parent_of(here);
      continue;
    }
    const std::string next = text::cat(here == "/" ? "" : here, '/', name);
    const std::string outside = outside_path(mounts, next);
    const std::optional<std::string> target = links < kMaxSymlinks ? link_target(outside) : std::nullopt;
    if (!target) {
      here = next;
      continue;
    }
    ++links;
    out.push_back(outside);
    push(*target, left);
    if (target->starts_with('/')) {
      here.assign(1, '/');
    }
  }
  out.push_back(outside_path(mounts, here));
  return out;
}

std::string without_dots(std::string_view path) {
  const std::vector<std::string_view> parts = text::split(path, '/');
  if (std::ranges::find(parts, std::string_view("..")) == parts.end()) {
    return normalised(path);
  }
  const std::string name = file_name_of(path);
  if (name.empty() || name == "." || name == "..") {
    return way_to(path).back();
  }
  return normalised(text::cat(way_to(parent_of(path)).back(), '/', name));
}

}  // namespace cordon::app
