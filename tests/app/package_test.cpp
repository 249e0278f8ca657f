// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/fingerprint.hpp"
#include "app/install.hpp"
#include "app/npm_client.hpp"
#include "app/npm_errors.hpp"
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "app/package_tree.hpp"
#include "app/package_users.hpp"
#include "app/store_check.hpp"
#include "app/tree_table.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "formats/policy_yaml.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << content;
}

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

// A package with one program, in the store of a caller whose home is a new folder.
struct World {
  World() {
    caller.home = temp.path();
    caller.data_home = temp.path() + "/data";
    caller.environment = {{"PATH", temp.path() + "/bin"}};
    record = {.server = "s",
              .package = "@a/pkg",
              .version = "1.0.0",
              .platform = "linux-x86_64",
              .lock_digest = sha256_text("lock"),
              .lock = "{}"};
    install();
  }

  void install() {
    auto staging = Staging::make(caller, "npm");
    REQUIRE(staging);
    const std::string tree = staging->folder() + "/tree";
    write(tree + "/node_modules/@a/pkg/package.json", R"({"bin":{"run":"dist/index.js","tool":"tool"}})");
    write(tree + "/node_modules/@a/pkg/dist/index.js", "#!/usr/bin/env -S node --no-warnings\n");
    write(tree + "/node_modules/@a/pkg/tool",
          "\x7f"
          "ELF");
    REQUIRE(seal_tree(tree));
    const auto digest = content_digest(tree);
    REQUIRE(digest);
    record.tree_digest = digest->digest;
    const Status published = staging->publish(caller, record);
    INFO((published ? std::string() : published.error().to_string()));
    REQUIRE(published);
  }

  std::string in_tree(const std::string& path) const {
    return store_place(caller, record).tree + "/node_modules/@a/pkg/" + path;
  }

  test::TempDir temp;
  Caller caller = {};
  formats::PackageRecord record = {};
};

LoadedPolicy policy_of(const std::string& text) {
  LoadedPolicy out;
  out.text = text;
  out.location.path = "/p.yaml";
  const auto read = formats::read_policy(text, "/p.yaml");
  REQUIRE(read);
  out.policy = *read;
  return out;
}

}  // namespace

TEST_CASE("what is published is there, sealed, and nothing else is left") {
  const World world;
  CHECK(check_store(world.caller, world.record, TreeCheck::quick, "i"));
  CHECK(check_store(world.caller, world.record, TreeCheck::full, "i"));
  struct stat info{};
  REQUIRE(::stat(world.in_tree("dist/index.js").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0444);
  for (const auto& entry : fs::directory_iterator(world.caller.packages_folder() + "/npm")) {
    CHECK_FALSE(entry.path().filename().string().starts_with("."));
  }
}

TEST_CASE("every change of an installed file is noticed") {
  World world;
  const auto refused = [&](TreeCheck check) {
    const Status found = check_store(world.caller, world.record, check, "mcp-cordon install s");
    return found ? std::string() : std::string(name(found.error().code));
  };
  const std::string script = world.in_tree("dist/index.js");
  struct stat before{};
  REQUIRE(::stat(script.c_str(), &before) == 0);
  ::chmod(script.c_str(), 0644);
  SUBCASE("content of the same size and time") {
    {
      std::fstream file(script, std::ios::in | std::ios::out);
      file.seekp(2);
      file << "x";
    }
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, script.c_str(), times, 0) == 0);
    ::chmod(script.c_str(), 0444);
  }
  SUBCASE("a new file") { write(world.in_tree("dist/preload.js"), "x"); }
  SUBCASE("a missing file") { fs::remove(world.in_tree("tool")); }
  SUBCASE("others may write") {
    ::chmod(script.c_str(), 0664);
    CHECK(refused(TreeCheck::quick) == "file_untrusted");
    ::chmod(script.c_str(), 0444);
    CHECK(refused(TreeCheck::full).empty());
    ::chmod(world.in_tree("dist").c_str(), 0777);
    CHECK(refused(TreeCheck::full) == "file_untrusted");
    ::chmod(world.in_tree("dist").c_str(), 0755);
    ::chmod(script.c_str(), 0555);
  }
  SUBCASE("a link in place of a file") {
    fs::rename(script, world.temp.path() + "/moved");
    fs::create_symlink(world.temp.path() + "/moved", script);
  }
  SUBCASE("a link in place of a folder") {
    fs::rename(world.in_tree("dist"), world.temp.path() + "/moved");
    fs::create_symlink(world.temp.path() + "/moved", world.in_tree("dist"));
  }
  SUBCASE("a file too large to be read") {
    ::chmod(world.in_tree("tool").c_str(), 0644);
    REQUIRE(::truncate(world.in_tree("tool").c_str(), std::int64_t{1} << 40) == 0);
    ::chmod(world.in_tree("tool").c_str(), 0444);
  }
  SUBCASE("a new file too large to be read") {
    write(world.in_tree("new"), "");
    REQUIRE(::truncate(world.in_tree("new").c_str(), std::int64_t{1} << 40) == 0);
  }
  SUBCASE("a right to execute") { ::chmod(script.c_str(), 0555); }
  CHECK(refused(TreeCheck::quick) == "launch_changed");
  CHECK(refused(TreeCheck::full) == "launch_changed");
  world.install();
  CHECK(refused(TreeCheck::quick).empty());
}

