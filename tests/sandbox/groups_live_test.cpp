// SPDX-License-Identifier: Apache-2.0
// limits.memory for the whole tree, on a machine that lets us make control groups: what exceeds it is ended, the launch
// says so, and nothing stays behind, neither processes nor groups.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/text.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::Step;
namespace fs = std::filesystem;

namespace {

constexpr std::array kBackends = {BackendChoice::native, BackendChoice::bubblewrap, BackendChoice::none};
constexpr std::uint64_t kMemory = 96'000'000;

sandbox::LaunchSpec limited(BackendChoice backend, const std::string& script) {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
  spec.limits.memory_bytes = kMemory;
  return spec;
}

// Why there are no groups here; empty: there are.
std::string missing_groups() {
  const auto facts = sandbox::probe_host(limited(BackendChoice::none, ":"), "");
  REQUIRE(facts.has_value());
  return facts->groups.trial.works ? std::string() : facts->groups.trial.reason;
}

bool without_groups() {
  const std::string missing = missing_groups();
  if (!missing.empty()) {
    std::fprintf(stderr, "SKIPPED: %s\n", missing.c_str());
  }
  return !missing.empty();
}

// Names of groups of ours that are there now.
std::vector<std::string> groups_of(const sandbox::Plan& plan) {
  std::vector<std::string> names;
  for (const sandbox::ControlGroup& group : plan.groups) {
    for (const auto& entry : fs::directory_iterator(group.folder)) {
      if (entry.path().filename().string().starts_with(sandbox::kGroupPrefix)) {
        names.push_back(entry.path());
      }
    }
  }
  return names;
}

struct Ended {
  test::Outcome outcome = {};
  std::string notes = {};
};

Ended finish(const sandbox::Plan& plan) {
  sandbox::Launched launched = test::start(plan);
  UniqueFd notes = std::move(launched.notes);
  Ended ended{.outcome = test::finish(std::move(launched))};
  ended.notes = test::read_to_end(notes.get());
  return ended;
}

template <typename Body>
void under_all(Body body) {
  if (without_groups()) {
    return;
  }
  for (const BackendChoice backend : kBackends) {
    if (!test::must_skip(backend)) {
      CAPTURE(backend);
      body(backend);
    }
  }
}

// Each of three processes holds `megabytes` and then waits for the others' sake.
std::string three_times(int megabytes) {
  const std::string hold = text::cat("x=$(head -c ", megabytes, "000000 /dev/zero | tr '\\0' x); echo held; sleep 5");
  return text::cat("(", hold, ")& (", hold, ")& (", hold, ")& wait; echo survived");
}

}  // namespace

TEST_CASE("a written memory limit is enforced for the whole tree") {
  under_all([](BackendChoice backend) {
    const sandbox::Plan plan = test::plan_for(limited(backend, "cat /proc/self/cgroup; echo fine"));
    const sandbox::Guarantee* memory = sandbox::find_guarantee(plan, "limits.memory");
    REQUIRE(memory != nullptr);
    CHECK(memory->strength == sandbox::Strength::enforced);
    REQUIRE(!plan.groups.empty());
    const Ended ended = finish(plan);
    CHECK(ended.outcome.status == "");
    CHECK(ended.outcome.out.ends_with("fine\n"));
    CHECK(ended.notes == "");
    CHECK(groups_of(plan).empty());
  });
}

TEST_CASE("a tree of processes that together exceed the limit is ended, and the launch says so") {
  under_all([](BackendChoice backend) {
    const sandbox::Plan plan = test::plan_for(limited(backend, three_times(60)));
    const Ended ended = finish(plan);
    CHECK(ended.outcome.status == "");
    CHECK(ended.outcome.out.find("survived") == std::string::npos);
    CHECK(ended.outcome.exit_code == 128 + SIGKILL);
    CHECK(ended.notes.find("more memory than isolation.limits.memory allows") != std::string::npos);
    CHECK(groups_of(plan).empty());
  });
}

TEST_CASE("what one of them uses below the limit is left alone") {
  under_all([](BackendChoice backend) {
    const sandbox::Plan plan =
        test::plan_for(limited(backend, "x=$(head -c 20000000 /dev/zero | tr '\\0' x); echo ${#x}"));
    const Ended ended = finish(plan);
    CHECK(ended.outcome.out == "20000000\n");
    CHECK(ended.notes == "");
  });
}

