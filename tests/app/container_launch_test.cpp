// SPDX-License-Identifier: Apache-2.0
// A policy that starts an image: what its command asks for has to be in the policy.
#include "app/container_launch.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "app/launch_plan.hpp"
#include "app/temp_folder.hpp"
#include "base/text.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

constexpr const char* kDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kImage = text::cat("mcp/thing@", kDigest);

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  policy::Policy policy = {};

  Fixture() {
    policy.server = "one";
    policy.file = "one.yaml";
    policy.launch.position = {3, 1};
    policy.isolation.position = {7, 1};
    policy.isolation.backend = policy::Backend::podman;
    temp.folder("data");
    temp.folder("out");
    policy.isolation.read.push_back({.path = temp.at("data"), .position = {9, 12}});
    policy.isolation.write.push_back({.path = temp.at("out"), .at = "/srv/out", .position = {10, 12}});
  }

  Result<PreparedLaunch> prepare(std::vector<std::string> flags, std::vector<std::string> arguments = {}) {
    std::vector<std::string> command = {"docker", "run", "-i", "--rm"};
    command.insert(command.end(), flags.begin(), flags.end());
    command.push_back(kImage);
    command.insert(command.end(), arguments.begin(), arguments.end());
    policy.launch.command = command;
    return prepare_launch(
        {policy,
         caller,
         {},
         own_paths(caller, temp.at("one.yaml"), temp.at("one.json")),
         [](const std::string& path) -> Result<std::string> { return fail(Errc::file_untrusted, "not ours", path); },
         LaunchRequest::Depth::start});
  }

  // "accepted", or the kind and the text.
  std::string said(std::vector<std::string> flags) {
    const Result<PreparedLaunch> out = prepare(std::move(flags));
    return out ? std::string("accepted") : text::cat(name(out.error().code), ": ", out.error().detail);
  }
};

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("docker run becomes an image with arguments") {
  Fixture f;
  f.policy.launch.set = {{"MODE", "x"}};
  const Result<PreparedLaunch> out = f.prepare({"--entrypoint", "node", "-w", "/app", "-e", "MODE"}, {"--flag", "y"});
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().to_string()));
  CHECK(out->spec.backend == sandbox::BackendChoice::podman);
  CHECK(out->spec.image.reference == kImage);
  CHECK(out->spec.image.entrypoint == "node");
  CHECK(out->spec.argv == std::vector<std::string>{"--flag", "y"});
  CHECK(out->spec.cwd == "/app");
  CHECK(out->spec.executable == "");
  CHECK(out->spec.scratch == f.caller.state_folder() + "/launch");
  struct stat status = {};
  REQUIRE(::stat(out->spec.scratch.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("mounts of the command must be grants, at the same place and with no more rights") {
  Fixture f;
  const std::string data = f.temp.at("data");
  const std::string out = f.temp.at("out");
  CHECK(f.said({"-v", text::cat(data, ":", data, ":ro")}) == "accepted");
  CHECK(f.said({"-v", text::cat(data, "/deep:", data, "/deep:ro")}) == "accepted");
  CHECK(f.said({"-v", text::cat(out, ":/srv/out")}) == "accepted");
  CHECK(f.said({"--mount", text::cat("type=bind,source=", out, "/a,target=/srv/out/a,readonly")}) == "accepted");

  const std::string writable = f.said({"-v", text::cat(data, ":", data)});
  CHECK(holds(writable, "isolation_conflict: the command asks for '-v "));
  CHECK(holds(writable, "(one.yaml:9:12)"));
  CHECK(holds(f.said({"-v", text::cat(out, ":/elsewhere")}), "(one.yaml:10:12)"));
  CHECK(holds(f.said({"-v", text::cat(out, "side:/srv/out")}), "does not grant it (one.yaml:7:1)"));
  CHECK(holds(f.said({"-v", "/opt:/opt:ro"}), "isolation_conflict: "));
  CHECK(holds(f.said({"-v", text::cat(f.temp.path(), ":/srv:ro")}), "isolation_conflict: "));
}

TEST_CASE("variables of the command must be listed, and their values are not repeated") {
  Fixture f;
  f.policy.launch.pass = {"LANG"};
  f.policy.launch.set = {{"MODE", "x"}};
  CHECK(f.said({"-e", "LANG", "-e", "MODE", "-e", "MODE=x"}) == "accepted");
  const std::string unlisted = f.said({"-e", "API_KEY=hush-hush"});
  CHECK(holds(unlisted,
              "isolation_conflict: the command asks for '-e API_KEY', but launch.environment does not list it"));
  CHECK_FALSE(holds(unlisted, "hush"));
  CHECK(holds(f.said({"-e", "MODE=y"}), "has another value"));
  CHECK(holds(f.said({"-e", "LANG=C"}), "has another value"));
}

TEST_CASE("network, user, folder and limits of the command must be the policy's") {
  Fixture f;
  CHECK(f.said({"--network", "none"}) == "accepted");
  CHECK(holds(f.said({"--network", "bridge"}),
              "isolation_conflict: the command asks for '--network bridge', but isolation.network decides that "
              "(one.yaml:7:1)"));
  CHECK(holds(f.said({"--network", "host"}), "policy_invalid: --network host would let"));
  CHECK(holds(f.said({"-u", "0"}), "isolation.user is not set"));
  CHECK(holds(f.said({"-m", "1g"}), "isolation.limits.memory sets no limit"));
  f.policy.isolation.limits.memory_bytes = 536870912;
  CHECK(f.said({"-m", "1g"}) == "accepted");
  CHECK(f.said({"-m", "512m"}) == "accepted");
  CHECK(holds(f.said({"-m", "256m"}), "isolation.limits.memory is 536870912"));
  CHECK(holds(f.said({"--pids-limit", "5"}), "isolation.limits.processes sets no limit"));
  f.policy.launch.cwd = "/srv";
  CHECK(f.said({"-w", "/srv"}) == "accepted");
  CHECK(holds(f.said({"-w", "/app"}), "launch.cwd is /srv (one.yaml:3:1)"));
  CHECK(holds(f.said({"--privileged"}), "policy_invalid: --privileged would give"));
}

TEST_CASE("other backends say where a container belongs") {
  Fixture f;
  for (const policy::Backend backend :
       {policy::Backend::automatic, policy::Backend::native, policy::Backend::bubblewrap}) {
    f.policy.isolation.backend = backend;
    CHECK(holds(f.said({}), "policy_invalid: the command starts a container"));
  }
  f.policy.isolation.backend = policy::Backend::docker;
  CHECK(f.said({}) == "accepted");
  f.policy.launch.command = {"/usr/bin/node", "x.js"};
  const Result<PreparedLaunch> out = prepare_launch({f.policy,
                                                     f.caller,
                                                     {},
                                                     own_paths(f.caller, f.temp.at("one.yaml"), f.temp.at("one.json")),
                                                     {},
                                                     LaunchRequest::Depth::show});
  REQUIRE_FALSE(out);
  CHECK(holds(out.error().detail, "neither docker nor podman"));
  CHECK(holds(out.error().where, "one.yaml:3:1: launch.command, word 1"));
}

TEST_CASE("the digest of the image is the program of the fingerprint; files are those that grants show") {
  Fixture f;
  f.temp.file("data/config.json", "{}");
  const Result<PreparedLaunch> out = f.prepare({}, {"/etc/hostname", f.temp.at("data/config.json"), "/srv/out"});
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().to_string()));
  CHECK(out->fingerprint.executable == kDigest);
  CHECK(out->fingerprint.command == f.policy.launch.command);
  REQUIRE(out->fingerprint.files.size() == 1);
  CHECK(out->fingerprint.files.begin()->first == f.temp.at("data/config.json"));

  const Result<PreparedLaunch> first = f.prepare({}, {f.temp.at("data/config.json")});
  REQUIRE(first);
  CHECK(launch_differences(out->fingerprint, first->fingerprint).size() >= 1);
}

TEST_CASE("a file that the command names must not be the server's to change") {
  Fixture f;
  f.temp.file("out/start.js", "x");
  const Result<PreparedLaunch> out = f.prepare({}, {"/srv/out/start.js"});
  REQUIRE_FALSE(out);
  CHECK(out.error().code == Errc::policy_invalid);
}
