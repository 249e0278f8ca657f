// SPDX-License-Identifier: Apache-2.0
// The part of the view that does not depend on grants: an empty world with five devices, a masked /proc, the system's
// read-only programs, and an /etc that says nothing about this machine.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/container_plan.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

// Programs and libraries; on a merged-/usr system all but the first are symlinks into it.
constexpr std::array<std::string_view, 9> kProgramPaths = {"/usr",   "/bin",    "/sbin",      "/lib",      "/lib32",
                                                           "/lib64", "/libx32", "/nix/store", "/gnu/store"};
// What the presets need of /etc: the loader's cache, certificates, alternatives, the clock's zone. Keys are not here:
// of /etc/ssl only certificates and the configuration, never /etc/ssl/private.
constexpr std::array<std::string_view, 17> kEtcPaths = {
    "/etc/alternatives",  "/etc/ca-certificates",  "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime",     "/etc/timezone",         "/etc/mime.types",  "/etc/os-release", "/etc/pki/ca-trust",
    "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/protocols",   "/etc/services",   "/etc/ssl/certs",
    "/etc/ssl/cert.pem",  "/etc/ssl/openssl.cnf"};

// Fonts, what the system says to its browser (start options, an organisation's policies), and browsers of vendors.
constexpr std::array<std::string_view, 8> kBrowserPaths = {
    "/etc/fonts",         "/etc/chromium",  "/etc/chromium.d",       "/etc/opt/chrome",
    "/opt/google/chrome", "/opt/brave.com", "/opt/microsoft/msedge", "/opt/chromium.org"};
// /etc/java-17-openjdk and its kin: a Java runtime does not start without its configuration. Which there are, the host
// says.
constexpr std::string_view kJavaStart = "/etc/java";

constexpr auto kSystemPaths = [] {
  std::array<std::string_view, kProgramPaths.size() + kEtcPaths.size() + kBrowserPaths.size()> all = {};
  auto end = std::copy(kProgramPaths.begin(), kProgramPaths.end(), all.begin());
  end = std::copy(kEtcPaths.begin(), kEtcPaths.end(), end);
  std::copy(kBrowserPaths.begin(), kBrowserPaths.end(), end);
  return all;
}();

constexpr std::array<std::string_view, 6> kPresets = {"node", "python", "java", "browser", "system", "none"};

bool has_preset(const LaunchSpec& spec, std::string_view preset) {
  return std::find(spec.runtime.begin(), spec.runtime.end(), preset) != spec.runtime.end();
}

// Programs and the common part of /etc belong to every preset, the rest to one.
bool preset_shows(const LaunchSpec& spec, std::string_view path) {
  if (std::find(kBrowserPaths.begin(), kBrowserPaths.end(), path) != kBrowserPaths.end()) {
    return has_preset(spec, "browser");
  }
  return !path.starts_with(kJavaStart) || has_preset(spec, "java");
}

// No tty, no ptmx, no pts: a server has no terminal, and one could be injected into.
constexpr std::array<std::string_view, 5> kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                                      "/dev/urandom"};

constexpr std::array<std::string_view, 3> kStreams = {"in", "out", "err"};

// Files of procfs whose mode bits check for uid 0 of the machine or show its memory, keys and hardware. /proc/sys must
// be read-only even without capabilities: sysctl files compare the caller with the machine's root.
constexpr std::array<std::string_view, 6> kProcReadOnly = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                                           "/proc/fs",  "/proc/driver"};
constexpr std::array<std::string_view, 18> kProcHidden = {
    "/proc/acpi",      "/proc/scsi",     "/proc/asound",    "/proc/kcore",         "/proc/keys",
    "/proc/key-users", "/proc/kallsyms", "/proc/kmsg",      "/proc/timer_list",    "/proc/timer_stats",
    "/proc/config.gz", "/proc/iomem",    "/proc/ioports",   "/proc/latency_stats", "/proc/sched_debug",
    "/proc/modules",   "/proc/mtrr",     "/proc/interrupts"};

ViewEntry directory(std::string_view target) {
  return {.kind = EntryKind::directory, .target = std::string(target), .mode = 0755};
}

ViewEntry private_tmpfs(std::string_view target, std::uint64_t size_bytes, std::uint32_t mode) {
  return {.kind = EntryKind::tmpfs,
          .target = std::string(target),
          .writable = true,
          .mode = mode,
          .size_bytes = size_bytes};
}

ViewEntry text_file(std::string_view target, std::string content) {
  return {.kind = EntryKind::file, .target = std::string(target), .text = std::move(content), .mode = 0444};
}

ViewEntry link(std::string_view target, std::string_view to) {
  return {.kind = EntryKind::symlink, .target = std::string(target), .text = std::string(to)};
}

void add_proc(std::vector<ViewEntry>& view, bool minimal) {
  view.push_back({.kind = EntryKind::proc, .target = "/proc", .text = minimal ? "subset=pid" : "", .writable = true});
  if (minimal) {
    return;  // only processes are there
  }
  for (const std::string_view path : kProcReadOnly) {
    view.push_back(
        {.kind = EntryKind::freeze, .target = std::string(path), .source = std::string(path), .optional = true});
  }
  for (const std::string_view path : kProcHidden) {
    view.push_back(
        {.kind = EntryKind::cover, .target = std::string(path), .source = std::string(path), .optional = true});
  }
}

