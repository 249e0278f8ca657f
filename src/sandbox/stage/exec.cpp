// SPDX-License-Identifier: Apache-2.0
// The stage ends here: it becomes the server.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/text.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

// The program of an image may be a word that PATH of the container resolves.
std::string find_inside(const Plan& plan) {
  if (plan.executable.find('/') != std::string::npos) {
    return plan.executable;
  }
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& variable : plan.environment) {
    if (!variable.starts_with(kPath)) {
      continue;
    }
    for (const std::string_view folder : text::split(std::string_view(variable).substr(kPath.size()), ':')) {
      std::string path = text::cat(folder, "/", plan.executable);
      struct stat status = {};
      if (folder.starts_with('/') && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
          ::access(path.c_str(), X_OK) == 0) {
        return path;
      }
    }
  }
  return plan.executable;
}

Outcome check_executable(const Stage& stage) {
  const UniqueFd file(::open(stage.plan.executable.c_str(), O_PATH | O_CLOEXEC));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return failed(stage.plan.executable);
  }
  // In a container it is the image that is known, by its digest.
  const bool known = stage.plan.executable_identity != FileIdentity{};
  if ((known || !stage.plan.in_container()) &&
      FileIdentity{status.st_dev, status.st_ino} != stage.plan.executable_identity) {
    return refuse(text::cat(stage.plan.executable, ": not the file that was planned; it was replaced meanwhile"));
  }
  return {};
}

void reset_signals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    ::sigaction(number, &standard, nullptr);  // fails for SIGKILL and SIGSTOP, which have no other
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// All is set up, and the launcher may still be looking at what would be executed. Anything but its word is the end, its
// own end first of all.
void wait_until_let_go(Stage& stage) {
  char word = 0;
  ssize_t length = 0;
  while ((length = ::read(stage.go.get(), &word, 1)) < 0 && errno == EINTR) {
  }
  if (length != 1 || word != kStartWord) {
    ::_exit(kFailureStatus);
  }
}

}  // namespace

void become_server(Stage& stage) {
  if (stage.held) {
    wait_until_let_go(stage);
  }
  if (stage.plan.in_container()) {
    stage.plan.executable = find_inside(stage.plan);
  }
  if (const Outcome outcome = check_executable(stage); !outcome) {
    report_and_exit(stage, "exec", outcome.error());
  }
  reset_signals();
  ::umask(stage.witness.umask);
  std::vector<char*> arguments = pointers(stage.plan.argv);
  std::vector<char*> environment = pointers(stage.plan.environment);
  const char ready = 'r';
  if (stage.ready_out && ::write(stage.ready_out.get(), &ready, 1) != 1) {
    report_and_exit(stage, "exec", {.detail = "the outer stage is gone"});
  }
  ::execve(stage.plan.executable.c_str(), arguments.data(), environment.data());
  const int error_number = errno;
  std::string detail = errno_text(stage.plan.executable, error_number);
  if (error_number == ENOENT) {
    detail += stage.plan.in_container()
                  ? "; not in the image, or its interpreter or loader is not"
                  : "; its interpreter or loader is not in the view: check isolation.filesystem.runtime";
  }
  report_and_exit(stage, "exec", {.detail = std::move(detail)});
}

}  // namespace cordon::sandbox::stage
