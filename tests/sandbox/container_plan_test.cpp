// SPDX-License-Identifier: Apache-2.0
// Plans for podman and docker, made without either: what the client is told, what is promised, what is refused.
#include "sandbox/container_plan.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::able_host;
using cordon::test::root_on;

namespace {

using cordon::test::kImage;

HostFacts host(bool root = false) {
  HostFacts facts = able_host();
  const ImageFacts image = {.found = true,
                            .platform = "linux/amd64",
                            .entrypoint = {"node", "/app/index.js"},
                            .command = {"--help"},
                            .environment = {"PATH=/opt/bin:/usr/bin", "NODE_ENV=production", "TOKEN=image"},
                            .working_directory = "/app",
                            .volumes = {"/var/thing"}};
  facts.podman.image = facts.docker.image = image;
  facts.podman.runtime = "/usr/bin/runc";
  return root ? root_on(facts) : facts;
}

LaunchSpec spec_of(BackendChoice backend) {
  LaunchSpec spec;
  spec.backend = backend;
  spec.image.reference = kImage;
  spec.argv = {"--root", "/data"};
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/cordon", "TOKEN=very-secret"};
  spec.require = {"filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices"};
  spec.mounts = {{.source = "/data", .target = "/data", .writable = true}, {.source = "/ref", .target = "/srv/ref"}};
  spec.deny = {"/data/private"};
  spec.limits.memory_bytes = 536870912;
  spec.scratch = "/state/launch";
  if (backend == BackendChoice::docker) {
    std::erase(spec.require, "filesystem");  // docker cannot hide all that /proc tells
  }
  return spec;
}

Plan plan_of(const LaunchSpec& spec, const HostFacts& facts) {
  auto plan = select(spec, facts);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().to_string()));
  return *plan;
}

std::string refusal(const LaunchSpec& spec, const HostFacts& facts) {
  const auto plan = select(spec, facts);
  return plan ? std::string("accepted") : plan.error().to_string();
}

// One argument per word; <x> is the --mount of what appears at x.
std::string line_of(const Plan& plan) {
  std::string text;
  for (const ToolArgument& argument : plan.tool_arguments) {
    text += text.empty() ? "" : " ";
    text += argument.kind == ToolArgumentKind::mount ? text::cat("<", plan.view.at(argument.entry).target, ">")
                                                     : argument.text;
  }
  return text;
}

}  // namespace

TEST_CASE("what docker is told") {
  CHECK(
      line_of(plan_of(spec_of(BackendChoice::docker), host())) ==
      text::cat(
          "run --rm --pull never --name {name} --label dev.mcp-cordon=launch --network none --read-only --cap-drop ALL "
          "--security-opt no-new-privileges --security-opt seccomp={folder}/seccomp.json --user 1000:1000 "
          "--ipc private --cgroupns private --log-driver none --no-healthcheck --hostname cordon --workdir / "
          "--shm-size 67108864 --pids-limit 1032 --memory 536870912 --memory-swap 536870912 "
          "--ulimit nofile=4096:4096 --ulimit nproc=9999:9999 --ulimit core=1:1 "
          "--mount </tmp> --mount </var/thing> --mount </home/cordon> --mount </data> --mount </srv/ref> "
          "--mount </data/private> "
          "--mount type=bind,source={stage},target=/.mcp-cordon/stage,readonly "
          "--mount type=bind,source={folder}/socket,target=/.mcp-cordon/socket,readonly "
          "--entrypoint /.mcp-cordon/stage ",
          kImage, " contained"));
}

TEST_CASE("what podman is told besides") {
  const std::string line = line_of(plan_of(spec_of(BackendChoice::podman), host()));
  CHECK(line.starts_with("--runtime /usr/bin/runc run --rm --pull never "));
  CHECK(line.find(" --read-only-tmpfs=false --image-volume ignore --systemd=false --http-proxy=false --no-hosts "
                  "--pid private --uts private --security-opt mask=/proc/acpi:") != std::string::npos);
  CHECK(line.find(":/proc/kallsyms:") != std::string::npos);
  CHECK(line.find(":/sys --userns keep-id:uid=1000,gid=1000 --pids-limit") != std::string::npos);
  CHECK(line.find("/var/thing") == std::string::npos);
  const Plan as_root = plan_of(spec_of(BackendChoice::podman), host(true));
  CHECK(line_of(as_root).find("--userns") == std::string::npos);
  CHECK(line_of(as_root).find("--user 65534:65534") != std::string::npos);
  CHECK(as_root.container.map_owners);
}