void add_system(std::vector<ViewEntry>& view, const LaunchSpec& spec, const HostFacts& facts) {
  for (const SystemPath& path : facts.system_paths) {
    if (!preset_shows(spec, path.path)) {
      continue;
    }
    switch (path.kind) {
      case PathKind::directory:
      case PathKind::file:
        view.push_back({.kind = EntryKind::bind,
                        .target = path.path,
                        .source = path.path,
                        .executable = !is_within(path.path, "/etc")});
        break;
      case PathKind::symlink:
        view.push_back(link(path.path, path.link));
        break;
      case PathKind::absent:
      case PathKind::socket:
      case PathKind::other:
        break;
    }
  }
}

void add_etc(std::vector<ViewEntry>& view, const LaunchSpec& spec, const HostFacts& facts) {
  view.push_back(
      text_file("/etc/passwd", text::cat("root:x:0:0:root:/:/bin/false\n", kAccountInside, ":x:", facts.server_uid, ":",
                                         facts.server_gid, "::", kHomeInside, ":/bin/sh\n")));
  view.push_back(text_file("/etc/group", text::cat("root:x:0:\n", kAccountInside, ":x:", facts.server_gid, ":\n")));
  // Lists that cannot be had are refused before anything is made of this.
  const auto doors = egress::plan_doors(spec.network);
  view.push_back(text_file("/etc/hosts", text::cat("127.0.0.1 localhost ", kHostnameInside, "\n::1 localhost\n",
                                                   doors ? egress::hosts_text(*doors) : std::string())));
  // "files dns" keeps nscd, resolved and mdns sockets out of play.
  view.push_back(text_file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"));
  view.push_back(text_file("/etc/resolv.conf", egress::resolver_text(spec.network)));
}

}  // namespace

std::span<const std::string_view> system_path_list() { return kSystemPaths; }
std::span<const std::string_view> device_list() { return kDevices; }

bool is_known_preset(std::string_view preset) {
  return std::find(kPresets.begin(), kPresets.end(), preset) != kPresets.end();
}

bool allows_nested_userns(const LaunchSpec& spec) { return spec.nested_userns || has_preset(spec, "browser"); }

Limits preset_limits(const LaunchSpec& spec) {
  // Far above what servers use, and below what takes a machine down. A process of Chromium counts its reserved but
  // writable memory, of which a page may have much; a Java heap is a quarter of the machine.
  constexpr std::uint64_t kGiB = 1024 * kMiB;
  Limits limits{.memory_bytes = 4 * kGiB, .processes = 1024, .open_files = 4096};
  if (has_preset(spec, "browser") || has_preset(spec, "java")) {
    limits = {.memory_bytes = 16 * kGiB, .processes = 4096, .open_files = 16384};
  }
  return limits;
}

bool shows_system(const LaunchSpec& spec) {
  return std::any_of(spec.runtime.begin(), spec.runtime.end(), [](const std::string& name) { return name != "none"; });
}

bool is_system_program(std::string_view path) {
  return std::any_of(kProgramPaths.begin(), kProgramPaths.end(),
                     [path](std::string_view folder) { return is_within(path, folder); });
}

std::vector<ViewEntry> base_view(const LaunchSpec& spec, const HostFacts& facts) {
  if (!spec.image.reference.empty()) {
    return container_base_view(spec, facts);
  }
  std::vector<ViewEntry> view;
  for (const std::string_view path : {"/dev", "/etc", "/home", "/proc", "/run", "/var", "/var/tmp"}) {
    view.push_back(directory(path));
  }
  // A browser keeps its profile in /tmp, and hands pages and pictures about in /dev/shm.
  const std::uint64_t scale = has_preset(spec, "browser") ? 4 : 1;
  view.push_back(private_tmpfs("/tmp", scale * 256 * kMiB, 01777));
  view.push_back(private_tmpfs("/dev/shm", scale * 64 * kMiB, 01777));
  for (const std::string_view path : kDevices) {
    view.push_back(
        {.kind = EntryKind::device, .target = std::string(path), .source = std::string(path), .writable = true});
  }
  view.push_back(link("/dev/fd", "/proc/self/fd"));
  for (std::size_t number = 0; number < kStreams.size(); ++number) {
    view.push_back(link(text::cat("/dev/std", kStreams[number]), text::cat("/proc/self/fd/", number)));
  }
  add_proc(view, spec.proc_minimal);
  if (shows_system(spec)) {
    add_system(view, spec, facts);
  }
  add_etc(view, spec, facts);
  if (spec.home_source.empty()) {
    view.push_back(private_tmpfs(kHomeInside, 256 * kMiB, 0700));
  } else {
    view.push_back({.kind = EntryKind::bind,
                    .target = std::string(kHomeInside),
                    .source = spec.home_source,
                    .writable = true,
                    .owners = Owners::mapped});
  }
  return view;
}

}  // namespace cordon::sandbox
