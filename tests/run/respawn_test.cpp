// SPDX-License-Identifier: Apache-2.0
// A second server takes the place of the first: pipes, order, exits and ends, with scripts in place of stages.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

#include "base/text.hpp"
#include "run/harness.hpp"
#include "run/proxy.hpp"

using namespace cordon;
using namespace cordon::run;
using cordon::run::test::Behaviour;
using cordon::run::test::ProxyRun;
using cordon::run::test::spare_server;

namespace {

constexpr int kStatus = 7;
Behaviour respawns() { return {.respawn_on_exit = true, .status = kStatus}; }

ProxyRun::Options with_spare(const std::string& first, const std::string& second, const std::string& says = {}) {
  return {.script = first, .behaviour = respawns(), .tune = [second, says](ProxyConfig& config) {
            config.spare = spare_server(second, says);
          }};
}

}  // namespace

TEST_CASE("what is for the server goes to the second one, and what that says to the client") {
  ProxyRun run(with_spare("echo one; echo first >&2; exit 3", "echo two; echo second >&2; cat; exit 4"));
  CHECK(run.receive(4) == "one\n");
  CHECK(run.wait_for("exited status 3"));
  CHECK(run.wait_for("respawned"));
  run.send("more\n");
  CHECK(run.receive(24) == "two\nfor the second\nmore\n");
  run.close_input();
  CHECK(run.wait_for("exited status 4"));
  CHECK(run.wait() == kStatus);
  const std::string log = run.log_to_end();
  CHECK(log.find("[demo] first") < log.find("[demo] second"));
  CHECK(log.contains("[demo] second"));
}

TEST_CASE("a second server that cannot be set up is told of, and so is its end") {
  ProxyRun run(with_spare("exit 3", "cat", "root: no space"));
  CHECK(run.wait_for("not respawned: root: no space"));
  CHECK(run.wait() == kStatus);
}

TEST_CASE("nothing that comes of the second server is passed on before it is known to be set up") {
  ProxyRun::Options options = with_spare("exit 3", "cat", "early; echo early >&2; echo bad");
  ProxyRun run(std::move(options));
  CHECK(run.wait_for("not respawned: bad"));
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(run.receive_all() == "");
  CHECK_FALSE(run.log_to_end().contains("early"));
}

TEST_CASE("a second server is not begun when something changed") {
  ProxyRun::Options options = with_spare("exit 3", "echo two");
  options.behaviour.stop_on_client_end = true;
  options.tune = [](ProxyConfig& config) {
    config.spare = spare_server("echo two");
    config.spare->admit = [] { return Status(fail(Errc::launch_changed, "another program")); };
  };
  ProxyRun run(std::move(options));
  CHECK(run.wait_for("not respawned: another program"));
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(run.receive_all() == "");
}

TEST_CASE("a second server that runs and is not admitted is ended before a byte of it passes") {
  ProxyRun::Options options;
  options.script = "exit 3";
  options.behaviour = respawns();
  options.tune = [](ProxyConfig& config) {
    config.spare = spare_server("echo two; cat");
    config.spare->running = [](const UniqueFd&) {
      return Result<egress::Sockets>(fail(Errc::launch_changed, "another program"));
    };
  };
  ProxyRun run(std::move(options));
  CHECK(run.wait_for("not respawned: another program"));
  CHECK(run.wait_for("exited signal 9"));
  CHECK(run.wait() == kStatus);
  CHECK(run.receive_all() == "");
}

TEST_CASE("a second server that takes too long to be set up is ended") {
  ProxyRun::Options options;
  options.script = "exit 3";
  options.behaviour = respawns();
  // Its status pipe stays open: after the word it waits for more on its stdin.
  options.tune = [](ProxyConfig& config) {
    config.spare = spare_server("true", "$(cat)");
    config.start_ms = 50;
  };
  ProxyRun run(std::move(options));
  CHECK(run.wait_for("not respawned: it was not set up within 50 ms"));
  CHECK(run.wait() == kStatus);
}

TEST_CASE("a spare one that is gone, or was kept too long, is no second server") {
  ProxyRun::Options options;
  options.script = "read -r line; exit 3";
  options.behaviour = respawns();
  options.behaviour.stop_on_client_end = true;
  std::string why = "too much time went by before it was asked for";
  SUBCASE("it was killed") {
    why = "the second launch cannot be begun: Broken pipe (errno 32)";
    options.tune = [](ProxyConfig& config) {
      config.spare = spare_server("echo two");
      // With what it started: that would hold the lifeline open.
      ::kill(-config.spare->process.pid, SIGKILL);
      siginfo_t ended = {};
      ::waitid(P_PID, static_cast<id_t>(config.spare->process.pid), &ended, WEXITED | WNOWAIT);
      pollfd lifeline{config.spare->process.lifeline.get(), 0, 0};
      while (::poll(&lifeline, 1, -1) != 1 || (lifeline.revents & POLLERR) == 0) {
      }
    };
  }
  SUBCASE("too much time went by") {
    options.tune = [](ProxyConfig& config) {
      config.spare = spare_server("echo two");
      config.spare_ms = 0;
    };
  }
  SUBCASE("it was dropped") {
    options.behaviour.drop_spare_at_start = true;
    options.tune = [](ProxyConfig& config) { config.spare = spare_server("echo two"); };
  }
  ProxyRun run(std::move(options));
  CHECK(run.wait_for("start"));
  run.send("go\n");
  CHECK(run.wait_for("not respawned: " + why));
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(run.receive_all() == "");
}
