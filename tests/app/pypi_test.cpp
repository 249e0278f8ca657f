// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>

#include "app/package_command.hpp"
#include "app/package_tree.hpp"
#include "app/pip_errors.hpp"
#include "app/pypi_client.hpp"
#include "app/temp_folder.hpp"
#include "app/wheel_files.hpp"
#include "base/mask.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "run/files.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("a command of uv or pipx stands for the same launch as its source") {
  const auto spelled = [](const std::vector<std::string>& command) {
    const auto meant = package_command(command);
    return meant ? policy::spelled(meant->source) + " | " + text::join(meant->command, " ") : std::string("none");
  };
  CHECK(spelled({"uvx", "mcp-server-git", "--repository", "/r"}) == "mcp-server-git | mcp-server-git --repository /r");
  CHECK(spelled({"uvx", "mcp-server-git@latest"}) == "mcp-server-git | mcp-server-git");
  CHECK(spelled({"uvx", "mcp-server-git@2025.4.7"}) == "mcp-server-git==2025.4.7 | mcp-server-git");
  CHECK(spelled({"uvx", "--from", "mcp[cli]>=1, <2", "mcp", "run"}) == "mcp[cli]>=1,<2 | mcp run");
  CHECK(spelled({"uvx", "-q", "--refresh", "mcp[cli]==1.2"}) == "mcp[cli]==1.2 | mcp");
  CHECK(spelled({"uv", "tool", "run", "x"}) == "x | x");
  CHECK(spelled({"uv", "run", "--no-project", "--with", "fastmcp==2.0", "fastmcp", "run"}) ==
        "fastmcp==2.0 | fastmcp run");
  CHECK(spelled({"pipx", "run", "--spec", "x==1.0", "prog"}) == "x==1.0 | prog");
  CHECK(spelled({"pipx", "run", "x"}) == "x | x");
  CHECK(spelled({"uvx", "x@>=1"}) == "x>=1 | x");
  CHECK(spelled({"uvx", "x@main"}) == "none");

  policy::Launch launch;
  launch.source = policy::Source{.kind = policy::Source::Kind::pypi, .package = "My.Pkg[b,a]", .version = "1.2"};
  launch.command = {"my-pkg", "/data"};
  CHECK(means_launch({"uvx", "my_pkg[a,B]", "/data"}, launch));
  CHECK(means_launch({"uvx", "my-pkg[a,b]@1.2", "/data"}, launch));
  CHECK_FALSE(means_launch({"uvx", "my-pkg[a,b]@1.3", "/data"}, launch));
  CHECK_FALSE(means_launch({"uvx", "my-pkg[a]", "/data"}, launch));
  CHECK_FALSE(means_launch({"uvx", "--from", "my-pkg[a,b]", "other", "/data"}, launch));
  CHECK_FALSE(means_launch({"uvx", "my-pkg[a,b]", "/etc"}, launch));
  CHECK_FALSE(means_launch({"npx", "my-pkg", "/data"}, launch));
}

TEST_CASE("the indexes of pip and uv decide what can be reached, with credentials for them alone") {
  const auto plain = pypi_client_of({});
  REQUIRE(plain);
  CHECK(plain->index == "https://pypi.org/simple");
  REQUIRE(plain->network.allow.size() == 2);
  CHECK(plain->network.allow[1].host == "files.pythonhosted.org");
  CHECK(plain->serves("https://files.pythonhosted.org/packages/a.whl"));
  CHECK_FALSE(plain->serves("http://files.pythonhosted.org/packages/a.whl"));
  CHECK_FALSE(plain->serves("https://evil.test/a.whl"));
  // Where others end the host before the "@".
  for (const char* end : {"?", "#", "\\", "\t", "/"}) {
    CAPTURE(end);
    CHECK_FALSE(plain->serves(std::string("https://evil.test") + end + "@files.pythonhosted.org/a.whl"));
  }

  const auto own = pypi_client_of({.index = "https://pypi.example.org/root/simple/",
                                   .more = {"http://localhost:3141/simple"},
                                   .file_hosts = {"cdn.example.org"},
                                   .netrc = {{"pypi.example.org", "me", "p w"}, {"cdn.example.org", "me", "other"}}});
  REQUIRE(own);
  CHECK(own->environment == std::vector<std::string>{
                                "PIP_INDEX_URL=https://me:p%20w@pypi.example.org/root/simple/",
                                "PIP_EXTRA_INDEX_URL=http://127.0.0.1:3141/simple",
                            });
  CHECK(own->index == "https://pypi.example.org/root/simple/");
  CHECK(own->reaches("cdn.example.org:443"));
  CHECK_FALSE(own->reaches("files.pythonhosted.org:443"));
  CHECK(Masker(own->secrets).mask("p w, me:p%20w@, p%20w").find("p w") == std::string::npos);
  CHECK(Masker(own->secrets).mask("me:p%20w@").find("p%20w") == std::string::npos);

  const auto proxied = pypi_client_of({.proxy = "http://me:pw@proxy.test:3128"});
  REQUIRE(proxied);
  REQUIRE(proxied->network.allow.size() == 1);
  CHECK(proxied->network.allow[0].host == "proxy.test");
  CHECK(proxied->serves("https://files.pythonhosted.org/a.whl"));

  CHECK_FALSE(pypi_client_of({.trusted_hosts = {"pypi.org"}}));
  CHECK_FALSE(pypi_client_of({.index = "http://pypi.example.org/simple"}));
  CHECK(pypi_client_of({.index = "http://pypi.example.org/simple", .trusted_hosts = {"pypi.example.org"}}));
  CHECK_FALSE(pypi_client_of({.client_certificate = "/c"}));
  CHECK_FALSE(pypi_client_of({.no_index = true}));
  CHECK_FALSE(pypi_client_of({.index = "file:///srv/wheels"}));
}

