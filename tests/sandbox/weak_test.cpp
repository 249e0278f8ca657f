// SPDX-License-Identifier: Apache-2.0
// Backends that are used only when they are named: what each says of itself is what a probe finds inside.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"
#include "weak_canaries.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::Strength;
namespace fs = std::filesystem;

namespace {

// Details that need a look from outside, or that no single process can cross alone.
const std::set<std::string_view> kNotProbed = {"filesystem.deny", "processes.end", "limits.memory", "limits.processes"};

struct Findings {
  std::map<std::string, std::vector<std::string>> crossed = {};  // by detail
  std::map<std::string, int> attempts = {};
};

Findings findings(const test::Outcome& outcome) {
  if (!outcome.status.empty() || outcome.out.find("complete\n") == std::string::npos) {
    throw std::runtime_error(
        text::cat("the probe did not finish: ", outcome.status, outcome.out, outcome.err, " exit ", outcome.exit_code));
  }
  Findings found;
  for (const std::string_view line : text::split(outcome.out, '\n')) {
    const auto words = text::split(line, ' ');
    if (words.size() == 4) {
      ++found.attempts[std::string(words[0])];
      if (words[2] == "crossed") {
        found.crossed[std::string(words[0])].push_back(text::cat(words[1], " (errno ", words[3], ")"));
      }
    }
  }
  return found;
}

bool shows_content(std::string_view id) { return id.starts_with("content") || id.starts_with("attribute"); }

// "" when the plan's statements are what was found. That something holds of which the plan promises nothing is told,
// and no fault.
std::string compare(const sandbox::Plan& plan, const Findings& found) {
  std::string wrong;
  for (const sandbox::Guarantee& said : plan.guarantees) {
    if (said.name.find('.') == std::string::npos || kNotProbed.contains(said.name)) {
      continue;
    }
    const auto crossed = found.crossed.find(said.name);
    if (!found.attempts.contains(said.name)) {
      wrong += text::cat("nothing was tried for ", said.name, "\n");
    } else if (said.reason == "names_visible" && crossed != found.crossed.end() &&
               std::ranges::any_of(crossed->second, shows_content)) {
      wrong += text::cat(said.name, " is said to show names, sizes and owners, and showed ",
                         *std::ranges::find_if(crossed->second, shows_content), "\n");
    } else if (said.strength == Strength::enforced && crossed != found.crossed.end()) {
      wrong += text::cat(said.name, " is said to be enforced (", said.reason, ") but was crossed:");
      for (const std::string& id : crossed->second) {
        wrong += text::cat(" ", id);
      }
      wrong += "\n";
    } else if (said.strength != Strength::enforced && crossed == found.crossed.end()) {
      std::fprintf(stderr, "%s: %s is said to be %s (%s), and nothing crossed it\n", plan.backend.c_str(),
                   said.name.c_str(), std::string(name(said.strength)).c_str(), said.reason.c_str());
    }
  }
  return wrong;
}

std::string look(BackendChoice backend, const std::optional<std::string>& user = {}, const std::string& srt = {}) {
  const test::WeakCanaries planted;
  sandbox::LaunchSpec spec = planted.spec(CORDON_TEST_WEAK_PROBE, backend);
  spec.user = user;
  spec.srt = srt;
  const sandbox::Plan plan = test::plan_for(spec);
  const test::Outcome outcome = test::run(plan);
  return compare(plan, findings(outcome)) + (outcome.err.empty() ? "" : "stderr: " + outcome.err);
}

sandbox::LaunchSpec shell(BackendChoice backend, const std::string& script, const test::TempFolder& folder) {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
  spec.require.clear();
  fs::create_directories(folder / "home");
  spec.home_source = folder / "home";
  return spec;
}

}  // namespace

TEST_CASE("what landlock says of itself is what the probe finds") {
  if (!test::must_skip(BackendChoice::landlock)) {
    CHECK(test::as_we_are([] { return look(BackendChoice::landlock); }) == "");
    CHECK(test::as_ordinary_user([] { return look(BackendChoice::landlock); }) == "");
  }
}

