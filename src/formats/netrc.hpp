// SPDX-License-Identifier: Apache-2.0
#pragma once
// .netrc: who one is at which host.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::formats {

struct NetrcEntry {
  std::string host = {};  // empty: `default`, for hosts that are not named
  std::string login = {};
  std::string password = {};
  bool operator==(const NetrcEntry&) const = default;
};

std::vector<NetrcEntry> read_netrc(std::string_view text);

// The first entry for this host, else the default.
std::optional<NetrcEntry> netrc_entry(const std::vector<NetrcEntry>& entries, std::string_view host);

}  // namespace cordon::formats
