// SPDX-License-Identifier: Apache-2.0
#pragma once
// The servers that a config names, whatever the client's spelling of an entry.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "clients/tree.hpp"

namespace cordon::clients {

// Keys from the root to the table of servers. "*" stands for every key. The last may be "[]": the servers are the
// elements of an array, and the member `name` of each is its name.
using MemberPath = std::vector<std::string_view>;

struct Variable {
  std::string name = {};
  std::string value = {};
};

// An entry that starts mcp-cordon.
struct Wrapping {
  std::string program = {};                   // as written
  std::string policy = {};                    // NAME, or FILE of --policy
  bool by_file = false;                       // --policy FILE
  std::optional<std::size_t> separator = {};  // index of "--" in the command
  bool operator==(const Wrapping&) const = default;
};

enum class Transport : std::uint8_t { stdio, remote, unknown };

struct Entry {
  std::string name = {};
  std::vector<std::string> path = {};  // keys (and indices of arrays) from the root to the entry
  std::vector<std::string> base =
      {};                  // from the entry to the object that holds the command: {}, {"command"}, {"transport"}
  std::size_t offset = 0;  // where it stands
  Transport transport = Transport::unknown;
  std::vector<std::string> command = {};  // program and arguments
  std::string url = {};
  std::vector<Variable> environment = {};           // that the config sets
  std::vector<std::string> environment_names = {};  // that the client passes on, without values
  std::string environment_file = {};
  std::vector<Variable> headers = {};  // of a remote server
  std::string cwd = {};
  std::optional<Wrapping> wrapping = {};
  std::string fault = {};  // why it cannot be edited; empty: it can
};

// What a command that starts mcp-cordon says; nothing for any other command. Only the name of the program is looked at.
std::optional<Wrapping> wrapping_of(std::span<const std::string> command);

// The command behind "mcp-cordon run NAME --", or the command itself; empty when only the policy knows it.
std::vector<std::string> real_command(const Entry& entry);

// Variables that the config sets and that choose what mcp-cordon itself loads and reads: libraries, policies, records.
// Whoever wrote the entry would stand above every policy.
std::vector<std::string> steering_variables(const Entry& entry);

std::vector<Entry> find_entries(const Tree& tree, std::span<const MemberPath> tables);

// The node of entry.path, and of entry.path + entry.base; nullptr when it is gone or not unique.
const Node* node_at(const Tree& tree, std::span<const std::string> path);
const Node* command_object(const Tree& tree, const Entry& entry);

// The key that holds the program in the object of the command: "command" or "path".
std::string_view command_key(const Entry& entry);

}  // namespace cordon::clients
