// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/catalog/compare.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {
namespace {

using catalog::Snapshot;

Error refused(std::string_view text) {
  const Result<Snapshot> read = read_any_catalog(text, "list.json");
  REQUIRE_FALSE_MESSAGE(read.has_value(), text);
  CHECK(read.error().where.starts_with("list.json"));
  return read.error();
}

TEST_CASE("a plain list is read from both shapes that tools print") {
  for (const std::string_view text : {
           R"({"tools":[{"name":"b","x":1.0},{"name":"a"}]})",
           R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b","x":1.0},{"name":"a"}]}})",
       }) {
    const Result<Snapshot> read = read_any_catalog(text, "list.json");
    REQUIRE(read.has_value());
    CHECK(read->tools_only);
    CHECK_FALSE(read->reviewed);
    REQUIRE(read->tools.size() == 2);
    CHECK(read->tools[0].name == "a");
    CHECK(read->tools[1].definition == R"({"name":"b","x":1.0})");
    CHECK(read->tools[1].digest == catalog::tool_digest(read->tools[1].definition));
    CHECK(read->tools[1].effect == "unknown");
  }
}

TEST_CASE("plain tools are not judged beyond their name") {
  CHECK(read_any_catalog(R"({"tools":[{"name":"t","inputSchema":"?","Name":"u","annotations":7}]})", "f").has_value());
  CHECK(read_any_catalog(R"({"tools":[]})", "f")->tools.empty());
  CHECK(refused(R"({"tools":[{"title":"t"}]})").code == Errc::catalog_invalid);
  CHECK(refused("{\"tools\":[\n  {\"name\":7}]}").where == "list.json:2:3");
  CHECK(refused(R"({"tools":["t"]})").code == Errc::catalog_invalid);
}

TEST_CASE("a name that stands twice is an error") {
  const Error error = refused(R"({"tools":[{"name":"t"},{"name":"u"},{"name":"t"}]})");
  CHECK(error.code == Errc::catalog_invalid);
  CHECK(error.detail.find("tool 't'") != std::string::npos);
}

TEST_CASE("snapshots and candidates are read as such") {
  Snapshot snapshot = {
      .server = "demo", .tools = {{.name = "t", .definition = R"({"inputSchema":{},"name":"t"})"}}, .reviewed = false};
  const std::string text = write_snapshot(snapshot);
  const Result<Snapshot> read = read_any_catalog(text, "list.json");
  REQUIRE(read.has_value());
  CHECK_FALSE(read->tools_only);
  CHECK_FALSE(read->reviewed);
  std::string broken = text;
  broken.replace(broken.find("\"demo\""), 6, "\"\"");
  CHECK(refused(broken).code == Errc::snapshot_invalid);
  CHECK(refused(R"({"format":"mcp-cordon.diff","version":1})").code == Errc::snapshot_invalid);
}

TEST_CASE("anything else is refused") {
  for (const std::string_view text : {"", "[]", "{}", "null", "7", R"({"tools":{}})", R"({"result":[]})",
                                      R"({"result":{"tools":null}})", R"({"tools":[],"tools":[]})"}) {
    CAPTURE(text);
    CHECK(refused(text).code == Errc::catalog_invalid);
  }
}

}  // namespace
}  // namespace cordon::formats
