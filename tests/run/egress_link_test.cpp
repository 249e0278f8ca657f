// SPDX-License-Identifier: Apache-2.0
// Connections through a broker: whom they reach, what is checked before, and how they end.
#include <malloc.h>
#include <sys/resource.h>

#include "egress/words.hpp"
#include "run/egress_questions.hpp"
#include "run/egress_world.hpp"

using namespace cordon;
using namespace cordon::run;
using namespace cordon::run::test;
using egress::HostKind;
using egress::test::hello;

namespace {

void echo(Socket& socket) {
  std::string all = socket.hear();
  socket.say(all);
}

}  // namespace

TEST_CASE("bytes go both ways, and the end of each way is passed on by itself") {
  OutsideServer server([](Socket& socket) {
    const std::string asked = socket.hear();  // until the client's end
    socket.say("heard " + std::to_string(asked.size()));
  });
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say(std::string(3'000'000, '\x01'));
    client.say_end();
    answer = client.hear();
  });
  CHECK(answer == "heard 3000000");
  CHECK(world.lookups == 1);
  CHECK(world.count({"\"event\":\"egress\"", "\"decision\":\"allowed\"", "\"host\":\"a.test\"", "\"connection\":1"}) ==
        1);
  CHECK(world.count({"\"event\":\"egress_end\"", "\"how\":\"closed\"", "\"bytes_up\":3000000", "\"bytes_down\":13",
                     "\"address\":\"127.0.0.1\""}) == 1);
  CHECK(world.notices.empty());
}

TEST_CASE("a reader that is slow holds the other side up and loses nothing") {
  constexpr std::size_t kBytes = 20'000'000;
  OutsideServer server([](Socket& socket) {
    socket.hear(1);
    socket.say(std::string(kBytes, 'x'));
  });
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  std::size_t heard = 0;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    while (heard < kBytes) {
      const std::size_t got = client.hear(1).size();
      if (got == 0) {
        break;
      }
      heard += got;
    }
  });
  CHECK(heard == kBytes);
}

TEST_CASE("a server that speaks first is heard before the client has said a word") {
  OutsideServer server([](Socket& socket) {
    socket.say("SSH-2.0-server\r\n");
    socket.say(socket.hear(4));
  });
  World world;
  world.limits.quiet_ms = 1;
  world.allow(HostKind::name, "a.test", server.port());
  std::string greeting;
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    greeting = client.hear(16);
    client.say("\x01\x02\x03\x04");
    answer = client.hear(4);
  });
  CHECK(greeting == "SSH-2.0-server\r\n");
  CHECK(answer == "\x01\x02\x03\x04");
}

TEST_CASE("waiting for the server's first word does not get a hello for another name through") {
  std::string heard;
  OutsideServer server([&](Socket& socket) {
    socket.say("hi");
    heard = socket.hear();
  });
  World world;
  world.limits.quiet_ms = 1;
  world.allow(HostKind::name, "a.test", server.port());
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.hear(2);
    client.say(hello("evil.test"));
    answer = client.hear();
  });
  server.end();
  CHECK(answer.ends_with("RESET"));
  CHECK(heard == "RESET");
  CHECK(world.count({"\"decision\":\"denied\"", "sni_mismatch", "\"named\":\"evil.test\"", "egress_denied"}) == 1);
}

TEST_CASE("TLS and HTTP for another name never leave; for the right one they do") {
  OutsideServer server(echo);
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  std::string right;
  std::string wrong;
  std::string http;
  world.run([&] {
    const Socket good = Socket::to(World::door(), server.port());
    const std::string said = hello("a.test");
    good.say(said.substr(0, 50));
    good.say(said.substr(50));
    good.say_end();
    right = good.hear();
    const Socket bad = Socket::to(World::door(), server.port());
    bad.say(hello("b.test"));
    wrong = bad.hear();
    const Socket plain = Socket::to(World::door(), server.port());
    plain.say("CONNECT b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n");
    http = plain.hear();
  });
  CHECK(right == hello("a.test"));
  CHECK(wrong == "RESET");
  CHECK(http == "RESET");
  CHECK(server.connections == 1);
  CHECK(world.lookups == 1);
  CHECK(world.said("a.test:" + std::to_string(server.port()) +
                   ": sni_mismatch (b.test); to allow it, add to isolation.network.allow in p.yaml: \"b.test:"));
}

