// SPDX-License-Identifier: Apache-2.0
#include "app/write_grants.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/launch_plan.hpp"
#include "app/policy_lookup.hpp"
#include "app/temp_folder.hpp"
#include "base/fd.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

policy::Policy empty_policy() {
  policy::Policy out;
  out.server = "one";
  out.file = "one.yaml";
  return out;
}

policy::Grant grant(std::string path, std::string at = {}, std::string reason = {}) {
  return {std::move(path), std::move(at), std::move(reason), {7, 3}};
}

const ReadTrusted kAnyFile = [](const std::string&) -> Result<std::string> { return "s3cret"; };

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  policy::Policy policy = empty_policy();

  Fixture() { policy.launch.command = {"sh", "-c", "true"}; }
  void write(std::string path, std::string at = {}) {
    policy.isolation.write.push_back(grant(std::move(path), std::move(at)));
  }
  // The refusal; no code where there is none.
  Error refusal() const {
    const auto out = prepare_launch({policy,
                                     caller,
                                     {},
                                     own_paths(caller, temp.at("one.yaml"), temp.at("one.json")),
                                     kAnyFile,
                                     LaunchRequest::Depth::show});
    return out ? Error{Errc::internal, "let through", {}, {}} : out.error();
  }
  bool refused() const {
    const Error error = refusal();
    CAPTURE(error.to_string());
    return error.code == Errc::policy_invalid && error.where == "one.yaml:7:3" && !error.remedy.empty() &&
           error.detail.find("decides what the next launch does") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("no write grant reaches what belongs to us") {
  const TempFolder temp;
  Caller caller = temp.caller();
  caller.data_home = temp.at("home/.local/share");
  temp.folder("home/.local/share/mcp-cordon/previous/1");
  temp.file("prefix/bin/mcp-cordon", "");
  temp.file("proj/one.yaml", "");
  temp.folder("proj/out");
  temp.folder("home/.local/state/mcp-cordon/audit");
  temp.folder("home/.config/mcp-cordon/policies");
  const OwnPaths own = own_paths(caller, temp.at("proj/one.yaml"), temp.at("proj/one.catalog.json"));
  const auto check = [&](const std::string& path) {
    policy::Policy policy = empty_policy();
    policy.isolation.write = {grant(path, "/at", "because")};
    return check_write_grants(policy, caller, own).has_value();
  };
  CHECK(check(temp.at("proj/out")));
  CHECK_FALSE(check(temp.at("proj")));                   // holds the policy
  CHECK_FALSE(check(temp.at("proj/one.yaml")));          // is the policy
  CHECK_FALSE(check(temp.at("proj/one.catalog.json")));  // is the snapshot, even before it exists
  CHECK_FALSE(check(temp.at("home/.local/share")));      // holds packages, and what rollback goes back to
  CHECK_FALSE(check(temp.at("home/.local/share/mcp-cordon/previous/1")));
  CHECK_FALSE(check(temp.at("prefix/bin")));                 // holds the program
  CHECK_FALSE(check(temp.at("prefix/libexec/mcp-cordon")));  // holds the helper
  CHECK_FALSE(check("~/.local"));                            // holds the state
  CHECK_FALSE(check("~/.local/state/mcp-cordon/audit"));     // lies in the state
  CHECK_FALSE(check("~/.config/mcp-cordon/policies"));       // lies in the configuration
  CHECK_FALSE(check("/"));
  temp.link("sly", temp.at("proj"));
  CHECK_FALSE(check(temp.at("sly")));  // by another name
}

TEST_CASE("no write grant reaches one of our files by whatever spelling") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("prefix/bin/mcp-cordon", "");
  temp.file("proj/one.yaml", "");
  temp.folder("home/.local/state/mcp-cordon/audit/one");
  temp.folder("home/.local/state/mcp-cordon/candidates");
  temp.file("home/.local/state/mcp-cordon/key", "");
  temp.folder("home/.config/mcp-cordon/policies");
  temp.file("elsewhere/other.yaml", "");
  temp.link("home/.config/mcp-cordon/policies/other.yaml", temp.at("elsewhere/other.yaml"));
  temp.file("keys/review.pub", "");
  temp.file("etc/ceiling.yaml", "");
  OwnPaths own = own_paths(caller, temp.at("proj/one.yaml"), temp.at("snapshots/one.catalog.json"));
  own.files.push_back(candidate_path(caller, "one"));
  for (const char* more : {"etc/ceiling.yaml", "keys/review.pub", "captured/one.json"}) {
    own.files.push_back(temp.at(more));
  }
  temp.folder("captured");
  temp.folder("snapshots");
  temp.folder("prefix/libexec");
  temp.folder("free");
  const auto check = [&](const std::string& path) {
    policy::Policy policy = empty_policy();
    policy.isolation.write = {grant(path, "/at", "because")};
    return check_write_grants(policy, caller, own).has_value();
  };
  struct Own {
    const char* what;
    const char* folder;
  };
  for (const Own& one : {Own{"program", "prefix/bin"}, Own{"helper", "prefix/libexec"}, Own{"policy", "proj"},
                         Own{"snapshot", "snapshots"}, Own{"candidate", "home/.local/state/mcp-cordon/candidates"},
                         Own{"candidate's own place", "captured"}, Own{"ceiling", "etc"}, Own{"key", "keys"},
                         Own{"installation's key", "home/.local/state/mcp-cordon/key"},
                         Own{"audit", "home/.local/state/mcp-cordon/audit/one"}, Own{"state", "home/.local/state"},
                         Own{"configuration", "home/.config"}, Own{"another server's policy", "elsewhere"}}) {
    CAPTURE(one.what);
    const std::string path = temp.at(one.folder);
    CHECK_FALSE(check(path));
    CHECK_FALSE(check(path + "/"));
    CHECK_FALSE(check(temp.at("free/../") + one.folder));
    CHECK_FALSE(check(temp.at("free/./..//") + one.folder + "/."));
    const std::string link = temp.link(std::string("link-") + std::to_string(path.size()) + one.what, path);
    CHECK_FALSE(check(link));
  }
  CHECK(check(temp.at("free")));
  CHECK(check(temp.at("free/../free")));
}

