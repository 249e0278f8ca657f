// SPDX-License-Identifier: Apache-2.0
#include "weak_canaries.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/text.hpp"

namespace cordon::test {
namespace {

constexpr const char* kVariable = "CORDON_TEST_LEAKED_SECRET";
constexpr int kLeakedFd = 77;

void must(bool condition, std::string_view what) {
  if (!condition) {
    throw std::runtime_error(errno_text(what, errno));
  }
}

UniqueFd bound_unix(const std::string& name, int type) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  must(name.size() < sizeof address.sun_path, "socket name");
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  must(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
  must(type != SOCK_STREAM || ::listen(fd.get(), 1) == 0, "listen");
  return fd;
}

std::string abstract_name(const TempFolder& folder) {
  return text::cat("cordon", folder.path().substr(folder.path().rfind('-')));
}

}  // namespace

WeakCanaries::WeakCanaries() {
  plant_files();
  plant_sockets();
  plant_process();
}

void WeakCanaries::plant_files() {
  for (const char* name : {"outside", "read", "write", "home"}) {
    must(::mkdir((folder_ / name).c_str(), 0755) == 0, name);
  }
  write_file(folder_ / "outside/key", "secret");
  // Some file systems have no attributes: then there is nothing to be read.
  (void)::setxattr((folder_ / "outside/key").c_str(), "user.cordon", "secret", 6, 0);
  write_file(folder_ / "outside/file", "outside", 0666);
  write_file(folder_ / "read/file", "granted");
  write_file(folder_ / "write/file", "granted");
  must(::symlink("key", (folder_ / "outside/link").c_str()) == 0, "symlink");
  // Nothing but isolation stands before it.
  must(::chmod((folder_ / "outside").c_str(), 0777) == 0, "chmod");
  ::setenv(kVariable, "secret", 1);
  const UniqueFd key(::open((folder_ / "outside/key").c_str(), O_RDONLY | O_CLOEXEC));
  leaked_fd_ = ::dup2(key.get(), kLeakedFd);  // without close-on-exec, as careless programs do
  must(leaked_fd_ >= 0, "leaked descriptor");
}

void WeakCanaries::plant_sockets() {
  path_socket_ = bound_unix(folder_ / "outside/socket", SOCK_STREAM);
  datagram_socket_ = bound_unix(folder_ / "outside/datagram", SOCK_DGRAM);
  for (const char* name : {"outside/socket", "outside/datagram"}) {
    must(::chmod((folder_ / name).c_str(), 0777) == 0, name);
  }
  abstract_socket_ = bound_unix(std::string(1, '\0') + abstract_name(folder_), SOCK_STREAM);
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

void WeakCanaries::plant_process() {
  process_ = ::fork();
  must(process_ >= 0, "fork");
  if (process_ == 0) {
    std::array<const char*, 3> argv = {"sleep", "600", nullptr};
    std::array<const char*, 2> environment = {"SECRET=in-environ", nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv.data()), const_cast<char**>(environment.data()));
    ::_exit(1);
  }
}

WeakCanaries::~WeakCanaries() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::shmctl(shared_memory_, IPC_RMID, nullptr);
  ::close(leaked_fd_);
  ::unsetenv(kVariable);
}

sandbox::LaunchSpec WeakCanaries::spec(const std::string& probe, sandbox::BackendChoice backend) const {
  sandbox::LaunchSpec spec = spec_for({probe}, backend);
  spec.require = {"environment", "descriptors", "syscalls"};
  spec.default_limits = {.memory_bytes = 1'000'000'000,
                         .processes = 64,
                         .open_files = 256,
                         .file_size_bytes = 50'000'000,
                         .cpu_seconds = 60};
  for (const std::string& argument :
       {text::cat("key=", folder_ / "outside/key"), text::cat("read=", folder_ / "read"),
        text::cat("write=", folder_ / "write"), text::cat("pid=", process_), text::cat("shm=", shared_memory_key_),
        text::cat("socket=", folder_ / "outside/socket"), text::cat("datagram=", folder_ / "outside/datagram"),
        text::cat("abstract=", abstract_name(folder_)), text::cat("port=", port_), text::cat("variable=", kVariable)}) {
    spec.argv.push_back(argument);
  }
  spec.mounts = {{.source = folder_ / "read", .target = folder_ / "read", .writable = false},
                 {.source = folder_ / "write", .target = folder_ / "write", .writable = true}};
  spec.home_source = folder_ / "home";
  return spec;
}

}  // namespace cordon::test
