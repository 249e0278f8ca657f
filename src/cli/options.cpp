// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.hpp"
#include "cli/command_list.inc"

namespace cordon::cli {

void Options::flag(std::string name, bool& target, std::string help) {
  options_.push_back({Option::Kind::flag, std::move(name), std::move(help), false, &target});
}

void Options::value(std::string name, std::string& target, std::string help) {
  options_.push_back({Option::Kind::value, std::move(name), std::move(help), false, nullptr, &target});
}

void Options::positional(std::string name, std::string& target, std::string help) {
  options_.push_back({Option::Kind::positional, std::move(name), std::move(help), false, nullptr, &target});
}

void Options::positionals(std::string name, std::vector<std::string>& target, std::string help) {
  options_.push_back(
      {Option::Kind::positionals, std::move(name), std::move(help), false, nullptr, nullptr, &target});
}

void Options::unsupported_flag(std::string name) {
  options_.push_back({Option::Kind::unsupported_flag, std::move(name)});
}

void Options::unsupported_value(std::string name) {
  options_.push_back({Option::Kind::unsupported_value, std::move(name)});
}

std::span<const CommandEntry* const> commands() { return kCommands; }

}  // namespace cordon::cli
