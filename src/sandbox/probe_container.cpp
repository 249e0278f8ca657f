// SPDX-License-Identifier: Apache-2.0
// What a container engine can do here. Asking it is not enough: a runtime may refuse the machine's control groups, a
// client may have no daemon. So something is started.
#include <pwd.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"
#include "sandbox/container_client.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

constexpr int kTrialPatienceMs = 20'000;
constexpr int kAskPatienceMs = 10'000;

constexpr const char* kTrialMemory = "67108864";
constexpr const char* kTrialProcesses = "64";

std::string account_home(const HostFacts& facts) {
  if (!facts.home.empty()) {
    return facts.home;
  }
  std::array<char, 4096> buffer = {};
  passwd entry = {};
  passwd* found = nullptr;
  return ::getpwuid_r(facts.uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr
             ? std::string(found->pw_dir)
             : std::string("/");
}

std::uint64_t hard_limit(__rlimit_resource resource) {
  rlimit value = {};
  return ::getrlimit(resource, &value) != 0 || value.rlim_max == RLIM_INFINITY
             ? std::numeric_limits<std::uint32_t>::max()
             : value.rlim_max;
}

// "podman version 4.3.1" → "4.3.1"
std::string version_in(const std::string& text) {
  const std::size_t digits = text.find_first_of("0123456789");
  return digits == std::string::npos ? std::string()
                                     : text.substr(digits, text.find_first_not_of("0123456789.", digits) - digits);
}

int major_of(std::string_view version) {
  int number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

Trial missing(std::string_view name) {
  return {.step = "find",
          .error_number = ENOENT,
          .reason = "backend_missing",
          .hint = text::cat("install ", name, " as root, in /usr/bin or /usr/local/bin")};
}

Trial too_old(std::string_view name, std::string_view version, std::string_view needed) {
  return {.step = "version",
          .reason = "backend_version",
          .hint = text::cat(name, " ", text::printable(version, 80), " is too old; ", needed, " or later is needed")};
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  const std::size_t start = text.rfind('\n');
  return text::printable(start == std::string_view::npos ? text : text.substr(start + 1), 400);
}

// ---- what an image says of itself ----

std::vector<std::string> strings(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value item : list.elements()) {
    if (item.is(json::Kind::string)) {
      out.push_back(item.string());
    }
  }
  return out;
}

std::string text_of(const json::Value& value) {
  return value && value.is(json::Kind::string) ? value.string() : std::string();
}

ImageFacts read_image(const std::string& text) {
  ImageFacts facts;
  const Result<json::Document> document = json::read(text, {.max_bytes = 1'000'000, .max_depth = 64});
  if (!document) {
    return facts;
  }
  json::Value image = document->root();
  if (image.is(json::Kind::array)) {
    const auto items = image.elements();
    if (items.begin() == items.end()) {
      return facts;
    }
    image = *items.begin();
  }
  if (!image.is(json::Kind::object)) {
    return facts;
  }
  facts.found = true;
  facts.platform = text::cat(text_of(image.find("Os")), "/", text_of(image.find("Architecture")));
  const json::Value config = image.find("Config");
  if (config && config.is(json::Kind::object)) {
    facts.entrypoint = strings(config.find("Entrypoint"));
    facts.command = strings(config.find("Cmd"));
    facts.environment = strings(config.find("Env"));
    facts.working_directory = text_of(config.find("WorkingDir"));
    for (const json::Member volume : config.find("Volumes").members()) {
      facts.volumes.push_back(volume.key.string());
    }
  }
  return facts;
}

ImageFacts probe_image(const std::string& client, const LaunchSpec& spec, const std::string& home) {
  if (spec.image.reference.empty()) {
    return {};
  }
  const ToolOutput said = run_tool({.argv = {client, "image", "inspect", spec.image.reference},
                                    .environment = container_client_environment(home),
                                    .errors = false,
                                    .patience_ms = kAskPatienceMs});
  return said.status == 0 ? read_image(said.text) : ImageFacts{};
}

// ---- podman: a container of nothing but the system's programs ----

class TrialRoot {
 public:
  TrialRoot() {
    std::string pattern = "/tmp/mcp-cordon-trial-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
      (void)::chmod(path_.c_str(), 0755);
    }
  }
  ~TrialRoot() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
  }
  TrialRoot(const TrialRoot&) = delete;
  TrialRoot& operator=(const TrialRoot&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = {};
};

void show_programs(const std::string& root, const HostFacts& facts, std::vector<std::string>& argv) {
  constexpr std::array<std::string_view, 4> kPrograms = {"/usr", "/bin", "/lib", "/lib64"};
  for (const SystemPath& path : facts.system_paths) {
    if (std::ranges::find(kPrograms, path.path) == kPrograms.end()) {
      continue;
    }
    if (path.kind == PathKind::symlink) {
      (void)!::symlink(path.link.c_str(), text::cat(root, path.path).c_str());
    } else if (path.kind == PathKind::directory) {
      argv.insert(argv.end(),
                  {"--mount", text::cat("type=bind,source=", path.path, ",target=", path.path, ",readonly")});
    }
  }
}

