// SPDX-License-Identifier: Apache-2.0
#include "canaries.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"

namespace cordon::test {
namespace {

constexpr const char* kVariable = "CORDON_TEST_LEAKED_SECRET";
constexpr int kLeakedFd = 77;

void must(bool condition, std::string_view what) {
  if (!condition) {
    throw std::runtime_error(errno_text(what, errno));
  }
}

UniqueFd listening_unix(const std::string& name, int type = SOCK_STREAM) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  must(name.size() < sizeof address.sun_path, "socket name");
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  must(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 &&
           (type == SOCK_DGRAM || ::listen(fd.get(), 1) == 0),
       "socket");
  // As open as can be: what keeps the server out must not be its mode.
  must(name.front() == '\0' || ::chmod(name.c_str(), 0777) == 0, "chmod");
  return fd;
}

std::string abstract_name(const TempFolder& folder) {
  return text::cat("cordon", folder.path().substr(folder.path().rfind('-')));
}

}  // namespace

Canaries::Canaries() {
  plant_files();
  plant_steering();
  plant_sockets();
  plant_grant_sockets();
  plant_process();
}

void Canaries::plant_files() {
  for (const char* name :
       {"outside", "read", "read/private", "write", "home", "write/deep", "write/deep/er", "write/deep/er/fixed"}) {
    must(::mkdir((folder_ / name).c_str(), 0755) == 0, name);
  }
  write_file(folder_ / "outside/key", "secret");
  write_file(folder_ / "read/file", "granted");
  write_file(folder_ / "read/secret.txt", "masked");
  write_file(folder_ / "read/private/file", "masked");
  write_file(folder_ / "write/file", "granted");
  write_file(folder_ / "write/secret.txt", "masked");
  write_file(folder_ / "write/deep/er/secret.txt", "masked");
  write_file(folder_ / "write/deep/er/fixed/file", "granted");
  must(::symlink((folder_ / "outside/key").c_str(), (folder_ / "read/link").c_str()) == 0, "symlink");
  ::setenv(kVariable, "secret", 1);
  const UniqueFd key(::open((folder_ / "outside/key").c_str(), O_RDONLY | O_CLOEXEC));
  leaked_fd_ = ::dup2(key.get(), kLeakedFd);  // without close-on-exec, as careless programs do
  must(leaked_fd_ >= 0, "leaked descriptor");
}

// Below the write grant: things that steer other programs, some of which exist, and repositories.
void Canaries::plant_steering() {
  for (const char* name : {"apart", "write/.vscode", "write/.zed", "write/a", "write/a/nested", "write/a/nested/.git",
                           "write/a/nested/.git/hooks", "write/a/nested/.git/objects", "write/a/nested/.git/refs",
                           "write/a/nested/.git/worktrees", "write/a/nested/.git/worktrees/linked", "write/other",
                           "write/other/.git", "write/other/.git/objects", "write/other/.git/refs", "write/linked"}) {
    must(::mkdir((folder_ / name).c_str(), 0755) == 0, name);
  }
  const std::string git = folder_ / "write/a/nested/.git";
  write_file(folder_ / "write/.vscode/settings.json", "{}");
  write_file(folder_ / "write/AGENTS.md", "be good");
  write_file(git + "/HEAD", "ref: refs/heads/main\n");
  write_file(git + "/config", "[core]\n");
  write_file(git + "/hooks/pre-commit", "#!/bin/sh\n", 0755);
  write_file(git + "/worktrees/linked/HEAD", "ref: refs/heads/linked\n");
  write_file(git + "/worktrees/linked/commondir", "../..\n");
  write_file(folder_ / "write/linked/.git", text::cat("gitdir: ", git, "/worktrees/linked\n"));
  write_file(folder_ / "write/other/.git/HEAD", "ref: refs/heads/main\n");
  write_file(folder_ / "write/other/.git/config", "[core]\n");
}

