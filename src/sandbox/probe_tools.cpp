// SPDX-License-Identifier: Apache-2.0
// Programs that other backends need: where they are, which version.
#include <sys/stat.h>

#include <array>
#include <charconv>

#include "base/text.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

// System directories only: PATH belongs to whoever starts us.
constexpr std::array<std::string_view, 3> kPlaces = {"/usr/bin", "/bin", "/usr/local/bin"};

// A regular file of root's that nobody else can write, in a folder of the same kind.
bool is_roots(const std::string& path) {
  struct stat file = {};
  struct stat folder = {};
  const std::string parent = path.substr(0, path.rfind('/'));
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == 0 &&
         (file.st_mode & kOthersWrite) == 0 && (file.st_mode & S_IXOTH) != 0 && ::stat(parent.c_str(), &folder) == 0 &&
         folder.st_uid == 0 && (folder.st_mode & kOthersWrite) == 0;
}

unsigned number(std::string_view text) {
  unsigned value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string find_system_tool(std::string_view name) {
  for (const std::string_view place : kPlaces) {
    std::string path = text::cat(place, "/", name);
    if (is_roots(path)) {
      return path;
    }
  }
  return {};
}

std::string version_in(std::string_view text) {
  const std::size_t digits = text.find_first_of("0123456789");
  return digits == std::string_view::npos
             ? std::string()
             : std::string(text.substr(digits, text.find_first_not_of("0123456789.", digits) - digits));
}

bool version_reaches(std::string_view version, std::string_view least) {
  const auto have = text::split(version, '.');
  const auto want = text::split(least, '.');
  for (std::size_t i = 0; i < want.size(); ++i) {
    const unsigned one = i < have.size() ? number(have[i]) : 0;
    if (one != number(want[i])) {
      return one > number(want[i]);
    }
  }
  return true;
}

}  // namespace cordon::sandbox