TEST_CASE("with allowed hosts a container has no other network, and our resolver file") {
  LaunchSpec spec = spec_of(BackendChoice::docker);
  spec.network.allow = {{.host = "api.test", .ports = {443}}};
  CHECK(refusal(spec, host()).find("reason not_offered") != std::string::npos);
  for (const BackendChoice backend : {BackendChoice::docker, BackendChoice::podman}) {
    spec.backend = backend;
    const Plan plan = plan_of(spec, host(true));
    const std::string line = line_of(plan);
    CHECK(line.find(" --network none ") != std::string::npos);
    CHECK(line.find(" --cap-drop ALL ") != std::string::npos);
    CHECK(line.find("--cap-add") == std::string::npos);
    CHECK(line.find(" --mount type=bind,source={folder}/resolv.conf,target=/etc/resolv.conf,readonly "
                    "--mount type=bind,source={folder}/hosts,target=/etc/hosts,readonly ") != std::string::npos);
    CHECK(find_guarantee(plan, "network.hosts")->strength == Strength::enforced);
    CHECK(find_guarantee(plan, "network.names")->strength == Strength::enforced);
    CHECK(plan.network.doors.listen.size() == 1);
  }
}

TEST_CASE("no value of the environment and no argument of the server is in the client's command line") {
  for (const BackendChoice backend : {BackendChoice::podman, BackendChoice::docker}) {
    const Plan plan = plan_of(spec_of(backend), host());
    CHECK(line_of(plan).find("secret") == std::string::npos);
    CHECK(line_of(plan).find("--root") == std::string::npos);
    CHECK(to_json(plan).find("very-secret") == std::string::npos);
    CHECK(to_json(plan).find(kImage) != std::string::npos);
  }
}

TEST_CASE("the image says what is started, and the command overrides it as engines do") {
  LaunchSpec spec = spec_of(BackendChoice::podman);
  const auto argv = [&](const HostFacts& facts) { return plan_of(spec, facts).argv; };
  CHECK(argv(host()) == std::vector<std::string>{"node", "/app/index.js", "--root", "/data"});
  spec.argv.clear();
  CHECK(argv(host()) == std::vector<std::string>{"node", "/app/index.js", "--help"});
  spec.image.entrypoint = "sh";
  CHECK(argv(host()) == std::vector<std::string>{"sh"});
  spec.argv = {"-c", "x"};
  CHECK(argv(host()) == std::vector<std::string>{"sh", "-c", "x"});
  spec.image.entrypoint = "";
  CHECK(argv(host()) == std::vector<std::string>{"-c", "x"});
  spec.argv.clear();
  CHECK(refusal(spec, host()).find("names no program") != std::string::npos);
}

TEST_CASE("variables of the image are added, the policy's win, PATH is the image's") {
  const Plan plan = plan_of(spec_of(BackendChoice::podman), host());
  CHECK(plan.environment == std::vector<std::string>{"PATH=/opt/bin:/usr/bin", "HOME=/home/cordon", "TOKEN=very-secret",
                                                     "NODE_ENV=production"});
  CHECK(plan.working_directory == "/app");
  LaunchSpec spec = spec_of(BackendChoice::podman);
  spec.cwd = "/data";
  CHECK(plan_of(spec, host()).working_directory == "/data");
  HostFacts facts = host();
  facts.podman.image.working_directory = "";
  CHECK(plan_of(spec_of(BackendChoice::podman), facts).working_directory == "/home/cordon");
}

TEST_CASE("values that come later take the place of those that were planned, save the image's") {
  LaunchSpec spec = spec_of(BackendChoice::podman);
  Plan plan = plan_of(spec, host());
  spec.environment.back() = "TOKEN=fetched";
  set_environment(plan, spec);
  CHECK(plan.environment == std::vector<std::string>{"PATH=/opt/bin:/usr/bin", "HOME=/home/cordon", "TOKEN=fetched",
                                                     "NODE_ENV=production"});
  Plan plain = plan_of(cordon::test::simple_spec(), able_host());
  set_environment(plain, spec);
  CHECK(plain.environment == spec.environment);
}

