// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that only start another one: env, nice, version managers. Told by their first words; nothing is asked of
// anybody.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/command_shape.hpp"

namespace cordon::clients {

// Of a variable's name.
bool is_name_char(char c);

// NAME=VALUE.
bool is_assignment(std::string_view word);

// The last value of a name counts.
void assign(const std::string& word, Assigned& out);

// What is started, one step inwards, behind `env [-i] [-S LINE] [NAME=VALUE…]`, `nice`, `nohup`, `setsid`, `stdbuf`, a
// version manager that is not told which version, `python -m uv`, and `node …/npx-cli.js`. Nothing when there is
// another program, or when its options do more than that (`timeout 30`, `env -C /x`, `mise exec node@20 --`);
// `assigned` is then as it was.
std::optional<std::vector<std::string>> behind_starter(std::span<const std::string> command, Assigned& assigned);

}  // namespace cordon::clients
