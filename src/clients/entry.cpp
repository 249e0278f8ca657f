// SPDX-License-Identifier: Apache-2.0
#include "clients/entry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/text.hpp"
#include "clients/command_shape.hpp"

namespace cordon::clients {
namespace {

std::string text_of(const Node& object, std::string_view key) {
  const Member* member = find(object, key);
  return member != nullptr && member->node.kind == NodeKind::string ? member->node.value : std::string();
}

// Anything said twice is read differently by different readers.
void refuse_doubles(const Node& object, Entry& entry) {
  const std::set<std::string_view> doubled = doubled_keys(object);
  if (!doubled.empty()) {
    entry.fault = text::cat("'", text::printable(*doubled.begin(), 100), "' stands there twice");
  }
}

void read_strings(const Node& array, std::string_view what, std::vector<std::string>& out, Entry& entry) {
  for (const Node& element : array.elements) {
    if (element.kind == NodeKind::string) {
      out.push_back(element.value);
    } else {
      // A number among the arguments is what some clients make a word of, and others refuse.
      out.push_back(element.kind == NodeKind::scalar ? element.value : std::string());
      entry.fault = text::cat(what, " holds something that is no string");
    }
  }
}

void read_variables(const Node& object, std::string_view key, std::vector<Variable>& out) {
  const Member* member = find(object, key);
  if (member == nullptr || member->node.kind != NodeKind::object) {
    return;
  }
  for (const Member& variable : member->node.members) {
    if (variable.node.kind == NodeKind::string || variable.node.kind == NodeKind::scalar) {
      out.push_back({variable.key, variable.node.value});
    }
  }
}

// Codex: env_vars = ["NAME", {name = "NAME", source = "…"}].
void read_names(const Node& object, std::vector<std::string>& out) {
  const Member* member = find(object, "env_vars");
  if (member == nullptr) {
    return;
  }
  for (const Node& element : member->node.elements) {
    out.push_back(element.kind == NodeKind::string ? element.value : text_of(element, "name"));
  }
  std::erase(out, std::string());
}

void read_environment(const Node& object, Entry& entry) {
  read_variables(object, "env", entry.environment);
  read_variables(object, "environment", entry.environment);
  read_names(object, entry.environment_names);
  if (entry.environment_file.empty()) {
    entry.environment_file = text_of(object, "envFile");
  }
}

void read_command(const Node& object, Entry& entry) {
  const std::string_view key = command_key(entry);
  const Member* command = find(object, key);
  if (command == nullptr) {
    entry.fault = text::cat("'", key, "' stands there twice");
    return;
  }
  entry.transport = Transport::stdio;
  if (command->node.kind == NodeKind::array) {  // opencode: the whole command
    read_strings(command->node, "the command", entry.command, entry);
    if (entry.command.empty()) {
      entry.fault = "the command is empty";
    }
    if (find(object, "args") != nullptr) {
      entry.fault = "has args beside a command that is a list";
    }
    return;
  }
  if (command->node.kind != NodeKind::string) {
    entry.fault = text::cat("'", key, "' is no string");
    return;
  }
  entry.command.push_back(command->node.value);
  if (command->node.value.empty()) {
    entry.fault = text::cat("'", key, "' is empty");
  }
  if (count(object, "args") == 0) {
    return;
  }
  const Member* args = find(object, "args");
  if (args == nullptr || args->node.kind != NodeKind::array) {
    entry.fault = args == nullptr ? "'args' stands there twice" : "'args' is no list";
    return;
  }
  read_strings(args->node, "args", entry.command, entry);
}

// Which of two commands is started depends on the client.
void refuse_two_places(const Node& node, Entry& entry) {
  if (entry.base.empty()) {
    return;
  }
  const std::string_view base = entry.base.front();
  for (const std::string_view key : {"command", "args", "path"}) {
    if (key != base && count(node, key) > 0) {
      entry.fault = text::cat("has '", key, "' beside '", base, "', which holds the command");
    }
  }
  const Member* transport = find(node, "transport");
  if (base == "command" && transport != nullptr && transport->node.kind == NodeKind::object) {
    entry.fault = "has its command in two places";
  }
}

bool is_remote_type(std::string_view type) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"http", "sse", "remote", "streamable-http", "streamableHttp", "ws"});
  return std::ranges::find(kTypes, type) != kTypes.end();
}

Entry read_entry(std::string name, const Node& node, std::vector<std::string> path, std::size_t offset) {
  Entry entry;
  entry.name = std::move(name);
  entry.path = std::move(path);
  entry.offset = offset;
  if (node.kind != NodeKind::object) {
    entry.fault = "is no table of settings";
    return entry;
  }
  refuse_doubles(node, entry);
  for (const std::string_view key : {"url", "httpUrl", "serverUrl", "uri"}) {
    if (const std::string url = text_of(node, key); !url.empty() && entry.url.empty()) {
      entry.url = url;
    }
  }
  read_variables(node, "headers", entry.headers);
  read_variables(node, "http_headers", entry.headers);
  entry.cwd = text_of(node, "cwd");
  read_environment(node, entry);
  const Node* object = &node;
  for (const std::string_view key : {"transport", "command"}) {
    const Member* member = find(node, key);
    if (member != nullptr && member->node.kind == NodeKind::object) {
      entry.base = {std::string(key)};
      object = &member->node;
      refuse_doubles(*object, entry);
      read_environment(*object, entry);
    }
  }
  refuse_two_places(node, entry);
  if (count(*object, command_key(entry)) > 0) {
    read_command(*object, entry);
    if (!entry.url.empty()) {
      entry.fault = "has a command and an address";
    }
    entry.wrapping = wrapping_of(entry.command);
  } else if (!entry.url.empty() || is_remote_type(text_of(node, "type"))) {
    entry.transport = Transport::remote;
  }
  return entry;
}