TEST_CASE("limits are the container's where the engine keeps them, and partial where not") {
  const Plan plan = plan_of(spec_of(BackendChoice::podman), host());
  CHECK(find_guarantee(plan, "limits.memory")->strength == Strength::enforced);
  CHECK(find_guarantee(plan, "limits.processes")->strength == Strength::enforced);
  CHECK_FALSE(plan.limits.processes);
  CHECK_FALSE(plan.limits.memory_bytes);
  HostFacts facts = host();
  facts.podman.limits = false;
  CHECK(refusal(spec_of(BackendChoice::podman), facts).find("limits.memory is not enforced") != std::string::npos);
  LaunchSpec spec = spec_of(BackendChoice::podman);
  spec.limits = {};
  const Plan without = plan_of(spec, facts);
  CHECK(find_guarantee(without, "limits.processes")->reason == "no_cgroup_delegation");
  CHECK(without.limits.processes == 1024);
  CHECK(line_of(without).find("--pids-limit") == std::string::npos);
}

TEST_CASE("without Landlock, what only Landlock refuses is not promised") {
  HostFacts facts = host();
  facts.landlock_abi = 0;
  LaunchSpec spec = spec_of(BackendChoice::docker);
  spec.require.insert(spec.require.begin(), "filesystem");
  CHECK(refusal(spec, facts).find("filesystem.read is not enforced") != std::string::npos);
  spec = spec_of(BackendChoice::podman);
  CHECK(refusal(spec, facts).find("devices.listed is not enforced") != std::string::npos);
}

TEST_CASE("an engine that does not work, an image that is not there, and what containers cannot do are refused") {
  LaunchSpec spec = spec_of(BackendChoice::docker);
  HostFacts facts = host();
  facts.docker.trial = {.reason = "engine_unreachable", .hint = "docker says: Cannot connect"};
  const std::string unreachable = refusal(spec, facts);
  CHECK(unreachable.find("reason engine_unreachable") != std::string::npos);
  CHECK(unreachable.find("Cannot connect") != std::string::npos);
  facts = host();
  facts.docker.image = {};
  CHECK(refusal(spec, facts).find("does not have this image") != std::string::npos);
  CHECK(refusal(spec, facts).find(text::cat("docker pull ", kImage)) != std::string::npos);
  spec.image.platform = "linux/arm64";
  CHECK(refusal(spec, host()).find("the image is for linux/amd64") != std::string::npos);
  spec = spec_of(BackendChoice::docker);
  spec.image.reference = "";
  CHECK(refusal(spec, host()).find("there is none") != std::string::npos);
  spec.image.reference = "mcp/thing:latest";
  CHECK(refusal(spec, host()).find("not named by a digest") != std::string::npos);
  spec = spec_of(BackendChoice::podman);
  spec.proc_minimal = true;
  CHECK(refusal(spec, host()).find("filesystem.proc") != std::string::npos);
  spec = spec_of(BackendChoice::podman);
  spec.nested_userns = true;
  CHECK(refusal(spec, host()).find("not_offered") != std::string::npos);
  spec = spec_of(BackendChoice::podman);
  spec.mounts.push_back({.source = "/a,b", .target = "/a,b"});
  CHECK(refusal(spec, host()).find("a comma") != std::string::npos);
  spec = spec_of(BackendChoice::docker);
  spec.home_source = "/state/home";
  CHECK(refusal(spec, host(true)).find("running_as_root") != std::string::npos);
  CHECK(refusal(spec, host()) == "accepted");
  spec.require.push_back("filesystem");
  CHECK(refusal(spec, host())
            .find("filesystem.proc is not enforced (asked for by isolation.require): reason "
                  "proc_unmasked") != std::string::npos);
}

TEST_CASE("engines are never chosen unasked") {
  HostFacts facts = host();
  facts.namespaces.works = false;
  facts.bubblewrap.trial.works = false;
  LaunchSpec spec = spec_of(BackendChoice::automatic);
  spec.image = {};
  spec.argv = {"/usr/bin/server"};
  CHECK(select(spec, facts).error().where == "native, bubblewrap");
}

TEST_CASE("a plan for a container survives its way to the stage") {
  const Plan plan = plan_of(spec_of(BackendChoice::podman), host(true));
  const auto decoded = decode(encode(plan, {}));
  REQUIRE(decoded);
  CHECK(to_json(decoded->plan) == to_json(plan));
  CHECK(decoded->plan.container.scratch == "/state/launch");
  CHECK(decoded->plan.container.client_home == "/home/user");
  CHECK(decoded->plan.container.map_owners);
}
