// SPDX-License-Identifier: Apache-2.0
#include "app/diagnose.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include <map>

#include "app/server_words.hpp"
#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;
using sandbox::EntryKind;
using sandbox::PathKind;
using sandbox::ViewEntry;

namespace {

// A plan with a bit of everything, and a world outside it.
struct World {
  sandbox::Plan plan = {};
  std::map<std::string, PathKind> outside = {
      {"/data", PathKind::directory},      {"/data/in", PathKind::directory}, {"/data/in/a.txt", PathKind::file},
      {"/srv/more", PathKind::directory},  {"/srv/more/x", PathKind::file},   {"/srv/link", PathKind::symlink},
      {"/srv/socket", PathKind::socket},   {"/etc/shadow", PathKind::file},   {"/home/u", PathKind::directory},
      {"/home/u/.ssh/id", PathKind::file}, {"/home/u/notes", PathKind::file}, {"/tmp/shared", PathKind::file},
      {"/srv/od\"d", PathKind::file},      {"/usr/lib/x", PathKind::file},    {"/home", PathKind::directory},
      {"/srv/\x1b[31m", PathKind::file},
  };

  World() {
    plan.backend = "native";
    plan.guarantees = {{"filesystem", sandbox::Strength::enforced, ""}, {"network", sandbox::Strength::enforced, ""}};
    plan.syscall_filter = true;
    const auto add = [this](EntryKind kind, const char* target, const char* source, bool writable, bool grant) {
      ViewEntry entry;
      entry.kind = kind;
      entry.target = target;
      entry.source = source;
      entry.writable = writable;
      entry.grant = grant;
      plan.view.push_back(entry);
    };
    add(EntryKind::bind, "/usr", "/usr", false, false);
    add(EntryKind::tmpfs, "/tmp", "", true, false);
    add(EntryKind::tmpfs, "/home/cordon", "", true, false);
    add(EntryKind::bind, "/data/in", "/data/in", false, true);
    add(EntryKind::bind, "/output", "/data/out", true, true);
    add(EntryKind::bind, "/elsewhere", "/srv/ro", false, true);
    add(EntryKind::bind, "/store/npm/key/tree", "/store/npm/key/tree", false, true);
    add(EntryKind::cover, "/data/in/private", "/data/in/private", false, false);
    for (const EntryKind kind : {EntryKind::bind, EntryKind::cover}) {
      const char* target = kind == EntryKind::bind ? "/output/.vscode" : "/output/.cursor";
      add(kind, target, target, false, true);
      plan.view.back().steering = true;
    }
  }
  Surroundings around() const {
    return {plan, "/home/u",
            [this](const std::string& path) {
              const auto found = outside.find(path);
              return found == outside.end() ? PathKind::absent : found->second;
            },
            [](std::string_view path) {
              return path.find("shadow") != std::string_view::npos || path.find(".ssh") != std::string_view::npos;
            },
            "/store"};
  }
  std::optional<Finding> find(const std::string& line) const {
    const std::optional<Complaint> complaint = read_complaint(line);
    REQUIRE(complaint.has_value());
    return diagnose(*complaint, around());
  }
  std::string proposal(const std::string& line) const {
    const std::optional<Finding> finding = find(line);
    return finding ? finding->proposal : "nothing found";
  }
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what is there outside and not shown is proposed, for reading or writing") {
  const World world;
  CHECK(world.proposal("ENOENT: no such file, open '/srv/more/x'") == "isolation.filesystem.read: [\"/srv/more/x\"]");
  CHECK(world.proposal("ENOENT: no such file, mkdir '/srv/more/new'") == "isolation.filesystem.write: [\"/srv/more\"]");
  CHECK(world.proposal("EACCES: permission denied, unlink '/srv/more/x'") ==
        "isolation.filesystem.write: [\"/srv/more/x\"]");
  CHECK(world.proposal("open /tmp/shared: no such file or directory") ==
        "isolation.filesystem.read: [\"/tmp/shared\"]");
}

TEST_CASE("what is nowhere, in a folder that is not shown, is told without a grant") {
  const World world;
  const auto finding = world.find("ENOENT: no such file or directory, open '/srv/more/memory.json'");
  REQUIRE(finding.has_value());
  CHECK(holds(finding->what, "nothing in the policy shows '/srv/more' to the server"));
  CHECK(holds(finding->what, "'memory.json' is not there outside either"));
  CHECK(finding->proposal.empty());
  CHECK_FALSE(world.find("ENOENT: open '/top'").has_value());
}

TEST_CASE("an installed package is never proposed for writing") {
  const World world;
  const auto finding = world.find("EROFS: read-only file system, open '/store/npm/key/tree/node_modules/p/logs/a.log'");
  REQUIRE(finding.has_value());
  CHECK(holds(finding->what, "lies in the server's own package"));
  CHECK(world.find("ENOENT: no such file or directory, mkdir '/store/npm/key/tree/node_modules/p/logs'").has_value());
  CHECK_FALSE(world.find("ENOENT: no such file or directory, open '/store/npm/key/tree/node_modules/p/x'").has_value());
  CHECK(finding->proposal.empty());
}

TEST_CASE("what is not there outside either is the server's own affair") {
  const World world;
  CHECK_FALSE(world.find("ENOENT: open '/nowhere/x'").has_value());
  CHECK_FALSE(world.find("ENOENT: open '/data/in/missing'").has_value());
  CHECK_FALSE(world.find("ENOENT: open '/tmp/none'").has_value());
  CHECK_FALSE(world.find("ENOENT: no path at all").has_value());
  CHECK_FALSE(world.find("ENOENT: open '/home/cordon/.config'").has_value());
}

TEST_CASE("the private home is named as what hides the caller's") {
  World world;
  const auto finding = world.find("ENOENT: open '/home/cordon/notes'");
  REQUIRE(finding.has_value());
  CHECK(holds(finding->what, "a home of its own"));
  CHECK(finding->proposal == "isolation.filesystem.read: [{path: \"/home/u/notes\", at: \"/home/cordon/notes\"}]");
}

TEST_CASE("a read-only grant is told from the rest, and the narrowest write grant is proposed") {
  const World world;
  CHECK(world.proposal("EROFS: read-only file system, open '/data/in/a.txt'") ==
        "isolation.filesystem.write: [\"/data/in/a.txt\"]");
  CHECK(world.proposal("EROFS: read-only file system, open '/data/in/new.txt'") ==
        "isolation.filesystem.write: [\"/data/in\"]");
  CHECK(world.proposal("EROFS: read-only file system, mkdir '/elsewhere/new'") ==
        "isolation.filesystem.write: [{path: \"/srv/ro\", at: \"/elsewhere\"}]");
  CHECK(holds(world.find("EROFS: open '/usr/lib/x'")->what, "server's own program"));
  CHECK(world.proposal("EROFS: open '/usr/lib/x'") == "");
  CHECK(holds(world.find("cat: /data/in/a.txt: Permission denied")->what, "its own owner and mode"));
  CHECK(holds(world.find("EACCES: open '/output/x'")->what, "owner and mode"));
}

TEST_CASE("what the policy masks, and what may not run, is said without a way out") {
  const World world;
  CHECK(holds(world.find("EACCES: open '/data/in/private/x'")->what, "isolation.filesystem.deny"));
  CHECK(world.proposal("EACCES: open '/data/in/private/x'") == "");
  CHECK(holds(world.find("Error: spawn /tmp/tool EACCES")->what, "may be executed"));
  CHECK(world.proposal("ENOENT: open '/srv/socket'") == "");
  CHECK(holds(world.find("ENOENT: open '/srv/link'")->what, "symlink"));
  CHECK(world.proposal("ENOENT: open '/srv/link'") == "");
}

TEST_CASE("what steers other programs is named as that, and never proposed") {
  const World world;
  for (const char* path : {"/output/.vscode/settings.json", "/output/.cursor/mcp.json", "/output/.cursor"}) {
    const auto finding = world.find(std::string("EROFS: read-only file system, open '") + path + "'");
    REQUIRE(finding.has_value());
    CHECK(holds(finding->what, "decides what other programs do"));
    CHECK(finding->proposal == "");
  }
  CHECK(holds(world.find("ENOENT: open '/srv/socket'")->what, "isolation.unix_sockets"));
}

TEST_CASE("nothing sensitive, no home and no odd name is ever proposed") {
  const World world;
  for (const char* path :
       {"/etc/shadow", "/home/u/.ssh/id", "/home/u", "/home", "/srv/od\"d", "/home/cordon/.ssh/id", "/srv/\x1b[31m"}) {
    CAPTURE(path);
    const auto finding = world.find(std::string("ENOENT: open `") + path + "`");
    REQUIRE(finding.has_value());
    CHECK(finding->proposal == "");
    CHECK_FALSE(holds(finding->what, "\x1b"));
  }
}

TEST_CASE("the network is named, and a host is proposed by its name only") {
  const World world;
  for (const char* line : {"getaddrinfo ENOTFOUND api.github.com", "connect ECONNREFUSED 127.0.0.1:80",
                           "dial tcp 169.254.169.254:80: connect: network is unreachable",
                           "gaierror: Temporary failure in name resolution", "connect ECONNREFUSED /run/user/1/bus"}) {
    CAPTURE(line);
    const auto finding = world.find(line);
    REQUIRE(finding.has_value());
    CHECK(finding->proposal ==
          (holds(line, "api.github.com") ? "isolation.network.allow: [\"api.github.com:443\"]" : ""));
    CHECK(holds(finding->what, "none"));
  }
  CHECK(holds(world.find("connect ECONNREFUSED 127.0.0.1:80")->what, "loopback of its own"));
}

TEST_CASE("where hosts are listed, the line about the denied attempt is the only one") {
  World world;
  world.plan.network.rules.allow.push_back({.host = "api.github.com", .ports = {443}});
  REQUIRE(world.plan.network.hosts());
  for (const char* line : {"getaddrinfo ENOTFOUND evil.example", "  code: 'ENOTFOUND',",
                           "connect ECONNREFUSED 1.2.3.4:443", "  code: 'ECONNREFUSED',"}) {
    CHECK_MESSAGE(!world.find(line).has_value(), line);
  }
  // Of these there is no other line.
  CHECK(holds(world.find("connect ECONNREFUSED 127.0.0.1:80")->what, "isolation.network.allow lists it"));
  CHECK(holds(world.find("connect ENETUNREACH 2001:db8::1")->what, "does not let '2001:db8::1' be reached"));
}

TEST_CASE("limits and system calls are named") {
  World world;
  world.plan.limits.open_files = 64;
  world.plan.limits.memory_bytes = 1000;
  CHECK(world.proposal("EMFILE: too many open files") == "isolation.limits.open_files: 128");
  CHECK(world.proposal("MemoryError") == "isolation.limits.memory: 2000");
  CHECK(world.proposal("Resource temporarily unavailable") == "nothing found");
  CHECK(holds(world.find("unshare: unshare failed: Operation not permitted")->what, "isolation.syscalls"));
  world.plan.limits.cpu_seconds = 3;
  CHECK(holds(diagnose_exit({true, SIGSYS}, world.plan)->what, "architecture"));
  CHECK(holds(diagnose_exit({false, 128 + SIGSYS}, world.plan)->what, "architecture"));
  CHECK(diagnose_exit({false, 128 + SIGXCPU}, world.plan)->proposal == "isolation.limits.cpu_seconds: 6");
  CHECK_FALSE(diagnose_exit({false, 1}, world.plan).has_value());
  CHECK_FALSE(diagnose_exit({true, SIGKILL}, world.plan).has_value());
}

TEST_CASE("without isolation nothing is put down to it") {
  World world;
  world.plan.guarantees = {{"filesystem", sandbox::Strength::no, ""}, {"network", sandbox::Strength::no, ""}};
  CHECK_FALSE(world.find("ENOENT: open '/srv/more/x'").has_value());
  CHECK_FALSE(world.find("getaddrinfo ENOTFOUND api.github.com").has_value());
}

TEST_CASE("what lies outside is looked at without following symlinks") {
  TempFolder temp;
  temp.file("folder/file", "x");
  temp.link("way", temp.at("folder"));
  CHECK(kind_outside(temp.at("folder")) == PathKind::directory);
  CHECK(kind_outside(temp.at("folder/file")) == PathKind::file);
  CHECK(kind_outside(temp.at("way")) == PathKind::symlink);
  CHECK(kind_outside(temp.at("way/file")) == PathKind::symlink);
  CHECK(kind_outside(temp.at("way/none")) == PathKind::absent);
  CHECK(kind_outside(temp.at("none")) == PathKind::absent);
  CHECK(kind_outside("/dev/null") == PathKind::other);
}

TEST_CASE("each finding is said once, marked as the server's wish, and not without end") {
  const World world;
  std::vector<std::string> said;
  ServerWords words({world.around(), "/p.yaml", false, [&said](std::string_view line) { said.emplace_back(line); }});
  for (int i = 0; i < 3; ++i) {
    words.heard("ENOENT: open '/srv/more/x'");
  }
  REQUIRE(said.size() == 3);
  CHECK(said[0] == "the server's own words: ENOENT: open '/srv/more/x'");
  CHECK(said[1].starts_with("denied by the sandbox: '/srv/more/x' is there"));
  CHECK(holds(said[2], "whose words alone ask for it"));
  CHECK(holds(said[2], "add to /p.yaml: isolation.filesystem.read: [\"/srv/more/x\"]"));
  for (int i = 0; i < 50; ++i) {
    words.heard("getaddrinfo ENOTFOUND host" + std::to_string(i) + ".example");
  }
  CHECK(said.size() <= 3 * 6);
}

TEST_CASE("what a failed call told the client is looked at, and is no line of the server's") {
  const World world;
  std::vector<std::string> said;
  ServerWords words({world.around(), "/p.yaml", false, [&said](std::string_view line) { said.emplace_back(line); }});
  words.overheard("Error: ENOENT: open '/srv/more/x'");
  words.heard("ENOENT: open '/srv/more/x'");
  REQUIRE(said.size() == 2);
  CHECK(said[0].starts_with("denied by the sandbox: '/srv/more/x' is there"));
  words.overheard("all is well");
  words.ended(true);
  CHECK_FALSE(holds(said.back(), "all is well"));
}

TEST_CASE("the last words of a server that failed are shown when nobody saw them, escaped and bounded") {
  const World world;
  for (const bool relayed : {false, true}) {
    std::vector<std::string> said;
    ServerWords words(
        {world.around(), "/p.yaml", relayed, [&said](std::string_view line) { said.emplace_back(line); }});
    for (int i = 0; i < 40; ++i) {
      words.heard("line " + std::to_string(i) + " \x1b[31m" + std::string(1000, 'x'));
    }
    words.ended(false);
    CHECK(said.empty());
    words.ended(true);
    CHECK(said.size() == (relayed ? 0U : 13U));
    if (!relayed) {
      CHECK(said[0] == "the server's own last words on stderr:");
      CHECK(holds(said.back(), "line 39 "));
      CHECK(said.back().size() < 500);
      CHECK_FALSE(holds(said.back(), "\x1b"));
    }
  }
}

TEST_CASE("places that are never proposed, besides the sensitive ones") {
  for (const char* path :
       {"/etc/passwd", "/run/x", "/home/u/.aws/credentials", "/home", "/run/docker.sock", "/proc/1"}) {
    CHECK_MESSAGE(never_proposed(path), path);
  }
  for (const char* path : {"/srv/x", "/home/u/project", "/opt/x", "/etcetera"}) {
    CHECK_MESSAGE(!never_proposed(path), path);
  }
}
