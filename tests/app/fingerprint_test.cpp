// SPDX-License-Identifier: Apache-2.0
#include "app/fingerprint.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"
#include "base/hash.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

struct Fixture {
  TempFolder temp = {};
  policy::Policy policy = {};
  std::vector<std::string> command = {};
  std::vector<sandbox::Mount> mounts = {};
  std::string cwd = {};

  Fixture() {
    temp.file("node", "program", 0755);
    temp.file("proj/index.js", "script");
    command = {"node", temp.at("proj/index.js"), "--verbose", "/data"};
  }
  catalog::LaunchFingerprint take() const {
    const auto out = fingerprint({policy, command, temp.at("node"), mounts, DigestCache(""), cwd, temp.at("bin")});
    REQUIRE(out.has_value());
    return *out;
  }
};

}  // namespace

TEST_CASE("the program and every regular file of the command are digested") {
  const Fixture f;
  const catalog::LaunchFingerprint out = f.take();
  CHECK(out.command == f.command);
  CHECK(out.executable == sha256_text("program"));
  REQUIRE(out.files.size() == 1);
  CHECK(out.files.at(f.temp.at("proj/index.js")) == sha256_text("script"));
}

TEST_CASE("a file is found behind an equals sign, a grant's place, and the working folder") {
  Fixture f;
  f.temp.file("proj/conf.json", "conf");
  f.mounts = {{f.temp.at("proj"), "/data", false}};
  f.command = {"node", "index.js", "--config=/data/conf.json"};
  f.cwd = "/data";
  const catalog::LaunchFingerprint out = f.take();
  REQUIRE(out.files.size() == 2);
  CHECK(out.files.at("/data/index.js") == sha256_text("script"));
  CHECK(out.files.at("/data/conf.json") == sha256_text("conf"));
}

TEST_CASE("the interpreters of a script are digested, also one that env looks for") {
  Fixture f;
  f.command = {"node"};
  f.temp.file("run", "interpreter", 0755);
  SUBCASE("named") {
    f.temp.file("node", "#!" + f.temp.at("run") + " -x\n", 0755);
    CHECK(f.take().files == std::map<std::string, std::string>{{f.temp.at("run"), sha256_text("interpreter")}});
  }
  SUBCASE("looked for") {
    f.temp.file("bin/run", "found", 0755);
    f.temp.file("node", "#!/usr/bin/env run\n", 0755);
    const auto files = f.take().files;
    CHECK(files.size() == 2);
    CHECK(files.contains("/usr/bin/env"));
    CHECK(files.at(f.temp.at("bin/run")) == sha256_text("found"));
  }
}

TEST_CASE("a file that a URL names is digested") {
  Fixture f;
  f.command = {"node", "--import", "file://" + f.temp.at("proj/index.js")};
  CHECK(f.take().files.at(f.temp.at("proj/index.js")) == sha256_text("script"));
}

TEST_CASE("equal launches have no difference") {
  const Fixture f;
  CHECK(launch_differences(f.take(), f.take()).empty());
}

TEST_CASE("each kind of change is told") {
  Fixture f;
  f.policy.launch.set = {{"MODE", "a"}};
  const catalog::LaunchFingerprint before = f.take();
  std::string expected;
  SUBCASE("command") {
    f.command.push_back("--more");
    expected = "the command was";
  }
  SUBCASE("program") {
    f.temp.file("node", "other program", 0755);
    expected = "the program that the command starts changed";
  }
  SUBCASE("script") {
    f.temp.file("proj/index.js", "other script");
    expected = "the content of " + f.temp.at("proj/index.js") + " changed";
  }
  SUBCASE("value") {
    f.policy.launch.set = {{"MODE", "b"}};
    expected = "values of launch.environment.set changed";
  }
  SUBCASE("names") {
    f.policy.launch.pass = {"LANG"};
    expected = "the environment held MODE and holds LANG, MODE";
  }
  const std::vector<std::string> out = launch_differences(before, f.take());
  REQUIRE(out.size() == 1);
  CHECK(out[0].starts_with(expected));
}

TEST_CASE("a file that is written, replaced or touched is another witness") {
  const Fixture f;
  const std::string path = f.temp.at("node");
  const FileWitness before = witness(path);
  CHECK(before.inode != 0);
  CHECK(witness(path) == before);
  std::filesystem::rename(f.temp.file("other", "program", 0755), path);
  CHECK(witness(path) != before);
  CHECK(witness(f.temp.at("absent")) == FileWitness{});
}

TEST_CASE("a snapshot that is bound to no launch fits none") {
  const Fixture f;
  CHECK(launch_differences({}, f.take()) == std::vector<std::string>{"the snapshot is bound to no launch"});
}

TEST_CASE("a value of the environment is not in the fingerprint") {
  Fixture f;
  f.policy.launch.set = {{"MODE", "visible-value"}};
  CHECK(f.take().set_values.find("visible-value") == std::string::npos);
  CHECK(f.take().set_values.starts_with("sha256:"));
}

TEST_CASE("what the server printed into a path cannot reach a terminal through a difference") {
  const Fixture f;
  catalog::LaunchFingerprint now = f.take();
  now.command.emplace_back("\x1b[2Jhidden");
  const std::vector<std::string> out = launch_differences(f.take(), now);
  REQUIRE(out.size() == 1);
  CHECK(out[0].find('\x1b') == std::string::npos);
}
