// SPDX-License-Identifier: Apache-2.0
#include "egress/dns.hpp"

#include <doctest/doctest.h>

#include <string>

#include "words.hpp"

using namespace cordon::egress;
using namespace cordon::egress::test;

namespace {

std::string wire(std::string_view dotted) {
  std::string out;
  while (!dotted.empty()) {
    const std::size_t dot = std::min(dotted.find('.'), dotted.size());
    out += vector(dotted.substr(0, dot), 1);
    dotted.remove_prefix(std::min(dot + 1, dotted.size()));
  }
  return out + std::string(1, '\0');
}

struct Parts {
  std::size_t id = 0x1234;
  std::size_t flags = 0x0100;
  std::size_t questions = 1;
  std::size_t answers = 0;
  std::size_t authorities = 0;
  std::size_t additional = 0;
  std::size_t type = 1;
  std::size_t kind = 1;
  std::string name = wire("a.test");
  std::string rest = {};
};

std::string query(const Parts& parts) {
  return number(parts.id, 2) + number(parts.flags, 2) + number(parts.questions, 2) + number(parts.answers, 2) +
         number(parts.authorities, 2) + number(parts.additional, 2) + parts.name + number(parts.type, 2) +
         number(parts.kind, 2) + parts.rest;
}

std::string text(const Bytes& bytes_in) { return {reinterpret_cast<const char*>(bytes_in.data()), bytes_in.size()}; }

// The answer code of a refusal; -1: no answer.
int code_of(const std::string& message) {
  const auto read = read_query(bytes(message));
  if (read) {
    return 100;
  }
  return read.error().answer ? static_cast<int>(read.error().answer->at(3)) & 0xf : -1;
}

const std::string kOpt = number(0, 1) + number(41, 2) + number(4096, 2) + number(0, 4) + number(0, 2);

}  // namespace

TEST_CASE("an address is answered to A, and nothing to any other type") {
  const auto read = read_query(bytes(query({.name = wire("A.TeSt")})));
  REQUIRE(read);
  CHECK(read->name == "a.test");
  const std::string answer = text(answer_with_address(*read, ipv4(198, 18, 1, 1)));
  CHECK(answer == number(0x1234, 2) + number(0x8180, 2) + number(1, 2) + number(1, 2) + number(0, 4) + wire("A.TeSt") +
                      number(1, 2) + number(1, 2) + number(0xc00c, 2) + number(1, 2) + number(1, 2) + number(60, 4) +
                      number(4, 2) + number(0xc6120101, 4));
  for (const std::size_t type : {28U, 65U, 16U, 255U, 5U}) {
    const auto other = read_query(bytes(query({.type = type})));
    REQUIRE(other);
    const std::string nothing = text(answer_with_address(*other, ipv4(198, 18, 1, 1)));
    CHECK(nothing.substr(2, 6) == number(0x8180, 2) + number(1, 2) + number(0, 2));
    CHECK(nothing.size() == query({}).size());
  }
}

TEST_CASE("an unlisted name does not exist") {
  const auto read = read_query(bytes(query({.flags = 0})));
  REQUIRE(read);
  CHECK(text(answer_without(*read, DnsCode::no_such_name)).substr(2, 2) == number(0x8083, 2));
}

TEST_CASE("EDNS is tolerated and answered; an unknown version is refused") {
  const auto read = read_query(bytes(query({.additional = 1, .rest = kOpt})));
  REQUIRE(read);
  CHECK(read->edns);
  CHECK(text(answer_without(*read, DnsCode::no_such_name))
            .ends_with(number(0, 1) + number(41, 2) + number(1232, 2) + number(0, 6)));
  const std::string cookie =
      number(0, 1) + number(41, 2) + number(1232, 2) + number(0x8000, 4) + vector(extension(10, "12345678"), 2);
  CHECK(read_query(bytes(query({.additional = 1, .rest = cookie}))));
  const std::string newer = number(0, 1) + number(41, 2) + number(4096, 2) + number(0x00010000, 4) + number(0, 2);
  const auto refused = read_query(bytes(query({.additional = 1, .rest = newer})));
  REQUIRE(!refused);
  REQUIRE(refused.error().answer);
  CHECK(text(*refused.error().answer).ends_with(number(0x01000000, 4) + number(0, 2)));
}

TEST_CASE("what is no query gets no answer") {
  CHECK(code_of("") == -1);
  CHECK(code_of(std::string(11, '\0')) == -1);
  CHECK(code_of(query({.flags = 0x8100})) == -1);
  CHECK(code_of(query({.rest = std::string(600, 'x')})) == -1);
}

TEST_CASE("anything but one plain question is a format error") {
  CHECK(code_of(query({.questions = 0})) == 1);
  CHECK(code_of(query({.questions = 2})) == 1);
  CHECK(code_of(query({.answers = 1})) == 1);
  CHECK(code_of(query({.authorities = 1})) == 1);
  CHECK(code_of(query({.additional = 2, .rest = kOpt + kOpt})) == 1);
  CHECK(code_of(query({.additional = 1})) == 1);
  CHECK(code_of(query({.rest = "x"})) == 1);
  CHECK(code_of(query({.additional = 1, .rest = kOpt + "x"})) == 1);
  CHECK(code_of(query({.additional = 1, .rest = wire("a") + kOpt.substr(1)})) == 1);
  CHECK(code_of(query({.flags = 0x0300})) == 1);
  CHECK(code_of(query({.name = number(0xc00c, 2)})) == 1);
  CHECK(code_of(query({.name = "\x01"
                               "a" +
                               number(0xc00c, 2)})) == 1);
  CHECK(code_of(query({.name = vector(std::string(64, 'a'), 1) + std::string(1, '\0')})) == 1);
  CHECK(code_of(query({}).substr(0, 20)) == 1);
  std::string too_long;
  for (int i = 0; i < 128; ++i) {
    too_long +=
        "\x01"
        "a";
  }
  CHECK(code_of(query({.name = too_long + std::string(1, '\0')})) == 1);
  CHECK(code_of(query({.flags = 0x2800})) == 4);
  CHECK(code_of(query({.kind = 3})) == 5);
}

TEST_CASE("a byte that no name has never joins the name before or behind it") {
  using namespace std::string_literals;
  for (const std::string& name :
       {vector("a.test", 1) + "\0"s, vector("a", 1) + vector("test.", 1) + "\0"s,
        vector("a\0"s, 1) + vector("test", 1) + "\0"s, vector("a%", 1) + vector("test", 1) + "\0"s,
        vector("x@a", 1) + vector("test", 1) + "\0"s, vector("a", 1) + vector("test:443", 1) + "\0"s, "\0"s,
        vector("a\n", 1) + vector("test", 1) + "\0"s}) {
    const auto read = read_query(bytes(query({.name = name})));
    REQUIRE(read);
    CHECK(read->name.empty());
    CHECK(read->shown.find('\n') == std::string::npos);
  }
}

TEST_CASE("messages come out of a stream however it is cut") {
  const std::string one = query({});
  const std::string framed_twice = text(DnsStream::framed(bytes(one))) + text(DnsStream::framed(bytes(one)));
  DnsStream stream;
  int seen = 0;
  for (const char letter : framed_twice) {
    CHECK(stream.feed(bytes(std::string(1, letter))));
    while (const auto message = stream.next()) {
      CHECK(text(*message) == one);
      ++seen;
    }
  }
  CHECK(seen == 2);
  DnsStream big;
  CHECK(!big.feed(bytes(number(513, 2))));
  DnsStream flooded;
  CHECK(!flooded.feed(bytes(std::string(5000, '\0'))));
}