void collect(const Node& table, bool list, std::vector<std::string> path, std::vector<Entry>& out) {
  if (list) {
    for (std::size_t i = 0; i < table.elements.size(); ++i) {
      std::vector<std::string> element = path;
      element.push_back(std::to_string(i));
      std::string name = text_of(table.elements[i], "name");
      name = name.empty() ? element.back() : name;
      const std::size_t offset = table.elements[i].span.begin;
      out.push_back(read_entry(std::move(name), table.elements[i], std::move(element), offset));
    }
    return;
  }
  const std::set<std::string_view> doubled = doubled_keys(table);
  for (const Member& member : table.members) {
    path.push_back(member.key);
    Entry entry = read_entry(member.key, member.node, path, member.key_span.begin);
    if (doubled.contains(member.key)) {
      entry.fault = "several servers have this name";
    }
    out.push_back(std::move(entry));
    path.pop_back();
  }
}

void walk(const Node& node, std::span<const std::string_view> table, std::vector<std::string> path, bool doubled,
          std::vector<Entry>& out) {
  if (table.empty() || table.front() == "[]") {
    const std::size_t before = out.size();
    collect(node, !table.empty(), std::move(path), out);
    for (std::size_t i = before; doubled && i < out.size(); ++i) {
      out[i].fault = "the table that it stands in is there twice";
    }
    return;
  }
  const std::set<std::string_view> here = doubled_keys(node);
  for (const Member& member : node.members) {
    if (table.front() == "*" || member.key == table.front()) {
      path.push_back(member.key);
      walk(member.node, table.subspan(1), path, doubled || here.contains(member.key), out);
      path.pop_back();
    }
  }
}

}  // namespace

std::string_view command_key(const Entry& entry) {
  return !entry.base.empty() && entry.base.front() == "command" ? "path" : "command";
}

std::optional<Wrapping> wrapping_of(std::span<const std::string> command) {
  if (command.size() < 3 || program_name(command.front()) != "mcp-cordon" || command[1] != "run") {
    return std::nullopt;
  }
  Wrapping out;
  out.program = command.front();
  for (std::size_t i = 2; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "--") {
      out.separator = i;
      break;
    }
    constexpr std::string_view kPolicy = "--policy=";
    if (word == "--policy" || word == "--ceiling" || word == "--expect-facts") {
      if (i + 1 < command.size() && word == "--policy") {
        out.policy = command[i + 1];
        out.by_file = true;
      }
      ++i;
    } else if (word.starts_with(kPolicy)) {
      out.policy = word.substr(kPolicy.size());
      out.by_file = true;
    } else if (!word.starts_with('-') && out.policy.empty()) {
      out.policy = word;
    }
  }
  return out;
}

std::vector<std::string> real_command(const Entry& entry) {
  if (!entry.wrapping) {
    return entry.command;
  }
  if (!entry.wrapping->separator) {
    return {};
  }
  return {entry.command.begin() + static_cast<std::ptrdiff_t>(*entry.wrapping->separator) + 1, entry.command.end()};
}

std::vector<Entry> find_entries(const Tree& tree, std::span<const MemberPath> tables) {
  std::vector<Entry> out;
  for (const MemberPath& table : tables) {
    walk(tree.root, table, {}, false, out);
  }
  return out;
}

std::vector<std::string> steering_variables(const Entry& entry) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOME", "LOCPATH", "NLSPATH",
                                       "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"});
  std::vector<std::string> out;
  for (const Variable& variable : entry.environment) {
    const std::string& name = variable.name;
    const bool finds_us = name == "PATH" && entry.wrapping && !entry.wrapping->program.starts_with('/');
    if (finds_us || name.starts_with("LD_") || name.starts_with("MCP_CORDON_") ||
        std::ranges::find(kNames, name) != kNames.end()) {
      out.push_back(name);
    }
  }
  return out;
}

const Node* node_at(const Tree& tree, std::span<const std::string> path) {
  const Node* node = &tree.root;
  for (const std::string& key : path) {
    if (node->kind == NodeKind::array) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc() || end != key.data() + key.size() || index >= node->elements.size()) {
        return nullptr;
      }
      node = &node->elements[index];
      continue;
    }
    const Member* member = find(*node, key);
    if (member == nullptr) {
      return nullptr;
    }
    node = &member->node;
  }
  return node;
}

const Node* command_object(const Tree& tree, const Entry& entry) {
  std::vector<std::string> path = entry.path;
  path.insert(path.end(), entry.base.begin(), entry.base.end());
  return node_at(tree, path);
}

}  // namespace cordon::clients
