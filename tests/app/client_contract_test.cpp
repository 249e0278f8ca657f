// SPDX-License-Identifier: Apache-2.0
// The contract that every client's configs are held to, in all shapes: wrap, wrap again, edit, unwrap. The samples are
// in tests/data/clients, one folder for each client of the table.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "app/config_files.hpp"
#include "app/wrap.hpp"
#include "clients/client_table.hpp"
#include "temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Sample {
  std::string name = {};
  std::string text = {};
};

std::vector<Sample> samples_of(std::string_view client) {
  std::vector<Sample> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(CORDON_CLIENT_SAMPLES) + "/" + std::string(client))) {
    out.push_back({entry.path().filename().string(), content_of(entry.path().string())});
  }
  std::ranges::sort(out, {}, &Sample::name);
  return out;
}

// A machine of one's own, as one of the three systems lays it out.
struct Machine {
  TempFolder folder = {};
  Caller caller = folder.caller();
  clients::Folders folders = {};

  explicit Machine(clients::System system) {
    folders.system = system;
    folders.home = caller.home;
    folders.config = {caller.config_home};
    folders.project = folder.folder("project");
    folders.root = folder.folder("root");
  }
  std::vector<ConfigFile> configs(std::string_view client) const {
    std::vector<ConfigFile> out = find_configs(folders);
    std::erase_if(out, [&](const ConfigFile& file) { return file.client != client; });
    return out;
  }
};

// Where the file of the table is on that machine, with a name for each "*".
std::vector<std::string> places(const clients::ClientFile& file, const Machine& machine) {
  std::vector<std::string> out = clients::path_patterns(file, machine.folders);
  for (std::string& path : out) {
    for (std::size_t star = path.find('*'); star != std::string::npos; star = path.find('*')) {
      path.replace(star, 1, "any");
    }
  }
  return out;
}

void put(const std::string& path, const std::string& text, mode_t mode = 0640) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), mode);
}

std::size_t local_servers(const std::vector<ConfigFile>& files) {
  std::size_t out = 0;
  for (const ConfigFile& file : files) {
    out += static_cast<std::size_t>(
        std::ranges::count(file.entries, clients::Transport::stdio, &clients::Entry::transport));
  }
  return out;
}

std::vector<std::size_t> all_of(const WrapPlan& plan) {
  std::vector<std::size_t> out(plan.steps.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = i;
  }
  return out;
}

void carry(const Machine& machine, const WrapPlan& plan, Direction direction) {
  const WrapOutcome outcome = carry_out(machine.caller, plan, all_of(plan), direction);
  for (const Error& error : outcome.errors) {
    FAIL_CHECK(error.to_string());
  }
}

// Something unrelated, as a user or an app would add it.
std::string edited(clients::FileSyntax syntax, const std::string& text) {
  if (syntax == clients::FileSyntax::toml) {
    const std::size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    return text.substr(0, mark) + "# new at the top\n" + text.substr(mark) + "\n[added_later]\nkey = 1\n";
  }
  const std::size_t brace =
      text.find("\n{") != std::string::npos && !text.starts_with("{") ? text.find("\n{") + 1 : text.find('{');
  return text.substr(0, brace + 1) + "\n  \"addedLater\": {\"mcpServers\": [1, \"}\"]}, // new\n" +
         text.substr(brace + 1);
}

void check_wrapped(const std::vector<ConfigFile>& before, const std::vector<ConfigFile>& after) {
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].fault.empty());
    REQUIRE(before[i].entries.size() == after[i].entries.size());
    for (std::size_t k = 0; k < before[i].entries.size(); ++k) {
      const clients::Entry& was = before[i].entries[k];
      const clients::Entry& is = after[i].entries[k];
      CHECK(is.wrapping.has_value() == (was.transport == clients::Transport::stdio));
      CHECK(clients::real_command(is) == was.command);
      CHECK(is.url == was.url);
      CHECK(is.cwd == was.cwd);
      CHECK(is.environment_file == was.environment_file);
      CHECK(is.environment_names == was.environment_names);
      REQUIRE(is.environment.size() == was.environment.size());
      for (std::size_t v = 0; v < is.environment.size(); ++v) {
        CHECK(is.environment[v].value == was.environment[v].value);
      }
    }
  }
}

