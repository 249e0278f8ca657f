// SPDX-License-Identifier: Apache-2.0
// `docker run …` as people have it in their configurations, and what must not get through.
#include "sandbox/container_command.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using namespace cordon;
using namespace cordon::sandbox;

namespace {

constexpr const char* kImage = "mcp/filesystem@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  for (const std::string_view word : text::split(line, ' ')) {
    out.emplace_back(word == "IMAGE" ? kImage : word);
  }
  return out;
}

ContainerCommand parsed(std::string_view line) {
  auto command = parse_container_command(words(line));
  REQUIRE_MESSAGE(command, line, ": ", (command ? "" : command.error().to_string()));
  return *command;
}

// "word N: what is wrong", or "accepted".
std::string refusal(std::string_view line) {
  const auto command = parse_container_command(words(line));
  if (command) {
    return "accepted";
  }
  CHECK(command.error().code == Errc::policy_invalid);
  return text::cat(std::string_view(command.error().where).substr(std::string_view("launch.command, ").size()), ": ",
                   command.error().detail);
}

bool refuses(std::string_view flags, std::string_view part) {
  const std::string said = refusal(text::cat("docker run ", flags, " IMAGE"));
  if (said.find(part) == std::string::npos) {
    MESSAGE(flags, ": ", said);
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a usual command is taken apart") {
  const ContainerCommand command = parsed(
      "docker run -i --rm --init -e API_KEY -eMODE=a=b --env=EMPTY= -v /data:/srv/data:ro "
      "--mount type=bind,src=/out,dst=/srv/out --network none -w /srv -u 1000:1000 --name thing --pull never "
      "--memory=512m --pids-limit 100 --platform linux/amd64 IMAGE --allow -x");
  CHECK(command.image == kImage);
  CHECK(command.digest == std::string(kImage).substr(std::string(kImage).find('@') + 1));
  CHECK(command.arguments == std::vector<std::string>{"--allow", "-x"});
  REQUIRE(command.variables.size() == 3);
  CHECK(command.variables[0].name == "API_KEY");
  CHECK_FALSE(command.variables[0].value);
  CHECK(command.variables[1].name == "MODE");
  CHECK(command.variables[1].value == "a=b");
  CHECK(command.variables[2].value == "");
  REQUIRE(command.mounts.size() == 2);
  CHECK(command.mounts[0].source == "/data");
  CHECK(command.mounts[0].target == "/srv/data");
  CHECK_FALSE(command.mounts[0].writable);
  CHECK(command.mounts[1].writable);
  CHECK(command.mounts[1].flag == "--mount type=bind,src=/out,dst=/srv/out");
  CHECK(command.network == "none");
  CHECK(command.working_directory == "/srv");
  CHECK(command.user == "1000:1000");
  CHECK(command.memory_bytes == 512ULL * 1024 * 1024);
  CHECK(command.processes == 100);
  CHECK(command.platform == "linux/amd64");
  CHECK_FALSE(command.entrypoint);
}

TEST_CASE("every spelling of a flag means the same") {
  for (const char* line :
       {"docker run -e A=1 IMAGE", "docker run -eA=1 IMAGE", "docker run -e=A=1 IMAGE", "docker run -ie A=1 IMAGE",
        "docker run -ieA=1 IMAGE", "docker run --env A=1 IMAGE", "docker run --env=A=1 IMAGE",
        "/usr/bin/podman run --env=A=1 IMAGE", "docker container run --interactive=true --env=A=1 -- IMAGE"}) {
    CAPTURE(line);
    const ContainerCommand command = parsed(line);
    REQUIRE(command.variables.size() == 1);
    CHECK(command.variables[0].name == "A");
    CHECK(command.variables[0].value == "1");
    CHECK(command.arguments.empty());
  }
}

TEST_CASE("flags after the image are the server's") {
  const ContainerCommand command = parsed("docker run --entrypoint node IMAGE --privileged -v /:/host");
  CHECK(command.arguments == std::vector<std::string>{"--privileged", "-v", "/:/host"});
  CHECK(command.mounts.empty());
  CHECK(command.entrypoint == "node");
}

TEST_CASE("what takes a wall away is refused by name, in every spelling") {
  for (const char* flags : {"--privileged",
                            "--privileged=true",
                            "-i --privileged",
                            "--cap-add SYS_ADMIN",
                            "--cap-add=ALL",
                            "--pid host",
                            "--pid=host",
                            "--uts host",
                            "--userns=host",
                            "--userns keep-id",
                            "--device /dev/kvm",
                            "--gpus all",
                            "--volumes-from other",
                            "--cgroup-parent x",
                            "--group-add docker",
                            "--sysctl a=b",
                            "--runtime x",
                            "--env-file f",
                            "--add-host a:1.2.3.4",
                            "-p 80:80",
                            "-p80:80",
                            "-P",
                            "--publish-all",
                            "-d",
                            "--detach",
                            "--link a",
                            "--ulimit nofile=1",
                            "--pod x",
                            "--rootfs",
                            "-h name",
                            "--dns 1.1.1.1"}) {
    CHECK(refuses(flags, "would "));
  }
  for (const char* flags : {"-t", "-it", "-ti", "--tty", "--tty=true", "-i -t"}) {
    CHECK(refuses(flags, "makes a terminal"));
  }
  CHECK(refuses("--secret x", "launch.environment.secrets"));
  CHECK(refuses("--ipc host", "--ipc host is not possible here"));
  CHECK(refuses("--ipc=container:x", "--ipc container:x"));
  CHECK(refuses("--cgroupns host", "--cgroupns host"));
  CHECK(refuses("--pull soon", "--pull soon"));
  CHECK(refuses("--log-driver json-file", "--log-driver"));
  CHECK(refuses("--restart always", "--restart"));
  CHECK(refuses("--network host", "share the network"));
  CHECK(refuses("--net=host", "share the network"));
  CHECK(refuses("--network container:x", "share the network"));
  CHECK(refuses("--security-opt seccomp=unconfined", "switch a wall off"));
  CHECK(refuses("--security-opt apparmor=unconfined", "switch a wall off"));
  CHECK(refuses("--security-opt seccomp=/x.json", "profiles are those of this backend"));
  CHECK(refuses("--rm=false", "--rm=false"));
  CHECK(refuses("--read-only=false", "--read-only=false"));
}

TEST_CASE("mounts of engine sockets, of the machine, of volumes and of odd options are refused") {
  CHECK(refuses("-v /var/run/docker.sock:/var/run/docker.sock", "socket of a container engine"));
  CHECK(refuses("-v/var/run/docker.sock:/d.sock:ro", "socket of a container engine"));
  CHECK(refuses("--mount type=bind,source=/home/u/podman.sock,target=/p", "socket of a container engine"));
  for (const char* source : {"/", "/run", "/var/run", "/run/user/1000", "/proc", "/sys/fs", "/dev/shm", "/boot"}) {
    CHECK(refuses(text::cat("-v ", source, ":/x"), "what belongs to the machine"));
  }
  CHECK(refuses("-v name:/data", "a volume or a relative path"));
  CHECK(refuses("-v ./x:/data", "a volume or a relative path"));
  CHECK(refuses("-v ~/x:/data", "a volume or a relative path"));
  CHECK(refuses("-v /data", "is not SOURCE:TARGET"));
  CHECK(refuses("-v /data/../etc:/x", "not an absolute path without"));
  CHECK(refuses("-v /data:/", "no absolute path inside"));
  CHECK(refuses("-v /data:/x:rshared", "option rshared"));
  CHECK(refuses("-v /data:/x:U", "option U"));
  CHECK(refuses("--mount source=x,target=/y", "type volume"));
  CHECK(refuses("--mount type=tmpfs,target=/x", "type tmpfs"));
  CHECK(refuses("--mount type=bind,source=/a,target=/b,bind-propagation=shared", "option bind-propagation"));
  CHECK(refuses("--mount type=bind,source=/a,\"target=/b\"", "quotes"));
  CHECK(refuses("--tmpfs /var", "only /tmp"));
  CHECK(parsed("docker run --tmpfs /tmp:rw,size=1m --mount type=tmpfs,target=/tmp -v /a:/b:ro,Z IMAGE").mounts.size() ==
        1);
}

TEST_CASE("what is not understood is refused, not passed on") {
  CHECK(refuses("--frobnicate", "word 3: unknown flag --frobnicate"));
  CHECK(refuses("-x", "unknown flag -x"));
  CHECK(refuses("-ix", "unknown flag -x"));
  CHECK(refuses("--e A=1", "unknown flag --e"));
  CHECK(refuses("--", "accepted"));
  CHECK(refusal("docker run -e") == "word 3: -e has no value");
  CHECK(refusal("docker run -i") == "word 4: there is no image");
  CHECK(refusal("docker ps").starts_with("word 2: only 'run'"));
  CHECK(refusal("docker --context x run IMAGE").starts_with("word 2: only 'run'"));
  CHECK(refusal("dockers run IMAGE").starts_with("word 1: is neither docker nor podman"));
  CHECK(refuses("--memory lots", "is not a limit"));
  CHECK(refuses("--memory 99999999999999999999g", "is not a limit"));
  CHECK(refuses("--pids-limit -1", "is not a limit"));
  CHECK(refuses("-w srv", "is not an absolute path"));
  CHECK(refuses("-e =x", "names no variable"));
  CHECK(refuses("-e LC_*", "names no variable"));
}

TEST_CASE("an image is named by its digest or not at all") {
  for (const char* image : {"alpine", "alpine:3.20", "alpine@sha256:abc",
                            "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                            "-x@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                            "a@sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
                            "a b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                            "a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"}) {
    CHECK_FALSE(image_digest(image));
  }
  CHECK(refusal("docker run alpine:3.20 sh") == "word 3: the image alpine:3.20 is not named by a digest");
  const auto refused = parse_container_command(words("docker run alpine:3.20"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().remedy.find("RepoDigests") != std::string::npos);
}
