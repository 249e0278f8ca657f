// SPDX-License-Identifier: Apache-2.0
// Interpreters under a home folder, in the layouts of the version managers: what is started, and what is shown for it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/view.hpp"

using namespace cordon;
using namespace cordon::sandbox;
namespace fs = std::filesystem;

namespace {

struct Home {
  fs::path path;
  Home() {
    std::string pattern = fs::temp_directory_path() / "cordon-home-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = fs::canonical(pattern) / "user";
    fs::create_directory(path);
  }
  ~Home() { fs::remove_all(path.parent_path()); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  std::string file(const std::string& name, const std::string& content, bool program = false) const {
    const fs::path at = path / name;
    fs::create_directories(at.parent_path());
    std::ofstream(at) << content;
    fs::permissions(at, program ? fs::perms(0755) : fs::perms(0644));
    return at;
  }
  std::string program(const std::string& name, const std::string& content =
                                                   "\x7f"
                                                   "ELF") const {
    return file(name, content, true);
  }
  std::string link(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    fs::create_symlink(text, path / name);
    return path / name;
  }
  std::string operator/(const std::string& name) const { return path / name; }
};

std::string found(const Result<std::string>& result) {
  return result ? *result : text::cat("refused: ", result.error().detail);
}

constexpr const char* kRefused = "refused: a shim, which chooses a program at every start";

// What is shown for a command that the caller's shell would start so.
std::vector<ViewEntry> shown(const Home& home, std::vector<std::string> argv, const std::string& server_path,
                             const std::string& preset) {
  LaunchSpec spec;
  spec.argv = std::move(argv);
  spec.executable = real_path(spec.argv.front());
  spec.environment = {text::cat("PATH=", server_path)};
  spec.runtime = {preset};
  HostFacts facts;
  facts.home = home.path;
  facts.program = probe_program(spec, facts.home);
  const auto view = program_view(spec, facts);
  REQUIRE(view.has_value());
  return *view;
}

bool binds(const std::vector<ViewEntry>& view, const std::string& path) {
  return std::ranges::any_of(
      view, [&](const ViewEntry& entry) { return entry.kind == EntryKind::bind && entry.target == path; });
}

bool links(const std::vector<ViewEntry>& view, const std::string& path, const std::string& to) {
  return std::ranges::any_of(view, [&](const ViewEntry& entry) {
    return entry.kind == EntryKind::symlink && entry.target == path && entry.text == to;
  });
}

}  // namespace

TEST_CASE("nvm: the program itself is in PATH, and its version is what is shown") {
  const Home home;
  const std::string node = home.program(".nvm/versions/node/v22.1.0/bin/node");
  home.file(".nvm/versions/node/v22.1.0/lib/node_modules/npm/package.json", "{}");
  home.file(".nvm/versions/node/v20.0.0/lib/node_modules/npm/package.json", "{}");
  CHECK(found(resolve_executable("node", home / ".nvm/versions/node/v22.1.0/bin", "/")) == node);
  const auto view = shown(home, {node}, "/usr/bin", "node");
  CHECK(binds(view, home / ".nvm/versions/node/v22.1.0"));
  CHECK(view.size() == 1);
}

TEST_CASE("nvm: a server that was installed into it runs by the node beside it") {
  const Home home;
  home.program(".nvm/versions/node/v22.1.0/bin/node");
  home.program(".nvm/versions/node/v22.1.0/lib/node_modules/server/cli.js", "#!/usr/bin/env node\n");
  const std::string server = home.link(".nvm/versions/node/v22.1.0/bin/server", "../lib/node_modules/server/cli.js");
  const auto view = shown(home, {server}, home / ".nvm/versions/node/v22.1.0/bin", "node");
  CHECK(binds(view, home / ".nvm/versions/node/v22.1.0"));
}

TEST_CASE("fnm: through the link of a shell to the installation") {
  const Home home;
  const std::string base = ".local/share/fnm/node-versions/v22.1.0/installation";
  const std::string node = home.program(base + "/bin/node");
  home.file(base + "/include/node/node.h", "");
  home.link("run/fnm_multishells/1_2", home / base);
  CHECK(found(resolve_executable("node", home / "run/fnm_multishells/1_2/bin", "/")) == node);
  const auto view = shown(home, {home / "run/fnm_multishells/1_2/bin/node"}, "/usr/bin", "node");
  CHECK(binds(view, home / base));
  CHECK(links(view, home / "run/fnm_multishells/1_2", home / base));
}

TEST_CASE("pyenv: the version that its file names, else the only one") {
  const Home home;
  home.program(".pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec\n");
  const std::string old_one = home.program(".pyenv/versions/3.11.2/bin/python3");
  const auto resolve = [&] { return found(resolve_executable("python3", home / ".pyenv/shims", "/")); };
  CHECK(resolve() == old_one);
  const std::string new_one = home.program(".pyenv/versions/3.12.1/bin/python3");
  home.file(".pyenv/versions/3.12.1/lib/python3.12/os.py", "");
  CHECK(resolve() == kRefused);
  home.file(".pyenv/version", "3.12.1\n3.11.2\n");
  CHECK(resolve() == new_one);
  home.file(".pyenv/version", "3.11.2\n");
  CHECK(resolve() == old_one);
  home.file(".pyenv/version", "system\n");
  CHECK(resolve() == kRefused);
  home.file(".pyenv/version", "9.9\n");
  CHECK(resolve() == kRefused);
  home.file(".pyenv/version", "../../evil\n");
  home.program("evil/bin/python3");
  CHECK(resolve() == kRefused);
  CHECK(binds(shown(home, {new_one}, "/usr/bin", "python"), home / ".pyenv/versions/3.12.1"));
}

TEST_CASE("asdf: the tool that its shim names, in the version of ~/.tool-versions") {
  const Home home;
  home.program(
      ".asdf/shims/node",
      "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.0.0\n# asdf-plugin: nodejs 22.1.0\nexec asdf exec node\n");
  const std::string old_one = home.program(".asdf/installs/nodejs/20.0.0/bin/node");
  const std::string new_one = home.program(".asdf/installs/nodejs/22.1.0/bin/node");
  const auto resolve = [&] { return found(resolve_executable("node", home / ".asdf/shims", "/")); };
  CHECK(resolve() == kRefused);
  home.file(".tool-versions", "python 3.12.1\nnodejs 22.1.0 20.0.0 # ours\n");
  CHECK(resolve() == new_one);
  home.file(".tool-versions", "nodejs 20.0.0\n");
  CHECK(resolve() == old_one);
  home.file(".tool-versions", "nodejs system\n");
  CHECK(resolve() == kRefused);
  home.file(".tool-versions", "nodejs ../../../evil\n");
  CHECK(resolve() == kRefused);
}

TEST_CASE("mise: the installation that its settings name, else the only one") {
  const Home home;
  const std::string base = ".local/share/mise/";
  home.program(".local/bin/mise");
  home.link(base + "shims/node", home / ".local/bin/mise");
  const std::string old_one = home.program(base + "installs/node/20.0.0/bin/node");
  home.link(base + "installs/node/20", "./20.0.0");
  const auto resolve = [&] { return found(resolve_executable("node", home / (base + "shims"), "/")); };
  CHECK(resolve() == old_one);
  const std::string new_one = home.program(base + "installs/node/22.1.0/bin/node");
  home.link(base + "installs/node/22", "./22.1.0");
  CHECK(resolve() == kRefused);
  home.file(".config/mise/config.toml", "[settings]\nnode = \"20\"\n[tools]\npython = \"3\"\nnode = \"22\"\n");
  CHECK(resolve() == new_one);
  home.file(".config/mise/config.toml", "[tools]\n\"node\" = '20.0.0'\n");
  CHECK(resolve() == old_one);
  home.file(".config/mise/config.toml", "[tools]\nnode = [\"20\", \"22\"]\n");
  CHECK(resolve() == kRefused);
}

TEST_CASE("volta: the node of its platform, and a package's own image") {
  const Home home;
  home.program(".volta/bin/volta-shim");
  home.link(".volta/bin/node", "volta-shim");
  home.link(".volta/bin/server", home / ".volta/bin/volta-shim");
  const std::string node = home.program(".volta/tools/image/node/22.1.0/bin/node");
  const auto resolve = [&](const std::string& word) {
    return found(resolve_executable(word, home / ".volta/bin", "/"));
  };
  CHECK(resolve("node") == node);
  home.program(".volta/tools/image/node/20.0.0/bin/node");
  CHECK(resolve("node") == kRefused);
  home.file(".volta/tools/user/platform.json", "{\"node\":{\"runtime\":\"22.1.0\",\"npm\":null},\"yarn\":null}");
  CHECK(resolve("node") == node);
  CHECK(resolve("server") == kRefused);
  const std::string server = home.program(".volta/tools/image/packages/server/bin/server", "#!/usr/bin/env node\n");
  CHECK(resolve("server") == server);
}

TEST_CASE("uv: a tool's environment, the python behind it, and the links between them") {
  const Home home;
  const std::string pythons = ".local/share/uv/python/";
  const std::string python = home.program(pythons + "cpython-3.12.3-linux-x86_64-gnu/bin/python3.12");
  home.file(pythons + "cpython-3.12.3-linux-x86_64-gnu/lib/python3.12/os.py", "");
  home.link(pythons + "cpython-3.12-linux-x86_64-gnu", "cpython-3.12.3-linux-x86_64-gnu");
  const std::string tool = ".local/share/uv/tools/server/";
  home.file(tool + "pyvenv.cfg", "home = x\n");
  const std::string called =
      home.link(tool + "bin/python", home / (pythons + "cpython-3.12-linux-x86_64-gnu/bin/python3.12"));
  home.program(tool + "bin/server", text::cat("#!", called, "\n"));
  home.link(".local/bin/server", home / (tool + "bin/server"));
  CHECK(found(resolve_executable("server", home / ".local/bin", "/")) == home / (tool + "bin/server"));
  const auto view = shown(home, {home / ".local/bin/server"}, "/usr/bin", "python");
  CHECK(binds(view, home / ".local/share/uv/tools/server"));
  CHECK(binds(view, home / (pythons + "cpython-3.12.3-linux-x86_64-gnu")));
  CHECK(links(view, home / (pythons + "cpython-3.12-linux-x86_64-gnu"), "cpython-3.12.3-linux-x86_64-gnu"));
  CHECK(!binds(view, home / ".local"));
  // The python by itself, as a project's environment has it.
  home.file("project/.venv/pyvenv.cfg", "home = x\n");
  home.link("project/.venv/bin/python", python);
  const auto project = shown(home, {home / "project/.venv/bin/python"}, "/usr/bin", "python");
  CHECK(binds(project, home / "project/.venv"));
  CHECK(binds(project, home / (pythons + "cpython-3.12.3-linux-x86_64-gnu")));
}

TEST_CASE("env in the first line means what the caller's PATH has, behind shims") {
  const Home home;
  home.program(".nodenv/shims/node", "#!/bin/sh\n");
  const std::string node = home.program(".nodenv/versions/22.1.0/bin/node");
  const std::string path = text::cat("relative:", home / "nothing", ":", home / ".nodenv/shims");
  CHECK(env_interpreter(home.program("cli.js", "#!/usr/bin/env node\n"), path) == node);
  CHECK(env_interpreter(home.program("split.js", "#!/usr/bin/env -S node --enable-source-maps\n"), path) == node);
  CHECK(env_interpreter(home.program("other.js", "#!/usr/bin/env deno\n"), path) == "");
  CHECK(env_interpreter(home.program("fixed.js", "#!/usr/bin/node\n"), path) == "");
  CHECK(env_interpreter(home.program("binary"), path) == "");
  CHECK(env_interpreter(home / "gone", path) == "");
}

TEST_CASE("a Java runtime below the home is shown with its prefix") {
  const Home home;
  const std::string java = home.program(".sdkman/candidates/java/21.0.1/bin/java");
  home.file(".sdkman/candidates/java/21.0.1/lib/server/libjvm.so", "");
  CHECK(binds(shown(home, {java}, "/usr/bin", "java"), home / ".sdkman/candidates/java/21.0.1"));
}
