// SPDX-License-Identifier: Apache-2.0
// network.mode: proxy: the same rules, checks and records as by address.
#include "base/text.hpp"
#include "egress/words.hpp"
#include "run/egress_questions.hpp"
#include "run/egress_world.hpp"

using namespace cordon;
using namespace cordon::run;
using namespace cordon::run::test;
using egress::HostKind;
using egress::test::hello;

namespace {

std::string connect_line(std::string_view host, std::uint16_t port) {
  return text::cat("CONNECT ", host, ':', port, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n");
}

std::string socks_line(std::string_view host, std::uint16_t port) {
  return std::string("\x05\x01\0\x03", 4) + egress::test::vector(host, 1) + egress::test::number(port, 2);
}

void echo(Socket& socket) {
  std::string all = socket.hear();
  socket.say(all);
}

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

World proxy_world() {
  World world;
  world.rules.mode = egress::EgressMode::proxy;
  return world;
}

// What comes back until the end.
std::string ask(const World& world, const std::string& request) {
  const Socket client = Socket::to(World::door(), world.proxy_port);
  client.say(request);
  return client.hear();
}

}  // namespace

TEST_CASE("CONNECT and SOCKS5 reach a listed host, with what follows at once") {
  OutsideServer server(echo);
  World world = proxy_world();
  world.allow(HostKind::name, "a.test", server.port());
  std::string by_http;
  std::string by_socks;
  world.run([&] {
    const Socket client = Socket::to(World::door(), world.proxy_port);
    client.say(connect_line("A.test", server.port()) + "\x01" + "ping");
    client.say_end();
    by_http = client.hear();
    const Socket other = Socket::to(World::door(), world.proxy_port);
    other.say(std::string("\x05\x01\0", 3));
    by_socks = other.hear(2);
    other.say(socks_line("a.test", server.port()) + "\x01" + "pong");
    other.say_end();
    by_socks += other.hear();
  });
  CHECK(by_http == std::string(kEstablished) + "\x01" + "ping");
  CHECK(by_socks == std::string("\x05\0\x05\0\0\x01\0\0\0\0\0\0", 12) + "\x01" + "pong");
  CHECK(world.lookups == 1);  // the second one knew it from the first
  CHECK(world.count({"\"event\":\"egress\"", "\"decision\":\"allowed\"", "\"host\":\"a.test\""}) == 2);
  CHECK(world.count({"\"event\":\"egress_end\"", "\"how\":\"closed\""}) == 2);
}

TEST_CASE("what is not listed is refused by the proxy, and nobody looks it up") {
  OutsideServer server(echo);
  World world = proxy_world();
  world.allow(HostKind::name, "a.test", server.port());
  std::string name;
  std::string port;
  std::string literal;
  std::string method;
  std::string trick;
  world.run([&] {
    name = ask(world, connect_line("evil.test", 443));
    port = ask(world, connect_line("a.test", 1));
    literal = ask(world, connect_line("127.0.0.1", server.port()));
    method = ask(world, "GET http://a.test/ HTTP/1.1\r\n\r\n");
    trick = ask(world, connect_line("a.test%00.evil.test", server.port()));
  });
  CHECK(name.starts_with("HTTP/1.1 403 "));
  CHECK(port.starts_with("HTTP/1.1 403 "));
  CHECK(literal.starts_with("HTTP/1.1 403 "));
  CHECK(method.starts_with("HTTP/1.1 501 "));
  CHECK(trick.starts_with("HTTP/1.1 400 "));
  CHECK(world.lookups == 0);
  CHECK(server.connections == 0);
  CHECK(world.count({"\"decision\":\"denied\"", "unlisted_name", "evil.test"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "unlisted_port", "a.test"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "unlisted_address", "127.0.0.1"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "not_connect"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "malformed"}) == 1);
  CHECK(world.said("\"evil.test:443\""));
  CHECK(world.said("{host: 127.0.0.1, ports: [" + std::to_string(server.port()) + "], private: true}"));
  CHECK(world.said("passes on no plain HTTP"));
}

TEST_CASE("behind the proxy, addresses and first words are judged as ever") {
  OutsideServer server(echo);
  World world = proxy_world();
  world.allow(HostKind::name, "a.test", server.port());
  world.allow(HostKind::name, "public.test", server.port(), false);
  std::string other_name;
  std::string rebound;
  world.run([&] {
    other_name = ask(world, connect_line("a.test", server.port()) + hello("evil.test"));
    rebound = ask(world, connect_line("public.test", server.port()) + "\x01");
  });
  CHECK(other_name == std::string(kEstablished) + "RESET");
  CHECK(rebound == std::string(kEstablished) + "RESET");
  CHECK(server.connections == 0);
  CHECK(world.count({"\"decision\":\"denied\"", "sni_mismatch", "\"host\":\"a.test\""}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "loopback_address", "\"host\":\"public.test\""}) == 1);
}

TEST_CASE("who goes around the proxy finds no address, and the person is told") {
  World world = proxy_world();
  world.allow(HostKind::name, "a.test", 443);
  std::string listed;
  std::string other;
  world.run([&] {
    listed = ask_udp(world.dns_port, query("a.test"));
    other = ask_udp(world.dns_port, query("b.test"));
  });
  CHECK(code(listed) == 3);
  CHECK(code(other) == 3);
  CHECK(world.count({"\"decision\":\"denied\"", "not_by_proxy", "a.test"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "unlisted_name", "b.test"}) == 1);
  CHECK(world.said("egress_denied: a.test: not_by_proxy; with isolation.network.mode: proxy programs have to ask"));
}

TEST_CASE("who says nothing to the proxy is closed in time, and too many are refused") {
  World world = proxy_world();
  world.allow(HostKind::name, "a.test", 443);
  world.limits.first_words_ms = 50;
  world.limits.connections = 1;
  std::string slow;
  std::string second;
  world.run([&] {
    const Socket client = Socket::to(World::door(), world.proxy_port);
    client.say("CONNECT a.te");
    const Socket other = Socket::to(World::door(), world.proxy_port);
    second = other.hear();
    slow = client.hear();
  });
  CHECK(slow == "");
  CHECK(second == "RESET");
  CHECK(world.count({"\"decision\":\"denied\"", "too_many_connections"}) == 1);
}