namespace {

// An account of its own for the ordinary user of the tests, in a mount namespace of this process: firejail serves
// nobody whom /etc/passwd does not know.
std::string with_account(const std::function<std::string()>& body) {
  return test::in_child([&] {
    if (::geteuid() == 0) {
      const test::TempFolder folder;
      test::write_file(folder / "passwd", test::read_file("/etc/passwd") + "cordon-test:x:1999:1999::/:/bin/sh\n");
      if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount((folder / "passwd").c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) != 0) {
        return errno_text("account of the test", errno);
      }
      return body();
    }
    return body();
  });
}

}  // namespace

TEST_CASE("what firejail says of itself is what the probe finds") {
  const auto both = [] {
    std::string wrong = test::as_ordinary_user(
        [] { return test::must_skip(BackendChoice::firejail) ? std::string() : look(BackendChoice::firejail); });
    if (::geteuid() == 0) {
      wrong += test::as_we_are([] { return look(BackendChoice::firejail, "cordon-test"); });
    }
    return wrong;
  };
  CHECK(with_account(both) == "");
}

namespace {

// The real package, where the end-to-end tests have put it.
std::string srt_package() {
  const char* named = std::getenv("CORDON_TEST_SRT");
  const std::string path =
      named != nullptr ? named : CORDON_TEST_NPM "/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js";
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

// The package may lie below a folder that the server's account cannot enter.
std::string copied_package(const test::TempFolder& folder) {
  const fs::path package = fs::path(srt_package()).parent_path().parent_path();
  const fs::path modules = package.parent_path().parent_path();
  for (const char* name :
       {"@anthropic-ai/sandbox-runtime", "@pondwader/socks5-server", "commander", "node-forge", "zod"}) {
    fs::create_directories((fs::path(folder / "node_modules") / name).parent_path());
    fs::copy(modules / name, fs::path(folder / "node_modules") / name, fs::copy_options::recursive);
  }
  return folder / "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js";
}

}  // namespace

TEST_CASE("what srt says of itself is what the probe finds") {
  if (srt_package().empty()) {
    MESSAGE("skipped: the package is not there; tests/e2e/setup installs it");
    return;
  }
  const auto body = [] {
    const test::TempFolder folder;
    const std::string package = copied_package(folder);
    return look(BackendChoice::srt, {}, package);
  };
  CHECK(test::as_we_are(body) == "");
  CHECK(test::as_ordinary_user(body) == "");
}

TEST_CASE("srt without its apply-seccomp is refused, where srt itself only warns") {
  if (srt_package().empty()) {
    MESSAGE("skipped: the package is not there; tests/e2e/setup installs it");
    return;
  }
  const test::TempFolder folder;
  const std::string package = copied_package(folder);
  fs::remove_all(folder / "node_modules/@anthropic-ai/sandbox-runtime/vendor/seccomp");
  const std::string said = test::as_we_are([&] { return look(BackendChoice::srt, {}, package); });
  CHECK(said.find("reason backend_missing") != std::string::npos);
  CHECK(said.find("apply-seccomp") != std::string::npos);
}

namespace {

// A server that ignores requests to end, and has left a daemon in a session of its own.
constexpr const char* kStubborn =
    "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo up; "
    "while :; do sleep 1; done";

enum class Blow : std::uint8_t { lifeline, guard, keeper };

// "" when nothing is left below us some seconds after the blow. In a child: it becomes a subreaper.
std::string ends(const sandbox::LaunchSpec& spec, Blow blow) {
  return test::in_child([&] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sandbox::Launched launched = test::start(test::plan_for(spec));
    if (test::read_until(launched.server_out.get(), "up\n") != "up\n") {
      return text::cat("did not start: ", test::read_to_end(launched.status.get()),
                       test::read_to_end(launched.server_err.get()));
    }
    // Its end says that the server runs; a process of the tool's must not keep it open.
    if (const std::string status = test::read_to_end(launched.status.get()); !status.empty()) {
      return "reported while it runs: " + status;
    }
    const std::string children =
        test::read_file(text::cat("/proc/", launched.pid, "/task/", launched.pid, "/children"));
    switch (blow) {
      case Blow::lifeline:
        launched.lifeline.reset();
        break;
      case Blow::guard:
        ::kill(launched.pid, SIGKILL);
        break;
      case Blow::keeper:
        ::kill(static_cast<pid_t>(std::strtol(children.c_str(), nullptr, 10)), SIGKILL);
        break;
    }
    for (int i = 0; i < 5000; ++i) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == ECHILD) {
        return std::string();
      }
      if (ended == 0) {
        ::poll(nullptr, 0, 1);
      }
    }
    return text::cat("something is left after blow ", static_cast<int>(blow), ": ",
                     test::read_file(text::cat("/proc/self/task/", ::getpid(), "/children")));
  });
}

