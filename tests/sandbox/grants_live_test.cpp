// SPDX-License-Identifier: Apache-2.0
// What a launch puts into a granted folder to keep the server from making it: there while it lasts, gone afterwards,
// however it ends, and nothing of anybody else's is touched. And listed sockets.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "everywhere.hpp"
#include "planted.hpp"
#include "sandbox/steering.hpp"

using namespace cordon;
using sandbox::BackendChoice;
namespace fs = std::filesystem;

namespace {

using test::everywhere;
using test::kBackends;
// Says that it runs, and ends when its input does.
constexpr const char* kWaits = "echo up; read line; ls -A .";

struct Granted {
  Granted() {
    fs::create_directories(folder / "w/repo/.git/objects");
    fs::create_directories(folder / "w/repo/.git/refs");
    test::write_file(folder / "w/repo/.git/HEAD", "ref: refs/heads/main\n");
    test::write_file(folder / "w/repo/.git/config", "[core]\n");
    fs::create_directories(folder / "w/.vscode");
  }
  sandbox::Plan plan(BackendChoice backend, const std::string& script = kWaits) const {
    sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", script}, backend);
    spec.mounts = {{.source = folder / "w", .target = folder / "w", .writable = true}};
    spec.cwd = folder / "w";
    return test::plan_for(spec);
  }
  std::string names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(std::string(folder / "w"))) {
      all.insert(entry.path().lexically_relative(std::string(folder / "w")));
    }
    std::string out;
    for (const std::string& name : all) {
      out += name + "\n";
    }
    return out;
  }
  bool there(const char* name) const { return ::access((folder / (std::string("w/") + name)).c_str(), F_OK) == 0; }

  test::TempFolder folder = {};
};

// A launch that is up, until it is told to end.
struct Running {
  explicit Running(const sandbox::Plan& plan) : launched(test::start(plan)) {
    if (test::read_until(launched.server_out.get(), "up\n") != "up\n") {
      throw std::runtime_error("not started: " + test::read_to_end(launched.status.get()));
    }
  }
  std::string end() { return test::finish(std::move(launched), "\n").out; }
  sandbox::Launched launched;
};

// Until the name is gone; false when that does not happen.
bool wait_until_gone(const std::string& path) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const int added = ::inotify_add_watch(watch.get(), fs::path(path).parent_path().c_str(), IN_DELETE);
  while (added >= 0 && ::access(path.c_str(), F_OK) == 0) {
    pollfd one = {.fd = watch.get(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, 5000) <= 0) {
      return false;
    }
    std::array<char, 4096> events = {};
    (void)!::read(watch.get(), events.data(), events.size());
  }
  return ::access(path.c_str(), F_OK) != 0;
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string require(bool condition, std::string_view what) { return condition ? "" : text::cat(what, "\n"); }

}  // namespace

TEST_CASE("places are there while a launch lasts and gone when it has ended") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const std::string before = granted.names();
    Running running(granted.plan(backend));
    std::string wrong = require(granted.there(".cursor") && granted.there("repo/.git/hooks"), "nothing was put");
    wrong += require(test::read_file(granted.folder / "w/repo/.git/commondir") == ".\n", "no commondir");
    const std::string seen = running.end();
    wrong += require(seen.find(".cursor\n") != std::string::npos, "not seen inside");
    wrong += require(granted.names() == before, "something is left:\n" + granted.names());
    return wrong;
  });
}

TEST_CASE("a guard that is killed, and a launcher that is gone, leave nothing behind") {
  everywhere([](BackendChoice backend) {
    std::string wrong;
    for (const bool kill_guard : {true, false}) {
      const Granted granted;
      const std::string before = granted.names();
      Running running(granted.plan(backend));
      if (kill_guard) {
        ::kill(running.launched.pid, SIGKILL);
      } else {
        running.launched.lifeline.reset();
      }
      (void)test::read_to_end(running.launched.server_out.get());
      reap(running.launched.pid);
      for (const char* name : {".cursor", ".git", "repo/.git/commondir", "repo/.zed"}) {
        wrong += require(wait_until_gone(granted.folder / (std::string("w/") + name)), name);
      }
    }
    return wrong;
  });
}

TEST_CASE("a launch that fails leaves nothing behind") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const std::string before = granted.names();
    sandbox::Plan plan = granted.plan(backend);
    plan.working_directory = "/nowhere";
    const test::Outcome outcome = test::run(plan);
    return require(outcome.status.starts_with("working_directory"), outcome.status) +
           require(granted.names() == before, "something is left:\n" + granted.names());
  });
}

