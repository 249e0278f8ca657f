// SPDX-License-Identifier: Apache-2.0
// What the next start runs must not be where this one can write, and what is shown unasked must be small.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/select.hpp"
#include "sandbox/view.hpp"

using namespace cordon;
using namespace cordon::sandbox;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = fs::temp_directory_path() / "cordon-exposed-XXXXXX";
    path_ = fs::canonical(::mkdtemp(pattern.data()));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::string file(const std::string& name, const std::string& content = "x") const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    ::chmod(path.c_str(), 0755);
    return path;
  }

 private:
  fs::path path_;
};

LaunchSpec node_spec(std::vector<std::string> argv) {
  LaunchSpec spec = test::simple_spec();
  spec.argv = std::move(argv);
  spec.runtime = {"node"};
  return spec;
}

Mount writable(const std::string& source) { return {.source = source, .target = source, .writable = true}; }
Mount readable(const std::string& source) { return {.source = source, .target = source}; }

// The plan on a machine that can do all, with the program as it is here; "fine" or the refusal.
std::string verdict(const LaunchSpec& spec, const std::string& home = {}) {
  HostFacts facts = test::able_host();
  facts.home = home;
  facts.program = probe_program(spec, home);
  const auto plan = select(spec, facts);
  return plan ? "fine" : plan.error().to_string();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

ScriptLine line_of(std::string_view head) { return parse_script_line(head).value_or(ScriptLine{"none", "none"}); }

}  // namespace

TEST_CASE("the first line of a script is taken apart as the kernel does") {
  CHECK(line_of("#!/bin/sh\n").interpreter == "/bin/sh");
  CHECK(line_of("#! \t/bin/sh\t-e -x \nrest").interpreter == "/bin/sh");
  CHECK(line_of("#! \t/bin/sh\t-e -x \nrest").argument == "-e -x");
  CHECK(line_of("#!/usr/bin/env\tnode\n").argument == "node");
  CHECK(line_of("#!/bin/sh").interpreter == "/bin/sh");
  CHECK(line_of(std::string_view("#!/bin/sh\0x\n", 12)).interpreter == "/bin/sh");
  CHECK(line_of("#!  \n").interpreter == "none");
  CHECK(line_of("# !/bin/sh\n").interpreter == "none");
  // Past 256 bytes nothing counts, and a name that may go on there is none.
  const std::string far = text::cat("#!", std::string(250, ' '), "/bin/sh\n");
  CHECK(line_of(std::string_view(far).substr(0, 256)).interpreter == "none");
  const std::string long_argument = text::cat("#!/bin/sh ", std::string(400, 'a'));
  CHECK(line_of(std::string_view(long_argument).substr(0, 256)).interpreter == "/bin/sh");
  CHECK(line_of(std::string_view(long_argument).substr(0, 256)).argument.size() == 245);
}

TEST_CASE("only a program is taken for an interpreter, and only it is shown") {
  const Folder folder;
  fs::create_directories(folder / "secrets");
  folder.file("secrets/key");
  for (const std::string& line : {folder / "secrets", folder / "missing"}) {
    const LaunchSpec spec = node_spec({folder.file("tool", text::cat("#! ", line, "\n"))});
    CHECK(probe_program(spec, "").prefix == "");
    CHECK(probe_program(spec, "").entry == "");
  }
  const std::string interpreter = folder.file("some/bin/run");
  const LaunchSpec spec = node_spec({folder.file("tool", text::cat("#!", interpreter, "\t--flag\n"))});
  CHECK(probe_program(spec, "").prefix == interpreter);
}

TEST_CASE("what is never shown unasked") {
  for (const char* path :
       {"/", "/etc", "/etc/ssl/private", "/root", "/run", "/run/user/1000", "/sys", "/dev", "/tmp", "/var", "/var/tmp",
        "/proc/1/root", "/home", "/home/user", "/home/user/.local", "relative"}) {
    CHECK_MESSAGE(!may_show_unasked(path, "/home/user"), path);
  }
  for (const char* path : {"/opt/tool", "/home/user/project", "/var/lib/tool", "/tmp/project"}) {
    CHECK_MESSAGE(may_show_unasked(path, "/home/user"), path);
  }
  HostFacts facts = test::able_host();
  facts.program.prefix = "/etc/tool";
  const auto plan = select(test::simple_spec(), facts);
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::policy_invalid);
  CHECK(has(plan.error().to_string(), "/etc/tool: the command needs it, but it is not shown without a grant"));
}

TEST_CASE("a virtual environment is judged by where it really lies") {
  const Folder folder;
  folder.file("home/pyvenv.cfg");
  fs::create_directories(folder / "home/bin");
  fs::create_symlink("/bin/sh", folder / "home/bin/python");
  fs::create_symlink(folder / "home", folder / "env");
  CHECK(probe_program(node_spec({folder / "env/bin/python"}), "").venv == folder / "home");
  CHECK(probe_program(node_spec({folder / "env/bin/python"}), folder / "home").venv == "");
}

TEST_CASE("a trail names every symlink by its real place, and the end") {
  const Folder folder;
  folder.file("real/file");
  fs::create_directories(folder / "other");
  fs::create_symlink("../real", folder / "other/folder");
  fs::create_symlink(folder / "other", folder / "way");
  CHECK(trail(folder / "way/folder/./file") ==
        std::vector<std::string>{folder / "way", folder / "other/folder", folder / "real/file"});
  fs::create_symlink("loop", folder / "loop");
  CHECK(trail(folder / "loop").size() == 41);
}