TEST_CASE("sni: flag lets it through and writes it down") {
  OutsideServer server(echo);
  World world;
  world.rules.sni = egress::SniCheck::flag;
  world.allow(HostKind::name, "a.test", server.port());
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say(hello("b.test"));
    client.say_end();
    answer = client.hear();
  });
  CHECK(answer == hello("b.test"));
  CHECK(world.count({"\"decision\":\"flagged\"", "sni_mismatch"}) == 1);
}

TEST_CASE("an answer that led somewhere is good for some seconds, and its addresses are judged each time") {
  OutsideServer server(echo);
  World world;
  const std::uint16_t closed = port_of(bound(SOCK_STREAM, World::door(201), 0).get());
  world.allow(HostKind::name, "a.test", server.port());
  world.allow(HostKind::name, "a.test", closed);
  SUBCASE("the same host") { world.limits.answer_ms = 3'600'000; }
  SUBCASE("later") { world.limits.answer_ms = 0; }
  const int kept = world.limits.answer_ms > 0 ? 1 : 2;
  std::string heard;
  const auto visit = [&](egress::Ipv4 door, std::uint16_t port) {
    const Socket client = Socket::to(door, port);
    client.say("\x01");
    client.say_end();
    heard += client.hear() + " ";
  };
  int first = 0;
  int second = 0;
  world.run([&] {
    visit(World::door(1), server.port());
    visit(World::door(1), server.port());
    first = world.lookups;
    visit(World::door(2), closed);  // nobody there: what was known is forgotten
    second = world.lookups;
    visit(World::door(1), server.port());
  });
  CHECK(heard == "\x01 \x01 RESET \x01 ");
  CHECK(first == kept);
  CHECK(world.lookups > second);
}

TEST_CASE("what one rule may connect to by a kept answer, another may not") {
  OutsideServer server(echo);
  OutsideServer other(echo);
  World world;
  world.limits.answer_ms = 3'600'000;
  world.allow(HostKind::name, "a.test", server.port());
  world.allow(HostKind::name, "a.test", other.port(), false);
  std::string good;
  std::string bad;
  world.run([&] {
    const Socket first = Socket::to(World::door(1), server.port());
    first.say("\x01");
    first.say_end();
    good = first.hear();
    const Socket second = Socket::to(World::door(2), other.port());
    second.say("\x01");
    bad = second.hear();
  });
  CHECK(good == "\x01");
  CHECK(bad == "RESET");
  CHECK(world.lookups == 1);
  CHECK(other.connections == 0);
  CHECK(
      world.said("it is listed, but not with `private: true`; to allow addresses of that kind, write its entry of "
                 "isolation.network.allow in p.yaml as {host: a.test, ports: [" +
                 std::to_string(other.port()) + "], private: true}"));
}

TEST_CASE("what the kernel refuses inside is written down, with what would allow it") {
  World world;
  world.allow(HostKind::name, "a.test", 443);
  std::array<int, 2> ends = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const UniqueFd kernel(ends[0]);
  world.watch = UniqueFd(ends[1]);
  const auto tell = [&](egress::Ipv4 from, std::uint16_t port) {
    const std::string packet = egress::test::refusal(from, port);
    REQUIRE(::send(kernel.get(), packet.data(), packet.size(), 0) == static_cast<ssize_t>(packet.size()));
  };
  world.run([&] {
    tell(World::door(1), 8080);
    tell(egress::ipv4(10, 1, 2, 3), 5432);
    tell(egress::ipv4(169, 254, 169, 254), 80);
    tell(egress::ipv4(8, 8, 8, 8), 53);
    tell(egress::ipv4(198, 18, 9, 9), 443);
    // Answered in turn, so that all of these were read by then.
    ask_udp(world.dns_port, query("b.test"));
    ask_udp(world.dns_port, query("c.test"));
  });
  CHECK(world.count(
            {"\"decision\":\"denied\"", "egress_denied", "unlisted_port", "\"host\":\"a.test\",\"port\":8080"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "unlisted_address", "\"host\":\"10.1.2.3\",\"port\":5432"}) == 1);
  CHECK(world.count({"unlisted_address", "169.254.169.254"}) == 1);
  CHECK(world.count({"unlisted_address", "8.8.8.8"}) == 1);
  CHECK(world.count({"unlisted_address", "198.18.9.9"}) == 1);
  CHECK(
      world.said("egress_denied: a.test:8080: unlisted_port; to allow it, add to isolation.network.allow in p.yaml: "
                 "\"a.test:8080\""));
  CHECK(
      world.said("10.1.2.3:5432: unlisted_address; to allow it, add to isolation.network.allow in p.yaml: {host: "
                 "10.1.2.3, ports: [5432], private: true}"));
  CHECK(!world.said("169.254.169.254:80: unlisted_address;"));
}

