// SPDX-License-Identifier: Apache-2.0
#include "app/package_command.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "app/image_command.hpp"
#include "core/policy/source.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("an npx command stands for the same launch as its source") {
  const auto meant = package_command({"npx", "-y", "@a/pkg@latest", "--flag", "/data"});
  REQUIRE(meant);
  CHECK(policy::spelled(meant->source) == "@a/pkg@latest");
  CHECK(meant->command == std::vector<std::string>{"pkg", "--flag", "/data"});
  const auto named = package_command({"npx", "--yes", "-p", "@a/pkg", "srv", "x"});
  REQUIRE(named);
  CHECK(named->command == std::vector<std::string>{"srv", "x"});
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"node", "x.js"},
                                             {"npx", "-y", "github:a/b"},
                                             {"npx", "--registry=https://x.test", "pkg"},
                                             {"npx", "-p", "a", "-p", "b", "srv"},
                                             {"npm", "--registry=https://x.test", "exec", "pkg"},
                                             {"npm", "--prefix", "/x", "exec", "pkg"},
                                             {"env", "npm_config_registry=https://x.test", "npx", "pkg"},
                                             {"env", "PATH=/x", "npx", "pkg"},
                                             {"uvx", "--index", "https://x.test", "pkg"},
                                             {"uvx", "--with", "other", "pkg"},
                                             {"uvx", "--python", "3.12", "pkg"},
                                             {"uvx", "--from", "git+https://x.test/y", "pkg"},
                                             {"uv", "run", "--with", "pkg", "python", "-m", "pkg"},
                                             {"docker", "run", "-i", "img"}}) {
    CAPTURE(other.back());
    CHECK_FALSE(package_command(other));
  }
}

TEST_CASE("words of a runner that only say how it talks do not keep a package from being named") {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"npx", "--loglevel=error", "-y", "pkg", "a"},
                                             {"npx", "--loglevel", "error", "pkg", "a"},
                                             {"npx", "-y", "--no-audit", "--verbose", "pkg", "a"},
                                             {"npx", "--cache", "/tmp/x", "pkg", "a"},
                                             {"pnpm", "--silent", "dlx", "pkg", "a"}}) {
    CAPTURE(command[1]);
    const auto meant = package_command(command);
    REQUIRE(meant);
    CHECK(policy::spelled(meant->source) == "pkg");
    CHECK(meant->command == std::vector<std::string>{"pkg", "a"});
  }
  const auto named = package_command({"pnpm", "--package=@a/pkg@1.0.0", "dlx", "srv"});
  REQUIRE(named);
  CHECK(policy::spelled(named->source) == "@a/pkg@1.0.0");
  CHECK(named->command == std::vector<std::string>{"srv"});
  CHECK(package_command({"npx", "--registry", "https://x.test", "pkg"}).error().detail.contains("--registry"));
  CHECK(package_command({"npx", "-p", "a", "-p", "b", "srv"}).error().detail.contains("names b beside a"));
}

TEST_CASE("what the command sets is a part of the launch") {
  policy::Launch launch;
  launch.source = policy::Source{.package = "pkg", .version = "1.2.3"};
  launch.command = {"pkg"};
  const std::vector<std::string> command = {"env", "MODE=x", "npx", "-y", "pkg"};
  CHECK(package_command(command)->set == std::vector<std::pair<std::string, std::string>>{{"MODE", "x"}});
  CHECK_FALSE(means_launch(command, launch));
  launch.set = {{"MODE", "y"}};
  CHECK_FALSE(means_launch(command, launch));
  launch.set = {{"MODE", "x"}};
  CHECK(means_launch(command, launch));
}

