// SPDX-License-Identifier: Apache-2.0
// Our own process while it talks to a server: what it has given up, as the kernel says.

#include <dirent.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/fixture.hpp"

using e2e::Fixture;

namespace {

// The words after `field:` in /proc/PID/status.
std::vector<std::string> status_of(pid_t pid, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::vector<std::string> words;
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) {
      std::istringstream rest(line.substr(field.size() + 1));
      for (std::string word; rest >> word;) words.push_back(word);
    }
  }
  return words;
}

const std::vector<std::string> kNone = {"0000000000000000"};

void check_given_up(pid_t pid) {
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    CAPTURE(set);
    CHECK(status_of(pid, set) == kNone);
  }
  CHECK(status_of(pid, "NoNewPrivs") == std::vector<std::string>{"1"});
  CHECK(status_of(pid, "Seccomp") == std::vector<std::string>{"2"});
  CHECK(status_of(pid, "Threads") == std::vector<std::string>{"1"});
  const std::vector<std::string> uids = status_of(pid, "Uid");
  REQUIRE(uids.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(uids[i] != "0");
  if (::geteuid() == 0) {
    CHECK(status_of(pid, "CapBnd") == kNone);
    CHECK(status_of(pid, "Groups").empty());
  }
}

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream list("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> pids;
  for (pid_t child = 0; list >> child;) pids.push_back(child);
  return pids;
}

}  // namespace

TEST_CASE("while the server is talked to, our process has no capability, no root and a filter") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened();
  check_given_up(peer->pid());
  CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
}

TEST_CASE("a capture talks to the server from a process of its own, which gave up as much") {
  Fixture fixture;
  const auto peer = fixture.start({"capture", "--policy", fixture.folder() + "/fake.yaml"},
                                  "--silent=all --stderr=1 --ignore-eof --ignore-sigterm");
  REQUIRE(peer->wait_stderr("[fake]"));  // it is started, and what it says is read
  const std::vector<pid_t> children = children_of(peer->pid());
  REQUIRE(children.size() == 1);
  check_given_up(children.front());
  SUBCASE("SIGTERM to the command ends all of it in a second") {
    const std::int64_t began = fake::now_ms();
    peer->signal(SIGTERM);
    CHECK(peer->wait_exit(2000).value_or(0) != 0);
    CHECK(fake::wait_gone(fixture.mark(), 500));
    CHECK(fake::now_ms() - began <= 1000);
  }
  SUBCASE("so does SIGKILL") {
    peer->signal(SIGKILL);
    CHECK(peer->wait_exit(2000) == 128 + SIGKILL);
    CHECK(fake::wait_gone(fixture.mark(), 2000));
  }
  SUBCASE("without that process there is an error and no server") {
    ::kill(children.front(), SIGKILL);
    CHECK(peer->wait_exit(2000).value_or(0) >= 64);
    CHECK(fake::wait_gone(fixture.mark(), 2000));
  }
}
