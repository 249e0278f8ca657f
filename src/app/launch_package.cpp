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
  start.check.begin(request.caller, record, request.install);
  Result<PackageProgram> program = package_program(request.caller, record, command);
  if (!program) {
    return std::unexpected(program.error());
  }
  start.program = std::move(*program);
  out.spec.argv = start.program.argv;
  out.spec.executable = start.program.executable;
  out.program_folders = start.program.folders;
  out.package_tree = start.program.tree;
  out.spec.mounts.push_back({.source = out.package_tree, .target = out.package_tree, .usable_as_is = true});
  std::ranges::sort(out.spec.mounts, {}, &sandbox::Mount::target);
  return {};
}

Status wait_for_package(const LaunchRequest& request, const std::vector<std::string>& command, PackageStart& start) {
  const Result<Looked>& looked = start.check.wait();
  if (!looked) {
    return std::unexpected(looked.error());
  }
  // What was read of a file before its time of change was seen to be the old one is what it held then. Where the
  // contents had to be read, it may have been put back since.
  if (*looked == Looked::at_contents && !start.program.argv.empty()) {
    const Result<PackageProgram> program = package_program(request.caller, *request.package, command);
    if (!program || *program != start.program) {
      return fail(Errc::launch_changed, "the installed files changed while they were looked at",
                  text::printable(start.program.tree), "try again");
    }
  }
  return {};
}

}  // namespace cordon::app
