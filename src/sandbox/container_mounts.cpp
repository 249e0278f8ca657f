// SPDX-License-Identifier: Apache-2.0
#include "sandbox/container_mounts.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox {
namespace {

std::unexpected<Error> refuse(std::string detail, std::string remedy = {}) {
  return fail(Errc::policy_invalid, std::move(detail), {}, std::move(remedy));
}

// Whoever may talk to one of these is root on the machine.
constexpr std::array<std::string_view, 6> kEngineSockets = {"docker.sock", "podman.sock",    "containerd.sock",
                                                            "crio.sock",   "buildkitd.sock", "dockershim.sock"};
// These hold them, or are the machine itself.
constexpr std::array<std::string_view, 6> kMachine = {"/run", "/var/run", "/proc", "/sys", "/dev", "/boot"};

Status check_source(const std::string& source) {
  for (const std::string_view part : text::split(source, '/')) {
    if (std::ranges::find(kEngineSockets, part) != kEngineSockets.end()) {
      return refuse("would give the container the socket of a container engine, which is root on this machine");
    }
  }
  if (!source.starts_with('/')) {
    return refuse("is a volume or a relative path", "write the absolute path of a folder, and grant it in the policy");
  }
  if (!is_normal_path(source)) {
    return refuse("is not an absolute path without '.', '..' and doubled slashes");
  }
  if (source == "/" ||
      std::ranges::any_of(kMachine, [&](std::string_view folder) { return is_within(source, folder); })) {
    return refuse("would give the container what belongs to the machine");
  }
  return {};
}

Result<std::optional<ContainerMount>> checked(ContainerMount mount) {
  if (Status source = check_source(mount.source); !source) {
    return std::unexpected(source.error());
  }
  if (!is_normal_path(mount.target) || mount.target == "/") {
    return refuse("has no absolute path inside");
  }
  return std::optional(std::move(mount));
}

// Options that change nothing that matters here: labels, caching, what is done anyway.
bool is_harmless(std::string_view option) {
  constexpr std::array<std::string_view, 11> kHarmless = {
      "rw", "z", "Z", "cached", "delegated", "nosuid", "nodev", "consistent", "rprivate", "private", "noexec"};
  return option.empty() || std::ranges::find(kHarmless, option) != kHarmless.end();
}

}  // namespace

Result<std::optional<ContainerMount>> read_volume(const std::string& value) {
  const std::vector<std::string_view> parts = text::split(value, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    return refuse("is not SOURCE:TARGET or SOURCE:TARGET:ro");
  }
  ContainerMount mount{.source = std::string(parts[0]), .target = std::string(parts[1])};
  if (parts.size() == 3) {
    for (const std::string_view option : text::split(parts[2], ',')) {
      if (option == "ro" || option == "readonly") {
        mount.writable = false;
      } else if (!is_harmless(option)) {
        return refuse(text::cat("option ", text::printable(option, 80), " is not possible here"));
      }
    }
  }
  return checked(std::move(mount));
}

Result<std::optional<ContainerMount>> read_mount(const std::string& value) {
  if (value.find('"') != std::string::npos) {
    return refuse("quotes in it are not understood");
  }
  ContainerMount mount;
  std::string_view type = "volume";
  for (const std::string_view field : text::split(value, ',')) {
    const std::size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    const std::string_view word = equals == std::string_view::npos ? std::string_view() : field.substr(equals + 1);
    if (key == "type") {
      type = word;
    } else if (key == "source" || key == "src") {
      mount.source = word;
    } else if (key == "target" || key == "destination" || key == "dst") {
      mount.target = word;
    } else if (key == "readonly" || key == "ro") {
      if (!word.empty() && word != "true" && word != "1" && word != "false" && word != "0") {
        return refuse("readonly is neither true nor false");
      }
      mount.writable = word == "false" || word == "0";
    } else if (key == "bind-propagation" ? word != "private" && word != "rprivate"
                                         : key != "consistency" && key != "tmpfs-size" && key != "tmpfs-mode") {
      return refuse(text::cat("option ", text::printable(key, 80), " is not possible here"));
    }
  }
  if (type == "tmpfs" && mount.target == "/tmp") {
    return std::optional<ContainerMount>();
  }
  if (type != "bind") {
    return refuse(text::cat("type ", text::printable(type, 80), " is not possible here"),
                  "use type=bind with a folder that the policy grants");
  }
  return checked(std::move(mount));
}

}  // namespace cordon::sandbox