TEST_CASE("a client's npx command means the policy that was made of it, in any version it leaves open") {
  policy::Launch launch;
  launch.source = policy::Source{.package = "@a/pkg", .version = "1.2.3"};
  launch.command = {"pkg", "/data"};
  CHECK(means_launch({"npx", "-y", "@a/pkg", "/data"}, launch));
  CHECK(means_launch({"npx", "-y", "@a/pkg@latest", "/data"}, launch));
  CHECK(means_launch({"npx", "-y", "@a/pkg@1.2.3", "/data"}, launch));
  CHECK(means_launch({"npx", "-y", "@a/pkg@v1.2.3", "/data"}, launch));
  for (const char* other : {"@a/pkg@1.2.4", "@a/pkg@v1.2.4", "@a/pkg@=1.2.4"}) {
    CHECK_FALSE(means_launch({"npx", "-y", other, "/data"}, launch));
  }
  CHECK_FALSE(means_launch({"npx", "-y", "@a/other", "/data"}, launch));
  CHECK_FALSE(means_launch({"npx", "-y", "@a/pkg", "/etc"}, launch));
  CHECK_FALSE(means_launch({"npx", "-y", "@a/pkg"}, launch));
  launch.source.reset();
  CHECK_FALSE(means_launch({"npx", "-y", "@a/pkg", "/data"}, launch));
}

TEST_CASE("docker run stands for the same launch as its source, with its options") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto meant = image_command({"docker", "run", "-i", "--rm", "-v", "/d:/data:ro", "-e", "A=b", "--entrypoint",
                                    "x", "ghcr.io/a/img:1@" + digest, "--flag"});
  REQUIRE(meant);
  CHECK(policy::spelled(meant->source) == "ghcr.io/a/img:1@" + digest);
  CHECK(meant->source.bin == "x");
  CHECK(meant->command == std::vector<std::string>{"x", "--flag"});
  CHECK(meant->asked.mounts.size() == 1);
  CHECK(image_command({"podman", "run", "ghcr.io/a/img"})->command == std::vector<std::string>{"img"});
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"docker", "run", "--privileged", "img"},
                                             {"docker", "run", "--network", "mine", "img"},
                                             {"docker", "run", "--user", "1", "img"},
                                             {"docker", "run", "-e", "HOME=/x", "img"},
                                             {"docker", "run", "-v", "x:/y", "img"},
                                             {"docker", "run", "--what", "img"}}) {
    CAPTURE(other[2]);
    CHECK(is_image_command(other));
    CHECK_FALSE(image_command(other));
  }
  CHECK_FALSE(is_image_command({"docker", "ps"}));
}

TEST_CASE("what is set for the engine is not lost, but told") {
  const auto meant = image_command({"env", "TOKEN=x", "docker", "run", "-i", "-e", "TOKEN", "img"});
  REQUIRE_FALSE(meant);
  CHECK(meant.error().detail == "what it sets for the engine, TOKEN, is not translated");
}

TEST_CASE("a client's docker run means the policy of the same image, tag and arguments") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  policy::Launch launch;
  launch.source = policy::Source{.kind = policy::Source::Kind::oci, .package = "docker.io/a/img:1", .version = digest};
  launch.command = {"img", "x"};
  CHECK(means_launch({"docker", "run", "-i", "a/img:1", "x"}, launch));
  CHECK(means_launch({"docker", "run", "-i", "a/img", "x"}, launch));
  CHECK(means_launch({"docker", "run", "-i", "a/img@" + digest, "x"}, launch));
  CHECK_FALSE(means_launch({"docker", "run", "-i", "a/img:2", "x"}, launch));
  CHECK_FALSE(means_launch({"docker", "run", "-i", "a/img@sha256:" + std::string(64, 'b'), "x"}, launch));
  CHECK_FALSE(means_launch({"docker", "run", "-i", "b/img:1", "x"}, launch));
  CHECK_FALSE(means_launch({"docker", "run", "-i", "a/img:1"}, launch));
  CHECK_FALSE(means_launch({"docker", "run", "-i", "--entrypoint", "sh", "a/img:1", "x"}, launch));
  CHECK_FALSE(means_launch({"npx", "-y", "a", "x"}, launch));
}