TEST_CASE("a program, a script or a file of the command below a write grant is refused") {
  const Folder folder;
  const std::string script = folder.file("w/server.js");
  const std::string program = folder.file("w/program");
  const std::string config = folder.file("w/conf");
  for (const std::vector<std::string>& argv : {std::vector<std::string>{"/bin/sh", script},
                                               {program},
                                               {"/bin/sh", "-c", "x", text::cat("--config=", config)},
                                               {"/bin/sh", "--import", text::cat("file://", config)},
                                               {"/bin/sh", "-cp", text::cat("/none.jar:", config, ":/other.jar")},
                                               {"/bin/sh", text::cat("-javaagent:", config, "=on")},
                                               {"/bin/sh", text::cat("@", config)},
                                               {"/bin/sh", text::cat("-r", config)}}) {
    LaunchSpec spec = node_spec(argv);
    CHECK(verdict(spec) == "fine");
    spec.mounts = {writable(folder / "w")};
    const std::string refused = verdict(spec);
    CHECK_MESSAGE(has(refused, text::cat("below the write grant ", folder / "w")), refused);
    CHECK_MESSAGE(has(refused, "for reading"), refused);
  }
}

TEST_CASE("relative arguments are looked for where the server starts") {
  const Folder folder;
  folder.file("w/server.js");
  LaunchSpec spec = node_spec({"/bin/sh", "server.js"});
  spec.mounts = {{.source = folder / "w", .target = "/data", .writable = true}};
  CHECK(verdict(spec) == "fine");
  spec.cwd = "/data";
  CHECK(has(verdict(spec), folder / "w/server.js"));
  spec.mounts.clear();
  spec.cwd.clear();
  spec.home_source = folder / "w";
  CHECK(has(verdict(spec), folder / "w/server.js"));
}

TEST_CASE("a symlink that the server could turn elsewhere is refused wherever it leads") {
  const Folder folder;
  const std::string script = folder.file("project/sub/a.js");
  folder.file("project/package.json");
  fs::create_directories(folder / "w");
  fs::create_symlink(script, folder / "w/server.js");
  fs::create_symlink(folder / "w/server.js", folder / "outer.js");
  for (const std::string& spelled : {folder / "w/server.js", folder / "outer.js"}) {
    LaunchSpec spec = node_spec({"/bin/sh", spelled});
    CHECK(verdict(spec) == "fine");
    spec.mounts = {readable(folder / "project"), writable(folder / "w")};
    const std::string refused = verdict(spec);
    CHECK_MESSAGE(has(refused, folder / "w/server.js"), refused);
    CHECK_MESSAGE(has(refused, text::cat("below the write grant ", folder / "w")), refused);
    CHECK(has(refused, "is reached through") == (spelled == folder / "outer.js"));
  }
  fs::create_symlink("/bin/sh", folder / "w/tool");
  LaunchSpec spec = node_spec({folder / "w/tool"});
  spec.executable = fs::canonical("/bin/sh");
  spec.mounts = {writable(folder / "w")};
  CHECK(has(verdict(spec), "the program lies below the write grant"));
}

TEST_CASE("an interpreter below a write grant is refused, also one of an interpreter") {
  const Folder folder;
  folder.file("w/bin/node");
  LaunchSpec spec = node_spec({folder.file("tool", text::cat("#!", folder / "w/bin/node", "\n"))});
  spec.mounts = {writable(folder / "w")};
  CHECK(has(verdict(spec), "its interpreter lies below the write grant"));
  folder.file("wrap", text::cat("#!\t", folder / "w/bin/node", "\n"));
  folder.file("tool", text::cat("#!", folder / "wrap", "\n"));
  CHECK(has(verdict(spec), "its interpreter lies below the write grant"));
  folder.file("tool", "#!/usr/bin/env\tnode\n");
  spec.environment = {text::cat("PATH=", folder / "w/bin", ":/usr/bin")};
  CHECK(has(verdict(spec), "its interpreter lies below the write grant"));
}

TEST_CASE("a grant for reading that lies deeper takes the files out of the server's reach") {
  const Folder folder;
  LaunchSpec spec = node_spec({"/bin/sh", folder.file("w/code/server.js")});
  spec.mounts = {writable(folder / "w"), readable(folder / "w/code")};
  CHECK(verdict(spec) == "fine");
  // Not where the same folder shows writable at another place.
  spec.mounts.push_back({.source = folder / "w", .target = "/again", .writable = true});
  CHECK(has(verdict(spec), "below the write grant"));
}

TEST_CASE("another name of the same file is the same file") {
  const Folder folder;
  const std::string script = folder.file("code/server.js");
  fs::create_directories(folder / "w");
  fs::create_hard_link(script, folder / "w/server.js");
  LaunchSpec spec = node_spec({"/bin/sh", script});
  spec.mounts = {writable(folder / "w/server.js")};
  CHECK(has(verdict(spec), text::cat("below the write grant ", folder / "w/server.js")));
}

TEST_CASE("what the search finds is refused by the plan, too") {
  HostFacts facts = test::able_host();
  facts.program.entry_root = "/srv/app/node_modules";
  LaunchSpec spec = test::simple_spec();
  spec.mounts = {writable("/srv/app")};
  const auto plan = select(spec, facts);
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::policy_invalid);
  CHECK(has(plan.error().to_string(), "/srv/app/node_modules: the command needs it, and it lies below"));
}