// Wrap, wrap again, edit, unwrap; then without edit; then with what was recorded lost.
void contract(const Machine& machine, std::string_view client, const std::string& path, const std::string& text) {
  CAPTURE(path);
  const auto before = machine.configs(client);
  REQUIRE(before.size() == 1);
  const std::size_t servers = local_servers(before);
  REQUIRE(servers > 0);
  const auto wrap = [&] {
    const WrapPlan plan = plan_wrap(machine.caller, machine.configs(client), {});
    CHECK(plan.steps.size() == servers);
    CHECK(std::ranges::none_of(plan.untouched, &Untouched::failed));
    carry(machine, plan, Direction::wrap);
  };
  const auto unwrap = [&] {
    const WrapPlan plan = plan_unwrap(machine.caller, machine.configs(client), {});
    CHECK(plan.steps.size() == servers);
    carry(machine, plan, Direction::unwrap);
  };
  wrap();
  check_wrapped(before, machine.configs(client));
  const std::string wrapped = content_of(path);
  CHECK(wrapped != text);
  CHECK(plan_wrap(machine.caller, machine.configs(client), {}).steps.empty());
  CHECK(content_of(path) == wrapped);

  put(before[0].real, edited(before[0].syntax, wrapped));
  unwrap();
  CHECK(content_of(path) == edited(before[0].syntax, text));

  put(before[0].real, text);
  wrap();
  CHECK(content_of(path) == wrapped);  // the policies are there by now, and are the same
  unwrap();
  CHECK(content_of(path) == text);
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0640);

  wrap();
  std::filesystem::remove_all(machine.caller.state_folder());
  unwrap();
  const auto after = machine.configs(client);
  for (std::size_t k = 0; k < before[0].entries.size(); ++k) {
    CHECK(after[0].entries[k].command == before[0].entries[k].command);
  }
}

bool fits(const clients::ClientFile& file, const Sample& sample) {
  if (file.syntax == clients::FileSyntax::named) {
    return false;
  }
  const bool toml = sample.name.ends_with(".toml");
  if (toml != (file.syntax == clients::FileSyntax::toml) || (!toml && !sample.name.ends_with(".json"))) {
    return false;
  }
  const auto tree = clients::read_tree(toml ? clients::Syntax::toml : clients::Syntax::json, sample.text, sample.name);
  REQUIRE_MESSAGE(tree.has_value(), sample.name);
  return !clients::find_entries(*tree, file.tables).empty();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The same sample as other people's editors would have left it.
std::vector<std::string> variants(const std::string& text) {
  const std::string plain = replaced(text, "\r\n", "\n");
  std::string bare = plain;
  while (bare.ends_with('\n')) {
    bare.pop_back();
  }
  return {plain,         replaced(plain, "\n", "\r\n"), "\xEF\xBB\xBF" + plain, replaced(plain, "\n  ", "\n\t"), bare,
          plain + "\n\n"};
}

}  // namespace

TEST_CASE("every client has samples, and every config of it that is edited keeps the contract on every system") {
  for (const clients::Client& client : clients::client_table()) {
    const std::vector<Sample> samples = samples_of(client.id);
    REQUIRE_FALSE(samples.empty());
    for (const clients::ClientFile& file : client.files) {
      bool tried = file.syntax == clients::FileSyntax::named;
      for (const clients::System system :
           {clients::System::linux_like, clients::System::macos, clients::System::windows}) {
        for (const Sample& sample : samples) {
          const Machine machine(system);
          const std::vector<std::string> paths = places(file, machine);
          if (paths.empty() || !fits(file, sample)) {
            continue;
          }
          CAPTURE(sample.name);
          put(paths.front(), sample.text);
          contract(machine, client.id, paths.front(), sample.text);
          tried = true;
        }
        if (tried) {
          break;  // the path is the same text on the other systems
        }
      }
      CAPTURE(client.id);
      CAPTURE(file.path);
      CHECK(tried);
    }
  }
}

