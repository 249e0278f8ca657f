// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts of machines that do not exist, for plans that are made without privileges.

#include "sandbox/host_facts.hpp"
#include "sandbox/spec.hpp"

namespace cordon::test {

inline constexpr const char* kImage =
    "mcp/thing@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

inline sandbox::ContainerFacts able_engine(const char* path) {
  return {.path = path,
          .version = "28.0.1",
          .limits = true,
          .client_home = "/home/user",
          .most_open_files = 20000,
          .most_processes = 9999,
          .most_core = 20000,
          .trial = {.works = true},
          .image = {.found = true, .platform = "linux/amd64", .entrypoint = {"server"}}};
}

// An ordinary user on a machine that can do everything.
inline sandbox::HostFacts able_host() {
  sandbox::HostFacts facts;
  facts.uid = facts.server_uid = 1000;
  facts.gid = facts.server_gid = 1000;
  facts.namespaces = {.works = true, .step = "done"};
  facts.landlock_abi = 7;
  facts.seccomp = true;
  facts.architecture = "x86_64";
  facts.bubblewrap = {.path = "/usr/bin/bwrap", .version = "0.8.0", .disable_userns = true, .trial = {.works = true}};
  facts.podman = able_engine("/usr/bin/podman");
  facts.podman.rootless = true;
  facts.docker = able_engine("/usr/bin/docker");
  facts.firejail = {.path = "/usr/bin/firejail", .version = "0.9.72", .trial = {.works = true}};
  facts.srt = {.cli = "/opt/srt/dist/cli.js",
               .version = "0.0.83",
               .helper = "/opt/srt/vendor/seccomp/x64/apply-seccomp",
               .node = "/usr/bin/node",
               .bwrap = "/usr/bin/bwrap",
               .socat = "/usr/bin/socat",
               .ripgrep = "/usr/bin/rg",
               .trial = {.works = true}};
  facts.seatbelt = {.works = true};
  facts.system_paths = {{.path = "/usr", .kind = sandbox::PathKind::directory},
                        {.path = "/bin", .kind = sandbox::PathKind::symlink, .link = "usr/bin"},
                        {.path = "/lib32", .kind = sandbox::PathKind::absent},
                        {.path = "/etc/ssl/certs", .kind = sandbox::PathKind::directory}};
  facts.program = {.path = "/usr/bin/server", .identity = {1, 2}, .found = true};
  facts.home = "/home/user";
  return facts;
}

inline sandbox::HostFacts root_on(sandbox::HostFacts facts) {
  facts.uid = facts.gid = 0;
  facts.server_uid = facts.server_gid = 65534;
  facts.podman.rootless = false;
  return facts;
}

inline sandbox::LaunchSpec simple_spec() {
  sandbox::LaunchSpec spec;
  spec.argv = {"/usr/bin/server", "--flag"};
  spec.environment = {"PATH=/usr/bin", "TOKEN=very-secret"};
  spec.require = {"filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices"};
  return spec;
}

// Backends that start images get one.
inline void give_image(sandbox::LaunchSpec& spec) {
  if (spec.backend == sandbox::BackendChoice::podman || spec.backend == sandbox::BackendChoice::docker) {
    spec.image.reference = kImage;
  }
}

}  // namespace cordon::test
