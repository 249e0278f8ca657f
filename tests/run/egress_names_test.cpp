// SPDX-License-Identifier: Apache-2.0
// The resolver inside, and doors that are opened for names below a wildcard.
#include <sys/un.h>

#include <cstring>

#include "egress/words.hpp"
#include "run/egress_questions.hpp"
#include "run/egress_world.hpp"

using namespace cordon;
using namespace cordon::run;
using namespace cordon::run::test;
using egress::HostKind;
using egress::test::number;
using egress::test::vector;

namespace {

// Plays the agent: binds where it is asked to, but on loopback. `misbehave`: answers with a door elsewhere.
void play_agent(int fd, int requests, bool misbehave) {
  for (int i = 0; i < requests; ++i) {
    egress::MessageBytes bytes = {};
    if (::recv(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      return;
    }
    const auto request = egress::agent_request(bytes);
    if (!request) {
      return;
    }
    UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;  // the address is local in a namespace only
    ::setsockopt(listener.get(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
    const sockaddr_in where = misbehave ? at(World::door(99), 0) : at(request->door.address, request->door.port);
    const int failed = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
                               ::listen(listener.get(), 16) != 0
                           ? errno
                           : 0;
    egress::MessageBytes reply = egress::to_bytes(egress::AgentReply{request->number, failed});
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
    iovec part = {.iov_base = reply.data(), .iov_len = reply.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (failed == 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      const int number_of_listener = listener.get();
      std::memcpy(CMSG_DATA(head), &number_of_listener, sizeof number_of_listener);
    }
    ::sendmsg(fd, &message, MSG_NOSIGNAL);
  }
}

struct AgentPair {
  AgentPair() {
    std::array<int, 2> ends = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
  }
  UniqueFd ours = {};
  UniqueFd theirs = {};
};

}  // namespace

TEST_CASE("allowed names have their address, all others do not exist, and nothing is looked up") {
  World world;
  world.allow(HostKind::name, "a.test", 4430);
  std::string a;
  std::string aaaa;
  std::string other;
  std::string tcp;
  world.run([&] {
    a = ask_udp(world.dns_port, query("A.test"));
    aaaa = ask_udp(world.dns_port, query("a.test", 28));
    other = ask_udp(world.dns_port, query("secret-data.evil.test"));
    const Socket stream = Socket::to(World::door(250), world.dns_port);
    const std::string framed = vector(query("a.test"), 2);
    stream.say(framed.substr(0, 5));
    stream.say(framed.substr(5));
    tcp = stream.hear(2 + query("a.test").size() + 16);
  });
  CHECK(code(a) == 0);
  CHECK(address(a) == number(World::door().value, 4));
  CHECK(code(aaaa) == 0);
  CHECK(aaaa.size() == query("a.test").size());
  CHECK(code(other) == 3);
  CHECK(tcp.substr(2) ==
        query("a.test").substr(0, 2) + a.substr(2, 10) + query("a.test").substr(12) + a.substr(query("a.test").size()));
  CHECK(address(tcp) == number(World::door().value, 4));
  CHECK(world.lookups == 0);
  CHECK(world.count({"unlisted_name", "secret-data.evil.test", "egress_denied"}) == 1);
  CHECK(
      world.said("secret-data.evil.test: unlisted_name; to allow it, add to isolation.network.allow in p.yaml: "
                 "\"secret-data.evil.test:443\""));
}

TEST_CASE("where clouds keep credentials nobody is told how to get in") {
  World world;
  world.allow(HostKind::name, "a.test", 4430);
  world.run([&] { ask_udp(world.dns_port, query("metadata.google.internal")); });
  REQUIRE(world.notices.size() == 1);
  CHECK(world.notices[0].find("to allow it") == std::string::npos);
}

TEST_CASE("a flood of names is counted, not written down") {
  World world;
  world.allow(HostKind::name, "a.test", 4430);
  world.run([&] {
    for (int i = 0; i < 3'000; ++i) {
      ask_udp(world.dns_port, query("n" + std::to_string(i) + ".evil.test"));
    }
  });
  CHECK(world.records.size() <= EgressLog::kMaxFirstUses + 200);
  CHECK(world.notices.size() == EgressLog::kMaxHints);
  CHECK(world.count({"suppressed"}) == 1);
}

TEST_CASE("an agent that hands out another door is not believed") {
  AgentPair pair;
  World world;
  world.agent = std::move(pair.ours);
  world.allow(HostKind::wildcard, "w.test", 4430);
  std::string answer;
  world.run([&] {
    std::thread agent([&] { play_agent(pair.theirs.get(), 1, true); });
    answer = ask_udp(world.dns_port, query("x.w.test"));
    agent.join();
  });
  CHECK(code(answer) == 3);
  CHECK(world.count({"agent_failed", "x.w.test"}) == 1);
}

TEST_CASE("a name below a wildcard has its address once its doors are open") {
  AgentPair pair;
  World world;
  world.agent = std::move(pair.ours);
  world.allow(HostKind::wildcard, "w.test", 4430);
  std::string answer;
  std::string again;
  std::string itself;
  world.run([&] {
    std::thread agent([&] { play_agent(pair.theirs.get(), 1, false); });
    answer = ask_udp(world.dns_port, query("X.w.test"));
    agent.join();
    again = ask_udp(world.dns_port, query("x.w.test"));
    itself = ask_udp(world.dns_port, query("w.test"));
  });
  CHECK(address(answer) == number(egress::kFirstWildcard.value, 4));
  CHECK(address(again) == number(egress::kFirstWildcard.value, 4));
  CHECK(code(itself) == 3);
}

TEST_CASE("without its agent a wildcard opens nothing") {
  AgentPair pair;
  World world;
  world.agent = std::move(pair.ours);
  pair.theirs.reset();
  world.allow(HostKind::wildcard, "w.test", 4430);
  std::string answer;
  world.run([&] { answer = ask_udp(world.dns_port, query("x.w.test")); });
  CHECK(code(answer) == 3);
  CHECK(world.count({"\"decision\":\"denied\"", "agent_"}) == 1);
}
