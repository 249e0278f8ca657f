// SPDX-License-Identifier: Apache-2.0
// Any words, one a line, as `docker run …`. Oracle: what is accepted names an image by a whole digest, mounts nothing
// of the machine or of an engine, and, written anew with long flags only, is read as the same; what is refused is said
// in text that can be printed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sandbox/container_command.hpp"
#include "sandbox/paths.hpp"

namespace {

using namespace cordon;
using namespace cordon::sandbox;

std::vector<std::string> written_anew(const ContainerCommand& command) {
  std::vector<std::string> words = {"podman", "run"};
  const auto add = [&words](std::string_view flag, const std::string& value) {
    words.push_back(text::cat("--", flag, "=", value));
  };
  for (const ContainerMount& mount : command.mounts) {
    // A target of -v has no colon, one of --mount no comma: so both are needed.
    if (mount.target.find(':') == std::string::npos && mount.source.find(':') == std::string::npos) {
      add("volume", text::cat(mount.source, ":", mount.target, mount.writable ? "" : ":ro"));
    } else {
      add("mount",
          text::cat("type=bind,source=", mount.source, ",target=", mount.target, mount.writable ? "" : ",readonly"));
    }
  }
  for (const ContainerVariable& variable : command.variables) {
    add("env", variable.name + (variable.value ? "=" + *variable.value : std::string()));
  }
  const auto add_text = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) {
      add(flag, value);
    }
  };
  add_text("network", command.network);
  add_text("workdir", command.working_directory);
  add_text("user", command.user);
  add_text("platform", command.platform);
  if (command.entrypoint) {
    add("entrypoint", *command.entrypoint);
  }
  if (command.memory_bytes) {
    add("memory", std::to_string(*command.memory_bytes));
  }
  if (command.processes) {
    add("pids-limit", std::to_string(*command.processes));
  }
  words.push_back(command.image);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  return words;
}

void check_accepted(const ContainerCommand& command) {
  CORDON_ASSERT(image_digest(command.image) == command.digest);
  CORDON_ASSERT(command.digest.size() == std::string_view("sha256:").size() + 64);
  CORDON_ASSERT(command.network != "host");
  for (const ContainerMount& mount : command.mounts) {
    CORDON_ASSERT(is_normal_path(mount.source) && is_normal_path(mount.target));
    CORDON_ASSERT(mount.source != "/" && mount.target != "/");
    for (const char* place : {"/run", "/var/run", "/proc", "/sys", "/dev"}) {
      CORDON_ASSERT(!is_within(mount.source, place));
    }
    CORDON_ASSERT(!mount.source.ends_with("docker.sock"));
  }
}

void check_same(const ContainerCommand& one, const ContainerCommand& other) {
  CORDON_ASSERT(one.image == other.image && one.arguments == other.arguments && one.entrypoint == other.entrypoint);
  CORDON_ASSERT(one.working_directory == other.working_directory && one.user == other.user);
  CORDON_ASSERT(one.network == other.network && one.platform == other.platform);
  CORDON_ASSERT(one.memory_bytes == other.memory_bytes && one.processes == other.processes);
  CORDON_ASSERT(std::ranges::equal(one.mounts, other.mounts, [](const ContainerMount& a, const ContainerMount& b) {
    return a.source == b.source && a.target == b.target && a.writable == b.writable;
  }));
  CORDON_ASSERT(std::ranges::equal(
      one.variables, other.variables,
      [](const ContainerVariable& a, const ContainerVariable& b) { return a.name == b.name && a.value == b.value; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  for (const std::string_view line : text::split(input, '\n')) {
    words.emplace_back(line);
  }
  const auto command = parse_container_command(words);
  if (!command) {
    const std::string said = command.error().to_string();
    CORDON_ASSERT(std::ranges::none_of(said, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }));
    CORDON_ASSERT(command.error().code == Errc::policy_invalid);
    return 0;
  }
  check_accepted(*command);
  const auto again = parse_container_command(written_anew(*command));
  CORDON_ASSERT(again.has_value());
  check_same(*command, *again);
  return 0;
}
