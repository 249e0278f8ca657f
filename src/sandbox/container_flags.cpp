// SPDX-License-Identifier: Apache-2.0
#include "sandbox/container_flags.hpp"

#include <algorithm>

namespace cordon::sandbox {
namespace {

constexpr bool kValue = true;
constexpr bool kSwitch = false;

constexpr std::string_view kRights = "would give the container rights over the machine";
constexpr std::string_view kShares = "would let the container share what it must have for itself";
constexpr std::string_view kDevices = "would give the container a device of the machine";
constexpr std::string_view kNames = "would name hosts or addresses; isolation.network decides what is reached";
constexpr std::string_view kPorts = "would open a port; a server that talks over stdio needs none";
constexpr std::string_view kHidden = "would bring in what the policy cannot show; name it in the policy";

constexpr ContainerFlag ours(std::string_view name, bool value, char letter = 0) {
  return {name, letter, value, FlagUse::ours, {}};
}
constexpr ContainerFlag no(std::string_view name, bool value, std::string_view why, char letter = 0) {
  return {name, letter, value, FlagUse::refused, why};
}
constexpr ContainerFlag read(std::string_view name, FlagUse use, char letter = 0) {
  return {name, letter, kValue, use, {}};
}
constexpr ContainerFlag only(std::string_view name, std::string_view words) {
  return {name, 0, kValue, FlagUse::only, words};
}

// (Not std::array: deducing its size from this many is beyond clang's depth of folding.)
constexpr ContainerFlag kFlags[] = {
    // What is done anyway.
    ours("interactive", kSwitch, 'i'),
    ours("rm", kSwitch),
    ours("init", kSwitch),
    ours("read-only", kSwitch),
    ours("cap-drop", kValue),
    ours("quiet", kSwitch, 'q'),
    // Names for other programs; the container gets a name of its own at each start.
    ours("name", kValue),
    ours("label", kValue, 'l'),
    ours("attach", kValue, 'a'),
    only("ipc", "private"),
    only("cgroupns", "private"),
    // A digest names one content, whenever it was fetched; it is never fetched at a start.
    only("pull", "never,missing,always"),
    only("log-driver", "none"),
    only("restart", "no"),
    // What the policy has to say, too.
    read("env", FlagUse::environment, 'e'),
    read("volume", FlagUse::volume, 'v'),
    read("mount", FlagUse::mount),
    read("tmpfs", FlagUse::tmpfs),
    read("network", FlagUse::network),
    read("net", FlagUse::network),
    read("workdir", FlagUse::working_directory, 'w'),
    read("user", FlagUse::user, 'u'),
    read("entrypoint", FlagUse::entrypoint),
    read("platform", FlagUse::platform),
    read("memory", FlagUse::memory, 'm'),
    read("memory-swap", FlagUse::memory),
    read("pids-limit", FlagUse::processes),
    read("security-opt", FlagUse::security),
    // What takes walls away.
    no("privileged", kSwitch, kRights),
    no("cap-add", kValue, kRights),
    no("group-add", kValue, kRights),
    no("cgroup-parent", kValue, kRights),
    no("cgroups", kValue, kRights),
    no("sysctl", kValue, kRights),
    no("oom-kill-disable", kSwitch, kRights),
    no("oom-score-adj", kValue, kRights),
    no("ulimit", kValue, "would set limits of its own; isolation.limits sets them"),
    no("pid", kValue, kShares),
    no("uts", kValue, kShares),
    no("userns", kValue, kShares),
    no("uidmap", kValue, kShares),
    no("gidmap", kValue, kShares),
    no("volumes-from", kValue, kShares),
    no("pod", kValue, kShares),
    no("link", kValue, kShares),
    no("device", kValue, kDevices),
    no("device-cgroup-rule", kValue, kDevices),
    no("gpus", kValue, kDevices),
    no("runtime", kValue, "would choose another runtime; mcp-cordon takes one that works"),
    no("rootfs", kSwitch, "would start a folder instead of an image; name an image by its digest"),
    no("publish", kValue, kPorts, 'p'),
    no("publish-all", kSwitch, kPorts, 'P'),
    no("expose", kValue, kPorts),
    no("add-host", kValue, kNames),
    no("dns", kValue, kNames),
    no("dns-search", kValue, kNames),
    no("dns-option", kValue, kNames),
    no("ip", kValue, kNames),
    no("hostname", kValue, "would set a host name; inside it is cordon", 'h'),
    no("env-file", kValue, kHidden),
    no("env-host", kSwitch, kHidden),
    no("secret", kValue, "is not translated; use launch.environment.secrets"),
    no("tty", kSwitch, "makes a terminal, which rewrites lines and mixes stdout with stderr; -i is enough", 't'),
    no("detach", kSwitch, "would leave the server running in the background", 'd'),
};

}  // namespace

const ContainerFlag* find_flag(std::string_view name) {
  const auto* found = std::ranges::find(kFlags, name, &ContainerFlag::name);
  return found == std::end(kFlags) ? nullptr : found;
}

const ContainerFlag* find_flag(char letter) {
  const auto* found = letter == 0 ? std::end(kFlags) : std::ranges::find(kFlags, letter, &ContainerFlag::letter);
  return found == std::end(kFlags) ? nullptr : found;
}

}  // namespace cordon::sandbox
