// SPDX-License-Identifier: Apache-2.0
#include "core/policy/condition.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"

using namespace cordon;
using policy::ArgumentCondition;
using policy::Condition;
using policy::Outcome;

namespace {

policy::Finding check(const ArgumentCondition& condition, const std::string& arguments) {
  policy::LexicalPaths files;
  const auto ready = Condition::compile(condition);
  REQUIRE(ready.has_value());
  const auto document = json::read(arguments, {});
  REQUIRE(document.has_value());
  return ready->check(document->root(), {.cwd = "/data", .home = "/home/cordon", .files = &files});
}

Outcome outcome(const ArgumentCondition& condition, const std::string& arguments) {
  return check(condition, arguments).outcome;
}

const Outcome H = Outcome::holds;
const Outcome F = Outcome::fails;
const Outcome U = Outcome::unclear;

}  // namespace

TEST_CASE("an absent argument fails, unless it is optional") {
  CHECK(outcome({.pointer = "/a"}, "{}") == F);
  CHECK(outcome({.pointer = "/a"}, R"({"a":null})") == H);
  CHECK(outcome({.pointer = "/a", .optional = true, .one_of = {"1"}}, "{}") == H);
  CHECK(outcome({.pointer = "/a", .optional = true, .one_of = {"1"}}, R"({"a":null})") == U);
  CHECK(outcome({.pointer = "/a/b", .max_length = 3}, R"({"a":{}})") == F);
  CHECK(outcome({.pointer = "/a/b", .optional = true, .max_length = 3}, R"({"a":"text"})") == U);
  CHECK(outcome({.pointer = "/a/*", .max_length = 3}, R"({"a":[]})") == F);
}

