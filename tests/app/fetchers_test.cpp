// SPDX-License-Identifier: Apache-2.0
#include "app/fetchers.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon::app;
using Command = std::vector<std::string>;

namespace {

std::string found(const Command& command, const std::string& executable = "/usr/bin/none") {
  const std::optional<Fetch> fetch = fetches(command, executable);
  return fetch ? fetch->tool + "|" + fetch->package : "";
}

}  // namespace

TEST_CASE("what fetches a package at every start is recognised, with the package") {
  CHECK(found({"npx", "-y", "@scope/server@1.2.3", "/data"}) == "npx|@scope/server@1.2.3");
  CHECK(found({"/opt/node/bin/npx", "server"}) == "npx|server");
  CHECK(found({"npx", "-p", "@scope/pkg", "server"}) == "npx|@scope/pkg");
  CHECK(found({"npx", "--package=@scope/pkg", "-c", "server --x"}) == "npx|@scope/pkg");
  CHECK(found({"npm", "exec", "--yes", "--", "server", "--offline"}) == "npm exec|server");
  CHECK(found({"npm", "x", "server"}) == "npm x|server");
  CHECK(found({"pnpm", "dlx", "server"}) == "pnpm dlx|server");
  CHECK(found({"yarn", "dlx", "server"}) == "yarn dlx|server");
  CHECK(found({"bunx", "server"}) == "bunx|server");
  CHECK(found({"bun", "x", "server"}) == "bun x|server");
  CHECK(found({"uvx", "mcp-server-git"}) == "uvx|mcp-server-git");
  CHECK(found({"uvx", "--from", "git+https://example.org/x", "tool"}) == "uvx|git+https://example.org/x");
  CHECK(found({"uv", "tool", "run", "tool"}) == "uv tool run|tool");
  CHECK(found({"uv", "--directory", "/data", "run", "server.py"}) == "uv run|server.py");
  CHECK(found({"pipx", "run", "tool"}) == "pipx run|tool");
  CHECK(found({"npx"}) == "npx|");
}

