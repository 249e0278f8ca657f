// SPDX-License-Identifier: Apache-2.0
#include "app/package_command.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "app/image_command.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/package_spec.hpp"
#include "clients/starter_policy.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

// What may be said beside the package without changing what is fetched: how the tool talks and asks.
struct Runners {
  std::span<const std::string_view> names = {};
  std::span<const std::string_view> idle = {};
  std::span<const std::string_view> idle_values = {};  // the same, with a value
  std::span<const std::string_view> naming = {};       // their value is the package itself, or what it starts
};

constexpr auto kNpm =
    std::to_array<std::string_view>({"npx", "npm exec", "npm x", "pnpm dlx", "pnpx", "yarn dlx", "bunx", "bun x"});
constexpr auto kNpmIdle = std::to_array<std::string_view>({"-y",
                                                           "--yes",
                                                           "--yes=true",
                                                           "--yes=1",
                                                           "-q",
                                                           "--quiet",
                                                           "-s",
                                                           "--silent",
                                                           "-d",
                                                           "-dd",
                                                           "-ddd",
                                                           "--verbose",
                                                           "--prefer-online",
                                                           "--prefer-offline",
                                                           "--ignore-existing",
                                                           "--ignore-scripts",
                                                           "--no-audit",
                                                           "--no-fund",
                                                           "--no-progress",
                                                           "--progress=false",
                                                           "--no-update-notifier",
                                                           "--no-color",
                                                           "--bun"});
constexpr auto kNpmIdleValues = std::to_array<std::string_view>({"--loglevel", "--cache", "--reporter"});
constexpr auto kNpmNaming = std::to_array<std::string_view>({"-p", "--package", "-c", "--call"});
constexpr auto kPypi = std::to_array<std::string_view>({"uvx", "uv run", "pipx run"});
constexpr auto kPypiIdle = std::to_array<std::string_view>(
    {"-q", "--quiet", "-v", "--verbose", "--no-progress", "-n", "--no-cache", "--no-cache-dir", "--refresh",
     "--isolated", "--no-project", "--no-config", "--no-env-file", "--native-tls"});
constexpr auto kPypiIdleValues = std::to_array<std::string_view>({"--cache-dir", "--color", "--link-mode"});
constexpr auto kPypiNaming = std::to_array<std::string_view>({"--from", "--with", "-w", "--spec"});

constexpr Runners kNpmRunners = {kNpm, kNpmIdle, kNpmIdleValues, kNpmNaming};
constexpr Runners kPypiRunners = {kPypi, kPypiIdle, kPypiIdleValues, kPypiNaming};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// The first option that is more than that; empty: there is none.
std::string_view busy_option(const std::vector<std::string>& options, const Runners& runners) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view word = options[i];
    const std::string_view key = word.substr(0, word.find('='));
    if (is_one_of(key, runners.naming) || is_one_of(key, runners.idle_values)) {
      i += key == word ? 1U : 0U;
    } else if (!is_one_of(word, runners.idle)) {
      return key;
    }
  }
  return {};
}

// A variable that tells npm, uv or pip what to fetch, and from where.
bool steers_fetching(std::string_view name) {
  const std::string low = text::lower_ascii(name);
  return std::ranges::any_of(std::array<std::string_view, 5>{"npm_config_", "uv_", "pip_", "pipx_", "bun_"},
                             [&](std::string_view start) { return low.starts_with(start); });
}

std::unexpected<Error> no_source(std::string detail) {
  return fail(Errc::policy_invalid, std::move(detail), "the command");
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

// npm's "v1.2.3" and "=1.2.3" are the exact 1.2.3.
std::optional<policy::PackageName> npm_name(const clients::PackageSpec& spec) {
  std::string_view version = spec.version;
  const std::string_view bare = version.substr(std::min(version.find_first_not_of("=v "), version.size()));
  version = policy::is_exact_version(bare) ? bare : version;
  return policy::read_npm_name(version.empty() ? spec.name : text::cat(spec.name, '@', version));
}

struct Named {
  policy::PackageName name = {};
  std::string bin = {};  // where the command does not say another
};

std::optional<Named> name_of(const clients::PackageSpec& spec) {
  const bool python = spec.kind == clients::PackageKind::pypi;
  auto name = python ? pypi_name(spec) : npm_name(spec);
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

Result<PackageCommand> package_command(const std::vector<std::string>& command) {
  const std::optional<clients::PackageSpec> spec = clients::detect(command);
  if (!spec || spec->kind == clients::PackageKind::oci) {
    return no_source("names no package");
  }
  const std::string written = text::printable(spec->written, 300);
  if (!spec->registry) {
    return no_source(text::cat(written, " is no package of a registry"));
  }
  if (!spec->more.empty()) {
    return no_source(text::cat("it names ", text::printable(spec->more.front(), 300), " beside ", written,
                               ", and launch.source takes one package"));
  }
  const bool python = spec->kind == clients::PackageKind::pypi;
  const Runners& runners = python ? kPypiRunners : kNpmRunners;
  if (!is_one_of(spec->runner, runners.names)) {
    return no_source(text::cat(spec->runner, " is not taken over"));
  }
  if (const std::string_view busy = busy_option(spec->options, runners); !busy.empty()) {
    return no_source(text::cat("of its option ", text::printable(busy, 100),
                               ", which may change what is fetched or started: leave it out if it can be"));
  }
  auto named = name_of(*spec);
  if (!named) {
    return no_source(text::cat(written, " is no name of a package with a version"));
  }
  PackageCommand out;
  const std::string bin = spec->bin.empty() ? named->bin : spec->bin;
  out.source.kind = python ? policy::Source::Kind::pypi : policy::Source::Kind::npm;
  out.source.package = std::move(named->name.package);
  out.source.version = std::move(named->name.version);
  out.command.push_back(bin);
  out.command.insert(out.command.end(), spec->arguments.begin(), spec->arguments.end());
  if (!is_program(bin, out.source.kind)) {
    return no_source(text::cat(text::printable(bin, 300), " is no program of the package"));
  }
  out.set = clients::assigned_on_the_way(command);
  for (const auto& [name, value] : out.set) {
    if (!clients::may_pass(name) || steers_fetching(name)) {
      return no_source(text::cat("it sets ", text::printable(name, 100), ", which a policy does not"));
    }
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
  const Result<PackageCommand> meant = package_command(command);
  const auto is_set = [&](const auto& one) {
    const auto found = launch.set.find(one.first);
    return found != launch.set.end() && found->second == one.second;
  };
  return meant && meant->source.kind == launch.source->kind && same_package(meant->source, *launch.source) &&
         same_command(meant->command, launch) && std::ranges::all_of(meant->set, is_set) &&
         (!policy::is_pinned(meant->source) || meant->source.version == launch.source->version);
}

}  // namespace cordon::app