TEST_CASE("what is left of an earlier launch is taken over and taken away") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const std::string before = granted.names();
    const std::string left = granted.folder / "w/.cursor";
    fs::create_directory(left);
    const std::array<timespec, 2> mark = {{{sandbox::kHeldMark, 0}, {sandbox::kHeldMark, 0}}};
    ::utimensat(AT_FDCWD, left.c_str(), mark.data(), 0);
    Running running(granted.plan(backend, "echo up; read line; touch .cursor/x 2>/dev/null && echo breach"));
    const std::string wrong = require(running.end().empty(), "written to");
    return wrong + require(granted.names() == before, "something is left:\n" + granted.names());
  });
}

TEST_CASE("what somebody fills or makes in the meantime is his and stays") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    Running running(granted.plan(backend));
    test::write_file(granted.folder / "w/.cursor/mcp.json", "{}");
    test::write_file(granted.folder / "w/repo/.git/commondir", ".\n");
    (void)running.end();
    return require(granted.there(".cursor/mcp.json"), "a file is gone") +
           require(granted.there("repo/.git/commondir"), "a rewritten file is gone") +
           require(!granted.there(".zed"), "something is left");
  });
}

TEST_CASE("launches that share a folder share its places until the last has ended") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const std::string before = granted.names();
    Running first(granted.plan(backend));
    Running second(granted.plan(
        backend, "echo up; read line; mkdir .cursor/x repo/.git/hooks/x 2>/dev/null && echo breach; ls -d .cursor"));
    (void)first.end();
    std::string wrong =
        require(granted.there(".cursor") && granted.there("repo/.git/commondir"), "taken from under it");
    wrong += require(second.end() == ".cursor\n", "not covered any more");
    return wrong + require(granted.names() == before, "something is left:\n" + granted.names());
  });
}

TEST_CASE("what comes into being between plan and launch is not touched, and the launch is refused") {
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const sandbox::Plan plan = granted.plan(backend);
    fs::create_directory(granted.folder / "w/.zed");
    test::write_file(granted.folder / "w/.zed/settings.json", "{}");
    const std::string before = granted.names();
    const test::Outcome outcome = test::run(plan);
    return require(outcome.status.find("came into being while the launch was prepared") != std::string::npos,
                   outcome.status) +
           require(granted.names() == before, "something changed:\n" + granted.names());
  });
}

TEST_CASE("git works in a covered repository, inside and outside, and its settings do not change") {
  if (::access("/usr/bin/git", X_OK) != 0) {
    std::fprintf(stderr, "SKIPPED: no git\n");
    return;
  }
  everywhere([](BackendChoice backend) {
    const Granted granted;
    const std::string base = granted.folder / "w";
    const auto outside = [&](const std::string& arguments) {
      return std::system(
          text::cat("GIT_CONFIG_GLOBAL=/dev/null git -C '", base, "/", arguments, " >/dev/null 2>&1").c_str());
    };
    std::string wrong = require(outside("' init -q one") == 0 && outside("' init -q two") == 0, "git init");
    Running running(granted.plan(
        backend,
        "export GIT_CONFIG_GLOBAL=/dev/null; echo up; read line; cd one; echo x > f; git add f; "
        "git -c user.name=a -c user.email=b commit -qm x && git worktree add -q wt && git gc -q && echo committed; "
        "git config a.b c 2>/dev/null || echo refused"));
    wrong += require(outside("one' status") == 0 && outside("one' rev-parse --git-common-dir") == 0, "git outside");
    // A place of ours is no repository: git goes on looking above it.
    wrong += require(outside("' rev-parse") != 0, "a place is taken for a repository");
    const std::string said = running.end();
    wrong += require(said == "committed\nrefused\n", said);
    wrong += require(outside("one' log -1") == 0 && outside("one' fsck") == 0, "git afterwards");
    return wrong + require(!granted.there("one/.git/commondir") && granted.there("one/.git/hooks"), "left or lost");
  });
}

TEST_CASE("covers that are left out of a plan show in the probe") {
  for (const BackendChoice backend : kBackends) {
    if (test::must_skip(backend)) {
      continue;
    }
    const test::Planted planted;
    sandbox::Plan plan = planted.plan(backend);
    if (backend == BackendChoice::native) {
      std::erase_if(plan.view, [](const sandbox::ViewEntry& entry) { return entry.steering; });
    } else {
      std::erase_if(plan.tool_arguments, [&](const sandbox::ToolArgument& argument) {
        return argument.kind != sandbox::ToolArgumentKind::literal && plan.view.at(argument.entry).steering;
      });
      std::erase(plan.steps.init, sandbox::Step::identify_sources);
    }
    std::erase(plan.steps.server, sandbox::Step::attest);
    const std::string found = test::wrong_in(test::look(plan, planted));
    for (const char* id : {"steering.files", "steering.folders", "steering.absent", "steering.repository"}) {
      CHECK_MESSAGE(found.find(id) != std::string::npos, id, " in ", found);
    }
  }
}

