// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `pip install --dry-run --report` says it would install.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/pypi_lock.hpp"

namespace cordon::formats {

struct PipChoice {
  PypiPackage package = {};
  std::string url = {};  // of the wheel
  bool yanked = false;   // its author has taken it back
  bool operator==(const PipChoice&) const = default;
};

inline constexpr std::size_t kMaxPipReport = 64'000'000;

// launch_failed for what is no report, and when something in it is not bound to one content of the index: a package
// from an address, a source archive, one without a SHA-256 digest.
Result<std::vector<PipChoice>> read_pip_report(std::string_view text, std::string_view file);

}  // namespace cordon::formats
