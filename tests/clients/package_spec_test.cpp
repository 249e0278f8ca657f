// SPDX-License-Identifier: Apache-2.0
#include "clients/package_spec.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cordon::clients;

namespace {

using Words = std::vector<std::string>;

PackageSpec package(const Words& command) {
  const auto found = detect(command);
  REQUIRE(found.has_value());
  return *found;
}

const std::string kDigest = "sha256:" + std::string(64, 'a');

}  // namespace

TEST_CASE("npx names a package, its version and what its program is given") {
  const PackageSpec spec = package({"npx", "-y", "@scope/server@1.2.3", "--root", "/data"});
  CHECK(spec.kind == PackageKind::npm);
  CHECK(spec.runner == "npx");
  CHECK(spec.name == "@scope/server");
  CHECK(spec.version == "1.2.3");
  CHECK(spec.pinned);
  CHECK(spec.arguments == Words{"--root", "/data"});
  CHECK(spec.options == Words{"-y"});
}

TEST_CASE("only an exact version of npm is pinned") {
  for (const char* word : {"x", "x@latest", "x@^1.2.3", "x@~1.2.3", "x@1.2", "x@1", "x@>=1.2.3", "x@1.x.0", "x@",
                           "x@1.2.3 || 2", "x@npm:y@1.2.3", "x@github:a/b"}) {
    CAPTURE(word);
    CHECK_FALSE(package({"npx", "-y", word}).pinned);
  }
  for (const char* word : {"x@1.2.3", "x@v1.2.3", "x@1.2.3-beta.1", "x@1.2.3+b5"}) {
    CAPTURE(word);
    CHECK(package({"npx", "-y", word}).pinned);
  }
}

TEST_CASE("options of npx that take a value do not hide the package") {
  CHECK(package({"npx", "--registry", "https://r.example", "-y", "x@1.0.0"}).name == "x");
  CHECK(package({"npx", "--loglevel=error", "x"}).name == "x");
  CHECK(package({"npx", "--unknown", "value", "x"}).name == "x");
  CHECK(package({"npx", "--yes", "--", "x", "--", "y"}).arguments == Words{"--", "y"});
  CHECK(package({"npx", "-y", "--no-audit", "x"}).name == "x");
}

TEST_CASE("npx --package tells the program apart from the package") {
  const PackageSpec spec = package({"npx", "-y", "--package=@a/b@2.0.0", "--package", "c", "prog", "-v"});
  CHECK(spec.name == "@a/b");
  CHECK(spec.bin == "prog");
  CHECK(spec.more == Words{"c"});
  CHECK_FALSE(spec.pinned);  // the second is not
  CHECK(spec.arguments == Words{"-v"});
}

TEST_CASE("npx --call says what the package's program starts") {
  for (const Words& command : {Words{"npx", "-y", "-p", "@a/b@2.0.0", "-c", "prog --v 'x y'"},
                               Words{"npx", "--package=@a/b@2.0.0", "--call=prog --v 'x y'"},
                               Words{"npm", "exec", "--package", "@a/b@2.0.0", "--call", "prog --v 'x y'"}}) {
    const PackageSpec spec = package(command);
    CHECK(spec.name == "@a/b");
    CHECK(spec.bin == "prog");
    CHECK(spec.arguments == Words{"--v", "x y"});
  }
  // No package, a script, words beside it, a switch of that name.
  for (const Words& command : {Words{"npx", "-c", "prog"}, Words{"npx", "-p", "x", "-c", "prog | tee log"},
                               Words{"npx", "-p", "x", "-c", "A=1 prog"}, Words{"npx", "-p", "x", "-c", "prog", "y"},
                               Words{"npx", "-p", "x", "-c"}, Words{"pnpm", "dlx", "-c", "x"}}) {
    CAPTURE(command.back());
    CHECK_FALSE(detect(command).has_value());
  }
}

TEST_CASE("what fetches no package is none") {
  for (const Words& command :
       {Words{"node", "index.js"}, Words{"npx"}, Words{"npx", "-c", "echo"}, Words{"npx", "./local"},
        Words{"uv", "run", "server.py"}, Words{"uv", "--directory", "/x", "run", "server"}, Words{"docker", "ps"},
        Words{"uvx", "--from", "/src/x", "x"}, Words{"deno", "run", "-A", "main.ts"}, Words{},
        Words{"docker", "run", "-it"}, Words{"npm", "run", "start"}}) {
    CAPTURE(command.size());
    CHECK_FALSE(detect(command).has_value());
  }
}

