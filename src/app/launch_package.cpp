// SPDX-License-Identifier: Apache-2.0
#include "app/launch_package.hpp"

#include <algorithm>
#include <utility>

#include "app/container_launch.hpp"
#include "app/grants.hpp"
#include "app/image_engine.hpp"
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

// The package's files are what decides what is started, so they are judged before anything else is.
Result<formats::PackageRecord> installed_package(const LaunchRequest& request) {
  const policy::Source& source = *request.policy.launch.source;
  const std::string where = place_in(request.policy, source.position);
  if (!request.package) {
    return fail(Errc::launch_failed, not_installed(source), where, request.install);
  }
  if (const Status fits = check_record(source, *request.package, where, request.install); !fits) {
    return std::unexpected(fits.error());
  }
  return *request.package;
}

}  // namespace

Status add_package(const LaunchRequest& request, const std::vector<std::string>& command, PreparedLaunch& out) {
  const Result<formats::PackageRecord> record = installed_package(request);
  if (!record) {
    return std::unexpected(record.error());
  }
  const policy::Policy& policy = request.policy;
  out.package = package_pin(*record);
  const bool image = record->kind == policy::Source::Kind::oci;
  if (image != starts_image(policy)) {
    return fail(Errc::policy_invalid,
                image ? "launch.source is an image, which this backend cannot start"
                      : "launch.source is no image, and this backend starts nothing else",
                place_in(policy, policy.launch.source->position),
                image ? "set isolation.backend: podman or docker" : "set isolation.backend: auto");
  }
  if (image) {
    out.spec.image = {.reference = image_reference(record->package, record->version), .fetch = request.install};
    if (!policy.launch.source->bin.empty()) {
      out.spec.image.entrypoint = policy.launch.source->bin;
    }
    out.spec.argv.assign(command.begin() + 1, command.end());
    return check_client_options(policy, request.caller, request.client_command, out.spec);
  }
  if (const Status whole = check_store(request.caller, *record, TreeCheck::quick, request.install); !whole) {
    return whole;
  }
  Result<PackageProgram> program = package_program(request.caller, *record, command);
  if (!program) {
    return std::unexpected(program.error());
  }
  out.spec.argv = std::move(program->argv);
  out.spec.executable = std::move(program->executable);
  out.program_folders = std::move(program->folders);
  out.spec.mounts.push_back({.source = program->tree, .target = program->tree, .usable_as_is = true});
  std::ranges::sort(out.spec.mounts, {}, &sandbox::Mount::target);
  out.package_tree = program->tree;
  return {};
}

}  // namespace cordon::app