// Bind mounts are made in namespaces of a child's own; where it may not, there is nothing to test.
TEST_CASE("no write grant reaches us through a bind mount") {
  const TempFolder temp;
  temp.file("proj/one.yaml", "");
  temp.folder("home/.local/state/mcp-cordon/audit/one");
  temp.folder("alias");
  const Caller caller = temp.caller();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const uid_t uid = ::geteuid();
    if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      ::_exit(77);
    }
    int let_through = 0;
    for (const char* source : {"proj", "home/.local/state/mcp-cordon", "home/.local/state/mcp-cordon/audit/one"}) {
      if (::mount(temp.at(source).c_str(), temp.at("alias").c_str(), nullptr, MS_BIND, nullptr) != 0) {
        ::_exit(77);
      }
      policy::Policy policy = empty_policy();
      policy.isolation.write = {grant(temp.at("alias"))};
      const OwnPaths own = own_paths(caller, temp.at("proj/one.yaml"), temp.at("one.json"));
      let_through += check_write_grants(policy, caller, own).has_value() ? 1 : 0;
      ::umount(temp.at("alias").c_str());
    }
    ::_exit(let_through);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    MESSAGE("SKIPPED: no mount namespace here");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE_FIXTURE(Fixture, "a write grant beside everything that steers is let through") {
  policy.launch.command = {temp.file("opt/tool", "#!/bin/sh\n", 0755), temp.file("opt/index.js", "")};
  write(temp.folder("data"));
  CHECK(refusal().detail == "let through");
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches the program, by any name on the way to it") {
  temp.file("opt/real/tool", "#!/bin/sh\n", 0755);
  temp.folder("links");
  temp.link("links/tool", temp.at("opt/real/tool"));
  temp.folder("bin");
  temp.link("bin/tool", temp.at("links/tool"));
  SUBCASE("spelled") { write(temp.at("bin")); }
  SUBCASE("met on the way") { write(temp.at("links")); }
  SUBCASE("resolved") { write(temp.at("opt/real")); }
  SUBCASE("above") { write(temp.at("opt")); }
  SUBCASE("itself") { write(temp.at("opt/real/tool")); }
  SUBCASE("itself, by a second name") {
    std::filesystem::create_hard_link(temp.at("opt/real/tool"), temp.at("second"));
    write(temp.at("second"));
  }
  SUBCASE("placed over it") { write(temp.folder("data"), temp.at("opt/real")); }
  policy.launch.command = {temp.at("bin/tool")};
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches a folder that is searched before the program is found") {
  temp.folder("first");
  temp.file("second/tool", "#!/bin/sh\n", 0755);
  temp.folder("third");
  caller.environment["PATH"] = temp.at("first") + ":" + temp.at("second") + ":" + temp.at("third");
  policy.launch.command = {"tool"};
  SUBCASE("earlier") {
    write(temp.at("first"));
    CHECK(refused());
  }
  SUBCASE("later") {
    write(temp.at("third"));
    CHECK(refusal().detail == "let through");
  }
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches an interpreter of a script") {
  temp.file("i/real", "#!/bin/sh\n", 0755);
  temp.link("link", temp.at("i/real"));
  SUBCASE("named by the script") { temp.file("opt/tool", "#!" + temp.at("link") + " -x\n", 0755); }
  SUBCASE("of the interpreter") {
    temp.file("j", "#! " + temp.at("i/real") + "\n", 0755);
    temp.file("opt/tool", "#!" + temp.at("j") + "\n", 0755);
  }
  SUBCASE("searched by env") {
    temp.file("opt/tool", "#!/usr/bin/env -S real --flag\n", 0755);
    policy.launch.set["PATH"] = temp.at("none") + ":" + temp.at("i");
  }
  policy.launch.command = {temp.at("opt/tool")};
  write(temp.at("i"));
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches a file that the command names") {
  temp.file("w/a b.js", "");
  temp.folder("proj");
  SUBCASE("as a word") { policy.launch.command = {"sh", temp.at("w/a b.js")}; }
  SUBCASE("behind an equals sign") { policy.launch.command = {"sh", "--import=" + temp.at("w/a b.js")}; }
  SUBCASE("as a URL") { policy.launch.command = {"sh", "--import", "file://" + temp.at("w/a%20b.js") + "?x#y"}; }
  SUBCASE("as a URL of a host, behind an equals sign") {
    policy.launch.command = {"sh", "--import=FILE://localhost" + temp.at("w/a%20b.js")};
  }
  SUBCASE("in a class path") { policy.launch.command = {"sh", "-cp", "/none.jar:" + temp.at("w/a b.js")}; }
  SUBCASE("as an agent with options") { policy.launch.command = {"sh", "-javaagent:" + temp.at("w/a b.js") + "=on"}; }
  SUBCASE("as a file of arguments") { policy.launch.command = {"sh", "@" + temp.at("w/a b.js")}; }
  SUBCASE("right behind an option's letter") { policy.launch.command = {"sh", "-r" + temp.at("w/a b.js")}; }
  SUBCASE("through a symlink") { policy.launch.command = {"sh", temp.link("x.js", temp.at("w/a b.js"))}; }
  SUBCASE("relative to the working folder") {
    policy.isolation.read = {grant(temp.folder("proj"))};
    policy.launch.cwd = temp.at("proj");
    policy.launch.command = {"sh", "../w/a b.js"};
  }
  write(temp.at("w"));
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "no write grant shows a file of the command at another place") {
  temp.file("w/x.js", "");
  write(temp.at("w"), "/code");
  policy.launch.command = {"sh", "/code/x.js"};
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "a symlink is followed as it leads inside") {
  temp.file("w/x.js", "");
  temp.folder("proj");
  temp.link("proj/x.js", "/code/x.js");
  policy.isolation.read = {grant(temp.at("proj"), "/proj")};
  write(temp.at("w"), "/code");
  policy.launch.command = {"sh", "/proj/x.js"};
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches where a secret comes from") {
  policy::Secret secret;
  temp.file("w/token", "#!/bin/sh\n", 0755);
  SUBCASE("a file") { secret = {policy::Secret::Source::file, temp.at("w/token"), {}}; }
  SUBCASE("a file through a symlink") {
    secret = {policy::Secret::Source::file, temp.link("s", temp.at("w")) + "/token", {}};
  }
  SUBCASE("a program") { secret = {policy::Secret::Source::command, "", {temp.at("w/token")}}; }
  SUBCASE("a program's interpreter") {
    secret = {policy::Secret::Source::command, "", {temp.file("get", "#!" + temp.at("w/token") + "\n", 0755)}};
  }
  SUBCASE("what a program is given") { secret = {policy::Secret::Source::command, "", {"sh", temp.at("w/token")}}; }
  SUBCASE("a folder that a program is given") { secret = {policy::Secret::Source::command, "", {"ls", temp.at("w")}}; }
  policy.launch.secrets["TOKEN"] = secret;
  write(temp.at("w"));
  CHECK(refused());
}