TEST_CASE("other runners of npm packages") {
  CHECK(package({"npm", "exec", "--yes", "x@1.0.0", "--", "-a"}).arguments == Words{"-a"});
  CHECK(package({"npm", "x", "-y", "--", "x", "-a"}).arguments == Words{"-a"});
  CHECK(package({"pnpm", "dlx", "x@1.0.0"}).pinned);
  for (const Words& command : {Words{"pnpm", "--package=y", "dlx", "x"}, Words{"npm", "-p", "y", "exec", "x"}}) {
    CHECK(package(command).name == "y");
    CHECK(package(command).bin == "x");
  }
  CHECK(package({"npm", "--registry=https://r.example", "exec", "x"}).options == Words{"--registry=https://r.example"});
  CHECK(package({"yarn", "dlx", "-q", "x"}).name == "x");
  CHECK(package({"bunx", "--bun", "x@3.0.1"}).pinned);
  CHECK(package({"bun", "x", "x"}).name == "x");
  CHECK(package({"deno", "run", "-A", "npm:@a/b@1.0.0", "go"}).name == "@a/b");
}

TEST_CASE("a package that is a URL or a repository is no package of a registry, and not pinned") {
  for (const Words& command : {Words{"npx", "github:a/b"}, Words{"npx", "a/b"}, Words{"npx", "https://x.example/a.tgz"},
                               Words{"uvx", "--from", "git+https://x.example/a", "a"}}) {
    const PackageSpec spec = package(command);
    CHECK_FALSE(spec.registry);
    CHECK_FALSE(spec.pinned);
    CHECK(spec.name.empty());
  }
}

TEST_CASE("uvx, uv tool run and pipx run") {
  CHECK(package({"uvx", "mcp-server-git"}).name == "mcp-server-git");
  CHECK_FALSE(package({"uvx", "mcp-server-git"}).pinned);
  CHECK_FALSE(package({"uvx", "mcp-server-git@latest"}).pinned);
  CHECK(package({"uvx", "mcp-server-git@2026.1.14"}).pinned);
  const PackageSpec from =
      package({"uvx", "--python", "3.12", "--from", "x[cli,b]==1.2.0", "--with", "y", "prog", "a"});
  CHECK(from.name == "x");
  CHECK(from.extras == "[cli,b]");
  CHECK(from.version == "==1.2.0");
  CHECK(from.bin == "prog");
  CHECK(from.more == Words{"y"});
  CHECK_FALSE(from.pinned);
  CHECK(package({"uvx", "--from", "x==1.2.0", "prog"}).pinned);
  CHECK_FALSE(package({"uvx", "--from", "x==1.2.*", "prog"}).pinned);
  CHECK_FALSE(package({"uvx", "x>=1,<2"}).pinned);
  CHECK(package({"uv", "tool", "run", "--refresh", "x@1.0"}).runner == "uvx");
  CHECK(package({"pipx", "run", "--spec", "x==1.0", "prog"}).pinned);
  CHECK(package({"pipx", "run", "x"}).name == "x");
}

TEST_CASE("uv run --with") {
  const PackageSpec spec = package({"uv", "run", "--with", "fastmcp==2.0.0", "--no-project", "fastmcp", "run", "s.py"});
  CHECK(spec.name == "fastmcp");
  CHECK(spec.bin == "fastmcp");
  CHECK(spec.arguments == Words{"run", "s.py"});
  CHECK(spec.pinned);
}

TEST_CASE("docker run: the image stands behind options of all shapes") {
  const PackageSpec spec = package({"docker", "run", "-i", "--rm", "-e", "TOKEN", "-eA=b", "-it", "-v/a:/b", "--mount",
                                    "type=bind,src=/a,dst=/b", "--name=x", "ghcr.io:443/o/image:1.2", "stdio", "-v"});
  CHECK(spec.kind == PackageKind::oci);
  CHECK(spec.name == "ghcr.io:443/o/image");
  CHECK(spec.version == "1.2");
  CHECK(spec.arguments == Words{"stdio", "-v"});
  CHECK_FALSE(spec.pinned);
  CHECK(spec.options.size() == 10);
  const PackageSpec pinned = package({"/usr/bin/docker", "--context", "c", "container", "run", "image:2@" + kDigest});
  CHECK(pinned.pinned);
  CHECK(pinned.version == kDigest);
  CHECK(pinned.tag == "2");
  CHECK(pinned.name == "image");
  CHECK_FALSE(package({"podman", "run", "image@sha256:abc"}).pinned);
}