TEST_CASE("what pip says is told by its meaning") {
  const auto told = [](std::vector<std::string> lines) {
    return pip_failure("p==1.0", 1, lines, [](std::string_view place) { return place == "ours.test:443"; }).detail;
  };
  const std::string missing = "ERROR: No matching distribution found for p==1.0";
  CHECK(
      told({"ERROR: Could not find a version (from versions: 0.9)", missing}).starts_with("the registry has no such"));
  CHECK(told({"WARNING: Retrying after connection broken by 'NewConnectionError(...)'",
              "ERROR: Could not find a version (from versions: none)", missing}) == "the registry cannot be reached");
  const std::string source = "Skipping link: No sources permitted for p: https://ours.test/p-1.0.tar.gz";
  CHECK(told({source, "(from versions: 0.9)", missing}).starts_with("something that it needs is there as source only"));
  CHECK(told({"Skipping link: No sources permitted for p: https://ours.test/p-0.8.tar.gz", "(from versions: 0.9)",
              missing})
            .starts_with("the registry has no such"));
  CHECK(told({"ERROR: Ignored the following versions that require a different python version: 1.0 Requires-Python >=4",
              "(from versions: 0.9)", missing}) == "it needs another version of Python");
  CHECK(told({"ERROR: HTTPSConnectionPool(host='cdn.test', port=443): Max retries exceeded with url: /p.whl"}) ==
        "it was led to cdn.test:443, which is not the registry");
  CHECK(told({"ERROR: HTTPSConnectionPool(host='ours.test', port=443): Max retries exceeded with url: /p.whl"}) ==
        "the registry cannot be reached");
  CHECK(told({"OSError: [Errno 28] No space left on device"}) == "the disk is full");
  CHECK(told({"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."}) ==
        "a package does not have the contents that its digest says");
  CHECK(told({"ERROR: what", "Traceback", "  File"}) == "it ended with status 1: ERROR: what");
  CHECK(told({"something else"}) == "it ended with status 1: something else");
  const auto remedy = [](std::vector<std::string> lines) {
    return pip_failure("p==1.0", 1, lines, [](std::string_view) { return true; }).remedy;
  };
  CHECK(remedy({missing}) == "look which there are: python3 -m pip index versions p");
  CHECK(remedy({"ERROR: No matching distribution found for $(x)==1"}).ends_with("versions PACKAGE"));
}

TEST_CASE("files that differ between installations of the same wheels are taken out") {
  TempFolder temp;
  temp.file("site/a-1.0.dist-info/RECORD",
            "../../bin/a,sha256=x,1\n../../bin/tool,,\n../../bin/../evil,,\na.py,,\na-1.0.dist-info/INSTALLER,,\n"
            "a-1.0.dist-info/RECORD,,\n\"b,c.py\",,\n__pycache__/a.cpython-311.pyc,,\n");
  temp.file("site/a-1.0.dist-info/entry_points.txt", "[console_scripts]\na = a:main\n");
  temp.file("site/a-1.0.dist-info/INSTALLER", "pip\n");
  temp.file("site/a.py", "");
  temp.file("site/evil", "");
  temp.file("site/bin/a", "");
  temp.file("site/bin/tool", "");
  temp.file("site/__pycache__/a.cpython-311.pyc", "");
  const auto left_out = tidy_wheels(temp.at("site"));
  REQUIRE(left_out);
  CHECK(*left_out == std::vector<std::string>{"tool"});
  CHECK(run::read_trusted(temp.at("site/a-1.0.dist-info/RECORD"))->content ==
        "a.py,,\na-1.0.dist-info/RECORD,,\n\"b,c.py\",,\n");
  CHECK_FALSE(std::filesystem::exists(temp.at("site/bin")));
  CHECK_FALSE(std::filesystem::exists(temp.at("site/__pycache__")));
  CHECK_FALSE(std::filesystem::exists(temp.at("site/a-1.0.dist-info/INSTALLER")));
  CHECK(std::filesystem::exists(temp.at("site/evil")));
  CHECK(dist_info_of(temp.at("site"), "A[x]") == temp.at("site/a-1.0.dist-info"));
}

TEST_CASE("what Python compiled is told apart from the files of the record") {
  TempFolder temp;
  temp.file("tree/a.py", "1");
  const auto without = content_digest(temp.at("tree"), Compiled::apart);
  temp.file("tree/__pycache__/a.pyc", "2");
  const auto with = content_digest(temp.at("tree"), Compiled::apart);
  REQUIRE(with);
  CHECK(with->digest == without->digest);
  CHECK(with->compiled != without->compiled);
  CHECK(content_digest(temp.at("tree"))->digest != with->digest);
}