TEST_CASE("who else uses a package is known after it was installed again") {
  World world;
  REQUIRE(add_package_user(world.caller, world.record, "/one/p.lock.json", "/one/p.yaml"));
  fs::remove(world.in_tree("tool"));
  world.install();
  REQUIRE(add_package_user(world.caller, world.record, "/two/p.lock.json", "/two/p.yaml"));
  const auto users = package_users(store_place(world.caller, world.record).folder);
  REQUIRE(users);
  REQUIRE(users->has_value());
  REQUIRE((*users)->size() == 2);
  CHECK((*users)->front().record == "/one/p.lock.json");
}

TEST_CASE("a copied store is read once and then believed") {
  const World world;
  const StorePlace place = store_place(world.caller, world.record);
  fs::rename(place.tree, place.folder + "/old");
  fs::copy(place.folder + "/old", place.tree, fs::copy_options::recursive);
  const auto before = tree_table(place.tree);
  CHECK(check_store(world.caller, world.record, TreeCheck::quick, "i"));
  std::ifstream kept(place.witness);
  const std::string line{std::istreambuf_iterator<char>(kept), {}};
  REQUIRE(before);
  CHECK(line.ends_with(*before));
}

TEST_CASE("what is remembered of a store is believed as a whole or not at all") {
  const World world;
  const StorePlace place = store_place(world.caller, world.record);
  const auto look = [&] { return look_at_store(place, world.record, TreeCheck::quick, "i"); };
  CHECK(look() == Result<Looked>(Looked::at_facts));
  std::ifstream kept(place.witness, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(kept), {}};
  const auto put = [&](const std::string& content) {
    std::ofstream(place.witness, std::ios::binary | std::ios::trunc) << content;
  };
  const std::size_t last = whole.rfind(std::string_view("node_modules/", 13)) - sizeof(EntryFacts);
  for (const std::string& other : {std::string(), whole.substr(0, whole.size() / 2), whole.substr(0, last), whole + 'x',
                                   "v1" + whole.substr(2), text::cat(whole.substr(0, whole.size() - 2), "X", '\0')}) {
    put(other);
    CHECK(look() == Result<Looked>(Looked::at_contents));
    CHECK(look() == Result<Looked>(Looked::at_facts));
  }
  // The last file is no longer in the table, which alone does not know of it.
  put(whole.substr(0, last));
  ::chmod(world.in_tree("tool").c_str(), 0644);
  write(world.in_tree("tool"), "other");
  CHECK_FALSE(look());
  // For another digest it was not made.
  formats::PackageRecord other = world.record;
  other.tree_digest = sha256_text("other");
  put(whole);
  CHECK_FALSE(look_at_store(place, other, TreeCheck::quick, "i"));
}

TEST_CASE("a check beside other work gives the verdict once it is waited for") {
  const World world;
  SUBCASE("of the files") {
    StoreCheck check;
    check.begin(world.caller, world.record, "i");
    CHECK(check.wait() == Result<Looked>(Looked::at_facts));
    CHECK(check.wait() == Result<Looked>(Looked::at_facts));
  }
  SUBCASE("of files that changed") {
    write(world.in_tree("new"), "x");
    StoreCheck check;
    check.begin(world.caller, world.record, "i");
    for (int i = 0; i < 2; ++i) {
      REQUIRE_FALSE(check.wait());
      CHECK(check.wait().error().code == Errc::launch_changed);
    }
  }
  SUBCASE("nobody waits") {
    StoreCheck check;
    check.begin(world.caller, world.record, "i");
  }
}