TEST_CASE("more paths than can be looked up while somebody waits are unclear") {
  const ArgumentCondition inside{.pointer = "/p/*", .within = {"/data"}};
  const auto paths = [](std::size_t count, const std::string& path) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      list += (i == 0 ? "\"" : ",\"") + path + '"';
    }
    return R"({"p":[)" + list + "]}";
  };
  CHECK(outcome(inside, paths(1'000, "/data/a")) == H);
  CHECK(outcome(inside, paths(1'001, "/data/a")) == U);
  CHECK(check(inside, paths(1'001, "/data/a")).pointer == "/p/*");
  CHECK(outcome(inside, paths(50, "/data/" + std::string(3'000, 'a'))) == U);
  CHECK(outcome({.pointer = "/p/*", .max_length = 9}, paths(2'000, "/data/a")) == H);
  CHECK(outcome({.pointer = "/p", .within = {"/data"}}, R"({"p":"/data/)" + std::string(4'000, 'a') + R"("})") == H);
}

TEST_CASE("a forbidden argument must not be given, be it null") {
  CHECK(outcome({.pointer = "/a", .forbid = true}, "{}") == H);
  CHECK(outcome({.pointer = "/a", .forbid = true}, R"({"a":null})") == F);
  CHECK(outcome({.pointer = "/l/*/a", .forbid = true}, R"({"l":[{"b":1},{}]})") == H);
  CHECK(outcome({.pointer = "/l/*/a", .forbid = true}, R"({"l":[{"b":1},{"a":2}]})") != H);
}

TEST_CASE("pointers name members, elements and all of them") {
  const auto short_text = [](std::string pointer) {
    return ArgumentCondition{.pointer = std::move(pointer), .max_length = 2};
  };
  CHECK(outcome(short_text("/a~1b/~0c"), R"({"a/b":{"~c":"ok"}})") == H);
  CHECK(outcome(short_text("/l/1"), R"({"l":["long","ok"]})") == H);
  CHECK(outcome(short_text("/l/*"), R"({"l":["ok","ok"]})") == H);
  CHECK(outcome(short_text("/l/*"), R"({"l":["long","longer"]})") == F);
  CHECK(outcome(short_text("/l/*"), R"({"l":["ok","long"]})") == U);
  CHECK(outcome(short_text("/l/*/t"), R"({"l":[{"t":"ok"},{}]})") == U);
  CHECK(outcome(short_text("/m/*"), R"({"m":{"x":"ok","y":"no"}})") == H);
  CHECK(outcome(short_text("/l/01"), R"({"l":["long","ok"]})") == U);
  CHECK(outcome(short_text("/l/-"), R"({"l":["ok"]})") == U);
  CHECK(check(short_text("/l/*"), R"({"l":["ok","long"]})").pointer == "/l/1");
  for (const char* bad : {"", "a", "/a~", "/a~2"}) {
    CHECK_MESSAGE(!Condition::compile({.pointer = bad}), bad);
  }
}

TEST_CASE("matches takes the whole value, not_matches any part of it") {
  const ArgumentCondition word{.pointer = "/a", .matches = {"[a-z]+", "[0-9]+"}};
  CHECK(outcome(word, R"({"a":"abc"})") == H);
  CHECK(outcome(word, R"({"a":"123"})") == H);
  for (const char* other : {R"({"a":"abc1"})", R"({"a":"abc\n"})", R"({"a":"\nabc"})", R"({"a":""})"}) {
    CHECK_MESSAGE(outcome(word, other) == F, other);
  }
  for (const char* other : {R"({"a":["abc"]})", R"({"a":1})", R"({"a":{"b":"abc"}})", R"({"a":true})"}) {
    CHECK_MESSAGE(outcome(word, other) == U, other);
  }
  const ArgumentCondition none{.pointer = "/a", .not_matches = {"(?i)drop", ";"}};
  CHECK(outcome(none, R"({"a":"select"})") == H);
  CHECK(outcome(none, R"({"a":"x DrOp y"})") == F);
  CHECK(outcome(none, R"({"a":"x\u003b"})") == F);
  CHECK(outcome(none, R"({"a":["drop"]})") == U);
  CHECK(!Condition::compile({.pointer = "/a", .matches = {"("}}));
  CHECK(!Condition::compile({.pointer = "/a", .not_matches = {"(?=x)"}}));
}

TEST_CASE("text with a lone surrogate or U+0000 is ambiguous") {
  for (const ArgumentCondition& condition :
       {ArgumentCondition{.pointer = "/a", .not_matches = {"x"}},
        ArgumentCondition{.pointer = "/a", .one_of = {"\"y\""}}, ArgumentCondition{.pointer = "/a", .max_length = 9},
        ArgumentCondition{.pointer = "/a", .within = {"/"}}}) {
    for (const char* text : {R"({"a":"y\ud800"})", R"({"a":"y\u0000"})"}) {
      const policy::Finding found = check(condition, text);
      CHECK(found.outcome == U);
      CHECK(found.code == Errc::message_ambiguous);
    }
  }
}

TEST_CASE("one_of compares values of JSON, and takes a near spelling for neither") {
  const ArgumentCondition mode{.pointer = "/a", .one_of = {"\"list\"", "\"dry-run\"", "1", "true"}};
  for (const char* listed :
       {R"({"a":"list"})", R"({"a":"l\u0069st"})", R"({"a":1})", R"({"a":1.0})", R"({"a":true})"}) {
    CHECK_MESSAGE(outcome(mode, listed) == H, listed);
  }
  for (const char* other : {R"({"a":"delete"})", R"({"a":2})", R"({"a":false})", R"({"a":""})"}) {
    CHECK_MESSAGE(outcome(mode, other) == F, other);
  }
  for (const char* odd : {R"({"a":"LIST"})", R"({"a":" list "})", R"({"a":"li\u017ft"})", R"({"a":"dry_run"})",
                          R"({"a":"dryRun"})", R"({"a":["list"]})", R"({"a":null})", R"({"a":{"b":"list"}})"}) {
    CHECK_MESSAGE(outcome(mode, odd) == U, odd);
  }
  CHECK(check(mode, R"({"a":9007199254740993})").code == Errc::message_ambiguous);
}

TEST_CASE("numbers are compared by their spelling") {
  const ArgumentCondition few{.pointer = "/a", .minimum = -1, .maximum = 10};
  for (const char* inside :
       {R"({"a":-1})", R"({"a":10})", R"({"a":1e1})", R"({"a":10.0})", R"({"a":0.5})", R"({"a":-0})"}) {
    CHECK_MESSAGE(outcome(few, inside) == H, inside);
  }
  for (const char* outside :
       {R"({"a":-2})", R"({"a":11})", R"({"a":10.0000000001})", R"({"a":1e2})", R"({"a":-1.5})"}) {
    CHECK_MESSAGE(outcome(few, outside) == F, outside);
  }
  for (const char* kind : {R"({"a":"5"})", R"({"a":[5]})", R"({"a":true})", R"({"a":null})"}) {
    CHECK_MESSAGE(outcome(few, kind) == U, kind);
  }
  for (const char* vague :
       {R"({"a":1e400})", R"({"a":9007199254740993})", R"({"a":10.00000000000000001})", R"({"a":-1e99})"}) {
    const policy::Finding found = check(few, vague);
    CHECK_MESSAGE(found.outcome == U, vague);
    CHECK_MESSAGE(found.code == Errc::message_ambiguous, vague);
  }
}

TEST_CASE("lengths count characters, items elements") {
  const ArgumentCondition three{.pointer = "/a", .max_length = 3};
  CHECK(outcome(three, R"({"a":"\u00e4\ud83d\ude00x"})") == H);
  CHECK(outcome(three, R"({"a":"abcd"})") == F);
  CHECK(outcome(three, R"({"a":["abcd","e","f"]})") == U);
  const ArgumentCondition two{.pointer = "/a", .max_items = 2};
  CHECK(outcome(two, R"({"a":[1,2]})") == H);
  CHECK(outcome(two, R"({"a":[1,2,3]})") == F);
  CHECK(outcome(two, R"({"a":"ab"})") == U);
}

TEST_CASE("paths and hosts are judged where they stand") {
  const ArgumentCondition path{.pointer = "/p/*", .within = {"/data/out", "/tmp"}};
  CHECK(outcome(path, R"({"p":["/data/out/a","/tmp/b"]})") == H);
  CHECK(outcome(path, R"({"p":["/data/out/a","/etc/b"]})") == U);
  CHECK(outcome(path, R"({"p":["/data/out/../a"]})") == F);
  CHECK(outcome(path, R"({"p":"/data/out/a"})") == U);
  CHECK(outcome(path, R"({"p":[["/data/out/a"]]})") == U);
  const ArgumentCondition url{.pointer = "/u", .hosts = {"api.example.com"}};
  CHECK(outcome(url, R"({"u":"https://api.example.com/x"})") == H);
  CHECK(outcome(url, R"({"u":"https://evil.example/x"})") == F);
  CHECK(outcome(url, R"({"u":"https://api.example.com@evil.example/x"})") == F);
  CHECK(outcome(url, R"({"u":"https://api.example.com\\@evil.example/x"})") == U);
  CHECK(outcome(url, R"({"u":"api.example.com"})") == U);
  CHECK(outcome(url, R"({"u":["https://api.example.com/x"]})") == U);
}

TEST_CASE("all that a condition says must hold, and one clear no is enough") {
  const ArgumentCondition both{.pointer = "/p", .within = {"/data"}, .matches = {".*\\.txt"}, .max_length = 20};
  CHECK(outcome(both, R"({"p":"/data/a.txt"})") == H);
  CHECK(outcome(both, R"({"p":"/data/a.sh"})") == F);
  CHECK(outcome(both, R"({"p":"/etc/a.txt"})") == F);
  CHECK(outcome(both, R"({"p":"/data/0123456789012345.txt"})") == F);
  CHECK(outcome(both, R"({"p":"/data/%2e%2e/a.txt"})") == U);
}