// Exit status, standard streams, and the end of everything by every blow.
std::string lives_and_ends(sandbox::LaunchSpec spec) {
  spec.argv = {"/bin/sh", "-c", "read x; echo $x; echo err >&2; setsid sleep 600 & exit 7"};
  const test::Outcome outcome = test::run(test::plan_for(spec), "input\n");
  std::string wrong;
  if (!outcome.status.empty() || outcome.out != "input\n" || outcome.err != "err\n" || outcome.exit_code != 7) {
    wrong = text::cat("ran as: ", outcome.status, outcome.out, outcome.err, outcome.exit_code, "\n");
  }
  sandbox::LaunchSpec nowhere = spec;
  nowhere.cwd = "/nowhere/at/all";
  if (const std::string status = test::run(test::plan_for(nowhere)).status;
      !status.starts_with("working_directory: ")) {
    wrong += text::cat("a step that fails inside is reported as: ", status, "\n");
  }
  spec.argv = {"/bin/sh", "-c", kStubborn};
  for (const Blow blow : {Blow::lifeline, Blow::guard, Blow::keeper}) {
    wrong += ends(spec, blow);
  }
  return wrong;
}

}  // namespace

TEST_CASE("firejail: a server runs, and whoever is killed, nothing stays behind") {
  CHECK(with_account([] {
          return test::as_ordinary_user([] {
            if (test::must_skip(BackendChoice::firejail)) {
              return std::string();
            }
            const test::TempFolder folder;
            return lives_and_ends(shell(BackendChoice::firejail, "", folder));
          });
        }) == "");
}

TEST_CASE("srt: a server runs, and whoever is killed, nothing stays behind") {
  if (srt_package().empty()) {
    MESSAGE("skipped: the package is not there; tests/e2e/setup installs it");
    return;
  }
  CHECK(test::as_ordinary_user([] {
          const test::TempFolder folder;
          sandbox::LaunchSpec spec = shell(BackendChoice::srt, "", folder);
          spec.srt = copied_package(folder);
          spec.temp_source = folder / "tmp";
          fs::create_directories(folder / "tmp");
          return lives_and_ends(spec);
        }) == "");
}

TEST_CASE("a dedicated account is given by root alone, and then by every backend") {
  for (const sandbox::Backend* backend : sandbox::backends()) {
    CAPTURE(backend->name);
    if (backend->choice == BackendChoice::podman || backend->choice == BackendChoice::docker) {
      continue;  // these start an image; container_plan_test.cpp looks at their accounts
    }
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, backend->choice);
    spec.user = "daemon";
    spec.from_template = backend->choice == BackendChoice::command;
    spec.require.clear();
    const auto refused = [&] {
      const auto facts = sandbox::probe_host(spec, "");
      const auto plan = facts ? sandbox::select(spec, *facts) : std::unexpected(facts.error());
      return plan ? text::cat("planned for ", plan->uid) : plan.error().to_string();
    };
    const std::string as_user = test::as_ordinary_user(refused);
    CHECK_MESSAGE((as_user.find("only root can start a server as 'daemon'") != std::string::npos ||
                   as_user.find("cannot be used here") != std::string::npos),
                  as_user);
    if (::geteuid() == 0) {
      const std::string as_root = refused();
      CHECK_MESSAGE((as_root == "planned for 1" || as_root.find("cannot be used here") != std::string::npos), as_root);
    }
  }
}

TEST_CASE("landlock as a dedicated account: the server is that account, and its home is its own") {
  if (::geteuid() != 0 || test::must_skip(BackendChoice::landlock)) {
    return;
  }
  const test::TempFolder folder;
  sandbox::LaunchSpec spec = shell(BackendChoice::landlock, "id -u; id -G; echo x >f && echo wrote", folder);
  spec.user = "daemon";
  const test::Outcome outcome = test::run(test::plan_for(spec));
  CHECK(text::cat(outcome.status, outcome.out, outcome.err) == "1\n1\nwrote\n");
}