TEST_CASE("an image is not said to be a package") {
  policy::Source source{.kind = policy::Source::Kind::npm, .package = "p", .version = "1.0.0"};
  CHECK(not_installed(source) == "the package p@1.0.0 is not installed");
  source.kind = policy::Source::Kind::oci;
  CHECK(not_installed(source).starts_with("the image p"));
}

TEST_CASE("what is not installed names the command") {
  World world;
  world.record.lock_digest = sha256_text("other");
  const Status found = check_store(world.caller, world.record, TreeCheck::quick, "mcp-cordon install s");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Errc::launch_failed);
  CHECK(found.error().remedy == "mcp-cordon install s");
}

TEST_CASE("other scripts are another place in the store") {
  World world;
  const std::string plain = store_place(world.caller, world.record).folder;
  world.record.scripts = {"a"};
  const std::string with_a = store_place(world.caller, world.record).folder;
  world.record.scripts = {"b"};
  CHECK(plain != with_a);
  CHECK(with_a != store_place(world.caller, world.record).folder);
}

TEST_CASE("what has no place in a package is refused") {
  const test::TempDir temp;
  const std::string tree = temp.path() + "/tree";
  write(tree + "/a/file", "x");
  SUBCASE("a link out of it") { fs::create_symlink("../../outside", tree + "/a/link"); }
  SUBCASE("a link that leads out of it through another") {
    fs::create_directories(tree + "/a/b/c");
    fs::create_symlink("../..", tree + "/a/b/c/up");
    fs::create_symlink("up/../../outside", tree + "/a/b/c/link");
  }
  SUBCASE("a link in place of the tree") {
    fs::rename(tree, temp.path() + "/other");
    fs::create_symlink("other", tree);
  }
  SUBCASE("an absolute link") { fs::create_symlink("/etc/passwd", tree + "/a/link"); }
  SUBCASE("a pipe") { REQUIRE(::mkfifo((tree + "/a/pipe").c_str(), 0600) == 0); }
  SUBCASE("a second name") { fs::create_hard_link(tree + "/a/file", tree + "/a/other"); }
  CHECK_FALSE(seal_tree(tree));
}

