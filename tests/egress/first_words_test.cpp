// SPDX-License-Identifier: Apache-2.0
#include "egress/first_words.hpp"

#include <doctest/doctest.h>

#include "words.hpp"

using namespace cordon::egress;
using namespace cordon::egress::test;

namespace {

struct Judged {
  WordsState state = WordsState::waiting;
  std::string why = {};
  bool operator==(const Judged&) const = default;
};

Judged judge(std::string_view said, std::uint16_t port, SniCheck check = SniCheck::match, std::string host = "a.test") {
  FirstWords words(std::move(host), port, check);
  words.feed(bytes(said));
  return {words.state(), std::string(words.why())};
}

std::string request(std::string_view host) { return "GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"; }

const std::string kEch = records(hello_message(server_name("a.test") + extension(0xfe0d, "x")));

}  // namespace

TEST_CASE("on 443 only a hello for the name passes") {
  CHECK(judge(hello("a.test"), 443) == Judged{WordsState::passed, ""});
  CHECK(judge(hello("b.test"), 443) == Judged{WordsState::refused, "sni_mismatch"});
  CHECK(judge(records(hello_message("")), 443) == Judged{WordsState::refused, "sni_missing"});
  CHECK(judge(kEch, 443) == Judged{WordsState::refused, "ech"});
  CHECK(judge(request("a.test"), 443) == Judged{WordsState::refused, "not_tls"});
  CHECK(judge("SSH-2.0-x\r\n", 443) == Judged{WordsState::refused, "not_tls"});
  CHECK(judge(hello("a.test").substr(0, 30), 443).state == WordsState::waiting);
  FirstWords words("a.test", 443, SniCheck::match);
  CHECK(!words.may_dial_before());
  CHECK(words.end() == WordsState::refused);
}

TEST_CASE("elsewhere TLS and HTTP are held to the name, and other protocols pass") {
  CHECK(judge(hello("a.test"), 8443) == Judged{WordsState::passed, ""});
  CHECK(judge(hello("b.test"), 8443) == Judged{WordsState::refused, "sni_mismatch"});
  CHECK(judge(request("A.test"), 80) == Judged{WordsState::passed, ""});
  CHECK(judge(request("a.test:80"), 80) == Judged{WordsState::passed, ""});
  CHECK(judge(request("a.test:81"), 80) == Judged{WordsState::refused, "host_mismatch"});
  CHECK(judge(request("b.test"), 80) == Judged{WordsState::refused, "host_mismatch"});
  CHECK(judge("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n", 80) ==
        Judged{WordsState::refused, "connect_method"});
  CHECK(judge("SSH-2.0-x\r\n", 22) == Judged{WordsState::passed, ""});
  // A warning before the hello is skipped by some servers; what only begins with the same byte is another protocol.
  CHECK(judge(std::string("\x15\x03\x01\x00\x02\x01\x5a", 7) + hello("b.test"), 8443) ==
        Judged{WordsState::refused, "malformed"});
  CHECK(judge(std::string("\x15\x00\x00\x00\x01", 5), 8443) == Judged{WordsState::passed, ""});
  CHECK(judge("\r\nGET", 80) == Judged{WordsState::refused, "malformed"});
  CHECK(judge(" " + request("b.test"), 80) == Judged{WordsState::refused, "malformed"});
  // HTTP/0.9 has no Host, and servers take the one of the target, or any.
  for (const std::string_view old : {"GET http://b.test/x\r\n", "GET /x\n", "POST\thttp://b.test/ y\r\n"}) {
    CHECK(judge(old, 80) == Judged{WordsState::refused, "malformed"});
  }
  for (const std::string_view other :
       {"get /key\r\n", "GET key\r\n", "OPTIONS rtsp://b.test/ RTSP/1.0\r\n", "RETR /file\r\n", "EHLO b.test\r\n"}) {
    CHECK(judge(other, 8080) == Judged{WordsState::passed, ""});
  }
  FirstWords silent("a.test", 22, SniCheck::match);
  CHECK(silent.may_dial_before());
  CHECK(silent.end() == WordsState::passed);
  FirstWords begun("a.test", 80, SniCheck::match);
  begun.feed(bytes("GE"));
  CHECK(!begun.may_dial_before());
  CHECK(begun.end() == WordsState::refused);
}

TEST_CASE("flag passes what match refuses; off looks at nothing") {
  CHECK(judge(hello("b.test"), 443, SniCheck::flag) == Judged{WordsState::flagged, "sni_mismatch"});
  CHECK(judge(kEch, 443, SniCheck::flag) == Judged{WordsState::flagged, "ech"});
  CHECK(judge(hello("a.test"), 443, SniCheck::flag) == Judged{WordsState::passed, ""});
  CHECK(judge("", 443, SniCheck::off).state == WordsState::passed);
  CHECK(judge("", 443, SniCheck::match, "").state == WordsState::passed);
}
