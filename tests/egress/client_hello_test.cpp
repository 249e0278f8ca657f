// SPDX-License-Identifier: Apache-2.0
#include "egress/client_hello.hpp"

#include <doctest/doctest.h>

#include "words.hpp"

using namespace cordon::egress;
using namespace cordon::egress::test;

namespace {

struct Read {
  Peek state = Peek::more;
  Meant meant = {};
  bool operator==(const Read&) const = default;
};

Read read(std::string_view text, std::size_t piece = 100'000) {
  ClientHello hello_reader;
  Read out;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    out.state = hello_reader.feed(bytes(text.substr(at, piece)));
  }
  out.meant = hello_reader.meant();
  return out;
}

}  // namespace

TEST_CASE("the name is found, in whatever pieces it comes") {
  const std::string message = hello_message(extension(10, "x") + server_name("API.example.com") + extension(16, "y"));
  const Read whole = {Peek::done, {"api.example.com", false}};
  for (const std::size_t record : {16'384U, 100U, 5U, 1U}) {
    for (const std::size_t piece : {100'000U, 7U, 1U}) {
      CHECK(read(records(message, record), piece) == whole);
    }
  }
  CHECK(read(records(message) + "more").state == Peek::done);
}

TEST_CASE("what is not there is said to be not there") {
  CHECK(read(records(hello_message(""))) == Read{Peek::done, {}});
  CHECK(read(records(hello_message(extension(10, "x")))) == Read{Peek::done, {}});
  CHECK(read(hello("a.test").substr(0, 40)).state == Peek::more);
  CHECK(read("").state == Peek::more);
}

TEST_CASE("an encrypted hello is seen") {
  for (const std::size_t kind : {0xfe0dU, 0xffceU}) {
    const Read ech = read(records(hello_message(server_name("public.test") + extension(kind, "…"))));
    CHECK(ech == Read{Peek::done, {"public.test", true}});
  }
}

TEST_CASE("another protocol is none") {
  CHECK(read("GET / HTTP/1.1").state == Peek::other);
  CHECK(read(std::string("\x16\x02\x00", 3)).state == Peek::other);
  CHECK(read(std::string(1, '\0')).state == Peek::other);
  CHECK(read("SSH-2.0-x\r\n").state == Peek::other);
}

TEST_CASE("what breaks the rules is refused, not guessed at") {
  const auto malformed = [](const std::string& message) { return read(records(message)).state == Peek::malformed; };
  CHECK(malformed(hello_message(server_name("a.test") + server_name("b.test"))));
  CHECK(malformed(hello_message(extension(10, "x") + extension(10, "x"))));
  CHECK(malformed(hello_message(extension(0, ""))));
  CHECK(malformed(hello_message(extension(0, vector("", 2)))));
  const std::string one = number(0, 1) + vector("a.test", 2);
  const std::string two = number(0, 1) + vector("b.test", 2);
  CHECK(malformed(hello_message(extension(0, vector(one + two, 2)))));
  CHECK(malformed(hello_message(extension(0, vector(number(1, 1) + vector("a.test", 2), 2)))));
  CHECK(malformed(hello_message(extension(0, vector(one, 2) + "x"))));
  CHECK(malformed(hello_message(server_name("a.test."))));
  CHECK(malformed(hello_message(server_name(std::string("a\0.test", 7)))));
  CHECK(malformed(hello_message(server_name("127.0.0.1"))));
  CHECK(malformed(hello_message(extension(0, vector(number(0, 1) + number(200, 2) + "a.test", 2)))));
  CHECK(malformed(hello_message("\x01")));
  std::string message = hello_message(server_name("a.test"));
  message[0] = 2;
  CHECK(malformed(message));
  message = hello_message(server_name("a.test"));
  message.resize(message.size() - 1);
  message[3] = static_cast<char>(message[3] - 1);
  CHECK(malformed(message));
  CHECK(read(number(22, 1) + number(0x0301, 2) + number(0, 2)).state == Peek::malformed);
  CHECK(read(number(22, 1) + number(0x0301, 2) + number(16'385, 2)).state == Peek::malformed);
  CHECK(read(records(number(1, 1) + number(65'537, 3))).state == Peek::malformed);
  // An alert between two pieces of the hello.
  const std::string cut = records(hello_message(server_name("a.test")), 20);
  CHECK(read(cut.substr(0, 25) + number(21, 1) + number(0x0301, 2) + vector("xx", 2) + cut.substr(25)).state ==
        Peek::malformed);
}
