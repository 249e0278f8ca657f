// SPDX-License-Identifier: Apache-2.0
#include "app/launch_package.hpp"

#include <algorithm>
#include <utility>

#include "app/container_launch.hpp"
#include "app/grants.hpp"
#include "app/image_engine.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

// Is what is installed what the policy wants?
Status check_installed(const LaunchRequest& request) {
  const policy::Source& source = *request.policy.launch.source;
  const std::string where = place_in(request.policy, source.position);
  if (!request.package) {
    return fail(Errc::launch_failed, not_installed(source), where, request.install);
  }
  return check_record(source, *request.package, where, request.install);
}

}  // namespace

Status add_package(const LaunchRequest& request, const std::vector<std::string>& command, PreparedLaunch& out,
                   PackageStart& start) {
  if (Status installed = check_installed(request); !installed) {
    return installed;
  }
  const formats::PackageRecord& record = *request.package;
  const policy::Policy& policy = request.policy;
  out.package = package_pin(record);
  const bool image = record.kind == policy::Source::Kind::oci;
  if (image != starts_image(policy)) {
    return fail(Errc::policy_invalid,
                image ? "launch.source is an image, which this backend cannot start"
                      : "launch.source is no image, and this backend starts nothing else",
                place_in(policy, policy.launch.source->position),
                image ? "set isolation.backend: podman or docker" : "set isolation.backend: auto");
  }
  if (image) {
    out.spec.image = {.reference = image_reference(record.package, record.version), .fetch = request.install};
    if (!policy.launch.source->bin.empty()) {
      out.spec.image.entrypoint = policy.launch.source->bin;
    }
    out.spec.argv.assign(command.begin() + 1, command.end());
    return check_client_options(policy, request.caller, request.client_command, out.spec);
  }
  Result<PackageProgram> program = start.begin(request.caller, record, command, request.install);
  if (!program) {
    return std::unexpected(program.error());
  }
  out.spec.argv = std::move(program->argv);
  out.spec.executable = std::move(program->executable);
  out.program_folders = std::move(program->folders);
  out.package_tree = std::move(program->tree);
  out.spec.mounts.push_back({.source = out.package_tree, .target = out.package_tree, .usable_as_is = true});
  std::ranges::sort(out.spec.mounts, {}, &sandbox::Mount::target);
  return {};
}

}  // namespace cordon::app
