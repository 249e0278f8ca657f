// SPDX-License-Identifier: Apache-2.0
// What a container shows besides its image. The engine makes most of it by itself; the list says what our stage lets
// the server use (Landlock) and what it looks at before it starts the server.
#include <algorithm>
#include <array>

#include "sandbox/container_plan.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

constexpr std::array<std::string_view, 5> kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                                      "/dev/urandom"};
// Both engines show these read-only.
constexpr std::array<std::string_view, 5> kReadOnly = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                                       "/proc/fs"};
// Both engines hide these.
constexpr std::array<std::string_view, 8> kHidden = {"/proc/acpi",        "/proc/scsi",         "/proc/kcore",
                                                     "/proc/keys",        "/proc/timer_list",   "/proc/timer_stats",
                                                     "/proc/sched_debug", "/proc/latency_stats"};
// podman can be told to hide more. /sys tells about the machine, and nothing in it is needed.
constexpr std::array<std::string_view, 13> kMasked = {
    "/proc/asound", "/proc/driver",  "/proc/key-users", "/proc/kallsyms", "/proc/kmsg",       "/proc/config.gz",
    "/proc/iomem",  "/proc/ioports", "/proc/modules",   "/proc/mtrr",     "/proc/interrupts", "/proc/mdstat",
    "/sys"};

ViewEntry memory(std::string_view target, std::uint64_t size_bytes, std::uint32_t mode) {
  return {.kind = EntryKind::tmpfs,
          .target = std::string(target),
          .writable = true,
          .mode = mode,
          .size_bytes = size_bytes};
}

template <std::size_t N>
void add_all(std::vector<ViewEntry>& view, EntryKind kind, const std::array<std::string_view, N>& paths) {
  for (const std::string_view path : paths) {
    view.push_back({.kind = kind, .target = std::string(path), .source = std::string(path), .optional = true});
  }
}

}  // namespace

std::vector<ViewEntry> container_base_view(const LaunchSpec& spec, const HostFacts& facts) {
  std::vector<ViewEntry> view = {memory("/tmp", 256 * kMiB, 01777), memory("/dev/shm", 64 * kMiB, 01777)};
  for (const std::string_view path : kDevices) {
    view.push_back(
        {.kind = EntryKind::device, .target = std::string(path), .source = std::string(path), .writable = true});
  }
  view.push_back({.kind = EntryKind::proc, .target = "/proc", .writable = true});
  add_all(view, EntryKind::freeze, kReadOnly);
  add_all(view, EntryKind::cover, kHidden);
  if (spec.backend == BackendChoice::podman) {
    add_all(view, EntryKind::cover, kMasked);
  } else {
    // docker would make a volume of each place that the image names; podman is told not to.
    for (const std::string& volume : facts.docker.image.volumes) {
      view.push_back(memory(volume, 64 * kMiB, 01777));
    }
  }
  if (spec.home_source.empty()) {
    view.push_back(memory(kHomeInside, 256 * kMiB, 01777));
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
