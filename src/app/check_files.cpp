// SPDX-License-Identifier: Apache-2.0
#include "app/check_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "app/grants.hpp"
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "app/plain_file.hpp"
#include "app/policy_lookup.hpp"
#include "app/session_context.hpp"
#include "app/store_check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "formats/package_record.hpp"
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

std::vector<CheckFinding> findings(std::vector<Error> faults) {
  std::vector<CheckFinding> out;
  for (Error& fault : faults) {
    out.push_back({std::move(fault)});
  }
  return out;
}

std::vector<CheckFinding> check_policy_file(const Caller& caller, const std::string& path, const std::string& text,
                                            const std::vector<LoadedCeiling>& ceilings, CheckDepth depth) {
  std::vector<Error> faults = formats::check_policy(text, path);
  if (!faults.empty()) {
    return findings(std::move(faults));
  }
  Result<policy::Policy> policy = formats::read_policy(text, path);
  CORDON_ASSERT(policy.has_value());
  std::vector<CheckFinding> out = findings(excesses(caller, *policy, text, ceilings));
  if (depth == CheckDepth::text) {
    return out;
  }
  Result<PolicyLocation> location = locate_as_found(caller, path);
  if (!location) {
    out.push_back({location.error()});
    return out;
  }
  const LoadedPolicy loaded{std::move(*location), std::move(*policy), sha256_text(text), text, ceilings};
  std::ranges::move(check_launch(caller, loaded), std::back_inserter(out));
  return out;
}

}  // namespace

Result<std::string> file_to_check(const Caller& caller, const std::string& word) {
  const bool looks_like_file = word.find('/') != std::string::npos || word.ends_with(".yaml") ||
                               word.ends_with(".yml") || word.ends_with(".json");
  if (std::error_code error; looks_like_file || std::filesystem::exists(word, error)) {
    return word;
  }
  const Result<PolicyLocation> named = locate_policy(caller, {.name = word, .file = {}, .ceilings = {}});
  if (!named) {
    return std::unexpected(named.error());
  }
  return named->path;
}

std::vector<CheckFinding> check_file(const Caller& caller, const std::string& path,
                                     const std::vector<LoadedCeiling>& ceilings, CheckDepth depth) {
  const Result<std::string> text = read_plain(path, formats::kCatalogFileLimits.max_bytes);
  if (!text) {
    Error error = text.error();
    if (error.remedy.empty()) {
      error.remedy = "give a policy's NAME, or the path of a file that can be read";
    }
    return findings({std::move(error)});
  }
  if (!is_snapshot(path, *text)) {
    return check_policy_file(caller, path, *text, ceilings, depth);
  }
  if (path.ends_with(".lock.json")) {
    const Result<formats::PackageRecord> record = formats::read_package_record(*text, path);
    return record ? std::vector<CheckFinding>{} : findings({record.error()});
  }
  const Result<catalog::Snapshot> snapshot = formats::read_snapshot(*text, path);
  return snapshot ? std::vector<CheckFinding>{} : findings({snapshot.error()});
}

Status check_package(const Caller& caller, const std::string& path) {
  if (is_snapshot(path, "")) {
    return {};
  }
  const Result<LoadedPolicy> loaded = read_policy_file(caller, {.name = {}, .file = path, .ceilings = {}});
  if (!loaded || !loaded->policy.launch.source) {
    return loaded ? Status() : std::unexpected(loaded.error());
  }
  const policy::Source& source = *loaded->policy.launch.source;
  const std::string install = install_command(spelled_name(*loaded));
  const std::string where = place_in(loaded->policy, source.position);
  const Result<std::optional<formats::PackageRecord>> record = load_record(caller, *loaded);
  if (!record || !*record) {
    return record ? fail(Errc::launch_failed, not_installed(source), where, install) : std::unexpected(record.error());
  }
  if (Status fits = check_record(source, **record, where, install);
      !fits || (*record)->kind == policy::Source::Kind::oci) {
    return fits;
  }
  return check_store(caller, **record, TreeCheck::full, install);
}

}  // namespace cordon::app
