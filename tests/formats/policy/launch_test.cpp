// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::HomeMode;
using cordon::policy::Position;
using cordon::policy::Secret;
using cordon::policy::StderrMode;
using Strings = std::vector<std::string>;

TEST_CASE("a launch section reads into the launch") {
  const auto launch = accept_text(
                          "version: 1\n"
                          "server: s\n"
                          "launch:\n"
                          "  command: [node, \"\", \"--port\", \"3000\"]\n"
                          "  cwd: ~/proj\n"
                          "  home: temporary\n"
                          "  environment:\n"
                          "    pass: [LANG, TZ]\n"
                          "    set: {NODE_ENV: production, EMPTY: \"\", LD_PRELOAD: /opt/x.so}\n"
                          "    secrets:\n"
                          "      A: {from_env: GITHUB_TOKEN}\n"
                          "      B: {from_file: ~/.token}\n"
                          "      C: {from_command: [pass, show, x]}\n"
                          "  stderr: drop\n")
                          .launch;
  CHECK(launch.command == Strings{"node", "", "--port", "3000"});
  CHECK_FALSE(launch.command_from_client);
  CHECK(launch.cwd == "~/proj");
  CHECK(launch.home == HomeMode::temporary);
  CHECK(launch.pass == Strings{"LANG", "TZ"});
  CHECK(launch.set ==
        std::map<std::string, std::string>{{"NODE_ENV", "production"}, {"EMPTY", ""}, {"LD_PRELOAD", "/opt/x.so"}});
  REQUIRE(launch.secrets.size() == 3);
  CHECK(launch.secrets.at("A") == Secret{Secret::Source::env, "GITHUB_TOKEN", {}});
  CHECK(launch.secrets.at("B") == Secret{Secret::Source::file, "~/.token", {}});
  CHECK(launch.secrets.at("C") == Secret{Secret::Source::command, "", {"pass", "show", "x"}});
  CHECK(launch.stderr_mode == StderrMode::drop);
  CHECK(launch.position == Position{3, 1});
}

TEST_CASE("a launch without more than a command has the documented defaults") {
  const auto launch = accept("").launch;
  CHECK(launch.command == Strings{"node"});
  CHECK(launch.cwd.empty());
  CHECK(launch.home == HomeMode::kept);
  CHECK(launch.stderr_mode == StderrMode::relay);
  CHECK(launch.pass.empty());
  CHECK(launch.set.empty());
  CHECK(launch.secrets.empty());
}

TEST_CASE("the command is a list of strings that begins with a program") {
  CHECK(launch_faults("launch: {}\n") == "3:1: launch.command is missing");
  CHECK(launch_faults("launch: {command: node}\n") == "3:19: launch.command must be a list, not a string");
  CHECK(launch_faults("launch: {command: []}\n") == "3:19: launch.command must not be an empty list");
  CHECK(launch_faults("launch: {command: [\"\"]}\n") == "3:20: an item of launch.command must not be empty");
  CHECK(launch_faults("launch: {command: [node, 3000]}\n") ==
        "3:26: an item of launch.command must be a string, but '3000' without quotes is a number");
  CHECK(launch_faults("launch: {command: [node, yes]}\n") ==
        "3:26: an item of launch.command must be a string, but 'yes' without quotes is a boolean");
  CHECK(launch_faults("launch: {command: [node, ~]}\n") ==
        "3:26: an item of launch.command must be a string, not nothing");
  CHECK(launch_faults("launch: {command: [[node]]}\n") ==
        "3:20: an item of launch.command must be a string, not a list");
  CHECK(launch_faults("launch:\n") == "3:1: launch must be a mapping of keys to values, not nothing");
}

TEST_CASE("a client may name the command only when there are no secrets") {
  CHECK(accept_text("version: 1\nserver: s\nlaunch: {command_from_client: true}\n").launch.command_from_client);
  CHECK(launch_faults("launch:\n  command_from_client: true\n  environment: {secrets: {A: {from_env: B}}}\n") ==
        "4:3: launch.command_from_client: true would hand the secrets to whatever command the client names");
  CHECK(launch_faults("launch: {command: [a], command_from_client: \"true\"}\n") ==
        "3:45: launch.command_from_client must be true or false, not 'true' in quotes");
}