TEST_CASE("a name that is made to point inwards is not followed, and no answer is kept") {
  OutsideServer server(echo);
  World world;
  world.allow(HostKind::name, "a.test", server.port(), false);
  const char* answers[] = {"127.0.0.1", "10.0.0.1",   "169.254.169.254", "::ffff:127.0.0.1",
                           "::1",       "100.64.0.1", "198.18.1.1",      "0.0.0.0"};
  world.lookup = [&](const std::string&, int time) {
    return Resolver::Addresses{ip(answers[time - 1]), ip(answers[time - 1])};
  };
  std::string heard;
  world.run([&] {
    for ([[maybe_unused]] const char* one : answers) {
      const Socket client = Socket::to(World::door(), server.port());
      client.say("\x01");
      heard += client.hear() + " ";
    }
  });
  CHECK(heard == "RESET RESET RESET RESET RESET RESET RESET RESET ");
  CHECK(world.lookups == 8);
  CHECK(server.connections == 0);
  CHECK(world.count({"loopback_address", "127.0.0.1"}) == 1);
  CHECK(world.count({"metadata_address", "169.254.169.254"}) == 1);
  CHECK(world.count({"embedded_address"}) == 1);
  CHECK(world.count({"\"decision\":\"allowed\""}) == 0);
  CHECK(world.said("private: true}"));
  for (const std::string& notice : world.notices) {
    CHECK((notice.find("169.254") == std::string::npos || notice.find("to allow it") == std::string::npos));
  }
}

TEST_CASE("metadata and link-local addresses stay closed also with private: true") {
  OutsideServer server(echo);
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  world.lookup = [](const std::string&, int time) {
    return time == 1 ? Resolver::Addresses{ip("169.254.169.254"), ip("fe80::1")}
                     : Resolver::Addresses{ip("169.254.169.254"), ip("127.0.0.1")};
  };
  std::string first;
  std::string second;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    first = client.hear();
    const Socket again = Socket::to(World::door(), server.port());
    again.say("\x01");
    again.say_end();
    second = again.hear();
  });
  CHECK(first == "RESET");
  CHECK(second == "\x01");  // by the one address that is fit
}

TEST_CASE("the next address is tried when one does not answer") {
  OutsideServer server(echo);
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  world.lookup = [](const std::string&, int) {
    return Resolver::Addresses{ip("127.0.0.2"), ip("::1"), ip("127.0.0.1")};
  };
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    client.say_end();
    answer = client.hear();
  });
  CHECK(answer == "\x01");
  CHECK(in_turn({ip("1.1.1.1"), ip("2.2.2.2"), ip("2606::1")}) ==
        std::vector<egress::IpAddress>{ip("2606::1"), ip("1.1.1.1"), ip("2.2.2.2")});
}

TEST_CASE("an allowed address is reached at that address, without a resolver") {
  OutsideServer server(echo);
  World world;
  // The door stands at another loopback address than the server, so the connection cannot be the door's own.
  world.allow(HostKind::address, "127.9.0.77", server.port());
  std::string answer;
  world.run([&] {
    const Socket client = Socket::to(egress::ipv4(127, 9, 0, 77), server.port());
    client.say("\x01");
    answer = client.hear();
  });
  CHECK(world.lookups == 0);
  CHECK(world.count({"\"decision\":\"allowed\"", "\"address\":\"127.9.0.77\""}) >= 1);
}

