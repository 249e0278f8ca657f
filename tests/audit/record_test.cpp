// SPDX-License-Identifier: Apache-2.0
#include "audit/record.hpp"

#include <doctest/doctest.h>

#include "audit/chain.hpp"
#include "audit/tail.hpp"
#include "base/hash.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::audit;

TEST_CASE("a body keeps its members and their spelling") {
  const auto body = admit_body(R"({"event":"call","n":1e400,"t":"a\/b"})", {});
  REQUIRE(body);
  CHECK(body->members == R"("event":"call","n":1e400,"t":"a\/b")");
  CHECK(body->event == "call");
}

TEST_CASE("flat bodies and others are judged alike") {
  // A space makes a body one that is parsed; both ways must agree.
  for (const char* members : {R"("event":"x")",
                              R"("event":"x","n":-12,"t":true,"f":false,"z":null)",
                              R"("a":0,"event":"")",
                              R"("event":1)",
                              R"("event":"x","n":01)",
                              R"("event":"x","n":-)",
                              R"("event":"x","n":1.5)",
                              R"("event":"x","event":"y")",
                              R"("event":"x","n":12345678901234567890)",
                              R"("event":"x","seq":1)",
                              R"("event":"x",)",
                              R"("event":"x")"
                              "}{",
                              R"("event":"x","from":"server")",
                              R"("event":"x","from":"client")",
                              R"("event":"x","from":true)",
                              R"("event":"x","s":"a
b")",
                              R"("event":"x","a":[1,{"b":2}])",
                              R"("event":"x","a":tru})",
                              R"("event":"x" "a":1)",
                              R"("event":"x","":"")",
                              R"("event":"x")"}) {
    CAPTURE(members);
    const auto flat = admit_body(std::string("{") + members + "}", {});
    const auto spaced = admit_body(std::string("{") + members + " }", {});
    REQUIRE(flat.has_value() == spaced.has_value());
    if (flat) {
      CHECK(flat->members + " " == spaced->members);
      CHECK(flat->event == spaced->event);
      CHECK(flat->from_server == spaced->from_server);
    }
  }
}

TEST_CASE("a body that is no record is refused") {
  for (const char* body :
       {"", "[]", "{}", "{\"event\":1}", "{\"event\":\"x\",\"seq\":1}", "{\"event\":\"x\",\"hash\":1}",
        "{\"event\":\"x\",\"prev\":1}", "{\"event\":\"x\",\"time\":1}", "{\"event\":\"x\"", "{\"event\":\n\"x\"}",
        "{\"event\":\"x\",\"a\":1,\"a\":2}", "{\"event\":\"x\"} x"}) {
    CAPTURE(body);
    const auto admitted = admit_body(body, {});
    REQUIRE_FALSE(admitted);
    CHECK(admitted.error().code == Errc::internal);
  }
}

TEST_CASE("secrets are masked wherever they stand and however they are escaped") {
  const Masker masker(std::vector<NamedSecret>{{"API_TOKEN", "s3cr\"t-value"}, {"PIN", "918273"}});
  const auto body = admit_body(
      R"({"event":"call","a":["x s3cr\"t-value y",{"s3cr\"t-value":1}],"b":"\u0073\u0033cr\u0022t-value","c":918273})",
      masker);
  REQUIRE(body);
  CHECK_FALSE(body->members.contains("t-value"));
  CHECK(
      body->members ==
      R"("event":"call","a":["x [secret API_TOKEN] y",{"[secret API_TOKEN]":1}],"b":"[secret API_TOKEN]","c":"[secret PIN]")");
}

TEST_CASE("a body whose keys masking makes equal keeps only its event") {
  const Masker masker(std::vector<NamedSecret>{{"A", "one-secret"}, {"A", "two-secret"}});
  const auto body = admit_body(R"({"event":"call","one-secret":1,"two-secret":2})", masker);
  REQUIRE(body);
  CHECK(body->members == R"("event":"call","masked":true)");
}

TEST_CASE("server text is cut and shown without effect on terminals") {
  const std::string text = server_text(std::string(1000, 'x') + "\x1b[2J");
  CHECK(text.size() <= kMaxServerTextBytes);
  CHECK(server_text("a\x1b[2J\xff") == R"(a\x1b[2J\xff)");
  const auto body = admit_body("{\"event\":\"e\",\"text\":\"" + std::string(300, 'y') + "\"}", {});
  REQUIRE(body);
  CHECK(body->members.size() < 300);
}

TEST_CASE("a record holds printable text only") {
  const auto body = admit_body(
      "{\"event\":\"e\",\"t\":\"a\xe2\x80\xae"
      "b\x7f\xc3\xa9\"}",
      {});
  REQUIRE(body);
  CHECK(body->members == "\"event\":\"e\",\"t\":\"a\\u202eb\\u007f\xc3\xa9\"");
}

TEST_CASE("a sealed line is read back; its hash is over the line without hash") {
  const SealedLine sealed = seal(7, "2026-11-29T15:10:07.123Z", no_previous(), "\"event\":\"call\"");
  CHECK(sealed.line.ends_with("\"}\n"));
  const auto record = read_line(std::string_view(sealed.line).substr(0, sealed.line.size() - 1));
  REQUIRE(record);
  CHECK(record->seq == 7);
  CHECK(record->event == "call");
  CHECK(record->hash == sealed.hash);
  const std::size_t at = sealed.line.find(",\"hash\"");
  CHECK(sha256_text(sealed.line.substr(0, at) + "}") == sealed.hash);
}

TEST_CASE("times are written in UTC and file names can be read back") {
  CHECK(time_text(1'796'051'407'123'456) == "2026-11-30T15:10:07.123Z");
  CHECK(file_time_text(1'796'051'407'123'456) == "20261130T151007.123456Z");
  CHECK(parse_file_time("20261130T151007.123456Z-abc.jsonl") == 1'796'051'407'123'456);
  CHECK(time_text(0) == "1970-01-01T00:00:00.000Z");
  for (const char* name : {"", "20261130T151007.123456", "20261330T151007.123456Z", "20261130T251007.123456Z", "x"}) {
    CHECK_FALSE(parse_file_time(name));
  }
}

TEST_CASE("the tail of a log is told from a suffix") {
  const SealedLine first = seal(0, "t", no_previous(), "\"event\":\"a\"");
  const SealedLine second = seal(1, "t", first.hash, "\"event\":\"b\"");
  const std::string clean = first.line + second.line;

  auto tail = find_tail(clean, true);
  REQUIRE(tail);
  CHECK(tail->last->seq == 1);
  CHECK(tail->torn_bytes == 0);
  CHECK_FALSE(tail->line_feed_missing);

  tail = find_tail(clean + "{\"seq\":2\nmore", true);
  REQUIRE(tail);
  CHECK(tail->last->seq == 1);
  CHECK(tail->torn_bytes == 13);
  CHECK(tail->torn_digest == sha256_text("{\"seq\":2\nmore"));
  CHECK(tail->line_feed_missing);

  tail = find_tail(clean.substr(0, clean.size() - 1), true);
  REQUIRE(tail);
  CHECK(tail->last->seq == 1);
  CHECK(tail->torn_bytes == 0);
  CHECK(tail->line_feed_missing);

  CHECK_FALSE(find_tail(second.line.substr(5), false));
  tail = find_tail("no record", true);
  REQUIRE(tail);
  CHECK_FALSE(tail->last);
  CHECK(tail->torn_bytes == 9);
  tail = find_tail("", true);
  REQUIRE(tail);
  CHECK(tail->torn_bytes == 0);
}