TEST_CASE("the number of processes of the tree is limited, too") {
  under_all([](BackendChoice backend) {
    sandbox::LaunchSpec spec =
        limited(backend, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 3 & done; wait");
    spec.limits.processes = 8;
    const sandbox::Plan plan = test::plan_for(spec);
    CHECK(sandbox::find_guarantee(plan, "limits.processes")->strength == sandbox::Strength::enforced);
    const Ended ended = finish(plan);
    CHECK(ended.outcome.err.find("annot fork") != std::string::npos);
    if (backend == BackendChoice::none) {  // the others' RLIMIT_NPROC stands before it
      CHECK(ended.notes.find("the server reached isolation.limits.processes") != std::string::npos);
    }
    CHECK(groups_of(plan).empty());
  });
}

TEST_CASE("a plan without the step that makes the groups does not start") {
  under_all([](BackendChoice backend) {
    sandbox::Plan plan = test::plan_for(limited(backend, "echo ran"));
    std::erase(plan.steps.outer, Step::groups);
    const test::Outcome outcome = test::run(plan);
    CHECK(outcome.out == "");
    CHECK(outcome.status.find("groups: no control group was made") == 0);
  });
}

TEST_CASE("a group that somebody else took away meanwhile ends the start") {
  under_all([](BackendChoice backend) {
    sandbox::Plan plan = test::plan_for(limited(backend, "echo ran"));
    plan.groups.front().folder += "/gone";
    const test::Outcome outcome = test::run(plan);
    CHECK(outcome.out == "");
    CHECK(outcome.status.find("groups: ") == 0);
    CHECK(outcome.status.find("reason=no_cgroup_delegation") != std::string::npos);
  });
}

TEST_CASE("a stale group of a launch whose watcher was killed goes at the next start") {
  under_all([](BackendChoice backend) {
    const sandbox::Plan plan = test::plan_for(limited(backend, "echo ran"));
    const std::string stale = text::cat(plan.groups.front().folder, "/", sandbox::kGroupPrefix, "999999-0-0");
    REQUIRE(fs::create_directory(stale));
    CHECK(test::run(plan).out == "ran\n");
    CHECK(!fs::exists(stale));
  });
}

TEST_CASE("without control groups a written memory limit is refused with a way out") {
  const std::string why = test::as_ordinary_user([]() -> std::string {
    if (missing_groups().empty()) {
      return "";  // delegated to whoever runs this
    }
    try {
      (void)test::plan_for(limited(BackendChoice::native, "echo ran"));
      return "was planned";
    } catch (const std::exception& refusal) {
      const std::string text = refusal.what();
      const bool told = text.find("requirement limits.memory is not enforced (asked for by isolation.limits.memory)") !=
                            std::string::npos &&
                        text.find("reason no_cgroup_delegation") != std::string::npos &&
                        text.find("systemd-run --user --scope -p Delegate=yes") != std::string::npos;
      return told || text.find("limits.memory") == std::string::npos ? "" : text;
    }
  });
  CHECK(why == "");
}

namespace {

// Everything below us must end, and the groups with it.
std::string all_gone(const sandbox::Plan& plan, int delay_us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < until) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      const std::vector<std::string> left = groups_of(plan);
      return left.empty() ? std::string() : text::cat(left.front(), " is left, blow at ", delay_us, " us");
    }
    if (ended == 0) {
      ::poll(nullptr, 0, 1);
    }
  }
  return text::cat("processes are left, blow at ", delay_us, " us");
}

void let_pass(int delay_us) {
  const timespec wait = {.tv_sec = 0, .tv_nsec = delay_us * 1000L};
  ::nanosleep(&wait, nullptr);
}

}  // namespace

TEST_CASE("a guard or a launcher killed at any moment leaves neither process nor group") {
  under_all([](BackendChoice backend) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sandbox::Plan plan = test::plan_for(limited(backend, "trap '' TERM; sleep 600 & sleep 600"));
    for (int i = 0; i < 25; ++i) {
      const int delay_us = 600 * i;
      const sandbox::Launched launched = test::start(plan);
      let_pass(delay_us);
      ::kill(launched.pid, SIGKILL);
      // `none` has no pid namespace: there the group is what takes the rest along.
      CHECK(all_gone(plan, delay_us) == "");
      const pid_t launcher = ::fork();
      if (launcher == 0) {
        const auto started = sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE});
        for (;;) {
          ::pause();
        }
      }
      let_pass(delay_us);
      ::kill(launcher, SIGKILL);
      CHECK(all_gone(plan, delay_us) == "");
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  });
}

TEST_CASE("the watcher of the groups killed takes nobody along, and leaves no process behind") {
  under_all([](BackendChoice backend) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sandbox::Plan plan = test::plan_for(limited(backend, "echo up; cat"));
    sandbox::Launched launched = test::start(plan);
    REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
    // It is nobody's child, and so ours.
    const std::string children = test::read_file(text::cat("/proc/self/task/", ::getpid(), "/children"));
    int killed = 0;
    for (const std::string_view word : text::split(children, ' ')) {
      const pid_t pid = std::atoi(std::string(word).c_str());
      if (pid > 0 && pid != launched.pid) {
        ::kill(pid, SIGKILL);
        ++killed;
      }
    }
    CHECK(killed == 1);
    launched.server_in.reset();
    CHECK(test::read_to_end(launched.server_out.get()) == "");
    int status = 0;
    REQUIRE(::waitpid(launched.pid, &status, 0) == launched.pid);
    CHECK(WEXITSTATUS(status) == 0);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    CHECK(!groups_of(plan).empty());
    CHECK(test::run(test::plan_for(limited(backend, "echo ran"))).out == "ran\n");
    CHECK(groups_of(plan).empty());
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  });
}