TEST_CASE("command: the template's program gets the listed environment and standard streams, nothing else") {
  const test::TempFolder folder;
  sandbox::LaunchSpec spec = shell(BackendChoice::command, "", folder);
  spec.argv = {"/usr/bin/env", "sh", "-c",
               "read x; echo $x; tr '\\0' '\\n' </proc/$$/environ | sort; ls /proc/$$/fd; exit 3"};
  spec.from_template = true;
  spec.require.clear();
  const test::Outcome outcome = test::run(test::plan_for(spec), "input\n");
  CHECK(text::cat(outcome.status, outcome.out, outcome.err) ==
        "input\nHOME=/home/cordon\nLANG=C.UTF-8\nPATH=/usr/bin:/bin\n0\n1\n2\n");
  CHECK(outcome.exit_code == 3);
}

TEST_CASE("the probe finds a way across everything where nothing isolates") {
  // Else a check that never crosses would pass for a boundary.
  const std::string result = test::as_ordinary_user([] {
    const test::WeakCanaries planted;
    sandbox::LaunchSpec spec = planted.spec(CORDON_TEST_WEAK_PROBE, BackendChoice::none);
    spec.none_reason = "test";
    spec.require.clear();
    const Findings found = findings(test::run(test::plan_for(spec)));
    std::string missing;
    for (const char* detail : {"filesystem.read", "filesystem.write", "filesystem.proc", "network.outside",
                               "processes.own", "ipc.own", "syscalls.filter", "syscalls.privileges"}) {
      missing += found.crossed.contains(detail) ? "" : text::cat("nothing crossed ", detail, "\n");
    }
    for (const char* id : {"mode", "times", "rename", "datagram", "path_socket", "abstract_socket", "priority"}) {
      const bool crossed = std::ranges::any_of(found.crossed, [&](const auto& one) {
        return std::ranges::any_of(one.second, [&](const std::string& text) { return text.starts_with(id); });
      });
      missing += crossed ? "" : text::cat("not crossed: ", id, "\n");
    }
    return missing;
  });
  CHECK(result == "");
}

TEST_CASE("landlock: programs run, write where they may and nowhere else") {
  if (test::must_skip(BackendChoice::landlock)) {
    return;
  }
  const auto body = [] {
    const test::TempFolder folder;
    const test::Outcome outcome =
        test::run(test::plan_for(shell(BackendChoice::landlock,
                                       "read x; echo $x; pwd; echo data >f && cat f; cat /etc/shadow; exit 7", folder)),
                  "input\n");
    const std::string wanted = text::cat("input\n", folder / "home", "\ndata\n");
    return outcome.out == wanted && outcome.exit_code == 7 && outcome.err.find("Permission denied") != std::string::npos
               ? std::string()
               : text::cat(outcome.status, outcome.out, outcome.err, outcome.exit_code);
  };
  CHECK(test::as_we_are(body) == "");
  CHECK(test::as_ordinary_user(body) == "");
}

TEST_CASE("landlock: each step that is left out is noticed") {
  if (test::must_skip(BackendChoice::landlock)) {
    return;
  }
  CHECK(test::as_ordinary_user([] {
          const test::WeakCanaries planted;
          const sandbox::Plan whole = test::plan_for(planted.spec(CORDON_TEST_WEAK_PROBE, BackendChoice::landlock));
          std::string wrong;
          for (const sandbox::Step step : whole.steps.server) {
            // An ordinary user holds no capability that could be dropped; the rest changes nothing by itself.
            if (step == sandbox::Step::attest || step == sandbox::Step::working_directory ||
                step == sandbox::Step::server_session || step == sandbox::Step::capabilities) {
              continue;
            }
            sandbox::Plan plan = whole;
            std::erase(plan.steps.server, step);
            if (test::run(plan).status.empty() && compare(plan, findings(test::run(plan))).empty()) {
              wrong += text::cat("not noticed: without ", name(step), "\n");
            }
            std::erase(plan.steps.server, sandbox::Step::attest);
            const test::Outcome outcome = test::run(plan);
            if (outcome.status.empty() && compare(plan, findings(outcome)).empty()) {
              wrong += text::cat("not noticed: without ", name(step), " and attest\n");
            }
          }
          return wrong;
        }) == "");
}
