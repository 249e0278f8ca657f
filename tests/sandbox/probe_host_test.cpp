// SPDX-License-Identifier: Apache-2.0
#include "sandbox/probe_host.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "sandbox/probe_parts.hpp"

using namespace cordon;
using namespace cordon::sandbox;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = fs::temp_directory_path() / "cordon-facts-XXXXXX";
    path_ = fs::canonical(::mkdtemp(pattern.data()));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::string file(const std::string& name, const std::string& content = "x", bool executable = false) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    ::chmod(path.c_str(), executable ? 0755 : 0644);
    return path;
  }

 private:
  fs::path path_;
};

LaunchSpec spec_for(std::vector<std::string> argv, std::string preset = "node") {
  LaunchSpec spec;
  spec.argv = std::move(argv);
  spec.runtime = {std::move(preset)};
  return spec;
}

}  // namespace

TEST_CASE("a word is looked up in the absolute folders of PATH and resolved") {
  const Folder folder;
  const std::string real = folder.file("versions/tool", "#!/bin/sh\n", true);
  fs::create_directories(folder / "bin");
  fs::create_symlink(real, folder / "bin/tool");
  folder.file("bin/data", "no program");
  const auto resolve = [&](const std::string& word) {
    return resolve_executable(word, text::cat(".:relative:", folder / "bin"), folder / "versions");
  };
  CHECK(resolve("tool") == real);
  CHECK(resolve("./tool") == real);
  CHECK(resolve(real) == real);
  CHECK(resolve("data").error().code == Errc::launch_failed);
  CHECK(resolve("missing").error().detail == "no program 'missing'");
  CHECK(resolve("").error().code == Errc::launch_failed);
}

TEST_CASE("a version manager's shim is replaced by the program it would choose") {
  const Folder folder;
  folder.file("shims/node", "#!/bin/sh\n", true);
  const std::string old_one = folder.file("versions/18/bin/node", "x", true);
  CHECK(resolve_executable("node", folder / "shims", "/") == old_one);
  const std::string new_one = folder.file("versions/22/bin/node", "x", true);
  CHECK(resolve_executable("node", folder / "shims", "/").error().detail.find("a shim") == 0);
  folder.file("version", "22\n");
  CHECK(resolve_executable("node", folder / "shims", "/") == new_one);
}

TEST_CASE("the prefix of an interpreter is found, a shared folder is none") {
  const Folder folder;
  const std::string node = folder.file("node/v22/bin/node", "x", true);
  CHECK(probe_program(spec_for({node}), "").prefix == "");
  fs::create_directories(folder / "node/v22/lib/node_modules");
  CHECK(probe_program(spec_for({node}), "").prefix == folder / "node/v22");
  CHECK(probe_program(spec_for({node}), folder / "node/v22").prefix == "");
  CHECK(probe_program(spec_for({node}), folder / "node/v22/home").prefix == "");
  const std::string python = folder.file("py/bin/python3", "x", true);
  folder.file("py/lib/python3.12/os.py");
  CHECK(probe_program(spec_for({python}), "").prefix == folder / "py");
  CHECK(probe_program(spec_for({"/bin/sh"}), "").prefix == "");
}

TEST_CASE("a script's interpreter is looked up in the server's PATH") {
  const Folder folder;
  folder.file("node/bin/node", "x", true);
  fs::create_directories(folder / "node/include/node");
  LaunchSpec spec = spec_for({folder.file("pkg/cli.js", "#!/usr/bin/env node\n", true)});
  spec.environment = {text::cat("PATH=", folder / "node/bin")};
  folder.file("pkg/package.json");
  const ProgramFacts facts = probe_program(spec, "");
  CHECK(facts.found);
  CHECK(facts.prefix == folder / "node");
  CHECK(facts.entry_root == folder / "pkg");
}

TEST_CASE("a python environment is recognised by how it is called") {
  const Folder folder;
  folder.file("venv/pyvenv.cfg");
  fs::create_directories(folder / "venv/bin");
  fs::create_symlink("/bin/sh", folder / "venv/bin/python");
  LaunchSpec spec = spec_for({folder / "venv/bin/python"}, "python");
  CHECK(probe_program(spec, "").venv == folder / "venv");
}

TEST_CASE("what a script needs around it") {
  const Folder folder;
  const auto root_of = [&](const std::string& script, const std::string& home = "") {
    return probe_program(spec_for({"/bin/sh", "--flag", folder.file(script), "/etc/shadow"}), home).entry_root;
  };
  CHECK(root_of("a/node_modules/p/node_modules/q/i.js") == folder / "a/node_modules");
  folder.file("b/package.json");
  CHECK(root_of("b/dist/i.js") == folder / "b");
  CHECK(root_of("b/dist/i.js", folder / "b") == folder / "b/dist/i.js");
  CHECK(root_of("c/i.js") == folder / "c/i.js");
  // Without a preset that runs scripts, arguments are only arguments.
  CHECK(probe_program(spec_for({"/bin/sh", folder.file("c/i.js")}, "system"), "").entry == "");
}

TEST_CASE("sources are looked at without following symlinks") {
  const Folder folder;
  const std::string real = folder.file("real/file");
  fs::create_symlink(folder / "real", folder / "link");
  CHECK(probe_source(real).kind == PathKind::file);
  CHECK(probe_source(folder / "real").kind == PathKind::directory);
  CHECK(probe_source(folder / "missing").kind == PathKind::absent);
  CHECK(probe_source(folder / "link").kind == PathKind::symlink);
  CHECK(probe_source(folder / "link/file").kind == PathKind::symlink);
  CHECK(probe_source(folder / "link/file").resolved == real);
}

TEST_CASE("accounts are judged before anything starts") {
  LaunchSpec spec = spec_for({"/bin/sh"});
  spec.backend = BackendChoice::none;
  const auto facts = probe_host(spec, "");
  REQUIRE(facts);
  CHECK(facts->server_uid == (::geteuid() == 0 ? 65534 : ::geteuid()));
  spec.user = "root";
  CHECK(probe_host(spec, "")->user_error != "");
  spec.user = "no-such-account-here";
  CHECK(probe_host(spec, "")->user_error == "no account 'no-such-account-here'");
}

TEST_CASE("facts are found by trying, and the caller is as it was") {
  LaunchSpec spec = spec_for({"/bin/sh"});
  const uid_t before = ::geteuid();
  const auto facts = probe_host(spec, "", ProbeDepth::everything);
  REQUIRE(facts);
  CHECK(::geteuid() == before);
  CHECK(facts->namespaces.works == facts->namespaces.reason.empty());
  CHECK(facts->bubblewrap.trial.works == facts->bubblewrap.trial.reason.empty());
  CHECK(probe_host(spec, "relative").error().code == Errc::launch_failed);
}
