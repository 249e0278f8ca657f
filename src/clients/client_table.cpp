// SPDX-License-Identifier: Apache-2.0
#include "clients/client_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"

namespace cordon::clients {
namespace {

using enum Scope;
using Tables = std::vector<MemberPath>;

constexpr FileSyntax kToml = FileSyntax::toml;
constexpr FileSyntax kNamed = FileSyntax::named;

Tables servers_under(std::string_view key) { return {{key}}; }
Tables usual() { return servers_under("mcpServers"); }

ClientFile json_file(Scope scope, std::string_view systems, std::string_view path, Tables tables = usual()) {
  return {scope, systems, path, FileSyntax::json, std::move(tables)};
}

ClientFile other_file(Scope scope, std::string_view systems, std::string_view path, FileSyntax syntax,
                      Tables tables = {}) {
  return {scope, systems, path, syntax, std::move(tables)};
}

// Visual Studio Code and what is built from it keep user data alike.
void add_code(std::vector<ClientFile>& files, std::string_view rest, const Tables& tables) {
  const auto add = [&](std::string_view systems, std::string_view path) {
    files.push_back(json_file(user, systems, path, tables));
  };
  if (rest == "mcp.json") {
    add("l", "{config}/Code/User/mcp.json");
    add("l", "{config}/Code/User/profiles/*/mcp.json");
    add("m", "{support}/Code/User/mcp.json");
    add("m", "{support}/Code/User/profiles/*/mcp.json");
    add("w", "{appdata}/Code/User/mcp.json");
    add("w", "{appdata}/Code/User/profiles/*/mcp.json");
    add("l", "{home}/.vscode-server/data/User/mcp.json");
  } else if (rest == "insiders") {
    add("l", "{config}/Code - Insiders/User/mcp.json");
    add("m", "{support}/Code - Insiders/User/mcp.json");
    add("w", "{appdata}/Code - Insiders/User/mcp.json");
    add("l", "{home}/.vscode-server-insiders/data/User/mcp.json");
  }
}

std::vector<ClientFile> code_files() {
  std::vector<ClientFile> files = {json_file(project, "lmw", "{project}/.vscode/mcp.json", servers_under("servers"))};
  add_code(files, "mcp.json", servers_under("servers"));
  // Before mcp.json there was a section of the settings.
  const Tables settings = {{"mcp", "servers"}};
  files.push_back(json_file(project, "lmw", "{project}/.vscode/settings.json", settings));
  files.push_back(json_file(user, "l", "{config}/Code/User/settings.json", settings));
  files.push_back(json_file(user, "m", "{support}/Code/User/settings.json", settings));
  files.push_back(json_file(user, "w", "{appdata}/Code/User/settings.json", settings));
  return files;
}

std::vector<ClientFile> insiders_files() {
  std::vector<ClientFile> files;
  add_code(files, "insiders", servers_under("servers"));
  return files;
}

// An extension's file, in whatever edition or fork of Visual Studio Code it is installed.
std::vector<ClientFile> extension_files(const std::array<std::string_view, 4>& paths, std::string_view in_project) {
  std::vector<ClientFile> files;
  if (!in_project.empty()) {
    files.push_back(json_file(project, "lmw", in_project));
  }
  constexpr std::array<std::string_view, 4> kSystems = {"l", "m", "w", "l"};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files.push_back(json_file(user, kSystems[i], paths[i]));
  }
  return files;
}

Client claude_desktop() {
  return {
      "claude-desktop",
      "Claude Desktop",
      {json_file(user, "l", "{config}/Claude/claude_desktop_config.json"),
       json_file(user, "m", "{support}/Claude/claude_desktop_config.json"),
       json_file(user, "w", "{appdata}/Claude/claude_desktop_config.json"),
       json_file(user, "w", "{localappdata}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json")}};
}

Client claude_code() {
  return {"claude-code",
          "Claude Code",
          {json_file(project, "lmw", "{project}/.mcp.json"),
           json_file(user, "lmw", "{home}/.claude.json", {{"mcpServers"}, {"projects", "*", "mcpServers"}}),
           json_file(managed, "l", "{root}/etc/claude-code/managed-mcp.json"),
           json_file(managed, "m", "{root}/Library/Application Support/ClaudeCode/managed-mcp.json"),
           json_file(managed, "w", "{programfiles}/ClaudeCode/managed-mcp.json")}};
}

Client codex() {
  const Tables tables = servers_under("mcp_servers");
  return {"codex",
          "Codex",
          {other_file(project, "lmw", "{project}/.codex/config.toml", kToml, tables),
           other_file(user, "lmw", "{home}/.codex/config.toml", kToml, tables),
           other_file(managed, "lm", "{root}/etc/codex/config.toml", kToml, tables),
           other_file(managed, "lm", "{root}/etc/codex/managed_config.toml", kToml, tables)}};
}

Client zed() {
  const Tables tables = servers_under("context_servers");
  return {"zed",
          "Zed",
          {json_file(project, "lmw", "{project}/.zed/settings.json", tables),
           json_file(user, "lm", "{config}/zed/settings.json", tables),
           json_file(user, "w", "{appdata}/Zed/settings.json", tables)}};
}

Client gemini() {
  return {"gemini-cli",
          "Gemini CLI",
          {json_file(project, "lmw", "{project}/.gemini/settings.json"),
           json_file(user, "lmw", "{home}/.gemini/settings.json"),
           json_file(user, "lmw", "{home}/.gemini/extensions/*/gemini-extension.json"),
           json_file(managed, "l", "{root}/etc/gemini-cli/settings.json"),
           json_file(managed, "l", "{root}/etc/gemini-cli/system-defaults.json"),
           json_file(managed, "m", "{root}/Library/Application Support/GeminiCli/settings.json"),
           json_file(managed, "m", "{root}/Library/Application Support/GeminiCli/system-defaults.json"),
           json_file(managed, "w", "{programdata}/gemini-cli/settings.json"),
           json_file(managed, "w", "{programdata}/gemini-cli/system-defaults.json")}};
}

Client continue_dev() {
  const Tables old = {{"experimental", "modelContextProtocolServers", "[]"}};
  return {"continue",
          "Continue",
          {json_file(project, "lmw", "{project}/.continue/mcpServers/*.json"),
           json_file(user, "lmw", "{home}/.continue/mcpServers/*.json"),
           json_file(user, "lmw", "{home}/.continue/config.json", old),
           other_file(project, "lmw", "{project}/.continue/mcpServers/*.yaml", kNamed),
           other_file(user, "lmw", "{home}/.continue/config.yaml", kNamed)}};
}

Client opencode() {
  const Tables tables = servers_under("mcp");
  return {"opencode",
          "opencode",
          {json_file(project, "lmw", "{project}/opencode.json", tables),
           json_file(project, "lmw", "{project}/opencode.jsonc", tables),
           json_file(user, "lmw", "{config}/opencode/opencode.json", tables),
           json_file(user, "lmw", "{config}/opencode/opencode.jsonc", tables),
           json_file(user, "lmw", "{config}/opencode/config.json", tables)}};
}

Client amazon_q() {
  return {"amazon-q",
          "Amazon Q Developer",
          {json_file(project, "lmw", "{project}/.amazonq/mcp.json"),
           json_file(project, "lmw", "{project}/.amazonq/default.json"),
           json_file(user, "lmw", "{home}/.aws/amazonq/mcp.json"),
           json_file(user, "lmw", "{home}/.aws/amazonq/default.json"),
           json_file(user, "lmw", "{home}/.aws/amazonq/cli-agents/*.json")}};
}

Client lm_studio() {
  return {"lm-studio",
          "LM Studio",
          {json_file(user, "lmw", "{home}/.lmstudio/mcp.json"),
           json_file(user, "lmw", "{home}/.cache/lm-studio/mcp.json")}};
}

Client jetbrains() {
  return {
      "jetbrains",
      "JetBrains AI Assistant and Junie",
      {json_file(project, "lmw", "{project}/.junie/mcp/mcp.json"), json_file(user, "lmw", "{home}/.junie/mcp/mcp.json"),
       json_file(user, "lmw", "{config}/github-copilot/intellij/mcp.json", servers_under("servers")),
       other_file(user, "l", "{config}/JetBrains/*/options/llm.mcpServers.xml", kNamed),
       other_file(user, "m", "{support}/JetBrains/*/options/llm.mcpServers.xml", kNamed),
       other_file(user, "w", "{appdata}/JetBrains/*/options/llm.mcpServers.xml", kNamed)}};
}

// The extensions of Visual Studio Code.
void add_extensions(std::vector<Client>& out) {
  out.push_back(
      {"cline", "Cline",
       extension_files({"{config}/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        "{support}/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        "{appdata}/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        "{home}/.cline/data/settings/cline_mcp_settings.json"},
                       {})});
  out.push_back(
      {"roo", "Roo Code",
       extension_files({"{config}/*/User/globalStorage/rooveterinaryinc.roo-cline/settings/*mcp_settings.json",
                        "{support}/*/User/globalStorage/rooveterinaryinc.roo-cline/settings/*mcp_settings.json",
                        "{appdata}/*/User/globalStorage/rooveterinaryinc.roo-cline/settings/*mcp_settings.json",
                        "{home}/.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/settings/"
                        "*mcp_settings.json"},
                       "{project}/.roo/mcp.json")});
  out.push_back(
      {"kilo", "Kilo Code",
       extension_files({"{config}/*/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json",
                        "{support}/*/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json",
                        "{appdata}/*/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json",
                        "{home}/.vscode-server/data/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"},
                       "{project}/.kilocode/mcp.json")});
}

// Clients with one file for the user, and perhaps one for the project.
void add_plain(std::vector<Client>& out) {
  const auto add = [&](std::string_view id, std::string_view title, std::string_view in_home,
                       std::string_view in_project = {}) {
    Client client{id, title, {}};
    if (!in_project.empty()) {
      client.files.push_back(json_file(project, "lmw", in_project));
    }
    client.files.push_back(json_file(user, "lmw", in_home));
    out.push_back(std::move(client));
  };
  add("cursor", "Cursor", "{home}/.cursor/mcp.json", "{project}/.cursor/mcp.json");
  add("copilot-cli", "GitHub Copilot CLI", "{home}/.copilot/mcp-config.json");
  add("kiro", "Kiro", "{home}/.kiro/settings/mcp.json", "{project}/.kiro/settings/mcp.json");
  add("qwen-code", "Qwen Code", "{home}/.qwen/settings.json", "{project}/.qwen/settings.json");
  add("factory", "Factory Droid", "{home}/.factory/mcp.json", "{project}/.factory/mcp.json");
  add("augment", "Augment", "{home}/.augment/settings.json");
  add("antigravity", "Antigravity", "{home}/.gemini/antigravity/mcp_config.json");
  add("boltai", "BoltAI", "{home}/.boltai/mcp.json");
  add("inspector", "MCP Inspector", "{home}/.mcp-inspector/mcp.json", "{project}/mcp.json");
}

void add_others(std::vector<Client>& out) {
  out.push_back({"windsurf",
                 "Windsurf",
                 {json_file(user, "lmw", "{home}/.codeium/windsurf/mcp_config.json"),
                  json_file(user, "lmw", "{home}/.codeium/mcp_config.json")}});
  out.push_back({"crush",
                 "Crush",
                 {json_file(project, "lmw", "{project}/.crush.json", servers_under("mcp")),
                  json_file(project, "lmw", "{project}/crush.json", servers_under("mcp")),
                  json_file(user, "lm", "{config}/crush/crush.json", servers_under("mcp")),
                  json_file(user, "w", "{localappdata}/crush/crush.json", servers_under("mcp"))}});
  out.push_back({"amp",
                 "Amp",
                 {json_file(project, "lmw", "{project}/.amp/settings.json", servers_under("amp.mcpServers")),
                  json_file(user, "lmw", "{config}/amp/settings.json", servers_under("amp.mcpServers"))}});
  out.push_back({"visual-studio",
                 "Visual Studio",
                 {json_file(user, "w", "{home}/.mcp.json", servers_under("servers")),
                  json_file(project, "w", "{project}/.vs/mcp.json", servers_under("servers"))}});
  out.push_back({"goose",
                 "Goose",
                 {other_file(user, "lm", "{config}/goose/config.yaml", kNamed),
                  other_file(user, "w", "{appdata}/Block/goose/config/config.yaml", kNamed)}});
}

char letter(System system) {
  switch (system) {
    case System::linux_like:
      return 'l';
    case System::macos:
      return 'm';
    case System::windows:
      return 'w';
  }
  return 'l';
}

std::vector<std::string> folder(std::string_view name, const Folders& where) {
  const auto below_home = [&](std::string_view rest) {
    return where.home.empty() ? std::vector<std::string>{} : std::vector{text::cat(where.home, rest)};
  };
  if (name == "home") {
    return below_home("");
  }
  if (name == "config") {
    return where.config;
  }
  if (name == "support") {
    return below_home("/Library/Application Support");
  }
  if (name == "appdata") {
    return below_home("/AppData/Roaming");
  }
  if (name == "localappdata") {
    return below_home("/AppData/Local");
  }
  if (name == "project") {
    return where.project.empty() ? std::vector<std::string>{} : std::vector{where.project};
  }
  if (name == "programdata") {
    return {where.root + "/ProgramData"};
  }
  if (name == "programfiles") {
    return {where.root + "/Program Files"};
  }
  CORDON_ASSERT(name == "root");
  return {where.root};
}

}  // namespace

std::string_view name(Scope scope) {
  switch (scope) {
    case project:
      return "project";
    case user:
      return "user";
    case managed:
      return "managed";
  }
  return "";
}

std::vector<Client> client_table() {
  std::vector<Client> out = {claude_desktop(),
                             claude_code(),
                             {"vscode", "Visual Studio Code", code_files()},
                             {"vscode-insiders", "Visual Studio Code Insiders", insiders_files()},
                             codex(),
                             zed(),
                             gemini(),
                             continue_dev(),
                             opencode(),
                             amazon_q(),
                             lm_studio(),
                             jetbrains()};
  add_plain(out);
  add_extensions(out);
  add_others(out);
  std::ranges::sort(out, {}, &Client::id);
  return out;
}

std::vector<std::string> path_patterns(const ClientFile& file, const Folders& folders) {
  if (file.systems.find(letter(folders.system)) == std::string_view::npos) {
    return {};
  }
  const std::size_t close = file.path.find('}');
  CORDON_ASSERT(file.path.starts_with('{') && close != std::string_view::npos);
  std::vector<std::string> out;
  for (const std::string& where : folder(file.path.substr(1, close - 1), folders)) {
    out.push_back(where + std::string(file.path.substr(close + 1)));
  }
  return out;
}

bool matches(std::string_view component, std::string_view name) {
  const std::size_t star = component.find('*');
  if (star == std::string_view::npos) {
    return component == name;
  }
  const std::string_view front = component.substr(0, star);
  const std::string_view back = component.substr(star + 1);
  return name.size() >= front.size() + back.size() && name.starts_with(front) && name.ends_with(back);
}

}  // namespace cordon::clients