TEST_CASE_FIXTURE(Fixture, "no write grant reaches a symlink on the way to the policy") {
  temp.file("real/one.yaml", "");
  temp.folder("w");
  temp.link("w/policies", temp.at("real"));
  policy.isolation.write = {grant(temp.at("w"))};
  const OwnPaths own = own_paths(caller, temp.at("w/policies/one.yaml"), temp.at("one.json"));
  const Status out = check_write_grants(policy, caller, own);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().code == Errc::policy_invalid);
  CHECK(out.error().detail.find(temp.at("w/policies")) != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a file that steers us has no second name beside a write grant") {
  temp.file("one.yaml", "");
  temp.file("token", "");
  policy.launch.secrets["TOKEN"] = {policy::Secret::Source::file, temp.at("token"), {}};
  write(temp.folder("data"));
  CHECK(refusal().detail == "let through");
  SUBCASE("the policy") { std::filesystem::create_hard_link(temp.at("one.yaml"), temp.at("data/x")); }
  SUBCASE("a secret's file") { std::filesystem::create_hard_link(temp.at("token"), temp.at("data/x")); }
  CHECK(refusal().code == Errc::file_untrusted);
  CHECK(refusal().remedy.starts_with("cp -p "));
  policy.isolation.write.clear();
  CHECK(refusal().detail == "let through");
}

TEST_CASE("a folder of ours that cannot be opened does not hide the others") {
  // As one that another session takes away while it is looked for; here the path is too long to be opened.
  const TempFolder temp;
  Caller caller = temp.caller();
  std::string base = temp.path();
  while (base.size() + 201 < 3900) {
    base += "/" + std::string(199, 'd');
  }
  std::filesystem::create_directories(base + "/mcp-cordon");
  caller.config_home = base;
  const UniqueFd folder(::open((base + "/mcp-cordon").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(folder);
  for (char c = 'a'; c < 'i'; ++c) {
    REQUIRE(::mkdirat(folder.get(), std::string(250, c).c_str(), 0700) == 0);
    REQUIRE(::mkdirat(folder.get(), std::string(1, c).c_str(), 0700) == 0);
  }
  const OwnPaths own = own_paths(caller, "/p", "/s");
  for (char c = 'a'; c < 'i'; ++c) {
    CHECK_MESSAGE(std::ranges::find(own.folders, base + "/mcp-cordon/" + c) != own.folders.end(), c);
    REQUIRE(::unlinkat(folder.get(), std::string(250, c).c_str(), AT_REMOVEDIR) == 0);
  }
}
