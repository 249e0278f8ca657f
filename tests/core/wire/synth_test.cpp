// SPDX-License-Identifier: Apache-2.0
#include "core/wire/synth.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"

using namespace cordon::wire;
using cordon::Errc;

namespace {

cordon::json::Document document(std::string text) {
  auto result = cordon::json::read(std::move(text), {});
  REQUIRE(result);
  return std::move(*result);
}

}  // namespace

TEST_CASE("errors carry their type in front of the message and in data") {
  CHECK(error_line(Id("x"), Errc::unsupported_isolation, "no user namespaces") ==
        R"({"jsonrpc":"2.0","id":"x","error":{"code":64,"message":"unsupported_isolation: no user namespaces",)"
        R"("data":{"type":"unsupported_isolation"}}})"
        "\n");
}

TEST_CASE("a refusal is a result of its era") {
  CHECK(refusal_result("no", "{}", Era::handshake) ==
        R"({"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{}})");
  CHECK(refusal_result("no", "{}", Era::stateless) ==
        R"({"content":[{"type":"text","text":"no"}],"isError":true,"resultType":"complete","_meta":{}})");
}

TEST_CASE("members under our own prefix are found and taken out, in every _meta, however spelled") {
  const auto hit = document(
      R"({"_meta":{"dev.mcp-cordon/facts":1,"a":2},"content":[{"_meta":{"\u0064ev.mcp-cordon\/x":1}}],"n":1e400})");
  CHECK(has_own_meta(hit.root()));
  CHECK(without_own_meta(hit.root()) == R"({"_meta":{"a":2},"content":[{"_meta":{}}],"n":1e400})");
  const auto slash = document(R"({"_meta":{"dev.mcp-cordon\/facts":1}})");
  CHECK(has_own_meta(slash.root()));
}

TEST_CASE("members under our own prefix are found beside much text, and text is not taken for one") {
  const std::string prose(100'000, 'd');
  const std::string block = R"({"content":[{"type":"text","text":"dev.mcp-cordon/ )" + prose + "\"}]";
  CHECK(!has_own_meta(document(block + "}").root()));
  CHECK(has_own_meta(document(block + R"(,"_meta":{"\u0064ev.mcp-cordon/x":1}})").root()));
  CHECK(has_own_meta(document(block + R"(,"_meta":{"dev.mcp-cordon/x":1}})").root()));
}

TEST_CASE("data of tools is left alone") {
  const char* text =
      R"({"arguments":{"_meta":{"dev.mcp-cordon/x":1}},"structuredContent":{"_meta":{"dev.mcp-cordon/x":1}},"text":"dev.mcp-cordon/"})";
  CHECK(!has_own_meta(document(text).root()));
  CHECK(without_own_meta(document(text).root()) == text);
}

TEST_CASE("editing keeps what it is not asked to change") {
  const auto d = document(R"({"a": [1, 2], "b":1.0,"_meta":{"x":1}})");
  const auto edit = [](std::string_view key, const cordon::json::Value&) -> std::optional<std::string> {
    return key == "b" ? std::optional<std::string>("") : key == "a" ? std::optional<std::string>("3") : std::nullopt;
  };
  CHECK(edited(d.root(), edit) == R"({"a":3,"_meta":{"x":1}})");
  CHECK(with_meta(d.root(), "dev.mcp-cordon/flag", "true") ==
        R"({"a":[1, 2],"b":1.0,"_meta":{"x":1,"dev.mcp-cordon/flag":true}})");
}