TEST_CASE("a working directory does not depend on the caller's") {
  CHECK(launch_faults("launch: {command: [a], cwd: data}\n") ==
        "3:29: launch.cwd must be an absolute path or begin with ~/, not 'data'");
  CHECK(launch_faults("launch: {command: [a], cwd: /data/../etc}\n") ==
        "3:29: launch.cwd must not contain ..: '/data/../etc'");
  CHECK(launch_faults("launch: {command: [a], cwd: ~bob/x}\n") ==
        "3:29: launch.cwd must be an absolute path or begin with ~/, not '~bob/x'");
  CHECK(launch_faults("launch: {command: [a], cwd: \"/a\\nb\"}\n") ==
        "3:29: launch.cwd holds a line break or a tab: '/a\\nb'");
}

TEST_CASE("environment names are names, each named once") {
  const auto environment = [](std::string_view text) {
    return launch_faults("launch:\n  command: [a]\n  environment:\n" + std::string(text));
  };
  CHECK(environment("    pass: [A-B]\n") == "6:12: no environment variable name in launch.environment.pass: 'A-B'");
  CHECK(environment("    pass: [\"1A\"]\n") == "6:12: no environment variable name in launch.environment.pass: '1A'");
  CHECK(environment("    set: {A=B: c}\n") == "6:11: no environment variable name in launch.environment.set: 'A=B'");
  CHECK(environment("    set: {É: c}\n") == "6:11: no environment variable name in launch.environment.set: 'É'");
  CHECK(environment("    pass: [PATH]\n") == "6:12: launch.environment.pass must not name PATH");
  CHECK(environment("    set: {HOME: /x}\n") == "6:11: launch.environment.set must not name HOME");
  CHECK(environment("    pass: [A, B, A]\n") == "6:18: A is named twice in launch.environment (first in line 6)");
  CHECK(environment("    set: {A: b}\n    pass: [A]\n") ==
        "7:12: A is named twice in launch.environment (first in line 6)");
  CHECK(environment("    pass: [A]\n    secrets: {A: {from_env: A}}\n") ==
        "7:15: A is named twice in launch.environment (first in line 6)");
  CHECK(environment("    pass: A\n") == "6:11: launch.environment.pass must be a list, not a string");
  CHECK(environment("    set: [A]\n") ==
        "6:10: launch.environment.set must be a mapping of names to values, not a list");
  CHECK(environment("    set: {DEBUG: 1}\n") ==
        "6:18: launch.environment.set.DEBUG must be a string, but '1' without quotes is a number");
  CHECK(environment("    set: {DEBUG: no}\n") ==
        "6:18: launch.environment.set.DEBUG must be a string, but 'no' without quotes is a boolean");
  CHECK(environment("    set: {DEBUG: }\n") == "6:11: launch.environment.set.DEBUG must be a string, not nothing");
  CHECK(environment("    passs: [A]\n") == "6:5: unknown key 'passs'");
}

TEST_CASE("a secret has exactly one source") {
  const auto secret = [](std::string_view text) {
    return launch_faults("launch:\n  command: [a]\n  environment: {secrets: {A: " + std::string(text) + "}}\n");
  };
  CHECK(secret("{}") == "5:27: launch.environment.secrets.A must say where the value comes from, exactly once");
  CHECK(secret("{from_env: B, from_file: /c}") ==
        "5:27: launch.environment.secrets.A must say where the value comes from, exactly once");
  CHECK(secret("hunter2") == "5:30: launch.environment.secrets.A must be a mapping of keys to values, not a string");
  CHECK(secret("{from_env: \"A B\"}") ==
        "5:41: launch.environment.secrets.A.from_env is no environment variable name: 'A B'");
  CHECK(secret("{from_file: token}") ==
        "5:42: launch.environment.secrets.A.from_file must be an absolute path or begin with ~/, not 'token'");
  CHECK(secret("{from_command: pass show}") ==
        "5:45: launch.environment.secrets.A.from_command must be a list, not a string");
  CHECK(secret("{from_command: []}") == "5:45: launch.environment.secrets.A.from_command must not be an empty list");
  CHECK(secret("{from_keyring: x}") == "5:31: unknown key 'from_keyring'");
}

