// SPDX-License-Identifier: Apache-2.0
#include "egress/proxy_request.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "words.hpp"

using namespace cordon;
using namespace cordon::egress;
using namespace cordon::egress::test;
using State = ProxyRequest::State;

namespace {

// "a.test:443 rest N", "why", or "more"; with all replies in hex before it.
std::string read(std::string_view said, std::size_t piece = 100'000) {
  ProxyRequest request;
  std::string out;
  std::size_t at = 0;
  while (at < said.size()) {
    const auto part = bytes(said.substr(at, piece));
    const State state = request.feed(part);
    at += request.taken();
    if (state == State::reply) {
      for (const char c : request.reply()) {
        out += text::cat(static_cast<int>(static_cast<unsigned char>(c)), ' ');
      }
    } else if (state == State::done) {
      return text::cat(out, request.target().host, ':', *request.target().port, " rest ", said.size() - at);
    } else if (state == State::refused) {
      return text::cat(out, request.why());
    }
  }
  return out + "more";
}

std::string socks(std::string_view request) { return std::string("\x05\x01\0", 3) + std::string(request); }
std::string name_request(std::string_view name, std::string_view port = std::string_view("\x01\xbb", 2)) {
  return socks(std::string("\x05\x01\0\x03", 4) + vector(name, 1) + std::string(port));
}

}  // namespace

TEST_CASE("CONNECT and SOCKS5 name a host, in any pieces, and take no byte of what follows") {
  for (const std::size_t piece : {1000U, 3U, 1U}) {
    CHECK(read("CONNECT A.Test.:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nhello", piece) == "a.test:443 rest 5");
    CHECK(read("CONNECT a.test:443 HTTP/1.0\r\n\r\n", piece) == "a.test:443 rest 0");
    CHECK(read("CONNECT 10.1.2.3:22 HTTP/1.1\r\n\r\n", piece) == "10.1.2.3:22 rest 0");
    CHECK(read("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n", piece) == "2001:db8::1:443 rest 0");
    CHECK(read(name_request("A.test") + "hello", piece) == "5 0 a.test:443 rest 5");
    CHECK(read(name_request("10.1.2.3"), piece) == "5 0 10.1.2.3:443 rest 0");
    CHECK(read(socks(std::string("\x05\x01\0\x01\x0a\x01\x02\x03\0\x16", 10)), piece) == "5 0 10.1.2.3:22 rest 0");
    CHECK(read(socks(std::string("\x05\x01\0\x04", 4) + std::string(15, '\0') + std::string("\x01\0\x16", 3)), piece) ==
          "5 0 ::1:22 rest 0");
  }
  CHECK(read("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test") == "more");
  CHECK(read(std::string("\x05\x03\x02", 3)) == "more");
}

TEST_CASE("what two readers would understand differently is refused before it is compared") {
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {"a.test\0.evil.test"sv, "a.test%00"sv, "user@a.test"sv, "a.test:80"sv, "a test"sv, ".a.test"sv, "a..test"sv,
        "0x7f.1"sv, "127.1"sv, "2130706433"sv, "::1"sv, "a.test\r\n"sv, "\xc3\xa4.test"sv}) {
    CHECK_MESSAGE(read(name_request(name)) == "5 0 malformed", name);
    CHECK_MESSAGE(read(text::cat("CONNECT ", name, ":443 HTTP/1.1\r\n\r\n")) == "malformed", name);
  }
  for (const std::string_view head :
       {"CONNECT a.test HTTP/1.1\r\n\r\n"sv, "CONNECT a.test: HTTP/1.1\r\n\r\n"sv,
        "CONNECT a.test:0 HTTP/1.1\r\n\r\n"sv, "CONNECT a.test:65536 HTTP/1.1\r\n\r\n"sv,
        "CONNECT a.test:0443 HTTP/1.1\r\n\r\n"sv, "CONNECT  a.test:443 HTTP/1.1\r\n\r\n"sv,
        "CONNECT a.test:443  HTTP/1.1\r\n\r\n"sv, "CONNECT a.test:443 HTTP/2.0\r\n\r\n"sv,
        "CONNECT a.test:443 http/1.1\r\n\r\n"sv, "CONNECT a.test:443\r\n\r\n"sv,
        "CONNECT a.test:443 HTTP/1.1\nX: y\r\n\r\n"sv, "CONNECT a.test:443 HTTP/1.1\r\nX: \0\r\n\r\n"sv,
        "CONNECT a.test:443 HTTP/1.1\r\nX: \ry\r\n\r\n"sv, "CONNECT \r\n\r\n"sv}) {
    CHECK_MESSAGE(read(head) == "malformed", head);
    CHECK_MESSAGE(read(head, 1) == "malformed", head);
  }
  CHECK(read(name_request("")) == "5 0 malformed");
  CHECK(read(name_request("a.test", "\0\0"sv)) == "5 0 malformed");
}

TEST_CASE("other methods, commands and authentication are refused at once") {
  CHECK(read("GET http://a.test/ HTTP/1.1") == "not_connect");
  CHECK(read("connect a.test:443") == "not_connect");
  CHECK(read("\x04\x01") == "not_connect");
  CHECK(read(std::string("\x05\x01\x02", 3)) == "authentication");
  CHECK(read(std::string("\x05\0", 2)) == "authentication");
  for (const char command : {'\x02', '\x03', '\0'}) {
    CHECK(read(socks(std::string("\x05", 1) + command + std::string("\0\x01\x7f", 3))) == "5 0 not_tcp");
  }
  CHECK(read(socks(std::string("\x05\x01\0\x02\x01", 5))) == "5 0 malformed");
  CHECK(read(socks(std::string("\x04\x01\0\x01\x01", 5))) == "5 0 malformed");
  CHECK(read(socks(std::string("\x05\x01\x01\x01\x01", 5))) == "5 0 malformed");
}

TEST_CASE("a request has a bound") {
  const std::string long_head = "CONNECT a.test:443 HTTP/1.1\r\nX: " + std::string(ProxyRequest::kMaxBytes, 'x');
  CHECK(read(long_head) == "malformed");
  CHECK(read(long_head, 7) == "malformed");
}

TEST_CASE("the client is told in its own protocol") {
  ProxyRequest http;
  CHECK(http.feed(bytes("CONNECT a.test:443 HTTP/1.1\r\n\r\n")) == State::done);
  CHECK(http.answer(true) == "HTTP/1.1 200 Connection established\r\n\r\n");
  CHECK(http.answer(false).starts_with("HTTP/1.1 403 "));
  ProxyRequest other;
  const auto said = bytes(name_request("a.test"));
  CHECK(other.feed(said) == State::reply);
  CHECK(other.feed(std::span(said).subspan(other.taken())) == State::done);
  CHECK(other.answer(true) == std::string("\x05\0\0\x01\0\0\0\0\0\0", 10));
  CHECK(other.answer(false) == std::string("\x05\x02\0\x01\0\0\0\0\0\0", 10));
}
