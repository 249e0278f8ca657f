// SPDX-License-Identifier: Apache-2.0
// Each reason of a refusal, made by a machine that really lacks the thing: namespaces, mounts and capabilities of the
// test's own children. What no such child can lack is in the tests of facts (select_test.cpp).
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/select.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

bool put(const std::string& path, const std::string& content) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
}

// Why this backend cannot be used, as a launch would say it.
std::string refusal(BackendChoice backend) {
  const sandbox::LaunchSpec spec = test::spec_for({"/bin/true"}, backend);
  const auto facts = sandbox::probe_host(spec, "");
  if (!facts) {
    return facts.error().to_string();
  }
  const auto plan = sandbox::select(spec, *facts);
  return plan ? std::string("planned") : text::cat(plan.error().detail, " | ", plan.error().remedy);
}

std::string expect(std::string_view wanted, const std::string& got) {
  return got.find(wanted) != std::string::npos ? std::string() : text::cat("wanted '", wanted, "' in '", got, "'");
}

// In a child of root's, with mounts of its own.
std::string with_own_mounts(const std::function<std::string()>& body) {
  return test::in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return errno_text("own mounts", errno);
    }
    return body();
  });
}

// In a user namespace that knows all ids, so that root's files are root's there, too.
std::string in_full_user_namespace(const std::function<std::string()>& body) {
  return test::in_child([&]() -> std::string {
    std::array<int, 2> ready = {-1, -1};
    std::array<int, 2> go = {-1, -1};
    if (::pipe(ready.data()) != 0 || ::pipe(go.data()) != 0) {
      return "pipe";
    }
    const std::string map = "0 0 4294967295\n";
    const pid_t self = ::getpid();
    const pid_t writer = ::fork();
    if (writer == 0) {
      char byte = 0;
      (void)!::read(ready[0], &byte, 1);
      byte = put(text::cat("/proc/", self, "/uid_map"), map) && put(text::cat("/proc/", self, "/gid_map"), map) ? 'y'
                                                                                                                : 'n';
      (void)!::write(go[1], &byte, 1);
      ::_exit(0);
    }
    char byte = ::unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    const bool mapped = ::read(go[0], &byte, 1) == 1 && byte == 'y';
    ::waitpid(writer, nullptr, 0);
    return mapped ? body() : "the user namespace could not be mapped";
  });
}

// Stands where root may make what an ordinary user cannot.
bool not_root() { return ::geteuid() != 0 || test::must_skip(BackendChoice::native); }

}  // namespace

TEST_CASE("userns_denied: user namespaces are switched off") {
  if (not_root()) {
    return;
  }
  CHECK(in_full_user_namespace([] {
          if (!put("/proc/sys/user/max_user_namespaces", "0")) {
            return errno_text("max_user_namespaces", errno);
          }
          const std::string native = refusal(BackendChoice::native);
          const std::string tool = refusal(BackendChoice::bubblewrap);
          return text::cat(expect("reason userns_denied (errno 28", native), expect("max_user_namespaces is 0", native),
                           expect("reason userns_denied", tool), expect("bubblewrap says: ", tool));
        }) == "");
}

TEST_CASE("proc_masked: parts of /proc are covered, as in a container") {
  if (not_root()) {
    return;
  }
  CHECK(with_own_mounts([] {
          if (::mount("/dev/null", "/proc/meminfo", nullptr, MS_BIND, nullptr) != 0) {
            return errno_text("cover /proc/meminfo", errno);
          }
          const std::string native = refusal(BackendChoice::native);
          const std::string tool = refusal(BackendChoice::bubblewrap);
          return text::cat(expect("reason proc_masked (errno 1", native), expect("systempaths=unconfined", native),
                           tool.find("backend_missing") != std::string::npos ? "" : expect("reason proc_masked", tool));
        }) == "");
}