TEST_CASE("a filter that lets Unix sockets through shows in the probe") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const test::Planted planted;
  sandbox::Plan plan = planted.plan(BackendChoice::native);
  if (plan.unix_sockets == sandbox::UnixSockets::allowed) {
    return;  // Landlock does it here
  }
  plan.unix_sockets = sandbox::UnixSockets::allowed;
  const std::string found = test::wrong_in(test::look(plan, planted));
  for (const char* id : {"ipc.sockets_in_grants", "ipc.socket_calls"}) {
    CHECK_MESSAGE(found.find(id) != std::string::npos, id, " in ", found);
  }
}

TEST_CASE("a listed socket is reached at its own path, another one is not") {
  everywhere([](BackendChoice backend) {
    const test::Planted planted;
    const sandbox::Plan plan = planted.plan(backend, [&](sandbox::LaunchSpec& spec) {
      std::erase_if(spec.mounts, [&](const sandbox::Mount& mount) { return mount.source.starts_with(planted / ""); });
      const std::string marker = planted / "read/marker";
      spec.mounts.push_back({.source = marker, .target = marker, .usable_as_is = true});
      spec.deny.clear();
      spec.unix_sockets = {planted / "read/socket"};
    });
    const test::Look look = test::look(plan, planted);
    std::string wrong = test::wrong_in(look);
    for (const auto& finding : look.findings) {
      if (finding.id == "ipc.listed_socket" && finding.verdict != sandbox::boundary::Verdict::held) {
        wrong += "not tried";
      }
    }
    return wrong;
  });
}

TEST_CASE("a symlink that steers stays what it is, and what it leads to stays unchanged") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const auto body = [] {
    const test::TempFolder folder;
    fs::create_directories(folder / "w/docs");
    test::write_file(folder / "w/docs/AGENTS.md", "obey\n");
    fs::create_symlink("docs/AGENTS.md", folder / "w/CLAUDE.md");
    sandbox::LaunchSpec spec = test::spec_for(
        {"/bin/sh", "-c",
         "cat CLAUDE.md; rm -f CLAUDE.md; mv CLAUDE.md x; echo evil >CLAUDE.md; echo evil >docs/AGENTS.md; "
         "ln -sf /etc/passwd CLAUDE.md; echo evil >new; mv new CLAUDE.md; mv docs aside; ln -s /etc y; mv -T y "
         "CLAUDE.md; "
         "readlink CLAUDE.md; echo written >free; cat free"},
        BackendChoice::native);
    spec.mounts = {{.source = folder / "w", .target = folder / "w", .writable = true}};
    spec.cwd = folder / "w";
    const test::Outcome outcome = test::run(test::plan_for(spec));
    std::string wrong = require(outcome.out == "obey\ndocs/AGENTS.md\nwritten\n", outcome.status + outcome.out);
    wrong += require(fs::read_symlink(folder / "w/CLAUDE.md") == "docs/AGENTS.md", "the link is another");
    wrong += require(test::read_file(folder / "w/docs/AGENTS.md") == "obey\n", "its target is another");
    return wrong;
  };
  CHECK(test::as_we_are(body) == "");
  CHECK(test::as_ordinary_user(body) == "");
}

TEST_CASE("a symlink that leads out of the grant is held, too") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const auto body = [] {
    const test::TempFolder folder;
    fs::create_directories(std::string(folder / "w"));
    test::write_file(folder / "rules.md", "obey\n");
    fs::create_symlink("../rules.md", folder / "w/CLAUDE.md");
    sandbox::LaunchSpec spec =
        test::spec_for({"/bin/sh", "-c", "cat CLAUDE.md; rm -f CLAUDE.md; echo evil >CLAUDE.md; readlink CLAUDE.md"},
                       BackendChoice::native);
    spec.mounts = {{.source = folder / "w", .target = folder / "w", .writable = true}};
    spec.cwd = folder / "w";
    const test::Outcome outcome = test::run(test::plan_for(spec));
    return require(outcome.out == "../rules.md\n", outcome.status + outcome.out) +
           require(test::read_file(folder / "rules.md") == "obey\n", "its target is another");
  };
  CHECK(test::as_we_are(body) == "");
  CHECK(test::as_ordinary_user(body) == "");
}

TEST_CASE("a symlink that became another one before the launch is not held") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const test::TempFolder folder;
  fs::create_directories(std::string(folder / "w"));
  test::write_file(folder / "w/AGENTS.md", "obey\n");
  fs::create_symlink("AGENTS.md", folder / "w/CLAUDE.md");
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh", "-c", "echo ran"}, BackendChoice::native);
  spec.mounts = {{.source = folder / "w", .target = folder / "w", .writable = true}};
  const sandbox::Plan plan = test::plan_for(spec);
  fs::remove(folder / "w/CLAUDE.md");
  fs::create_symlink("other", folder / "w/CLAUDE.md");
  const test::Outcome outcome = test::run(plan);
  CHECK(outcome.out.empty());
  CHECK(outcome.status.find("no longer the symlink that it was") != std::string::npos);
}
