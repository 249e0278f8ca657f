// SPDX-License-Identifier: Apache-2.0
// The image half of install: the engine fetches it by its digest, and checks that digest itself.
#include <utility>

#include "app/command_output.hpp"
#include "app/grants.hpp"
#include "app/install.hpp"
#include "base/text.hpp"
#include "sandbox/container_client.hpp"

namespace cordon::app {
namespace {

constexpr std::int64_t kLookMs = 60'000;
constexpr std::int64_t kPullMs = 30 * 60'000;
constexpr std::size_t kMaxOutput = 16'000'000;

}  // namespace

Result<Installed> install_image(const Caller& caller, const LoadedPolicy& loaded, const InstallProgress& progress) {
  const policy::Source& source = *loaded.policy.launch.source;
  const policy::Backend backend = loaded.policy.isolation.backend;
  const std::string where = place_in(loaded.policy, source.position);
  if (backend != policy::Backend::podman && backend != policy::Backend::docker) {
    return fail(Errc::policy_invalid, "launch.source is an image, which this backend cannot start", where,
                "set isolation.backend: podman or docker");
  }
  const std::string name = backend == policy::Backend::podman ? "podman" : "docker";
  const std::string engine = system_program(name);
  if (engine.empty()) {
    return fail(Errc::unsupported_isolation, text::cat(name, " is not installed"), where, text::cat("install ", name));
  }
  const std::string reference = text::cat(source.package, '@', source.version);
  CommandRequest request;
  request.program = engine;
  request.environment = sandbox::container_client_environment(caller.home);
  request.argv = {name, "image", "inspect", "--format", "{{.Id}}", reference};
  request.timeout_ms = kLookMs;
  request.max_bytes = kMaxOutput;
  Installed out;
  out.record = {.server = loaded.policy.server,
                .kind = policy::Source::Kind::oci,
                .package = source.package,
                .version = source.version,
                .lock_digest = source.version};
  out.was_there = command_output(request).has_value();
  if (out.was_there) {
    return out;
  }
  progress.say(text::cat("fetching ", reference, " with ", name));
  request.argv = {name, "pull", "--quiet", reference};
  request.timeout_ms = kPullMs;
  if (const Result<std::string> pulled = command_output(request); !pulled) {
    return fail(Errc::launch_failed, text::cat(name, " could not fetch the image: ", pulled.error().detail), where,
                text::cat("see why: ", name, " pull ", reference));
  }
  return out;
}

}  // namespace cordon::app
