// SPDX-License-Identifier: Apache-2.0
#include "clients/package_words.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cordon::clients {
namespace {

using std::string_view;

constexpr auto kRun = std::to_array<string_view>({"run"});
constexpr auto kExec = std::to_array<string_view>({"exec"});
constexpr auto kX = std::to_array<string_view>({"x"});
constexpr auto kDlx = std::to_array<string_view>({"dlx"});
constexpr auto kToolRun = std::to_array<string_view>({"tool", "run"});
constexpr auto kContainerRun = std::to_array<string_view>({"container", "run"});

constexpr auto kPackage = std::to_array<string_view>({"--package", "-p"});
constexpr auto kCall = std::to_array<string_view>({"--call", "-c"});
constexpr auto kNpmSwitches = std::to_array<string_view>({"-y",
                                                          "--yes",
                                                          "-n",
                                                          "--no",
                                                          "--no-install",
                                                          "-q",
                                                          "--quiet",
                                                          "-s",
                                                          "--silent",
                                                          "--prefer-offline",
                                                          "--prefer-online",
                                                          "--offline",
                                                          "--ignore-existing",
                                                          "--ignore-scripts",
                                                          "-d",
                                                          "-dd",
                                                          "-ddd",
                                                          "--verbose",
                                                          "-g",
                                                          "--global",
                                                          "-f",
                                                          "--force",
                                                          "--legacy-peer-deps",
                                                          "--strict-peer-deps",
                                                          "--foreground-scripts",
                                                          "--audit",
                                                          "--fund",
                                                          "--progress"});
constexpr auto kNpmValues =
    std::to_array<string_view>({"--registry", "--prefix", "--cache", "--userconfig", "--loglevel", "-w", "--workspace",
                                "--node-arg", "--script-shell", "-C"});
constexpr auto kPnpmValues = std::to_array<string_view>({"--allow-build", "--reporter", "--registry"});

constexpr auto kFrom = std::to_array<string_view>({"--from"});
constexpr auto kSpec = std::to_array<string_view>({"--spec"});
constexpr auto kWith = std::to_array<string_view>({"--with", "-w"});
constexpr auto kUvOther = std::to_array<string_view>({"-m", "--module", "-s", "--script"});
constexpr auto kUvValues = std::to_array<string_view>({"-p",
                                                       "--python",
                                                       "-i",
                                                       "--index-url",
                                                       "--index",
                                                       "--default-index",
                                                       "--extra-index-url",
                                                       "-f",
                                                       "--find-links",
                                                       "--cache-dir",
                                                       "--directory",
                                                       "--project",
                                                       "--env-file",
                                                       "--prerelease",
                                                       "--resolution",
                                                       "-P",
                                                       "--upgrade-package",
                                                       "--refresh-package",
                                                       "--reinstall-package",
                                                       "--with-editable",
                                                       "--with-requirements",
                                                       "-c",
                                                       "--constraints",
                                                       "--constraint",
                                                       "--overrides",
                                                       "--build-constraints",
                                                       "-b",
                                                       "--config-file",
                                                       "--exclude-newer",
                                                       "--index-strategy",
                                                       "--keyring-provider",
                                                       "--link-mode",
                                                       "--color",
                                                       "--python-preference",
                                                       "--python-platform",
                                                       "--allow-insecure-host",
                                                       "--trusted-host",
                                                       "-C",
                                                       "--config-setting",
                                                       "--extra",
                                                       "--group",
                                                       "--package",
                                                       "--only-group",
                                                       "--no-binary-package"});
constexpr auto kPipxValues = std::to_array<string_view>({"--python", "--pip-args", "-i", "--index-url", "--backend"});

// Of docker and podman; every other option takes a value. Global options come before `run` and are few.
constexpr auto kImageSwitches = std::to_array<string_view>({"--rm",
                                                            "--interactive",
                                                            "--tty",
                                                            "--detach",
                                                            "--init",
                                                            "--privileged",
                                                            "--read-only",
                                                            "--publish-all",
                                                            "--no-healthcheck",
                                                            "--oom-kill-disable",
                                                            "--quiet",
                                                            "--sig-proxy",
                                                            "--disable-content-trust",
                                                            "--help",
                                                            "--use-api-socket",
                                                            "--replace",
                                                            "--rmi",
                                                            "--tls-verify",
                                                            "--no-hosts",
                                                            "--no-hostname",
                                                            "--http-proxy",
                                                            "--env-host",
                                                            "--passwd"});
constexpr auto kImageValues = std::to_array<string_view>(
    {"-c", "--context", "-H", "--host", "--config", "-l", "--log-level", "--connection", "--url"});

constexpr RunnerWords npm_like(string_view program, std::span<const string_view> sub, string_view shown) {
  return {.program = program,
          .subcommands = sub,
          .name = shown,
          .package = kPackage,
          .call = kCall,
          .values = kNpmValues,
          .switches = kNpmSwitches,
          .unknown_takes_next = true};
}

constexpr RunnerWords npm_exec(std::span<const string_view> sub) {
  RunnerWords out = npm_like("npm", sub, "npm exec");
  out.unknown_takes_next = false;
  out.options_after_package = true;
  return out;
}

constexpr RunnerWords other_npm(string_view program, std::span<const string_view> sub, string_view shown) {
  return {.program = program,
          .subcommands = sub,
          .name = shown,
          .package = kPackage,
          .other = kCall,
          .values = kPnpmValues};
}

constexpr RunnerWords uv_tool(string_view program, std::span<const string_view> sub) {
  return {.program = program,
          .subcommands = sub,
          .name = "uvx",
          .kind = PackageKind::pypi,
          .package = kFrom,
          .more = kWith,
          .values = kUvValues};
}

constexpr RunnerWords image(string_view program, std::span<const string_view> sub, string_view shown) {
  return {.program = program,
          .subcommands = sub,
          .name = shown,
          .kind = PackageKind::oci,
          .shape = RunnerShape::image,
          .values = kImageValues,
          .switches = kImageSwitches};
}

constexpr std::array kRunners = {
    npm_like("npx", {}, "npx"),
    npm_exec(kExec),
    npm_exec(kX),
    other_npm("pnpm", kDlx, "pnpm dlx"),
    other_npm("pnpx", {}, "pnpm dlx"),
    other_npm("yarn", kDlx, "yarn dlx"),
    other_npm("bunx", {}, "bunx"),
    other_npm("bun", kX, "bunx"),
    RunnerWords{.program = "deno", .subcommands = kRun, .name = "deno run", .shape = RunnerShape::specifier},
    uv_tool("uvx", {}),
    uv_tool("uv", kToolRun),
    RunnerWords{.program = "uv",
                .subcommands = kRun,
                .name = "uv run",
                .kind = PackageKind::pypi,
                .shape = RunnerShape::with,
                .package = kWith,
                .other = kUvOther,
                .values = kUvValues},
    RunnerWords{.program = "pipx",
                .subcommands = kRun,
                .name = "pipx run",
                .kind = PackageKind::pypi,
                .package = kSpec,
                .more = kWith,
                .values = kPipxValues},
    image("docker", kRun, "docker run"),
    image("docker", kContainerRun, "docker run"),
    image("podman", kRun, "podman run"),
    image("podman", kContainerRun, "podman run"),
    image("nerdctl", kRun, "nerdctl run"),
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// 1.2.3, 1.2.3-beta.1, 1.2.3+build: three numbers, then nothing that could be a range.
bool is_exact_semver(string_view version) {
  version = version.starts_with('v') ? version.substr(1) : version;
  const std::size_t end = version.find_first_of("-+");
  const auto parts = text::split(version.substr(0, end), '.');
  const bool numbers = parts.size() == 3 && std::ranges::all_of(parts, [](string_view part) {
                         return !part.empty() && std::ranges::all_of(part, is_digit);
                       });
  const string_view rest = end == string_view::npos ? string_view() : version.substr(end);
  return numbers &&
         std::ranges::all_of(rest, [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '+'; });
}

bool is_exact_python(string_view version) {
  return !version.empty() && is_digit(version.front()) && std::ranges::all_of(version, [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '!' || c == '+' || c == '-' || c == '_';
  });
}

bool is_url(string_view written) {
  for (const string_view prefix :
       {"git+", "git:", "git@", "github:", "gitlab:", "bitbucket:", "gist:", "file:", "hg+"}) {
    if (written.starts_with(prefix)) {
      return true;
    }
  }
  return written.find("://") != string_view::npos;
}

void read_npm(PackageSpec& spec) {
  string_view written = spec.written;
  written = written.starts_with("npm:") ? written.substr(4) : written;
  const std::size_t at = written.find('@', 1);
  const string_view name = written.substr(0, at);
  // OWNER/REPOSITORY is GitHub's; only a scope has a slash.
  if (name.empty() || (!name.starts_with('@') && name.find('/') != string_view::npos)) {
    spec.registry = false;
    return;
  }
  spec.name = name;
  spec.version = at == string_view::npos ? string_view() : written.substr(at + 1);
  if (is_url(spec.version) || spec.version.starts_with("npm:")) {  // name@URL, or another package under this name
    spec.registry = false;
    spec.name.clear();
    spec.version.clear();
    return;
  }
  spec.pinned = is_exact_semver(spec.version);
}

void read_pypi(PackageSpec& spec) {
  const string_view written = spec.written;
  std::size_t end = 0;
  while (end < written.size() &&
         (is_alphanumeric(written[end]) || string_view("._-").find(written[end]) != string_view::npos)) {
    ++end;
  }
  spec.name = written.substr(0, end);
  string_view rest = written.substr(end);
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    spec.extras = rest.substr(0, close == string_view::npos ? rest.size() : close + 1);
    rest = rest.substr(spec.extras.size());
  }
  while (rest.starts_with(' ')) {
    rest.remove_prefix(1);
  }
  if (rest.starts_with('@')) {
    rest.remove_prefix(1);
    while (rest.starts_with(' ')) {
      rest.remove_prefix(1);
    }
    spec.version = rest;
    if (is_url(rest)) {
      spec.registry = false;
      spec.name.clear();
      spec.version.clear();
      spec.extras.clear();
      return;
    }
    spec.pinned = is_exact_python(rest);
    return;
  }
  spec.version = rest;
  const bool exactly = rest.starts_with("===") || rest.starts_with("==");
  string_view number = rest.starts_with("===") ? rest.substr(3) : rest.substr(exactly ? 2 : 0);
  while (number.starts_with(' ')) {
    number.remove_prefix(1);
  }
  spec.pinned = exactly && is_exact_python(number);
}

void read_oci(PackageSpec& spec) {
  string_view written = spec.written;
  if (const std::size_t at = written.find('@'); at != string_view::npos) {
    spec.version = written.substr(at + 1);
    written = written.substr(0, at);
    constexpr string_view kAlgorithm = "sha256:";
    const string_view digits = string_view(spec.version).substr(std::min(kAlgorithm.size(), spec.version.size()));
    spec.pinned = spec.version.starts_with(kAlgorithm) && digits.size() == 64 &&
                  std::ranges::all_of(digits, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  }
  const std::size_t slash = written.rfind('/');
  const std::size_t colon = written.rfind(':');
  if (colon != string_view::npos && (slash == string_view::npos || colon > slash)) {
    (spec.version.empty() ? spec.version : spec.tag) = written.substr(colon + 1);
    written = written.substr(0, colon);
  }
  spec.name = written;
}

}  // namespace

std::span<const RunnerWords> runners() { return kRunners; }

bool is_local(string_view written) {
  return written.starts_with('/') || written.starts_with("./") || written.starts_with("../") || written == "." ||
         written == ".." || written.starts_with("~/") || written.starts_with("file:") ||
         (written.size() > 2 && written[1] == ':' && (written[2] == '\\' || written[2] == '/')) ||
         written.starts_with(".\\") || written.starts_with("..\\");
}

void read_specification(PackageSpec& spec) {
  if (spec.kind != PackageKind::oci && (is_local(spec.written) || is_url(spec.written))) {
    spec.registry = false;
    return;
  }
  switch (spec.kind) {
    case PackageKind::npm:
      read_npm(spec);
      return;
    case PackageKind::pypi:
      read_pypi(spec);
      if (spec.name.empty()) {  // no package at all
        spec.registry = false;
        spec.pinned = false;
        spec.version.clear();
      }
      return;
    case PackageKind::oci:
      read_oci(spec);
      return;
  }
}

}  // namespace cordon::clients
