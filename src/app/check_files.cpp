// SPDX-License-Identifier: Apache-2.0
#include "app/check_files.hpp"

#include "app/plain_file.hpp"
#include "formats/policy_yaml.hpp"
#include "formats/snapshot.hpp"

namespace cordon::app {
namespace {

bool is_snapshot(const std::string& path, const std::string& text) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    return false;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return path.ends_with(".json") || (first != std::string::npos && text[first] == '{');
}

}  // namespace

std::vector<Error> check_file(const Caller& caller, const std::string& path,
                              const std::vector<LoadedCeiling>& ceilings) {
  const Result<std::string> text = read_plain(path, formats::kCatalogFileLimits.max_bytes);
  if (!text) {
    return {text.error()};
  }
  if (!is_snapshot(path, *text)) {
    std::vector<Error> faults = formats::check_policy(*text, path);
    if (faults.empty() && !ceilings.empty()) {
      const Result<policy::Policy> policy = formats::read_policy(*text, path);
      CORDON_ASSERT(policy.has_value());
      return excesses(caller, *policy, *text, ceilings);
    }
    return faults;
  }
  const Result<catalog::Snapshot> snapshot = formats::read_snapshot(*text, path);
  return snapshot ? std::vector<Error>{} : std::vector<Error>{snapshot.error()};
}

}  // namespace cordon::app
