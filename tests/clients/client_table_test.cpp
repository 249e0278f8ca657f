// SPDX-License-Identifier: Apache-2.0
#include "clients/client_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace cordon::clients;

TEST_CASE("every client and every path of the table is in docs/clients.md") {
  std::ifstream file(CORDON_CLIENTS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(page.empty());
  for (const Client& client : client_table()) {
    CHECK(page.find("| `" + std::string(client.id) + "` |") != std::string::npos);
    for (const ClientFile& row : client.files) {
      CAPTURE(row.path);
      CHECK(page.find("`" + std::string(row.path) + "`") != std::string::npos);
    }
  }
}

TEST_CASE("the table is well formed") {
  std::set<std::string_view> ids;
  for (const Client& client : client_table()) {
    CHECK(ids.insert(client.id).second);
    CHECK_FALSE(client.files.empty());
    for (const ClientFile& row : client.files) {
      CHECK((row.syntax == FileSyntax::named) == row.tables.empty());
      CHECK(row.systems.find_first_not_of("lmw") == std::string_view::npos);
      for (const System system : {System::linux_like, System::macos, System::windows}) {
        const Folders folders{system, "/h", {"/x", "/h/.config"}, "/p", "/r"};
        for (const std::string& path : path_patterns(row, folders)) {
          CHECK(path.starts_with('/'));
          CHECK(path.find('{') == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("configs are looked up under XDG_CONFIG_HOME and ~/.config") {
  const ClientFile file{.path = "{config}/zed/settings.json"};
  CHECK(path_patterns(file, {System::linux_like, "/h", {"/x", "/h/.config"}, {}, {}}) ==
        std::vector<std::string>{"/x/zed/settings.json", "/h/.config/zed/settings.json"});
  CHECK(path_patterns({.path = "{project}/a"}, {System::linux_like, "/h", {}, {}, {}}).empty());
}

TEST_CASE("a star stands for any part of one name") {
  CHECK(matches("*mcp_settings.json", "cline_mcp_settings.json"));
  CHECK(matches("Claude_*", "Claude_pzs8"));
  CHECK(matches("*", "x"));
  CHECK_FALSE(matches("a*a", "a"));
  CHECK_FALSE(matches("x", "y"));
}