TEST_CASE("a package is seen behind cmd, env and a shell of plain words") {
  CHECK(package({"cmd", "/c", "npx", "-y", "x"}).name == "x");
  CHECK(package({"C:\\Windows\\cmd.exe", "/C", "npx -y x@1.0.0"}).pinned);
  CHECK(package({"npx.cmd", "-y", "x"}).name == "x");
  CHECK(package({"env", "A=b", "npx", "x"}).name == "x");
  CHECK(package({"bash", "-lc", "exec npx -y 'x@1.0.0' --a \"b c\""}).arguments == Words{"--a", "b c"});
  CHECK_FALSE(detect(Words{"bash", "-c", "npx -y x | tee log"}).has_value());
  CHECK_FALSE(detect(Words{"sh", "-c", "npx -y $PKG"}).has_value());
}

TEST_CASE("a package is seen behind programs that only start another one") {
  for (const Words& command :
       {Words{"env", "-S", "npx -y x --a"}, Words{"env", "-S", "npx", "-y", "x", "--a"},
        Words{"env", "-Snpx -y x", "--a"}, Words{"env", "-iS", "A=b npx -y x --a"},
        Words{"env", "--split-string=npx -y x --a"}, Words{"/usr/bin/env", "--", "npx", "-y", "x", "--a"},
        Words{"env", "-", "A=b", "npx", "-y", "x", "--a"}, Words{"nice", "-n", "5", "npx", "-y", "x", "--a"},
        Words{"nice", "--adjustment=5", "npx", "-y", "x", "--a"}, Words{"nohup", "npx", "-y", "x", "--a"},
        Words{"stdbuf", "-oL", "npx", "-y", "x", "--a"}, Words{"mise", "exec", "--", "npx", "-y", "x", "--a"},
        Words{"fnm", "exec", "npx", "-y", "x", "--a"}, Words{"volta", "run", "npx", "-y", "x", "--a"},
        Words{"corepack", "pnpm", "dlx", "x", "--a"},
        Words{"node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "-y", "x", "--a"},
        Words{"node", "/usr/bin/npx", "-y", "x", "--a"}, Words{"bash", "-o", "pipefail", "-c", "nice npx -y x --a"}}) {
    CAPTURE(command[1]);
    const PackageSpec spec = package(command);
    CHECK(spec.name == "x");
    CHECK(spec.arguments == Words{"--a"});
  }
  CHECK(package({"python3", "-m", "uv", "tool", "run", "x"}).kind == PackageKind::pypi);
}

TEST_CASE("a command that only leads on and on is given up") {
  Words command = {"env"};
  command.resize(20'000, "-S");
  command.insert(command.end(), {"npx", "x"});
  CHECK_FALSE(detect(command).has_value());
  command.assign(20'000, "nohup");
  command.insert(command.end(), {"npx", "x"});
  CHECK_FALSE(detect(command).has_value());
}

TEST_CASE("what says more than to start a program hides it") {
  for (const Words& command :
       {Words{"timeout", "30", "npx", "-y", "x"}, Words{"env", "-C", "/x", "npx", "x"},
        Words{"env", "-u", "A", "npx", "x"}, Words{"mise", "exec", "node@20", "--", "npx", "x"},
        Words{"volta", "run", "--node", "20", "npx", "x"}, Words{"fnm", "exec", "--using=20", "npx", "x"},
        Words{"nice", "-n"}, Words{"nohup"}, Words{"env", "-S"}, Words{"env", "-S", "npx -y ${X}"},
        Words{"env", "-S", "npx -y 'a\'b' x"}, Words{"mise", "x"}, Words{"node", "npx", "-y", "x"},
        Words{"node", "--require", "/x.js", "/usr/bin/npx", "x"}, Words{"python3", "-m", "uv"}}) {
    CAPTURE(command.front());
    CHECK_FALSE(detect(command).has_value());
  }
}
