// SPDX-License-Identifier: Apache-2.0
#pragma once
// clients: what is known of MCP clients and the commands in their configs; texts in, texts out. Must not: open files,
// know policies, loosen the strict reader of core/json. Start reading here, then entry.hpp, then edit.hpp.
//
// The table of clients: where each keeps its configs on which system, in which syntax, and under which keys.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/entry.hpp"
#include "clients/tree.hpp"

namespace cordon::clients {

enum class System : std::uint8_t { linux_like, macos, windows };

// Whose a file is, in the order of what people edit.
enum class Scope : std::uint8_t { project, user, managed };
std::string_view name(Scope scope);

enum class FileSyntax : std::uint8_t {
  json,  // with comments and trailing commas
  toml,
  named,  // found and named, not read: YAML, XML and what an app keeps elsewhere
};

struct ClientFile {
  Scope scope = Scope::user;
  std::string_view systems = "lmw";  // l linux, m macos, w windows
  // Begins with one of {home} {config} {support} {appdata} {localappdata} {project} {root} {programdata}
  // {programfiles}; a component may hold "*".
  std::string_view path = {};
  FileSyntax syntax = FileSyntax::json;
  std::vector<MemberPath> tables = {};
};

struct Client {
  std::string_view id = {};  // of --client
  std::string_view title = {};
  std::vector<ClientFile> files = {};
};

std::vector<Client> client_table();

// Where the folders of the table lie. Empty ones are not looked into.
struct Folders {
  System system = System::linux_like;
  std::string home = {};
  std::vector<std::string> config = {};  // XDG_CONFIG_HOME, ~/.config
  std::string project = {};              // the current directory
  std::string root = {};                 // put before absolute paths; for tests
};

// The paths, with their "*", that a file of the table may have.
std::vector<std::string> path_patterns(const ClientFile& file, const Folders& folders);

// Does the name of a file or folder match a component with "*"?
bool matches(std::string_view component, std::string_view name);

}  // namespace cordon::clients