TEST_CASE("by whatever name: a symlink to npm's script, or node running it") {
  CHECK(found({"/usr/bin/launch", "-y", "server"}, "/usr/lib/node_modules/npm/bin/npx-cli.js") == "npx|server");
  CHECK(found({"node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "-y", "server"}, "/usr/bin/node") == "npx|server");
  CHECK(found({"node", "--no-warnings", "/x/npm-cli.js", "exec", "server"}, "/usr/bin/node") == "npm exec|server");
  TempFolder temp;
  temp.file("lib/npx-cli.js", "");
  temp.link("npx-link", temp.at("lib/npx-cli.js"));
  CHECK(found({"node", temp.at("npx-link"), "server"}, "/usr/bin/node") == "npx|server");
}

TEST_CASE("behind shells and programs that start another one") {
  CHECK(found({"env", "A=b", "npx", "-y", "server"}) == "npx|server");
  CHECK(found({"env", "-u", "A", "npx", "-y", "server"}) == "npx|server");
  CHECK(found({"timeout", "-k", "5", "60", "/usr/bin/npx", "-y", "server"}) == "npx|server");
  CHECK(found({"sh", "-c", "npx -y server"}) == "npx|server");
  CHECK(found({"bash", "-lc", "cd /x && A=b exec npx -y server \"$@\""}) == "npx|server");
  CHECK(found({"bash", "-c", "export A=1; nice uvx server | tee log"}) == "uvx|server");
  CHECK(found({"cmd", "/c", "npx", "-y", "server"}) == "npx|server");
  CHECK(found({"env", "-S", "npx -y server"}) == "npx|server");
  CHECK(found({"env", "--split-string=A=b npx -y server"}) == "npx|server");
  CHECK(found({"bash", "-o", "pipefail", "-c", "npx -y server"}) == "npx|server");
  CHECK(found({"dbus-run-session", "--", "npx", "-y", "server"}) == "npx|server");
  CHECK(found({"op", "run", "--env-file=.env", "--", "uvx", "server"}) == "uvx|server");
  CHECK(found({"python3", "-m", "uv", "tool", "run", "server"}) == "uv tool run|server");
  CHECK(found({"npx", "-c", "nice npx -y server"}) == "npx|server");
  CHECK(found({"npx", "-c", "server --x"}) == "");
  CHECK(found({"conda", "run", "python", "server.py", "npx"}) == "");
  CHECK(found({"bash", "-c", "cd /x && npx --offline server"}) == "");
  CHECK(found({"bash", "-c", "echo npx -y server"}) == "");
  CHECK(found({"timeout", "60", "node", "server.js"}) == "");
  CHECK(found({"sh", "-c", "A=b"}) == "");
}

TEST_CASE("the registry is reached when the network lets it, by the user's settings") {
  TempFolder temp;
  Caller caller = temp.caller();
  const Fetch npx = *fetches({"npx", "-y", "server"}, "");
  const Fetch uvx = *fetches({"uvx", "server"}, "");
  const auto network = [](cordon::egress::HostKind kind, const char* host) {
    return cordon::egress::Rules{.allow = {{.kind = kind, .host = host, .ports = {443}}}};
  };
  using enum cordon::egress::HostKind;
  CHECK(reaches_registry(caller, npx, network(name, "registry.npmjs.org")));
  CHECK(reaches_registry(caller, npx, network(wildcard, "npmjs.org")));
  CHECK_FALSE(reaches_registry(caller, npx, network(name, "api.example.com")));
  CHECK_FALSE(reaches_registry(caller, uvx, network(name, "registry.npmjs.org")));
  CHECK(reaches_registry(caller, uvx, network(name, "pypi.org")));
  caller.environment["npm_config_registry"] = "https://r.example/";
  CHECK_FALSE(reaches_registry(caller, npx, network(name, "registry.npmjs.org")));
  CHECK(reaches_registry(caller, npx, network(name, "r.example")));
}

TEST_CASE("a command that stays at home, or that fetches nothing, passes") {
  CHECK(found({"npx", "--offline", "server"}) == "");
  CHECK(found({"npx", "--no-install", "--offline", "server"}) == "");
  CHECK(found({"bunx", "--no-install", "server"}) == "");
  CHECK(found({"uvx", "--offline", "tool"}) == "");
  CHECK(found({"uv", "run", "--no-sync", "server.py"}) == "");
  CHECK(found({"npm", "start"}) == "");
  CHECK(found({"npm", "run", "exec"}) == "");
  CHECK(found({"uv", "pip", "list"}) == "");
  CHECK(found({"pipx", "list"}) == "");
  CHECK(found({"node", "/opt/server/index.js", "npx"}, "/usr/bin/node") == "");
  CHECK(found({"python3", "-m", "server"}) == "");
  CHECK(found({}) == "");
}

TEST_CASE("npm that installs nothing asks the registry all the same for what is not there") {
  for (const char* option : {"--no-install", "--no"}) {
    const std::optional<Fetch> npx = fetches({"npx", option, "server"}, "");
    REQUIRE(npx.has_value());
    CHECK_FALSE(npx->installs);
  }
  CHECK(fetches({"npx", "-y", "server"}, "")->installs);
}

TEST_CASE("an option behind the package is the package's, not the tool's") {
  CHECK(found({"npx", "server", "--offline"}) == "npx|server");
  CHECK(found({"uvx", "tool", "--no-install"}) == "uvx|tool");
}

TEST_CASE("the way out names an installation and, where there is one, the option") {
  const std::optional<Fetch> npx = fetches({"npx", "-y", "srv@1"}, "");
  REQUIRE(npx.has_value());
  CHECK(npx->remedy.find("{npm: \"srv@1\"}") != std::string::npos);
  CHECK(npx->remedy.find("; or add --offline") != std::string::npos);
  const std::optional<Fetch> uvx = fetches({"uvx", "tool"}, "");
  REQUIRE(uvx.has_value());
  CHECK(uvx->remedy.find("{pypi: \"tool\"}") != std::string::npos);
  CHECK(fetches({"uvx", "tool@1.2"}, "")->remedy.find("{pypi: \"tool==1.2\"}") != std::string::npos);
  CHECK(fetches({"uvx", "tool@latest"}, "")->remedy.find("{pypi: \"tool\"}") != std::string::npos);
  CHECK(fetches({"npx", "-p", "@a/srv", "prog"}, "")->remedy.find("{npm: \"@a/srv\"}") != std::string::npos);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"uvx", "git+https://x/y@v1"},
                                                                                       {"npx", "-y", "github:a/b"},
                                                                                       {"npx", "-y", "./local"},
                                                                                       {"npx", "https://x/y.tgz"}}) {
    CHECK(fetches(command, "")->remedy.starts_with("it comes from no registry: "));
  }
  const std::optional<Fetch> yarn = fetches({"yarn", "dlx", "srv"}, "");
  REQUIRE(yarn.has_value());
  CHECK(yarn->remedy.find("; or add") == std::string::npos);
}

TEST_CASE("a hostile package name cannot steer a terminal") {
  CHECK(found({"npx", "\x1b[31mred"}).find('\x1b') == std::string::npos);
}
