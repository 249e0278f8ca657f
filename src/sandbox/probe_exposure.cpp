// SPDX-License-Identifier: Apache-2.0
// What decides which code the next start runs must not be where this one can write: neither the files themselves nor
// a symlink on the way to them, by whatever name a grant reaches them.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <deque>
#include <filesystem>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

bool same_object(const std::string& a, const std::string& b) {
  struct stat first = {};
  struct stat second = {};
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// The writable grant that reaches `place`, also when it shows a folder above it under another name.
std::string grant_over(const LaunchSpec& spec, const std::string& place) {
  if (std::string grant = writable_grant(spec, place); !grant.empty()) {
    return grant;
  }
  std::vector<std::string> sources = {spec.home_source};
  for (const Mount& mount : spec.mounts) {
    sources.push_back(mount.writable ? mount.source : std::string());
  }
  for (std::string above = place; above != "/"; above = std::string(parent_path(above))) {
    for (const std::string& source : sources) {
      if (source.empty() || source == above || !same_object(above, source)) {
        continue;
      }
      if (std::string grant = writable_grant(spec, rebase(place, above, source)); !grant.empty()) {
        return grant;
      }
    }
  }
  return {};
}

// Where a path of the inside lies outside.
std::string outside_of(const LaunchSpec& spec, const std::string& inside) {
  std::string_view source = spec.home_source;
  std::string_view target = !source.empty() && is_within(inside, kHomeInside) ? kHomeInside : std::string_view();
  for (const Mount& mount : spec.mounts) {
    if (is_within(inside, mount.target) && mount.target.size() > target.size()) {
      source = mount.source;
      target = mount.target;
    }
  }
  return target.empty() ? inside : rebase(inside, target, source);
}

// The path that a text may name, outside.
std::string named_by(const LaunchSpec& spec, std::string_view argument) {
  constexpr std::string_view kUrl = "file://";
  if (argument.starts_with(kUrl)) {
    argument.remove_prefix(kUrl.size());
  }
  if (argument.empty()) {
    return {};
  }
  const std::string cwd = spec.cwd.empty() ? std::string(kHomeInside) : spec.cwd;
  const std::filesystem::path written =
      argument.starts_with('/') ? std::string(argument) : text::cat(cwd, "/", argument);
  const std::string inside = written.lexically_normal();
  return is_normal_path(inside) ? outside_of(spec, inside) : std::string();
}

bool is_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::vector<std::string> trail(const std::string& path) {
  std::vector<std::string> places;
  std::deque<std::string> rest;
  const auto prepend = [&rest](std::string_view text) {
    const std::vector<std::string_view> words = text::split(text, '/');
    rest.insert(rest.begin(), words.begin(), words.end());
  };
  prepend(path);
  std::string at;  // real, "" is the root
  while (!rest.empty()) {
    const std::string word = rest.front();
    rest.pop_front();
    if (word.empty() || word == ".") {
      continue;
    }
    if (word == "..") {
      at = at.substr(0, at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = text::cat(at, "/", word);
    std::array<char, PATH_MAX> target = {};
    const ssize_t length = ::readlink(next.c_str(), target.data(), target.size());
    if (length <= 0) {
      at = next;
      continue;
    }
    places.push_back(next);
    if (places.size() > kMostLinks) {
      return places;
    }
    at = target[0] == '/' ? std::string() : at;
    prepend({target.data(), static_cast<std::size_t>(length)});
  }
  places.push_back(at.empty() ? "/" : at);
  return places;
}

std::vector<ExposedFile> find_exposed(const LaunchSpec& spec, const std::vector<std::string>& interpreters) {
  std::vector<ExposedFile> exposed;
  const auto look = [&](std::string_view role, const std::string& path) {
    for (const std::string& place : trail(path)) {
      if (const std::string grant = grant_over(spec, place); !grant.empty()) {
        exposed.push_back({.role = std::string(role), .path = path, .place = place, .grant = grant});
        return;
      }
    }
  };
  look("the program", spec.argv.front());
  if (!spec.executable.empty()) {
    look("the program", spec.executable);
  }
  for (const std::string& interpreter : interpreters) {
    const std::string path = interpreter.starts_with('/') ? interpreter : named_by(spec, interpreter);
    look("its interpreter", path);
  }
  for (std::size_t i = 1; i < spec.argv.size(); ++i) {
    for (const std::string_view text : names_in_word(spec.argv[i])) {
      if (const std::string path = named_by(spec, text); !path.empty() && is_file(path)) {
        look("a file that the command names", path);
      }
    }
  }
  return exposed;
}

}  // namespace cordon::sandbox
