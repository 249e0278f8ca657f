// SPDX-License-Identifier: Apache-2.0
// Our own process while it talks to a server: what it has given up, as the kernel says.

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
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

void replace_in(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

// The helper of `none` uses neither call, so that only our own process meets the refusal.
void without_isolation(const Fixture& fixture) {
  std::string policy = e2e::read_text(fixture.folder() + "/fake.yaml");
  replace_in(policy, "launch:\n", "launch:\n  home: temporary\n");
  const std::size_t begin = policy.find("  backend: ");
  REQUIRE(begin != std::string::npos);
  policy.replace(begin, policy.find('\n', begin) - begin, "  backend: none\n  reason: a test of our own process");
  e2e::write_text(fixture.folder() + "/fake.yaml", policy);
}

// What the body says in a process for which the call fails with EPERM.
std::string where_refused(long number, const std::function<std::string()>& body) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};
    const bool filtered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                          ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
    const std::string said = filtered ? body() : "no filter";
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[1024];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return said;
}

}  // namespace

TEST_CASE("where our own process cannot be confined, the server is ended and the client is told why") {
  Fixture fixture;
  without_isolation(fixture);
  REQUIRE(fixture.review() == "");
  const auto session = [&fixture] {
    const auto peer = fixture.run();
    const std::string type = e2e::error_type(peer->open());
    peer->close_stdin();
    const std::optional<int> status = peer->wait_exit(2000);
    const bool gone = fake::wait_gone(fixture.mark(), 500);
    return type + " " + std::to_string(status.value_or(-1)) + (gone ? " gone" : " left behind");
  };
  CHECK(where_refused(SYS_personality, session).find(" 0 gone") != std::string::npos);  // the filter alone does no harm
  CHECK(where_refused(SYS_landlock_restrict_self, session) == "unsupported_isolation 64 gone");
  CHECK(where_refused(SYS_seccomp, session) == "unsupported_isolation 64 gone");
  const auto capture = [&fixture] {
    const auto peer = fixture.start({"capture", "--policy", fixture.folder() + "/fake.yaml"});
    const std::optional<int> status = peer->wait_exit(5000);
    return std::to_string(status.value_or(-1)) + (fake::wait_gone(fixture.mark(), 500) ? " gone" : " left behind");
  };
  CHECK(where_refused(SYS_personality, capture) == "0 gone");
  CHECK(where_refused(SYS_landlock_restrict_self, capture) == "64 gone");
  CHECK(where_refused(SYS_seccomp, capture) == "64 gone");
}

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
