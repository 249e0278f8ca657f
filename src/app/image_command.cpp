// SPDX-License-Identifier: Apache-2.0
#include "app/image_command.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/starter_policy.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

std::unexpected<Error> refused(std::string detail, std::string remedy) {
  return fail(Errc::policy_invalid, std::move(detail), "the command", std::move(remedy));
}

// "linux/amd64", as engines call this machine.
std::string own_platform() {
  utsname machine{};
  const std::string name = ::uname(&machine) == 0 ? static_cast<const char*>(machine.machine) : "";
  return text::cat("linux/", name == "x86_64" ? "amd64" : name == "aarch64" ? "arm64" : name);
}

// What the translation of a command that stays in a policy compares, a policy that is made from it has to say.
Status check_asked(const sandbox::ContainerCommand& asked) {
  if (!asked.network.empty() && asked.network != "none") {
    return refused(text::cat("--network ", text::printable(asked.network, 80), " is not translated"),
                   "leave it out; isolation.network of the policy names the hosts that are reached");
  }
  if (!asked.user.empty()) {
    return refused(text::cat("--user ", text::printable(asked.user, 80), " is not translated"),
                   "leave it out; the server runs as you, or as an account without rights when root starts it");
  }
  if (!asked.platform.empty() && asked.platform != own_platform()) {
    return refused(text::cat("--platform ", text::printable(asked.platform, 80), " is not that of this machine"),
                   text::cat("leave it out; images for ", own_platform(), " are started"));
  }
  for (const sandbox::ContainerVariable& variable : asked.variables) {
    if (!clients::may_pass(variable.name)) {
      return refused(text::cat("-e ", text::printable(variable.name, 80), " names a variable that a policy cannot set"),
                     "leave it out; PATH is the image's, HOME the server's own");
    }
  }
  return {};
}

}  // namespace

bool is_image_command(const std::vector<std::string>& command) {
  // Not by clients::detect, which has to guess where options end that nobody knows.
  const std::vector<std::string> words = clients::innermost(command);
  const std::size_t at = words.size() > 1 && words[1] == "container" ? 2 : 1;
  return sandbox::is_container_command(words) && words.size() > at && words[at] == "run";
}

Result<ImageCommand> image_command(const std::vector<std::string>& command) {
  Result<sandbox::ContainerCommand> asked =
      sandbox::parse_container_command(clients::innermost(command), sandbox::ImageNamed::anyhow);
  if (!asked) {
    Error error = asked.error();
    error.where = error.where.starts_with("launch.command, ") ? error.where.substr(16) : error.where;
    return std::unexpected(std::move(error));
  }
  if (const clients::Assigned set = clients::assigned_on_the_way(command); !set.empty()) {
    return refused(
        text::cat("what it sets for the engine, ", text::printable(set.front().first, 80), ", is not translated"),
        "leave it out, or write -e NAME=VALUE behind run");
  }
  if (Status fine = check_asked(*asked); !fine) {
    return std::unexpected(fine.error());
  }
  auto name = policy::read_image_name(asked->image);
  if (!name) {
    return refused(text::cat(text::printable(asked->image, 300), " is no name of an image"),
                   "write REGISTRY/IMAGE:TAG or REGISTRY/IMAGE@sha256:...");
  }
  ImageCommand out;
  out.source.kind = policy::Source::Kind::oci;
  out.source.package = std::move(name->package);
  out.source.version = std::move(name->version);
  out.source.bin = asked->entrypoint.value_or("");
  out.command.push_back(out.source.bin.empty() ? file_name_of(policy::image_parts(out.source.package).repository)
                                               : out.source.bin);
  out.command.insert(out.command.end(), asked->arguments.begin(), asked->arguments.end());
  out.asked = std::move(*asked);
  return out;
}

bool means_image(const std::vector<std::string>& command, const policy::Launch& launch) {
  if (!launch.source || launch.source->kind != policy::Source::Kind::oci || launch.command.empty() ||
      !is_image_command(command)) {
    return false;
  }
  const Result<ImageCommand> meant = image_command(command);
  if (!meant || !policy::same_image(meant->source.package, launch.source->package) ||
      meant->source.bin != launch.source->bin ||
      !std::equal(meant->command.begin() + 1, meant->command.end(), launch.command.begin() + 1, launch.command.end())) {
    return false;
  }
  const std::string wanted = policy::image_parts(meant->source.package).tag;
  const std::string own = policy::image_parts(launch.source->package).tag;
  return policy::is_pinned(meant->source) ? meant->source.version == launch.source->version
                                          : wanted.empty() || wanted == "latest" || own.empty() || wanted == own;
}

}  // namespace cordon::app
