// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configs of MCP clients as files: where they are, what they hold, and writing one back in its place.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "clients/client_table.hpp"
#include "clients/entry.hpp"
#include "run/files.hpp"

namespace cordon::app {

struct ConfigFile {
  std::string client = {};  // id
  std::string title = {};
  clients::Scope scope = clients::Scope::user;
  clients::FileSyntax syntax = clients::FileSyntax::json;
  std::string path = {};  // as it was found
  std::string real = {};  // the file that this leads to
  std::string text = {};
  clients::Tree tree = {};
  std::vector<clients::Entry> entries = {};
  run::FileIdentity identity = {};
  gid_t group = 0;
  std::size_t links = 1;
  std::string fault = {};  // why it was not read; empty: it was
};

// Where the table's folders are for this caller: HOME, XDG_CONFIG_HOME and ~/.config, and the current directory.
clients::Folders folders_of(const Caller& caller);

// Every config that is there, of all clients, by client, scope and path; a file that several paths lead to once for a
// client. What cannot be read is there with its fault.
std::vector<ConfigFile> find_configs(const clients::Folders& folders);

// Replaces the content of a file that find_configs gave: whole or not at all, in the file that a symlink leads to, with
// owner and mode as they were. file_unreadable when it may not be written or changed meanwhile, or has a second name,
// which would keep the old content.
Status write_config(const ConfigFile& file, std::string_view content);

// May the file be written as it is? The same checks, without writing.
Status may_write_config(const ConfigFile& file);

}  // namespace cordon::app
