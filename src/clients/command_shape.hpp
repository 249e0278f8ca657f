// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a command line is made of: the program behind shells and helpers, and shapes that ask for a second look.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cordon::clients {

// "npx" of "/usr/bin/npx", "C:\\nodejs\\npx.cmd", "NPX.EXE": without folder and without the extension of Windows,
// lower case only where that extension stood.
std::string program_name(std::string_view word);

// The command that is run in the end: behind `cmd /c`, `sh -c '[NAME=VALUE…] plain words'`, `env [NAME=VALUE…]` and
// other programs that only start one (starters.hpp). The command itself when there is nothing to look behind, or when a
// script is more than plain words.
std::vector<std::string> innermost(std::span<const std::string> command);

// What is set on the way there, in its order: `env NAME=VALUE…`, `sh -c 'NAME=VALUE program'`.
using Assigned = std::vector<std::pair<std::string, std::string>>;
Assigned assigned_on_the_way(std::span<const std::string> command);

// The words of a line that is one simple command, NAME=VALUE among them; nothing for any other.
std::optional<std::vector<std::string>> words_of_line(std::string_view script);

// The same without NAME=VALUE before the command, so the words of a shell script that is one simple command: no
// variable, pipe, list, redirection or substitution.
std::optional<std::vector<std::string>> plain_words(std::string_view script);

// The script of `sh -c SCRIPT`, `bash -lc SCRIPT`, `cmd /c LINE` (its words joined), `powershell -Command LINE`.
std::optional<std::string> shell_script(std::span<const std::string> command);

enum class Danger : std::uint8_t {
  superuser,         // sudo, doas, pkexec, su -c, runas
  shell_script,      // a shell that is given more than one plain command
  fetched_script,    // what a download prints is run
  privileged_image,  // docker run --privileged, --cap-add, the host's namespaces
  engine_socket,     // the engine's socket is handed in
  whole_machine,     // / or the home folder is mounted
  command_line,      // the program's name is a whole command line
};
std::string_view name(Danger danger);
std::string_view phrase(Danger danger);

std::vector<Danger> dangers(std::span<const std::string> command);

// `${input:x}`, `${env:X}`, `${VAR:-y}`, `$VAR`, `%VAR%`: what a client fills in before it starts the command.
bool has_placeholder(std::string_view word);

}  // namespace cordon::clients
