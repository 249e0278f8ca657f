// SPDX-License-Identifier: Apache-2.0
#include "app/package_command.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/image_command.hpp"
#include "base/text.hpp"
#include "clients/package_spec.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

constexpr auto kRunners =
    std::to_array<std::string_view>({"npx", "npm exec", "npm x", "pnpm dlx", "pnpx", "yarn dlx", "bunx", "bun x"});
// They say how npm talks and asks, not what it fetches.
constexpr auto kIdle = std::to_array<std::string_view>(
    {"-y", "--yes", "-q", "--quiet", "-s", "--silent", "--prefer-online", "--prefer-offline", "--bun"});
// Their value is the package itself.
constexpr auto kNaming = std::to_array<std::string_view>({"-p", "--package"});

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool only_idle(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view word = options[i];
    if (is_one_of(word, kNaming)) {
      ++i;
    } else if (!is_one_of(word, kIdle) && !word.starts_with("--package=") && !word.starts_with("--yes=")) {
      return false;
    }
  }
  return true;
}

std::string_view without_scope(std::string_view package) {
  const std::size_t slash = package.find('/');
  return slash == std::string_view::npos ? package : package.substr(slash + 1);
}

}  // namespace

std::optional<PackageCommand> package_command(const std::vector<std::string>& command) {
  const std::optional<clients::PackageSpec> spec = clients::detect(command);
  if (!spec || spec->kind != clients::PackageKind::npm || !spec->registry || !spec->more.empty() ||
      !is_one_of(spec->runner, kRunners) || !only_idle(spec->options)) {
    return std::nullopt;
  }
  auto name = policy::read_npm_name(spec->version.empty() ? spec->name : text::cat(spec->name, '@', spec->version));
  if (!name) {
    return std::nullopt;
  }
  PackageCommand out;
  const std::string bin = spec->bin.empty() ? std::string(without_scope(name->package)) : spec->bin;
  out.source.package = std::move(name->package);
  out.source.version = std::move(name->version);
  out.command.push_back(bin);
  out.command.insert(out.command.end(), spec->arguments.begin(), spec->arguments.end());
  if (bin.find('/') != std::string::npos) {
    return std::nullopt;
  }
  return out;
}

bool means_launch(const std::vector<std::string>& command, const policy::Launch& launch) {
  if (launch.source && launch.source->kind == policy::Source::Kind::oci) {
    return means_image(command, launch);
  }
  if (!launch.source || launch.source->kind != policy::Source::Kind::npm || launch.command.empty()) {
    return false;
  }
  const std::optional<PackageCommand> meant = package_command(command);
  return meant && meant->source.package == launch.source->package && meant->command == launch.command &&
         (!policy::is_pinned(meant->source) || meant->source.version == launch.source->version);
}

}  // namespace cordon::app
