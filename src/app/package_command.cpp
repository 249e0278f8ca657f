// SPDX-License-Identifier: Apache-2.0
#include "app/package_command.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "app/image_command.hpp"
#include "base/text.hpp"
#include "clients/package_spec.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

// What may be said beside the package without changing what is fetched: how the tool talks and asks.
struct Runners {
  std::span<const std::string_view> names = {};
  std::span<const std::string_view> idle = {};
  std::span<const std::string_view> naming = {};  // their value is the package itself
};

constexpr auto kNpm =
    std::to_array<std::string_view>({"npx", "npm exec", "npm x", "pnpm dlx", "pnpx", "yarn dlx", "bunx", "bun x"});
constexpr auto kNpmIdle =
    std::to_array<std::string_view>({"-y", "--yes", "--yes=true", "--yes=1", "-q", "--quiet", "-s", "--silent",
                                     "--prefer-online", "--prefer-offline", "--bun"});
constexpr auto kNpmNaming = std::to_array<std::string_view>({"-p", "--package"});
constexpr auto kPypi = std::to_array<std::string_view>({"uvx", "uv run", "pipx run"});
constexpr auto kPypiIdle = std::to_array<std::string_view>({"-q", "--quiet", "-v", "--verbose", "--no-progress", "-n",
                                                            "--no-cache", "--no-cache-dir", "--refresh", "--isolated",
                                                            "--no-project", "--no-config", "--no-env-file"});
constexpr auto kPypiNaming = std::to_array<std::string_view>({"--from", "--with", "-w", "--spec"});

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool only_idle(const std::vector<std::string>& options, const Runners& runners) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view word = options[i];
    if (is_one_of(word, runners.naming)) {
      ++i;
    } else if (!is_one_of(word, runners.idle) && !is_one_of(word.substr(0, word.find('=')), runners.naming)) {
      return false;
    }
  }
  return true;
}

std::string_view without_scope(std::string_view package) {
  const std::size_t slash = package.find('/');
  return slash == std::string_view::npos ? package : package.substr(slash + 1);
}

// What uv writes pkg@1.2 is pkg==1.2, and its pkg@latest the name alone.
std::optional<policy::PackageName> pypi_name(const clients::PackageSpec& spec) {
  const bool after_at =
      !spec.version.empty() && std::string_view("=<>!~").find(spec.version.front()) == std::string_view::npos;
  if (after_at && spec.version != "latest" && !policy::is_exact_pypi_version(spec.version)) {
    return std::nullopt;
  }
  const std::string_view version =
      after_at && spec.version == "latest" ? std::string_view() : std::string_view(spec.version);
  std::string plain = text::cat(spec.name, spec.extras, after_at && !version.empty() ? "==" : "", version);
  std::erase(plain, ' ');
  return policy::read_pypi_name(plain);
}

struct Named {
  policy::PackageName name = {};
  std::string bin = {};  // where the command does not say another
};

std::optional<Named> name_of(const clients::PackageSpec& spec) {
  const bool python = spec.kind == clients::PackageKind::pypi;
  auto name = python
                  ? pypi_name(spec)
                  : policy::read_npm_name(spec.version.empty() ? spec.name : text::cat(spec.name, '@', spec.version));
  if (!name) {
    return std::nullopt;
  }
  std::string bin = python ? spec.name : std::string(without_scope(name->package));
  return Named{std::move(*name), std::move(bin)};
}

// A program, and none that runs what its arguments say: `uv run --with pkg python -m module`.
bool is_program(std::string_view bin, policy::Source::Kind kind) {
  return bin.find('/') == std::string_view::npos &&
         (kind != policy::Source::Kind::pypi || !(bin.starts_with("python") || bin.ends_with(".py")));
}

bool same_package(const policy::Source& one, const policy::Source& other) {
  return one.kind == policy::Source::Kind::pypi ? policy::is_same_pypi_package(one.package, other.package)
                                                : one.package == other.package;
}

// A program of PyPI that is named like the package may be spelled as that may be.
bool same_command(const std::vector<std::string>& meant, const policy::Launch& launch) {
  if (meant == launch.command || launch.source->kind != policy::Source::Kind::pypi) {
    return meant == launch.command;
  }
  const std::string name = policy::distribution_name(meant.front());
  return name == policy::distribution_name(launch.source->package) &&
         name == policy::distribution_name(launch.command.front()) &&
         std::ranges::equal(std::span(meant).subspan(1), std::span(launch.command).subspan(1));
}

}  // namespace

std::optional<PackageCommand> package_command(const std::vector<std::string>& command) {
  const std::optional<clients::PackageSpec> spec = clients::detect(command);
  if (!spec || spec->kind == clients::PackageKind::oci || !spec->registry || !spec->more.empty()) {
    return std::nullopt;
  }
  const bool python = spec->kind == clients::PackageKind::pypi;
  const Runners runners = python ? Runners{kPypi, kPypiIdle, kPypiNaming} : Runners{kNpm, kNpmIdle, kNpmNaming};
  if (!is_one_of(spec->runner, runners.names) || !only_idle(spec->options, runners)) {
    return std::nullopt;
  }
  auto named = name_of(*spec);
  if (!named) {
    return std::nullopt;
  }
  PackageCommand out;
  const std::string bin = spec->bin.empty() ? named->bin : spec->bin;
  out.source.kind = python ? policy::Source::Kind::pypi : policy::Source::Kind::npm;
  out.source.package = std::move(named->name.package);
  out.source.version = std::move(named->name.version);
  out.command.push_back(bin);
  out.command.insert(out.command.end(), spec->arguments.begin(), spec->arguments.end());
  if (!is_program(bin, out.source.kind)) {
    return std::nullopt;
  }
  return out;
}

bool means_launch(const std::vector<std::string>& command, const policy::Launch& launch) {
  if (launch.source && launch.source->kind == policy::Source::Kind::oci) {
    return means_image(command, launch);
  }
  if (!launch.source || launch.command.empty()) {
    return false;
  }
  const std::optional<PackageCommand> meant = package_command(command);
  return meant && meant->source.kind == launch.source->kind && same_package(meant->source, *launch.source) &&
         same_command(meant->command, launch) &&
         (!policy::is_pinned(meant->source) || meant->source.version == launch.source->version);
}

}  // namespace cordon::app
