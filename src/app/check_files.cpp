// SPDX-License-Identifier: Apache-2.0
#include "app/check_files.hpp"

#include "app/grants.hpp"
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "app/plain_file.hpp"
#include "app/session_context.hpp"
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
  if (path.ends_with(".lock.json")) {
    const Result<formats::PackageRecord> record = formats::read_package_record(*text, path);
    return record ? std::vector<Error>{} : std::vector<Error>{record.error()};
  }
  const Result<catalog::Snapshot> snapshot = formats::read_snapshot(*text, path);
  return snapshot ? std::vector<Error>{} : std::vector<Error>{snapshot.error()};
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
    return record ? fail(Errc::launch_failed, text::cat("the package ", policy::spelled(source), " is not installed"),
                         where, install)
                  : std::unexpected(record.error());
  }
  if (Status fits = check_record(source, **record, where, install);
      !fits || (*record)->kind == policy::Source::Kind::oci) {
    return fits;
  }
  return check_store(caller, **record, TreeCheck::full, install);
}

}  // namespace cordon::app
