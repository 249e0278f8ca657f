// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/container_inside.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox::stage {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Ours, and the kernel's.
constexpr std::array<std::string_view, 4> kNotOfTheImage = {"/.mcp-cordon", "/dev", "/proc", "/sys"};

// Made by an engine in every container, all read-only or in place of what is there.
constexpr std::array<std::string_view, 7> kEnginesFiles = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf",
                                                           "/etc/passwd",   "/etc/group", "/run/.containerenv",
                                                           "/.dockerenv"};

std::vector<std::string> children_of(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  while (const dirent* entry = open != nullptr ? ::readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      out.push_back(text::cat(folder == "/" ? "" : folder, "/", name));
    }
  }
  return out;
}

void add_places(const Plan& plan, const std::string& place, std::vector<std::string>& out) {
  struct stat status = {};
  if (::lstat(place.c_str(), &status) != 0 || (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))) {
    return;  // what a symlink leads to has a place of its own
  }
  // A place of the view has its own rule; so does what lies in it.
  if (std::ranges::find(plan.view, place, &ViewEntry::target) != plan.view.end() ||
      std::ranges::find(kNotOfTheImage, place) != kNotOfTheImage.end()) {
    return;
  }
  const auto holds_writable = [&](const ViewEntry& entry) { return entry.writable && is_within(entry.target, place); };
  if (S_ISDIR(status.st_mode) && std::ranges::any_of(plan.view, holds_writable)) {
    for (const std::string& child : children_of(place)) {
      add_places(plan, child, out);
    }
  } else {
    out.push_back(place);
  }
}

// Octal escapes of mountinfo.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_expected(const Plan& plan, const std::string& place) {
  if (place == "/" || std::ranges::find(kEnginesFiles, place) != kEnginesFiles.end() ||
      std::ranges::any_of(kNotOfTheImage, [&](std::string_view own) { return is_within(place, own); })) {
    return true;
  }
  // What else is mounted below a grant comes with it.
  return std::ranges::any_of(plan.view, [&](const ViewEntry& entry) {
    return place == entry.target || (entry.kind == EntryKind::bind && is_within(place, entry.target));
  });
}

std::string read_all(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  std::string out;
  std::array<char, 4096> buffer = {};
  ssize_t length = 0;
  while (file && (length = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out;
}

}  // namespace

std::vector<std::string> image_places(const Plan& plan) {
  std::vector<std::string> out;
  for (const std::string& child : children_of("/")) {
    add_places(plan, child, out);
  }
  return out;
}

Outcome attest_container_mounts(const Plan& plan) {
  const std::string table = read_all("/proc/self/mountinfo");
  if (table.empty()) {
    return failed("/proc/self/mountinfo");
  }
  for (const std::string_view line : text::split(table, '\n')) {
    const std::vector<std::string_view> words = text::split(line, ' ');
    constexpr std::size_t kPlace = 4;
    if (words.size() <= kPlace) {
      continue;
    }
    const std::string place = unescaped(words[kPlace]);
    if (!is_expected(plan, place)) {
      return refuse(text::cat("the engine has mounted something that nobody asked for: ", place));
    }
  }
  return {};
}

}  // namespace cordon::sandbox::stage
