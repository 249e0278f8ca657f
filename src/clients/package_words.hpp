// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of package runners, as data, and how each ecosystem writes a package with its version.

#include <cstdint>
#include <span>
#include <string_view>

#include "clients/package_spec.hpp"

namespace cordon::clients {

enum class RunnerShape : std::uint8_t {
  package,    // OPTIONS PACKAGE ARGUMENTS
  with,       // --with PACKAGE PROGRAM ARGUMENTS
  specifier,  // OPTIONS npm:PACKAGE ARGUMENTS
  image,      // OPTIONS IMAGE ARGUMENTS
};

struct RunnerWords {
  std::string_view program = {};
  std::span<const std::string_view> subcommands = {};
  std::string_view name = {};
  PackageKind kind = PackageKind::npm;
  RunnerShape shape = RunnerShape::package;
  std::span<const std::string_view> package = {};   // options whose value is the package
  std::span<const std::string_view> more = {};      // options whose value is a further package
  std::span<const std::string_view> other = {};     // with one of these, it is no package any more
  std::span<const std::string_view> call = {};      // options whose value is the line that the package's program starts
  std::span<const std::string_view> values = {};    // options that take a value
  std::span<const std::string_view> switches = {};  // options that take none
  bool unknown_takes_next = false;                  // npx: an unknown option takes the next word
  bool options_after_package = false;               // npm exec
};

std::span<const RunnerWords> runners();

// Fills registry, name, extras, version, tag and pinned from kind and written.
void read_specification(PackageSpec& spec);

// A folder or a file of this machine.
bool is_local(std::string_view written);

}  // namespace cordon::clients
