// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.hpp"
#include "cli/command_list.inc"

namespace cordon::cli {

void Options::flag(std::string name, bool& target, std::string help) {
  options_.push_back({.kind = Option::Kind::flag, .name = std::move(name), .help = std::move(help), .flag = &target});
}

void Options::value(std::string name, std::string takes, std::string& target, std::string help) {
  options_.push_back({.kind = Option::Kind::value,
                      .name = std::move(name),
                      .takes = std::move(takes),
                      .help = std::move(help),
                      .value = &target});
}

void Options::values(std::string name, std::string takes, std::vector<std::string>& target, std::string help) {
  options_.push_back({.kind = Option::Kind::values,
                      .name = std::move(name),
                      .takes = std::move(takes),
                      .help = std::move(help),
                      .values = &target});
}

void Options::positional(std::string name, std::string& target, std::string help) {
  options_.push_back(
      {.kind = Option::Kind::positional, .name = std::move(name), .help = std::move(help), .value = &target});
}

void Options::positionals(std::string name, std::vector<std::string>& target, std::string help) {
  options_.push_back(
      {.kind = Option::Kind::positionals, .name = std::move(name), .help = std::move(help), .values = &target});
}

void Options::unsupported_flag(std::string name) {
  options_.push_back({.kind = Option::Kind::unsupported_flag, .name = std::move(name)});
}

void Options::unsupported_value(std::string name) {
  options_.push_back({.kind = Option::Kind::unsupported_value, .name = std::move(name)});
}

std::span<const CommandEntry* const> commands() { return kCommands; }

}  // namespace cordon::cli
