// SPDX-License-Identifier: Apache-2.0
#include "app/launch_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

const ReadTrusted kNoFiles = [](const std::string& path) -> Result<std::string> {
  return fail(Errc::file_untrusted, "not ours", path);
};

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  policy::Policy policy = {};
  std::vector<std::string> client_command = {};
  LaunchRequest::Depth depth = LaunchRequest::Depth::start;

  Fixture() {
    policy.server = "one";
    policy.file = "one.yaml";
    policy.launch.command = {"sh", "-c", "true"};
  }
  Result<PreparedLaunch> prepare() const {
    return prepare_launch(
        {policy, caller, client_command, own_paths(caller, temp.at("one.yaml"), temp.at("one.json")), kNoFiles, depth});
  }
};

bool has(const std::vector<std::string>& list, std::string_view entry) {
  return std::ranges::find(list, entry) != list.end();
}

}  // namespace

TEST_CASE("the server gets what the policy names and nothing else") {
  Fixture f;
  f.caller.environment["LANG"] = "C.UTF-8";
  f.caller.environment["GITHUB_TOKEN"] = "hidden";
  f.caller.environment["TOKEN"] = "s3cret";
  f.policy.launch.pass = {"LANG", "TZ"};
  f.policy.launch.set = {{"MODE", "x"}};
  f.policy.launch.secrets["API_TOKEN"] = {policy::Secret::Source::env, "TOKEN", {}};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(out->spec.environment == std::vector<std::string>{"API_TOKEN=s3cret", "HOME=/home/cordon", "LANG=C.UTF-8",
                                                          "MODE=x", "PATH=/usr/local/bin:/usr/bin:/bin",
                                                          "TMPDIR=/tmp"});
  CHECK(out->environment_names == std::vector<std::string>{"API_TOKEN", "HOME", "LANG", "MODE", "PATH", "TMPDIR"});
  REQUIRE(out->secrets.size() == 1);
  CHECK(out->secrets[0].name == "API_TOKEN");
  CHECK(out->secrets[0].value == "s3cret");
  // A passed name that the caller lacks is still part of what was reviewed.
  CHECK(has(out->fingerprint.environment_names, "TZ"));
}

TEST_CASE(
    "with a proxy the variables lead to it, whatever the policy sets, and around it for the server's own loopback") {
  Fixture f;
  f.policy.launch.set = {{"HTTPS_PROXY", "http://elsewhere.test:8080"}};
  f.policy.isolation.network.mode = policy::NetworkMode::proxy;
  f.policy.isolation.network.allow = {{.host = "localhost", .ports = {5432}}};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}) {
    CHECK(has(out->spec.environment, std::string(name) + "=http://127.0.0.1:1080"));
  }
  CHECK(has(out->spec.environment, "NODE_USE_ENV_PROXY=1"));
  CHECK(has(out->spec.environment, "NO_PROXY=::1,127.0.0.1"));
  CHECK(has(out->spec.environment, "no_proxy=::1,127.0.0.1"));
  f.policy.isolation.network.mode = policy::NetworkMode::transparent;
  const Result<PreparedLaunch> without = f.prepare();
  REQUIRE(without.has_value());
  CHECK(has(without->spec.environment, "HTTPS_PROXY=http://elsewhere.test:8080"));
  CHECK(!has(without->spec.environment, "NODE_USE_ENV_PROXY=1"));
}

TEST_CASE("argv[0] becomes absolute, and the file behind it is fixed") {
  Fixture f;
  f.temp.file("opt/tool-1", "#!/bin/sh\n", 0755);
  f.temp.folder("bin");
  f.temp.link("bin/tool", f.temp.at("opt/tool-1"));
  f.caller.environment["PATH"] = f.temp.at("bin");
  f.policy.launch.command = {"tool", "arg"};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(out->spec.argv == std::vector<std::string>{f.temp.at("bin/tool"), "arg"});
  CHECK(out->spec.executable == f.temp.at("opt/tool-1"));
  CHECK(has(out->spec.environment,
            "PATH=" + f.temp.at("bin") + ":" + f.temp.at("opt") + ":/usr/local/bin:/usr/bin:/bin"));
}

TEST_CASE("a client's command must be the policy's, element by element") {
  Fixture f;
  f.client_command = {"sh", "-c", "true"};
  CHECK(f.prepare().has_value());
  f.client_command = {"sh", "-c", "true", ""};
  CHECK(f.prepare().error().code == Errc::launch_changed);
  f.client_command = {"sh", "-c true"};
  CHECK(f.prepare().error().code == Errc::launch_changed);
}

TEST_CASE("a policy may take the client's command, but then gives no secrets") {
  Fixture f;
  f.policy.launch.command_from_client = true;
  f.client_command = {"sh", "-c", "other"};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(out->spec.argv.back() == "other");
  CHECK(out->fingerprint.command == f.client_command);
  f.policy.launch.secrets["API_TOKEN"] = {policy::Secret::Source::env, "PATH", {}};
  CHECK(f.prepare().error().code == Errc::policy_invalid);
}

