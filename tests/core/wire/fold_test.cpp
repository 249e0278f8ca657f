// SPDX-License-Identifier: Apache-2.0
#include "core/wire/fold.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"

namespace {

std::string folded(std::string text) {
  const auto document = cordon::json::read(std::move(text), {});
  REQUIRE(document);
  return cordon::wire::folded_protocol_member(document->root()).value_or("-");
}

}  // namespace

TEST_CASE("members that only a case-insensitive reader takes for protocol members are found") {
  CHECK(folded(R"({"Method":"x"})") == "Method");
  CHECK(folded(R"({"JSONRPC":"2.0"})") == "JSONRPC");
  CHECK(folded("{\"re\u017Fult\":{}}") == "re\u017Fult");
  CHECK(folded(R"({"re\u017fult":{}})") == "re\u017Fult");
  CHECK(folded(R"({"params":{"Name":"x"}})") == "params.Name");
  CHECK(folded(R"({"params":{"argument\u017f":{}}})") == "params.argument\u017F");
  CHECK(folded(R"({"params":{"_Meta":{}}})") == "params._Meta");
  CHECK(folded(R"({"params":{"_meta":{"progressTo\u212aen":1}}})") == "params._meta.progressTo\u212Aen");
  CHECK(folded(R"({"result":{"iserror":false}})") == "result.iserror");
  CHECK(folded(R"({"result":{"Tools":[]}})") == "result.Tools");
  CHECK(folded(R"({"error":{"Code":1}})") == "error.Code");
}

TEST_CASE("each case of each name is found, and the name itself is not") {
  const auto upper = [](std::string name, std::size_t at) {
    name[at] = static_cast<char>(name[at] & ~0x20);
    return name;
  };
  for (const std::string name : {"requestedSchema", "inputResponses", "notifications", "url", "uri", "ref", "_meta"}) {
    const auto params = [](const std::string& key) { return "{\"params\":{\"" + key + "\":1}}"; };
    CHECK(folded(params(name)) == "-");
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::string other = upper(name, i);
      CHECK(folded(params(other)) == (other == name ? "-" : "params." + other));
      CHECK(folded(params(other + "x")) == "-");
    }
  }
}

TEST_CASE("exact, unknown and nested members are no concern") {
  CHECK(folded(R"({"method":"x","params":{"name":"x","arguments":{"Name":1,"ARGUMENTS":2}},"id":1,"Extra":1})") == "-");
  CHECK(folded(R"({"result":{"isError":false,"content":[{"Tools":1}],"names":1,"toolset":1}})") == "-");
}
