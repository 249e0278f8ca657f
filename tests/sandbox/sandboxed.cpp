// SPDX-License-Identifier: Apache-2.0
#include "sandboxed.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/fd.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"

namespace cordon::test {

namespace {

constexpr uid_t kOrdinary = 1999;  // an id that no account of a test machine has

void require(bool condition, const char* what) {
  if (!condition) {
    throw std::runtime_error(std::string(what) + ": " + errno_text("errno", errno));
  }
}

}  // namespace

sandbox::LaunchSpec spec_for(std::vector<std::string> argv, sandbox::BackendChoice backend) {
  sandbox::LaunchSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {"PATH=/usr/bin:/bin", "HOME=/home/cordon", "LANG=C.UTF-8"};
  spec.backend = backend;
  if (backend == sandbox::BackendChoice::none) {
    spec.none_reason = "test";
  } else if (sandbox::shows_host_paths(backend)) {
    spec.require = {"environment", "descriptors"};  // what all of these give
  } else {
    spec.require = {"filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices"};
  }
  return spec;
}

sandbox::Plan plan_for(const sandbox::LaunchSpec& spec) {
  const auto facts = sandbox::probe_host(spec, "");
  if (!facts) {
    throw std::runtime_error(facts.error().to_string());
  }
  auto plan = sandbox::select(spec, *facts);
  if (!plan) {
    throw std::runtime_error(plan.error().to_string());
  }
  return std::move(*plan);
}

sandbox::Launched start(const sandbox::Plan& plan, int trace_fd) {
  auto launched = sandbox::launch(plan, {.trace_fd = trace_fd, .stage_path = CORDON_TEST_STAGE});
  if (!launched) {
    throw std::runtime_error(launched.error().to_string());
  }
  return std::move(*launched);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 65536> buffer = {};
  for (;;) {
    const ssize_t length = ::read(fd, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
}

std::string read_until(int fd, std::string_view wanted) {
  std::string text;
  char byte = 0;
  while (text.find(wanted) == std::string::npos && ::read(fd, &byte, 1) == 1) {
    text += byte;
  }
  return text;
}

Outcome finish(sandbox::Launched launched, const std::string& input) {
  Outcome outcome;
  (void)!::write(launched.server_in.get(), input.data(), input.size());
  launched.server_in.reset();
  // stdout and stderr together, else a server that fills one would wait for ever.
  std::array<std::pair<UniqueFd*, std::string*>, 3> streams = {{{&launched.server_out, &outcome.out},
                                                                {&launched.server_err, &outcome.err},
                                                                {&launched.status, &outcome.status}}};
  for (;;) {
    std::array<pollfd, 3> watched = {};
    bool open = false;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      watched[i] = {.fd = streams[i].first->get(), .events = POLLIN, .revents = 0};
      open = open || *streams[i].first;
    }
    if (!open) {
      break;
    }
    (void)::poll(watched.data(), watched.size(), -1);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (watched[i].revents == 0) {
        continue;
      }
      std::array<char, 65536> buffer = {};
      const ssize_t length = ::read(watched[i].fd, buffer.data(), buffer.size());
      if (length <= 0) {
        streams[i].first->reset();
      } else {
        streams[i].second->append(buffer.data(), static_cast<std::size_t>(length));
      }
    }
  }
  outcome.exit_code = wait_for(launched.pid);
  return outcome;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool silent(int fd, int ms) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, ms) == 0;
}

Outcome run(const sandbox::Plan& plan, const std::string& input) { return finish(start(plan), input); }

TempFolder::TempFolder() {
  // Not below the home of whoever runs the tests, which may be closed to the sandboxed uid.
  std::string pattern = std::filesystem::temp_directory_path() / "cordon-test-XXXXXX";
  require(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  path_ = std::filesystem::canonical(pattern);
  require(::chmod(path_.c_str(), 0755) == 0, "chmod");
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::string& path, const std::string& content, unsigned mode) {
  const UniqueFd file(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  require(static_cast<bool>(file), path.c_str());
  require(::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()), "write");
  require(::fchmod(file.get(), mode) == 0, "fchmod");
}

std::string read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_to_end(file.get()) : std::string();
}

bool must_skip(sandbox::BackendChoice backend) {
  const sandbox::LaunchSpec spec = spec_for({"/bin/sh"}, backend);
  const auto facts = sandbox::probe_host(spec, "");
  std::string reason;
  if (!facts) {
    reason = facts.error().to_string();
  } else if (const auto plan = sandbox::select(spec, *facts); !plan) {
    reason = plan.error().to_string();
  }
  if (reason.empty()) {
    return false;
  }
  const char* required = std::getenv("CORDON_REQUIRE_SANDBOX");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL("CORDON_REQUIRE_SANDBOX=1, but: ", reason);
  }
  std::fprintf(stderr, "SKIPPED: %s\n", reason.c_str());
  return true;
}

std::string as_we_are(const std::function<std::string()>& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends = {-1, -1};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    const std::string result = as_we_are(body);
    (void)!::write(out.get(), result.data(), result.size());
    ::_exit(0);
  }
  out.reset();
  std::string result = read_to_end(in.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    result += " (the child ended abnormally)";
  }
  return result;
}

std::string as_ordinary_user(const std::function<std::string()>& body) {
  if (::geteuid() != 0) {
    return in_child(body);
  }
  return in_child([&] {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kOrdinary, kOrdinary, kOrdinary) != 0 ||
        ::setresuid(kOrdinary, kOrdinary, kOrdinary) != 0 ||
        ::prctl(PR_SET_DUMPABLE, 1) != 0) {  // as after the exec of a program
      return errno_text("setresuid", errno);
    }
    return body();
  });
}

}  // namespace cordon::test