TEST_CASE("a policy without a command needs one from the client") {
  Fixture f;
  f.policy.launch.command.clear();
  f.policy.launch.command_from_client = true;
  CHECK(f.prepare().error().code == Errc::policy_invalid);
}

TEST_CASE("a kept home lies in the state folder with mode 0700") {
  Fixture f;
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(out->spec.home_source == f.temp.at("home/.local/state/mcp-cordon/homes/one"));
  struct stat info{};
  REQUIRE(::stat(out->spec.home_source.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  f.policy.launch.home = policy::HomeMode::temporary;
  CHECK(f.prepare()->spec.home_source.empty());
}

TEST_CASE("without isolation HOME is the kept folder itself, which root's server could not reach") {
  Fixture f;
  f.policy.isolation.backend = policy::Backend::none;
  f.policy.isolation.reason = "why";
  f.caller.uid = 1000;
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(has(out->spec.environment, "HOME=" + out->spec.home_source));
  f.caller.uid = 0;
  CHECK(f.prepare().error().code == Errc::policy_invalid);
  f.policy.launch.home = policy::HomeMode::temporary;
  CHECK(has(f.prepare()->spec.environment, "HOME=/tmp"));
}

TEST_CASE("showing a plan fetches no secret and makes no folder") {
  Fixture f;
  f.depth = LaunchRequest::Depth::show;
  f.policy.launch.secrets["API_TOKEN"] = {policy::Secret::Source::env, "NOT_SET", {}};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE(out.has_value());
  CHECK(has(out->environment_names, "API_TOKEN"));
  CHECK_FALSE(std::filesystem::exists(out->spec.home_source));
}

TEST_CASE("no secret is fetched for a launch that is not admitted") {
  Fixture f;
  f.policy.launch.secrets["API_TOKEN"] = {
      policy::Secret::Source::command, "", {"sh", "-c", "echo s3cret; touch '" + f.temp.at("asked") + "'"}};
  LaunchRequest request{f.policy, f.caller, {}, {}, kNoFiles};
  request.admit = [](const catalog::LaunchFingerprint& now) -> Status {
    CHECK(now.command.size() == 3);
    return fail(Errc::launch_changed, "not this one");
  };
  CHECK(prepare_launch(request).error().code == Errc::launch_changed);
  CHECK_FALSE(std::filesystem::exists(f.temp.at("asked")));
  request.admit = [](const catalog::LaunchFingerprint&) { return Status(); };
  CHECK(prepare_launch(request).has_value());
  CHECK(std::filesystem::exists(f.temp.at("asked")));
}

TEST_CASE("a working folder below ~ is seen where its grant puts it") {
  Fixture f;
  f.temp.folder("home/proj/sub");
  f.policy.isolation.read = {{"~/proj", "/data", "", {}}};
  f.policy.launch.cwd = "~/proj/sub";
  CHECK(f.prepare()->spec.cwd == "/data/sub");
  f.policy.launch.cwd = "/data";
  CHECK(f.prepare()->spec.cwd == "/data");
  f.policy.launch.cwd = "sub";
  CHECK(f.prepare().error().code == Errc::policy_invalid);
}

TEST_CASE("a write grant over the policy stops the launch before any secret is fetched") {
  Fixture f;
  f.temp.file("one.yaml", "");
  f.policy.isolation.write = {{f.temp.path(), "/at", "because", {3, 9}}};
  f.policy.launch.secrets["API_TOKEN"] = {policy::Secret::Source::env, "NOT_SET", {}};
  CHECK(f.prepare().error().code == Errc::policy_invalid);
  CHECK(f.prepare().error().where == "one.yaml:3:9");
}

TEST_CASE("isolation is copied whole") {
  Fixture f;
  f.policy.isolation.backend = policy::Backend::none;
  f.policy.isolation.reason = "why";
  f.policy.isolation.require = {"network"};
  f.policy.isolation.proc = policy::Proc::minimal;
  f.policy.isolation.syscalls = policy::Syscalls::off;
  f.policy.isolation.user = "nobody";
  f.policy.isolation.limits.open_files = 17;
  f.policy.isolation.runtime = {"node"};
  f.policy.launch.home = policy::HomeMode::temporary;
  const sandbox::LaunchSpec spec = f.prepare()->spec;
  CHECK(spec.backend == sandbox::BackendChoice::none);
  CHECK(spec.none_reason == "why");
  CHECK(spec.require == std::vector<std::string>{"network"});
  CHECK(spec.proc_minimal);
  CHECK_FALSE(spec.syscall_filter);
  CHECK(spec.user == "nobody");
  CHECK(spec.limits.open_files == 17);
  CHECK(spec.runtime == std::vector<std::string>{"node"});
}