TEST_CASE("no resolver, no server, a client that says nothing: each ends, and says why") {
  World world;
  world.limits.lookup_ms = 20;
  world.limits.first_words_ms = 20;
  const std::uint16_t port = port_of(bound(SOCK_STREAM, World::door(200), 0).get());
  world.allow(HostKind::name, "a.test", port);
  world.lookup = [](const std::string&, int time) {
    return time == 1   ? Resolver::Addresses()
           : time == 2 ? Resolver::Addresses{egress::IpAddress()}
                       : Resolver::Addresses{ip("127.0.0.1")};
  };
  std::string heard;
  world.run([&] {
    for (int i = 0; i < 3; ++i) {
      const Socket client = Socket::to(World::door(), port);
      client.say("\x01");
      heard += client.hear() + " ";
    }
    const Socket slow = Socket::to(World::door(), port);
    slow.say("\x16\x03\x01");
    heard += slow.hear();
  });
  CHECK(heard == "RESET RESET RESET RESET");
  CHECK(world.count({"\"decision\":\"denied\"", "not_resolved"}) >= 1);
  CHECK(world.count({"\"event\":\"egress_end\"", "not_connected"}) == 1);
  CHECK(world.count({"\"decision\":\"denied\"", "slow"}) == 1);
}

TEST_CASE("silence in both directions ends a connection") {
  OutsideServer server([](Socket& socket) { socket.hear(); });
  World world;
  world.limits.idle_ms = 20;
  world.allow(HostKind::name, "a.test", server.port());
  std::string heard;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    heard = client.hear();
  });
  CHECK(heard == "RESET");
  CHECK(world.count({"\"how\":\"idle\""}) == 1);
}

TEST_CASE("what cannot be written down does not happen") {
  OutsideServer server(echo);
  World world;
  world.log_works = false;
  world.allow(HostKind::name, "a.test", server.port());
  std::string heard;
  world.run([&] {
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    heard = client.hear();
    const Socket next = Socket::to(World::door(), server.port());
    heard += next.hear();
  });
  CHECK(heard == "RESETRESET");
  CHECK(server.connections == 0);
  CHECK(world.lookups == 1);
}

TEST_CASE("with no descriptor left a connection is refused at once, and the next one works again") {
  OutsideServer server(echo);
  World world;
  world.allow(HostKind::name, "a.test", server.port());
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low = {.rlim_cur = 256, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::string without;
  std::string with;
  world.run([&] {
    std::vector<UniqueFd> all;
    for (UniqueFd one(::eventfd(0, EFD_CLOEXEC)); one; one = UniqueFd(::eventfd(0, EFD_CLOEXEC))) {
      all.push_back(std::move(one));
    }
    all.pop_back();
    {
      const Socket client = Socket::to(World::door(), server.port());
      without = client.hear();
    }
    all.clear();
    const Socket client = Socket::to(World::door(), server.port());
    client.say("\x01");
    client.say_end();
    with = client.hear();
  });
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(without == "RESET");
  CHECK(with == "\x01");
  CHECK(world.count({"descriptor_limit", "\"decision\":\"denied\""}) == 1);
}

TEST_CASE("more connections than the bound are refused, and ten thousand leave nothing behind") {
  OutsideServer server([](Socket& socket) { socket.hear(); });
  World world;
  world.limits.connections = 8;
  world.allow(HostKind::name, "a.test", server.port());
  int refused = 0;
  std::size_t early = 0;
  std::size_t late = 0;
  world.run([&] {
    std::vector<Socket> open;
    for (int i = 0; i < 10'000; ++i) {
      open.push_back(Socket::to(World::door(), server.port()));
      if (open.size() == 100) {
        for (const Socket& one : open) {
          one.say("\x01");
        }
        open.clear();
      }
      if (i == 1'000) {
        early = ::mallinfo2().uordblks;
      } else if (i == 9'900) {
        late = ::mallinfo2().uordblks;
      }
    }
    for (int i = 0; i < 20; ++i) {
      open.push_back(Socket::to(World::door(), server.port()));
    }
    for (auto one = open.rbegin(); one != open.rend() && refused == 0; ++one) {
      refused = one->hear() == "RESET" ? 1 : 0;
    }
  });
  CHECK(refused == 1);
  CHECK(late < early + 400'000);  // what the test keeps of records is in it, and the heap of each thread
  CHECK(world.count({"too_many_connections", "\"decision\":\"denied\""}) >= 1);
  CHECK(world.records.size() < 3'000);
  CHECK(world.count({"\"event\":\"suppressed\"", "\"of\":\"egress\""}) == 1);
}
