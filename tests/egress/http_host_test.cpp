// SPDX-License-Identifier: Apache-2.0
#include "egress/http_host.hpp"

#include <doctest/doctest.h>

#include <string>

#include "words.hpp"

using namespace cordon::egress;
using namespace cordon::egress::test;

namespace {

Peek peek(std::string_view text, std::size_t piece = 100'000) {
  HttpHost reader;
  Peek state = Peek::more;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    state = reader.feed(bytes(text.substr(at, piece)));
  }
  return state;
}

std::string host(std::string_view text, std::size_t piece = 100'000) {
  HttpHost reader;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    reader.feed(bytes(text.substr(at, piece)));
  }
  return reader.request().host.host;
}

}  // namespace

TEST_CASE("the host of a request is found in any pieces") {
  const std::string_view request = "POST /x?y HTTP/1.1\r\nAccept: */*\r\nhOsT: \t A.Test:8080 \r\nX:\r\n\r\nbody";
  for (const std::size_t piece : {1000U, 3U, 1U}) {
    CHECK(peek(request, piece) == Peek::done);
    CHECK(host(request, piece) == "a.test");
  }
  HttpHost reader;
  reader.feed(bytes(request));
  CHECK(reader.request().host == HostPort{"a.test", 8080});
  CHECK(reader.request().method == "POST");
  CHECK(reader.request().head_bytes == request.size() - 4);
  CHECK(host("GET http://a.test/x HTTP/1.1\r\nHost: A.test\r\n\r\n") == "a.test");
  CHECK(host("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n") == "a.test");
  CHECK(host("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n") == "a.test");
}

TEST_CASE("requests that two readers understand differently are refused") {
  for (const char* wrong : {
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a.test\r\nhost: a.test\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a.test\r\n\r\n",
           "GET / HTTP/1.1\r\n Host: a.test\r\n\r\n",
           "GET / HTTP/1.1\r\nX: y\r\n Host: b.test\r\nHost: a.test\r\n\r\n",
           "GET / HTTP/1.1\nHost: a.test\n\n",
           "GET / HTTP/1.1\r\nX: y\nHost: b.test\r\nHost: a.test\r\n\r\n",
           "GET / HTTP/1.1\r\nX: y\rHost: b.test\r\nHost: a.test\r\n\r\n",
           "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
           "GET http://a.test@b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
           "GET b.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a.test:\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a.test:0443\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: \r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n",
           "GET\t/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
           "GET / HTTP/2.0\r\nHost: a.test\r\n\r\n",
           "GET / http/1.1\r\nHost: a.test\r\n\r\n",
           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
           "\r\nGET / HTTP/1.1\r\nHost: b.test\r\n\r\n",
           "\nGET / HTTP/1.1\r\nHost: b.test\r\n\r\n",
           "CONNECT b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
       }) {
    CHECK_MESSAGE(peek(wrong) == Peek::malformed, wrong);
    CHECK_MESSAGE(peek(wrong, 1) == Peek::malformed, wrong);
  }
}

TEST_CASE("another protocol is none, and a head has a bound") {
  for (const char* other : {"SSH-2.0-OpenSSH\r\n", "*1\r\n$4\r\nPING\r\n", "EHLO a.test\r\n", "a1 LOGIN x y\r\n",
                            "\x16\x03\x01", "\x10\x20MQTT", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ"}) {
    CHECK_MESSAGE(peek(other) == Peek::other, other);
  }
  CHECK(peek("GET / HTTP/1.1\r\nHost: a.te") == Peek::more);
  CHECK(peek("GET /" + std::string(40'000, 'x')) == Peek::malformed);
  CHECK(peek("GET / HTTP/1.1\r\nX: " + std::string(40'000, 'x'), 1000) == Peek::malformed);
}

TEST_CASE("a request line is as long in one piece as in many") {
  const auto request = [](std::size_t line) {
    const std::string_view around = "GET / HTTP/1.1\r";
    return "GET /" + std::string(line - around.size(), 'x') + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
  };
  for (const std::size_t piece : {100'000U, 1'000U, 1U}) {
    CHECK(peek(request(16'384), piece) == Peek::done);
    CHECK(peek(request(16'385), piece) == Peek::malformed);
  }
}

TEST_CASE("a host and a port have one spelling") {
  CHECK(read_host_port("A.test") == HostPort{"a.test", std::nullopt});
  CHECK(read_host_port("[::1]:443") == HostPort{"::1", 443});
  CHECK(read_host_port("[::1]") == HostPort{"::1", std::nullopt});
  CHECK(read_host_port("127.0.0.1:1") == HostPort{"127.0.0.1", 1});
  for (const char* wrong : {"", ":1", "a.test:", "a.test:0", "a.test:65536", "a.test:+1", "a.test:1:1", "[::1",
                            "[::1]x", "[1.2.3.4]", "::1", "[::1]:"}) {
    CHECK_MESSAGE(!read_host_port(wrong), wrong);
  }
}