TEST_CASE("line ends, marks, tabs and missing line ends stay as they are") {
  for (const clients::Client& client : clients::client_table()) {
    // One of each shape.
    constexpr std::array<std::string_view, 7> kShapes = {"claude-code", "claude-desktop", "codex", "continue",
                                                         "opencode",    "vscode",         "zed"};
    if (std::ranges::find(kShapes, client.id) == kShapes.end()) {
      continue;
    }
    for (const Sample& sample : samples_of(client.id)) {
      const auto file = std::ranges::find_if(client.files, [&](const clients::ClientFile& row) {
        return row.systems.find('l') != std::string_view::npos && fits(row, sample);
      });
      if (file == client.files.end()) {
        continue;
      }
      for (const std::string& text : variants(sample.text)) {
        const Machine machine(clients::System::linux_like);
        const std::string path = places(*file, machine).front();
        CAPTURE(client.id);
        put(path, text);
        contract(machine, client.id, path, text);
      }
    }
  }
}

TEST_CASE("a config that is a symlink is edited where it leads, and stays a symlink") {
  const Machine machine(clients::System::linux_like);
  const std::string text = samples_of("cursor").front().text;
  const std::string real = machine.folder.at("dotfiles/cursor.json");
  put(real, text);
  const std::string link = machine.caller.home + "/.cursor/mcp.json";
  std::filesystem::create_directories(machine.caller.home + "/.cursor");
  std::filesystem::create_symlink("../../dotfiles/cursor.json", link);
  contract(machine, "cursor", link, text);
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("what may not be written is left alone, and said") {
  const Machine machine(clients::System::linux_like);
  const std::string text = samples_of("cursor").front().text;
  const std::string path = machine.caller.home + "/.cursor/mcp.json";
  const auto refused = [&](std::string_view why) {
    const WrapPlan plan = plan_wrap(machine.caller, machine.configs("cursor"), {});
    CHECK(plan.steps.empty());
    REQUIRE_FALSE(plan.untouched.empty());
    CHECK(std::ranges::any_of(
        plan.untouched, [&](const Untouched& one) { return one.failed && one.why.find(why) != std::string::npos; }));
    CHECK(content_of(path) == text);
  };
  put(path, text, 0440);
  refused("is read-only");
  put(path, text);
  std::filesystem::create_hard_link(path, machine.folder.at("second"));
  refused("second name");
}

TEST_CASE("empty, broken and doubled configs are left alone") {
  for (const char* text : {"", "\n", "{}", "// later\n", "{\"mcpServers\": {}}", "{\"mcpServers\": null}",
                           "{\"mcpServers\": {\"a\": {\"command\": ", "{'mcpServers': {}}", "\xFF",
                           "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"a\":{\"command\":\"y\"}}}",
                           "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"mcpServers\":{}}"}) {
    CAPTURE(text);
    const Machine machine(clients::System::linux_like);
    const std::string path = machine.caller.home + "/.cursor/mcp.json";
    put(path, text);
    CHECK(plan_wrap(machine.caller, machine.configs("cursor"), {}).steps.empty());
    CHECK(content_of(path) == text);
  }
}

TEST_CASE("a huge config is edited in place") {
  const Machine machine(clients::System::linux_like);
  std::string history;
  for (int i = 0; i < 60'000; ++i) {
    history += "{\"display\": \"a line { of [ history // with \\\"quotes\\\"\", \"n\": " + std::to_string(i) + "},\n";
  }
  const std::string text = "{\n\"history\": [" + history +
                           "{}],\n\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"y\"]}},\n\"more\": [" +
                           history + "{}]}";
  const std::string path = machine.caller.home + "/.claude.json";
  put(path, text);
  REQUIRE(text.size() > 5'000'000);
  contract(machine, "claude-code", path, text);
}

TEST_CASE("a file that changed since it was read is not overwritten") {
  const Machine machine(clients::System::linux_like);
  const std::string path = machine.caller.home + "/.cursor/mcp.json";
  put(path, samples_of("cursor").front().text);
  const WrapPlan plan = plan_wrap(machine.caller, machine.configs("cursor"), {});
  REQUIRE_FALSE(plan.steps.empty());
  put(path, "{\"mcpServers\": {}} ");
  const WrapOutcome outcome = carry_out(machine.caller, plan, all_of(plan), Direction::wrap);
  REQUIRE(outcome.errors.size() == 1);
  CHECK(outcome.errors.front().detail.find("meanwhile") != std::string::npos);
  CHECK(content_of(path) == "{\"mcpServers\": {}} ");
  CHECK(std::ranges::none_of(
      std::filesystem::directory_iterator(machine.caller.home + "/.cursor"),
      [](const auto& entry) { return entry.path().filename().string().find("mcp-cordon") != std::string::npos; }));
}