TEST_CASE("words of the launch section are checked") {
  CHECK(launch_faults("launch: {command: [a], home: keep}\n") ==
        "3:30: launch.home must be one of kept, temporary, not 'keep'");
  CHECK(launch_faults("launch: {command: [a], stderr: [relay]}\n") ==
        "3:32: launch.stderr must be one of relay, file, drop, not a list");
}

TEST_CASE("a source names a package, and the command a program of it") {
  const auto launch = accept_text(
                          "version: 1\n"
                          "server: s\n"
                          "launch:\n"
                          "  source: {npm: \"@a/b@1.2.3\", bin: b, scripts: {allow: [zed, dep, zed]}}\n"
                          "  command: [b, --flag]\n")
                          .launch;
  using cordon::policy::Source;
  REQUIRE(launch.source);
  CHECK(*launch.source == Source{.kind = Source::Kind::npm,
                                 .package = "@a/b",
                                 .version = "1.2.3",
                                 .bin = "b",
                                 .scripts = Source::Scripts::allow,
                                 .script_packages = {"dep", "zed"},
                                 .position = Position{4, 17}});
  const std::string image = "i@sha256:" + std::string(64, '0');
  const auto from_image =
      accept_text("version: 1\nserver: s\nlaunch: {command: [i], source: {oci: \"" + image + "\"}}\n").launch;
  REQUIRE(from_image.source);
  const auto python =
      accept_text("version: 1\nserver: s\nlaunch: {command: [b], source: {pypi: \"b[x]==1.2\"}}\n").launch;
  REQUIRE(python.source);
  CHECK(python.source->kind == Source::Kind::pypi);
  CHECK(python.source->package == "b[x]");
  CHECK(python.source->version == "1.2");
  CHECK(from_image.source->kind == Source::Kind::oci);
  CHECK(from_image.source->version == image.substr(2));
}

TEST_CASE("a source that cannot be kept is refused") {
  const auto source = [](const std::string& text) {
    return launch_faults("launch: {command: [b], source: " + text + "}\n");
  };
  CHECK(source("{npm: b}").empty());
  CHECK(source("{npm: \"b@latest\", allow_unpinned: true}").empty());
  CHECK(source("{pypi: b}").empty());
  CHECK(source("{pypi: \"b[x]==1.2\", bin: b, scripts: deny}").empty());
  CHECK(source("{pypi: \"b@1.2\"}") == "3:39: 'b@1.2' is no package of PyPI");
  CHECK(source("{pypi: \"b @ https://x/b.whl\"}") == "3:39: 'b @ https://x/b.whl' is no package of PyPI");
  CHECK(source("{pypi: b, scripts: {allow: [b]}}") ==
        "3:42: launch.source.scripts: {allow: …} does not apply to a package of PyPI");
  CHECK(source("{bin: b}") == "3:24: launch.source names no package");
  CHECK(source("{npm: b, oci: c}") == "3:41: launch.source names both npm and oci");
  CHECK(source("{npm: ./b}") == "3:38: './b' is no package of the npm registry");
  CHECK(source("{npm: \"b@file:../x\"}") == "3:38: 'b@file:../x' is no package of the npm registry");
  CHECK(source("{oci: \"i:latest\"}").empty());
  CHECK(source("{oci: \"i:latest\", allow_unpinned: true}").empty());
  CHECK(source("{oci: \"-i\"}") == "3:38: '-i' is no name of an image");
  CHECK(source("{oci: \"i:1\", scripts: deny}") == "3:45: launch.source.scripts does not apply to an image");
  CHECK(source("{npm: b, scripts: allow}") == "3:50: launch.source.scripts: allow has to say of which packages");
  CHECK(source("{npm: b, scripts: {allow: [\"x@1\"]}}") == "3:50: 'x@1' is no name of a package");
  CHECK(source("{npm: b, bin: c}") == "3:24: launch.source.bin is 'c', but launch.command begins with 'b'");
  CHECK(launch_faults("launch: {source: {npm: b}}\n") == "3:1: launch.command is missing");
  CHECK(
      launch_faults("launch: {command: [/b], source: {npm: b}}\n") ==
      "3:25: launch.command begins with the path '/b', but with launch.source it begins with the name of a program of "
      "the package");
  CHECK(launch_faults("launch: {command: [b], source: {npm: b}, command_from_client: true}\n") ==
        "3:24: launch.source and launch.command_from_client exclude each other");
}
