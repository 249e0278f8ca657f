// SPDX-License-Identifier: Apache-2.0
#pragma once
// Places whose grant hands over more than a server needs: a policy must give a reason for one, and nothing proposes it.
// Texts only; where symlinks lead is for the caller to find out.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cordon::policy {

struct SensitivePlaces {
  std::string_view what = {};
  std::span<const std::string_view> paths = {};  // below a home folder, or absolute
};

// The one table of them.
std::span<const SensitivePlaces> sensitive_places();

// What a grant of `path` (absolute, or from ~/ on) gives away when it is, holds or lies in such a place: "keys
// (~/.ssh)". Every folder that is somebody's home by custom counts, and `home`, when it is known.
std::optional<std::string> why_sensitive(std::string_view path, std::string_view home = {});

inline bool is_sensitive(std::string_view path, std::string_view home = {}) {
  return why_sensitive(path, home).has_value();
}

}  // namespace cordon::policy