TEST_CASE("running_as_root: root that may not switch users") {
  if (not_root()) {
    return;
  }
  for (const BackendChoice backend : {BackendChoice::native}) {
    CHECK(test::in_child([&] {
            __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
            std::array<__user_cap_data_struct, 2> sets = {};
            if (::syscall(SYS_capget, &header, sets.data()) != 0) {
              return errno_text("capget", errno);
            }
            constexpr std::uint32_t kSwitching = 1U << CAP_SETUID | 1U << CAP_SETGID;
            sets[0].effective &= ~kSwitching;
            sets[0].permitted &= ~kSwitching;
            sets[0].inheritable &= ~kSwitching;
            if (::syscall(SYS_capset, &header, sets.data()) != 0) {
              return errno_text("capset", errno);
            }
            return expect("reason running_as_root (errno 1", refusal(backend));
          }) == "");
  }
}

TEST_CASE("backend_missing and backend_version: another bwrap, or none, in the system's place") {
  if (not_root() || ::access("/usr/bin/bwrap", X_OK) != 0) {
    return;
  }
  const test::TempFolder folder;
  test::write_file(folder / "old",
                   "#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.4.1;; *) echo ' --args FD ';; esac\n", 0755);
  test::write_file(folder / "none", "", 0644);
  const auto with = [&](const std::string& file) {
    return with_own_mounts([&] {
      return ::mount(file.c_str(), "/usr/bin/bwrap", nullptr, MS_BIND, nullptr) == 0
                 ? refusal(BackendChoice::bubblewrap)
                 : errno_text("mount", errno);
    });
  };
  CHECK(expect("reason backend_version | bubblewrap 0.4.1 lacks --perms; 0.8 or later is needed",
               with(folder / "old")) == "");
  CHECK(expect("reason backend_missing (errno 2", with(folder / "none")) == "");
}

TEST_CASE("resources: no process can be started to try it") {
  CHECK(test::as_ordinary_user([] {
          const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
          if (::setrlimit(RLIMIT_NPROC, &none) != 0) {
            return errno_text("setrlimit", errno);
          }
          return expect("reason resources (errno 11", refusal(BackendChoice::native));
        }) == "");
}

TEST_CASE("landlock_abi<n>: a plan for a younger kernel than the one that runs it") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Plan plan = test::plan_for(test::spec_for({"/bin/echo", "ran"}, BackendChoice::native));
  constexpr int kYounger = 9;
  if (plan.landlock_abi == 0 || plan.landlock_abi >= kYounger) {
    return;
  }
  plan.landlock_abi = kYounger;
  const test::Outcome outcome = test::run(plan);
  CHECK(outcome.out == "");
  CHECK(outcome.status.find("landlock: create ruleset") == 0);
  CHECK(outcome.status.find("[reason=landlock_abi9 errno=22]") != std::string::npos);
  CHECK(sandbox::error_from_status(outcome.status, "native").code == Errc::unsupported_isolation);
}

TEST_CASE("apparmor and the other switches are told by their files, never believed") {
  const auto explained = [](std::string_view file, char value) {
    sandbox::Trial trial;
    sandbox::explain_userns(trial,
                            [&](const char* path) { return std::string_view(path).ends_with(file) ? value : '\0'; });
    return text::cat(trial.reason, ": ", trial.hint);
  };
  CHECK(explained("apparmor_restrict_unprivileged_userns", '1').find("apparmor: install an AppArmor profile") == 0);
  CHECK(explained("apparmor_restrict_unprivileged_userns", '0').find("userns_denied: user namespaces are refused") ==
        0);
  CHECK(explained("unprivileged_userns_clone", '0').find("userns_denied: sysctl kernel.unprivileged_userns_clone=1") ==
        0);
  CHECK(explained("max_user_namespaces", '0').find("userns_denied: sysctl user.max_user_namespaces is 0") == 0);
  CHECK(explained("nothing", '1').find("in a container its seccomp profile does that") != std::string::npos);
}