TEST_CASE("links within a package stay, and no set-id bit does") {
  const test::TempDir temp;
  const std::string tree = temp.path() + "/tree";
  write(tree + "/a/file", "x");
  fs::create_directories(tree + "/.bin");
  fs::create_symlink("../a/file", tree + "/.bin/file");
  ::chmod((tree + "/a/file").c_str(), 04755);
  REQUIRE(seal_tree(tree));
  struct stat info{};
  REQUIRE(::stat((tree + "/a/file").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0555);
}

TEST_CASE("a script is started by the interpreter that its first line names") {
  const World world;
  const std::string node = world.temp.path() + "/bin/node";
  write(node, "x");
  ::chmod(node.c_str(), 0755);
  const auto script = package_program(world.caller, world.record, {"run", "--flag"});
  REQUIRE(script);
  CHECK(script->argv == std::vector<std::string>{node, "--no-warnings", world.in_tree("dist/index.js"), "--flag"});
  CHECK(script->executable == node);
  CHECK(script->tree == store_place(world.caller, world.record).tree);
  const auto binary = package_program(world.caller, world.record, {"tool"});
  REQUIRE(binary);
  CHECK(binary->argv == std::vector<std::string>{world.in_tree("tool")});
  const auto missing = package_program(world.caller, world.record, {"other"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().remedy == "it has: run, tool");
}

TEST_CASE("a store behind a symlink is shown at its real path") {
  World world;
  fs::rename(world.caller.data_home, world.temp.path() + "/elsewhere");
  fs::create_directory_symlink(world.temp.path() + "/elsewhere", world.caller.data_home);
  write(world.temp.path() + "/bin/node", "");
  ::chmod((world.temp.path() + "/bin/node").c_str(), 0755);
  const auto program = package_program(world.caller, world.record, {"run"});
  REQUIRE(program);
  CHECK(program->tree.starts_with(world.temp.path() + "/elsewhere/"));
  CHECK(program->argv.back().starts_with(program->tree + "/"));
  CHECK(program->folders.front().starts_with(program->tree + "/"));
}

TEST_CASE("who names users is not waited for") {
  const World world;
  const std::string users = store_place(world.caller, world.record).users;
  REQUIRE(::mkfifo(users.c_str(), 0600) == 0);
  CHECK_FALSE(add_package_user(world.caller, world.record, "/p.lock.json", "/p.yaml"));
  CHECK_FALSE(package_users(store_place(world.caller, world.record).folder));
}

TEST_CASE("a package does not choose a program among the user's own files") {
  const World world;
  const std::string own = world.temp.path() + "/secrets/tool";
  write(own, "the user's");
  ::chmod(own.c_str(), 0755);
  const std::string script = world.in_tree("dist/index.js");
  ::chmod(script.c_str(), 0644);
  write(script, "#!" + own + "\n");
  const auto none = package_program(world.caller, world.record, {"run"});
  REQUIRE_FALSE(none);
  CHECK(none.error().detail == "the package's program is run by 'tool': there is no program 'tool' in PATH");
  write(script, "#!/usr/.." + own + "\n");
  CHECK_FALSE(package_program(world.caller, world.record, {"run"}));
  write(script, "#!/bin/sh\n");
  CHECK(package_program(world.caller, world.record, {"run"}));
}

TEST_CASE("a record counts for the source that it was made for") {
  formats::PackageRecord record{.package = "p", .version = "1.2.3"};
  policy::Source source{.package = "p", .version = "1.2.3"};
  const auto refusal = [&] {
    const Status fits = check_record(source, record, "w", "i");
    return fits ? std::string() : std::string(name(fits.error().code));
  };
  CHECK(refusal().empty());
  source.version = "1.2.4";
  CHECK(refusal() == "launch_failed");
  source.version = "latest";
  CHECK(refusal() == "policy_invalid");
  source.allow_unpinned = true;
  CHECK(refusal().empty());
  source.scripts = policy::Source::Scripts::allow;
  source.script_packages = {"x"};
  CHECK(refusal() == "launch_failed");
  record.scripts = {"x"};
  CHECK(refusal().empty());
  source.package = "q";
  CHECK(refusal() == "launch_failed");
}

TEST_CASE("a version is written where the policy names the package") {
  const std::string before =
      "# pkg\nversion: 1\nserver: s\nlaunch:\n  source: {npm: \"@a/pkg\"}  # pkg\n  command: [pkg]\n";
  const auto after = with_version(policy_of(before), "1.2.3");
  REQUIRE(after);
  CHECK(*after ==
        "# pkg\nversion: 1\nserver: s\nlaunch:\n  source: {npm: \"@a/pkg@1.2.3\"}  # pkg\n  command: [pkg]\n");
  CHECK(with_version(policy_of(*after), "2.0.0")->find("@a/pkg@2.0.0\"") != std::string::npos);
  const auto plain =
      with_version(policy_of("version: 1\nserver: s\nlaunch:\n  source:\n    npm: pkg\n  command: [pkg]\n"), "1.0.0");
  REQUIRE(plain);
  CHECK(plain->find("npm: pkg@1.0.0\n") != std::string::npos);
  const auto folded = with_version(
      policy_of("version: 1\nserver: s\nlaunch:\n  source: {npm: \"p\\u006bg\"}\n  command: [pkg]\n"), "1.0.0");
  CHECK_FALSE(folded);
}

TEST_CASE("npm asks the registries of the user's settings and no other host") {
  const auto plain = npm_client_of({});
  REQUIRE(plain);
  REQUIRE(plain->network.allow.size() == 1);
  CHECK(plain->network.allow[0].host == "registry.npmjs.org");
  CHECK(plain->network.allow[0].ports == std::vector<std::uint16_t>{443});
  CHECK(plain->network.allow[0].private_addresses);

  const auto own = npm_client_of({{"registry", "http://localhost:4873"},
                                  {"@corp:registry", "https://npm.corp.test/r"},
                                  {"//npm.corp.test/r/:_authToken", "secret"},
                                  {"//other.test/:_authToken", "another"}});
  REQUIRE(own);
  REQUIRE(own->network.allow.size() == 2);
  CHECK(own->network.allow[0].host == "127.0.0.1");
  CHECK(own->network.allow[0].kind == egress::HostKind::address);
  CHECK(own->network.allow[1].host == "npm.corp.test");
  CHECK(own->network.allow[1].private_addresses);
  CHECK(has(own->environment, "npm_config_registry=http://127.0.0.1:4873/"));
  CHECK(has(own->environment, "npm_config_//npm.corp.test:443/r/:_authToken=secret"));
  REQUIRE(own->secrets.size() == 1);
  CHECK(own->secrets[0].value == "secret");
  for (const std::string& variable : own->environment) {
    CHECK(variable.find("another") == std::string::npos);
  }
}

TEST_CASE("who waits before taking what is new waits in the sandbox, too") {
  const auto client = npm_client_of({{"min-release-age", "3"}, {"before", "2026-01-01"}});
  REQUIRE(client);
  CHECK(has(client->environment, "npm_config_min_release_age=3"));
  CHECK(has(client->environment, "npm_config_before=2026-01-01"));
}

TEST_CASE("behind a proxy only the proxy is reached") {
  const auto client = npm_client_of({{"https-proxy", "http://me:pw@proxy.test:3128"}, {"registry", "https://r.test/"}});
  REQUIRE(client);
  REQUIRE(client->network.allow.size() == 1);
  CHECK(client->network.allow[0].host == "proxy.test");
  CHECK(client->network.sni == egress::SniCheck::off);
  CHECK(has(client->environment, "npm_config_https_proxy=http://me:pw@proxy.test:3128/"));
  CHECK(client->secrets.at(0).value == "me:pw");
}

TEST_CASE("settings that give the boundary away are refused") {
  CHECK_FALSE(npm_client_of({{"strict-ssl", "false"}}));
  CHECK_FALSE(npm_client_of({{"//r.test/:certfile", "/c"}}));
  CHECK_FALSE(npm_client_of({{"registry", "file:///x"}}));
  CHECK_FALSE(npm_client_of({{"registry", "https://a b/"}}));
}

TEST_CASE("npm's failures are told in words") {
  const auto told = [](std::vector<std::string> lines) { return npm_failure("p@1.0.0", 1, lines); };
  CHECK(told({"npm http fetch GET 404 x", "npm error code E404", "npm error 404 x"}).detail ==
        "the registry knows no such package, or does not show it to this user (E404)");
  CHECK(told({"npm ERR! code EINTEGRITY"}).detail.find("digest") != std::string::npos);
  CHECK(told({"npm error code ECONNRESET", "1", "2", "3", "4", "5", "6", "7", "8", "9"}).detail ==
        "the registry cannot be reached (ECONNRESET)");
  CHECK(told({"npm error code ECONNABORTED"}).remedy.find("what .npmrc names as registry") != std::string::npos);
  CHECK(told({"npm error code ETARGET"}).remedy == "look which versions there are: npm view p versions");
  CHECK(told({"npm error code E503"}).detail == "the registry cannot answer now (E503)");
  CHECK(told({"npm error code FETCH_ERROR", "npm error body: ENOSPC: no space left on device"}).detail ==
        "the disk is full (ENOSPC)");
  CHECK(told({"npm error code ENOSPC"}).detail == "the disk is full (ENOSPC)");
  CHECK(told({"npm error code EWHATEVER", "npm error why"}).detail ==
        "it ended with status 1: npm error code EWHATEVER | npm error why");
}

TEST_CASE("another package is another launch") {
  catalog::LaunchFingerprint reviewed;
  reviewed.command = {"run"};
  reviewed.package = {"npm:p@1.0.0", "sha256:a", "sha256:b"};
  catalog::LaunchFingerprint now = reviewed;
  CHECK(launch_differences(reviewed, now).empty());
  now.package.tree = "sha256:c";
  CHECK(launch_differences(reviewed, now) == std::vector<std::string>{"the installed files of npm:p@1.0.0 changed"});
  now.package.lock = "sha256:c";
  CHECK(launch_differences(reviewed, now) ==
        std::vector<std::string>{"the packages below npm:p@1.0.0 changed (another lock file)"});
  now.package.source = "npm:p@1.0.1";
  CHECK(launch_differences(reviewed, now) ==
        std::vector<std::string>{"the package was npm:p@1.0.0 and is npm:p@1.0.1"});
  now.package = {};
  CHECK(launch_differences(reviewed, now) == std::vector<std::string>{"the package was npm:p@1.0.0 and is none"});
}