ToolOutput start_nothing(const ContainerFacts& found, const HostFacts& facts, const std::string& runtime, bool limits) {
  const TrialRoot root;
  std::vector<std::string> argv = {found.path};
  if (!runtime.empty()) {
    argv.insert(argv.end(), {"--runtime", runtime});
  }
  const std::string user = text::cat(facts.server_uid, ":", facts.server_gid);
  const auto ulimit = [](std::string_view name, std::uint64_t wanted, std::uint64_t most) {
    const std::uint64_t value = std::min(wanted, most);
    return text::cat(name, "=", value, ":", value);
  };
  constexpr std::uint64_t kFiles = 4096;
  constexpr std::uint64_t kProcesses = 16384;
  argv.insert(argv.end(), {"run",
                           "--rm",
                           "--network",
                           "none",
                           "--read-only",
                           "--read-only-tmpfs=false",
                           "--cap-drop",
                           "ALL",
                           "--security-opt",
                           "no-new-privileges",
                           "--ipc",
                           "private",
                           "--cgroupns",
                           "private",
                           "--log-driver",
                           "none",
                           "--no-hosts",
                           "--user",
                           user,
                           "--ulimit",
                           ulimit("nofile", kFiles, found.most_open_files),
                           "--ulimit",
                           ulimit("nproc", kProcesses, found.most_processes)});
  if (found.rootless) {
    argv.insert(argv.end(), {"--userns", "keep-id"});
  }
  if (limits) {
    argv.insert(argv.end(), {"--pids-limit", kTrialProcesses, "--memory", kTrialMemory, "--memory-swap", kTrialMemory});
  }
  show_programs(root.path(), facts, argv);
  // Engines that cannot limit may say so on stderr and go on.
  argv.insert(argv.end(), {"--rootfs", root.path(), "/bin/sh", "-c",
                           limits ? "cd /sys/fs/cgroup && (cat memory.max || cat memory/memory.limit_in_bytes) && (cat "
                                    "pids.max || cat pids/pids.max)"
                                  : "true"});
  return run_tool(
      {.argv = argv, .environment = container_client_environment(found.client_home), .patience_ms = kTrialPatienceMs});
}

void try_podman(ContainerFacts& found, const HostFacts& facts) {
  // First what the machine is set up for, then what else is there.
  std::vector<std::string> runtimes = {""};
  for (const std::string_view name : {"crun", "runc"}) {
    if (std::string path = find_system_tool(name); !path.empty()) {
      runtimes.push_back(std::move(path));
    }
  }
  ToolOutput said;
  for (const bool limits : {true, false}) {
    for (const std::string& runtime : runtimes) {
      said = start_nothing(found, facts, runtime, limits);
      const bool held = !limits || (said.text.find(text::cat(kTrialMemory, "\n")) != std::string::npos &&
                                    said.text.find(text::cat("\n", kTrialProcesses, "\n")) != std::string::npos);
      if (said.status == 0 && held) {
        found.runtime = runtime;
        found.limits = limits;
        found.trial = {.works = true, .step = "done"};
        return;
      }
    }
  }
  found.trial = {.step = "run",
                 .reason = "engine_failed",
                 .hint = said.timed_out ? std::string("podman did not start a container in time")
                                        : text::cat("podman says: ", last_line(said.text))};
}

ContainerFacts find_client(std::string_view name, const HostFacts& facts) {
  ContainerFacts found;
  found.path = find_system_tool(name);
  found.client_home = account_home(facts);
  found.most_open_files = hard_limit(RLIMIT_NOFILE);
  found.most_processes = hard_limit(RLIMIT_NPROC);
  found.most_core = hard_limit(RLIMIT_CORE);
  if (found.path.empty()) {
    found.trial = missing(name);
  }
  return found;
}

}  // namespace

ContainerFacts probe_podman(const LaunchSpec& spec, const HostFacts& facts) {
  constexpr int kOldest = 4;
  ContainerFacts found = find_client("podman", facts);
  if (found.path.empty()) {
    return found;
  }
  found.rootless = !facts.root();
  found.version = version_in(
      run_tool({.argv = {found.path, "--version"}, .environment = container_client_environment(found.client_home)})
          .text);
  if (major_of(found.version) < kOldest) {
    found.trial = too_old("podman", found.version, "4.0");
    return found;
  }
  try_podman(found, facts);
  if (found.trial.works) {
    found.image = probe_image(found.path, spec, found.client_home);
  }
  return found;
}

ContainerFacts probe_docker(const LaunchSpec& spec, const HostFacts& facts) {
  constexpr int kOldest = 20;
  ContainerFacts found = find_client("docker", facts);
  if (found.path.empty()) {
    return found;
  }
  // A client without an engine is common.
  const ToolOutput said = run_tool({.argv = {found.path, "version", "--format", "{{.Server.Version}}"},
                                    .environment = container_client_environment(found.client_home)});
  if (said.status != 0 || said.timed_out) {
    found.trial = {.step = "version",
                   .reason = "engine_unreachable",
                   .hint = said.timed_out ? std::string("docker did not answer in time")
                                          : text::cat("docker says: ", last_line(said.text))};
    return found;
  }
  found.version = version_in(said.text);
  if (major_of(found.version) < kOldest) {
    found.trial = too_old("docker", found.version, "20.10");
    return found;
  }
  // Where the kernel cannot limit, docker warns and goes on.
  const ToolOutput limits = run_tool({.argv = {found.path, "info", "--format", "{{.MemoryLimit}} {{.PidsLimit}}"},
                                      .environment = container_client_environment(found.client_home),
                                      .errors = false});
  found.limits = limits.text.find("true true") != std::string::npos;
  found.trial = {.works = true, .step = "done"};
  found.image = probe_image(found.path, spec, found.client_home);
  return found;
}

}  // namespace cordon::sandbox