void Canaries::plant_grant_sockets() {
  for (const char* name : {"read", "write", "apart"}) {
    granted_.push_back(listening_unix(folder_ / (std::string(name) + "/socket")));
    granted_.push_back(listening_unix(folder_ / (std::string(name) + "/datagram"), SOCK_DGRAM));
  }
  for (const char* name : {"read/fifo", "apart/fifo"}) {
    must(::mkfifo((folder_ / name).c_str(), 0666) == 0 && ::chmod((folder_ / name).c_str(), 0666) == 0, name);
    granted_.emplace_back(::open((folder_ / name).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    must(static_cast<bool>(granted_.back()), name);
  }
}

void Canaries::plant_sockets() {
  path_socket_ = listening_unix(folder_ / "outside/socket");
  abstract_socket_ = listening_unix(std::string(1, '\0') + abstract_name(folder_));
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  must(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(listener_.get(), 1) == 0 &&
           ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0,
       "listener");
  port_ = ntohs(address.sin_port);
  shared_memory_key_ = static_cast<int>(::getpid()) + 0x0c0d0000;
  shared_memory_ = ::shmget(shared_memory_key_, 4096, IPC_CREAT | IPC_EXCL | 0600);
  must(shared_memory_ >= 0, "shmget");
}

void Canaries::plant_process() {
  process_ = ::fork();
  must(process_ >= 0, "fork");
  if (process_ == 0) {
    std::array<const char*, 3> argv = {"sleep", "600", nullptr};
    std::array<const char*, 2> environment = {"SECRET=in-environ", nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv.data()), const_cast<char**>(environment.data()));
    ::_exit(1);
  }
}

Canaries::~Canaries() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::shmctl(shared_memory_, IPC_RMID, nullptr);
  ::close(leaked_fd_);
  ::unsetenv(kVariable);
}

sandbox::LaunchSpec Canaries::spec(sandbox::BackendChoice backend) const {
  sandbox::LaunchSpec spec = spec_for({CORDON_TEST_PROBE}, backend);
  const uid_t uid = ::geteuid() == 0 ? 65534 : ::geteuid();
  spec.default_limits = {.memory_bytes = 1'000'000'000,
                         .processes = 64,
                         .open_files = 256,
                         .file_size_bytes = 50'000'000,
                         .cpu_seconds = 60};
  for (const std::string& argument :
       {text::cat("uid=", uid), text::cat("key=", folder_ / "outside/key"), text::cat("read=", folder_ / "read"),
        text::cat("write=", folder_ / "write"), text::cat("pid=", process_), text::cat("shm=", shared_memory_key_),
        text::cat("socket=", folder_ / "outside/socket"), text::cat("abstract=", abstract_name(folder_)),
        text::cat("port=", port_), text::cat("variable=", kVariable), text::cat("descriptor=", leaked_fd_),
        text::cat("processes=64"), text::cat("open_files=256"), text::cat("file_size=50000000"),
        text::cat("memory=1000000000"), text::cat("cpu=60"), text::cat("landlock=scopes"), text::cat("apart=/apart")}) {
    spec.argv.push_back(argument);
  }
  spec.mounts = {{.source = folder_ / "read", .target = folder_ / "read", .writable = false},
                 {.source = folder_ / "write", .target = folder_ / "write", .writable = true},
                 {.source = folder_ / "apart", .target = "/apart"},
                 {.source = folder_ / "write/.zed", .target = folder_ / "write/.zed", .writable = true},
                 {.source = folder_ / "write/deep/er/fixed", .target = folder_ / "write/deep/er/fixed"}};
  spec.deny = {folder_ / "read/secret.txt", folder_ / "read/private", folder_ / "write/secret.txt",
               folder_ / "write/deep/er/secret.txt"};
  return spec;
}

sandbox::LaunchSpec Canaries::listed_socket_spec(sandbox::BackendChoice backend) const {
  sandbox::LaunchSpec spec = spec_for({CORDON_TEST_PROBE, text::cat("listed=", folder_ / "read/socket"),
                                       text::cat("unlisted=", folder_ / "write/socket")},
                                      backend);
  spec.mounts = {{.source = folder_ / "read/file", .target = folder_ / "read/file"}};
  spec.unix_sockets = {folder_ / "read/socket"};
  return spec;
}

std::string breaches(const sandbox::Plan& plan, std::size_t& checks) {
  const Outcome outcome = run(plan);
  std::string wrong;
  bool complete = false;
  checks = 0;
  for (const std::string_view line : text::split(outcome.out, '\n')) {
    if (line.empty()) {
      continue;
    }
    const auto parsed = json::read(std::string(line), json::Limits{});
    if (!parsed) {
      return text::cat("not JSON: ", line);
    }
    const auto member = [&](std::string_view name) { return parsed->root().find(name).string(); };
    ++checks;
    complete = complete || member("id") == "complete";
    if (member("expected") != member("got")) {
      wrong += text::cat(line, "\n");
    }
  }
  if (!outcome.status.empty()) {
    wrong += text::cat("stage: ", outcome.status);
  }
  if (!complete) {
    wrong += text::cat("the probe did not finish; exit ", outcome.exit_code, "; ", outcome.err);
  }
  return wrong;
}

}  // namespace cordon::test
