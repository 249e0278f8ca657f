// SPDX-License-Identifier: Apache-2.0
// A probe for backends that hide little: it is harmless without any isolation, because it touches canaries of the test
// and itself, and asks of everything else only whether it could be opened. One line per attempt: DETAIL ID crossed|held
// ERRNO; what was planted comes as NAME=VALUE.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

extern char** environ;

namespace {

using Canaries = std::map<std::string, std::string>;

void say(const char* detail, const std::string& id, bool crossed, int error_number = 0) {
  std::printf("%s %s %s %d\n", detail, id.c_str(), crossed ? "crossed" : "held", error_number);
  std::fflush(stdout);
}

// Crossed when the call worked.
void attempt(const char* detail, const std::string& id, long result) {
  const int error_number = result < 0 ? errno : 0;
  say(detail, id, result >= 0, error_number);
}

int opened(const std::string& path, int flags, mode_t mode = 0) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
  if (fd >= 0) {
    ::close(fd);
    return 0;
  }
  return -1;
}

void check_reading(const Canaries& canaries) {
  const std::string& key = canaries.at("key");
  const std::string outside = key.substr(0, key.rfind('/'));
  attempt("filesystem.read", "content", opened(key, O_RDONLY));
  attempt("filesystem.read", "list", opened(outside, O_RDONLY | O_DIRECTORY));
  attempt("filesystem.read", "list_root", opened("/root", O_RDONLY | O_DIRECTORY));
  attempt("filesystem.read", "accounts", opened("/etc/passwd", O_RDONLY));
  struct stat status = {};
  attempt("filesystem.read", "size_and_owner", ::stat(key.c_str(), &status));
  attempt("filesystem.read", "name_elsewhere", ::stat("/etc/shadow", &status));
  std::array<char, 64> value = {};
  attempt("filesystem.read", "attribute", ::getxattr(key.c_str(), "user.cordon", value.data(), value.size()));
  attempt("filesystem.read", "attribute_of_link", ::lgetxattr(key.c_str(), "user.cordon", value.data(), value.size()));
  attempt("filesystem.read", "attribute_names", ::listxattr(key.c_str(), value.data(), value.size()));
  attempt("filesystem.read", "attribute_names_of_link", ::llistxattr(key.c_str(), value.data(), value.size()));
  std::array<char, 16> target = {};
  attempt("filesystem.read", "link_text", ::readlink((outside + "/link").c_str(), target.data(), target.size()));
}

void check_writing(const Canaries& canaries) {
  const std::string& key = canaries.at("key");
  const std::string outside = key.substr(0, key.rfind('/'));
  const std::string file = outside + "/file";
  attempt("filesystem.write", "open", opened(file, O_WRONLY));
  attempt("filesystem.write", "create", opened(outside + "/new", O_WRONLY | O_CREAT | O_EXCL, 0600));
  attempt("filesystem.write", "create_in_read_grant", opened(canaries.at("read") + "/new", O_WRONLY | O_CREAT, 0600));
  attempt("filesystem.write", "open_in_read_grant", opened(canaries.at("read") + "/file", O_WRONLY));
  attempt("filesystem.write", "truncate", ::truncate(file.c_str(), 0));
  attempt("filesystem.write", "mkdir", ::mkdir((outside + "/folder").c_str(), 0700));
  attempt("filesystem.write", "link", ::link(file.c_str(), (outside + "/hard").c_str()));
  attempt("filesystem.write", "symlink", ::symlink("x", (outside + "/soft").c_str()));
  attempt("filesystem.write", "mode", ::chmod(file.c_str(), 0666));
  attempt("filesystem.write", "owner", ::chown(file.c_str(), ::getuid(), ::getgid()));
  attempt("filesystem.write", "times", ::utime(file.c_str(), nullptr));
  attempt("filesystem.write", "attribute", ::setxattr(file.c_str(), "user.cordon", "x", 1, 0));
  attempt("filesystem.write", "rename", ::rename(file.c_str(), (outside + "/renamed").c_str()));
  const int granted = ::open((canaries.at("read") + "/file").c_str(), O_RDONLY | O_CLOEXEC);
  attempt("filesystem.write", "mode_of_read_grant", granted < 0 ? -1 : ::fchmod(granted, 0666));
  ::close(granted);
  // The same text back: a machine that lets this through keeps its file.
  attempt("filesystem.write", "etc", opened("/etc/hostname", O_WRONLY));
  attempt("filesystem.steering", "direnv", opened(canaries.at("write") + "/.envrc", O_WRONLY | O_CREAT, 0600));
  const std::string shared = "/tmp/cordon-weak-" + std::to_string(::getpid());
  const int made = opened(shared, O_WRONLY | O_CREAT | O_EXCL, 0600);
  attempt("filesystem.write", "shared_tmp", made);
  if (made == 0) {
    ::unlink(shared.c_str());
  }
}

void check_proc(const Canaries& canaries) {
  const std::string folder = "/proc/" + canaries.at("pid");
  attempt("filesystem.proc", "list", opened("/proc", O_RDONLY | O_DIRECTORY));
  attempt("filesystem.proc", "command_line", opened(folder + "/cmdline", O_RDONLY));
  attempt("filesystem.proc", "environment", opened(folder + "/environ", O_RDONLY));
  attempt("filesystem.proc", "settings", opened("/proc/sys/kernel/hostname", O_WRONLY));
  struct stat status = {};
  attempt("filesystem.proc", "exists", ::stat(folder.c_str(), &status));
}

void check_processes(const Canaries& canaries) {
  const auto pid = static_cast<pid_t>(std::strtol(canaries.at("pid").c_str(), nullptr, 10));
  attempt("processes.own", "signal", ::kill(pid, 0));
  const long handle = ::syscall(SYS_pidfd_open, pid, 0);
  attempt("processes.own", "signal_by_handle",
          handle < 0 ? -1 : ::syscall(SYS_pidfd_send_signal, handle, 0, nullptr, 0));
  // ESRCH would say that there is none, anything else that there is.
  const int asked = ::kill(pid, 0);
  say("processes.own", "exists", asked == 0 || errno == EPERM, errno);
  char byte = 0;
  const iovec here = {.iov_base = &byte, .iov_len = 1};
  const iovec there = {.iov_base = &byte, .iov_len = 1};
  attempt("processes.own", "memory", ::process_vm_readv(pid, &here, 1, &there, 1, 0));
  rlimit limit = {};
  attempt("processes.own", "limits", ::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit));
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
  attempt("processes.own", "priority",
          nice == -1 && errno != 0 ? -1 : ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), nice));
  attempt("processes.own", "trace", ::syscall(SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, pid, 0, 0));
}

sockaddr_un unix_address(const std::string& name, bool abstract, socklen_t& length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 1 : 0));
  return address;
}

long connect_unix(const std::string& name, bool abstract) {
  socklen_t length = 0;
  const sockaddr_un address = unix_address(name, abstract, length);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const long result = fd < 0 ? -1 : ::connect(fd, reinterpret_cast<const sockaddr*>(&address), length);
  const int error_number = errno;
  ::close(fd);
  errno = error_number;
  return result;
}

// A datagram socket of a pair is a socket like any other: it can be sent from to any name.
long send_from_pair(const std::string& name) {
  std::array<int, 2> pair = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return -1;
  }
  socklen_t length = 0;
  const sockaddr_un address = unix_address(name, false, length);
  const long sent = ::sendto(pair[0], "x", 1, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address), length);
  return sent == 1 ? 0 : -1;
}

void check_ipc(const Canaries& canaries) {
  const int key = static_cast<int>(std::strtol(canaries.at("shm").c_str(), nullptr, 10));
  const int segment = ::shmget(key, 0, 0);
  attempt("ipc.own", "shared_memory", segment);
  attempt("ipc.own", "queue", ::syscall(SYS_mq_unlink, "cordon-weak-that-is-not"));
  if (errno == ENOENT) {
    say("ipc.own", "queues", true);
  }
  attempt("ipc.own", "abstract_socket", connect_unix(canaries.at("abstract"), true));
  attempt("ipc.unix_sockets", "path_socket", connect_unix(canaries.at("socket"), false));
  attempt("ipc.unix_sockets", "datagram", send_from_pair(canaries.at("datagram")));
  attempt("ipc.own", "shm_folder", opened("/dev/shm", O_RDONLY | O_DIRECTORY));
}

void check_network(const Canaries& canaries) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::strtol(canaries.at("port").c_str(), nullptr, 10)));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int result = fd < 0 ? -1 : ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  // In progress means that it is under way.
  say("network.outside", "host_loopback", result == 0 || (fd >= 0 && errno == EINPROGRESS), errno);
  ::close(fd);
}

void check_calls() {
  std::array<std::byte, 256> zero = {};
  attempt("syscalls.filter", "io_uring", ::syscall(SYS_io_uring_setup, 1, zero.data()));
  attempt("syscalls.filter", "userfaultfd", ::syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
  attempt("syscalls.filter", "keyring", ::syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 1));
  attempt("syscalls.filter", "vsock", ::socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  }
  // A child that could not be made, or that nobody saw end, has crossed nothing.
  int status = -1;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child;
  say("syscalls.user_namespaces", "unshare", ended && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  say("syscalls.privileges", "no_new_privs", ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1);
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> held = {};
  const long read = ::syscall(SYS_capget, &header, held.data());
  say("syscalls.privileges", "capabilities",
      read != 0 || (held[0].permitted | held[0].effective | held[0].inheritable | held[1].permitted) != 0);
  say("syscalls.privileges", "uid", ::getuid() == 0 || ::getgid() == 0);
}

void check_start(const Canaries& canaries) {
  bool other = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (name != "PATH" && name != "HOME" && name != "LANG") {
      std::fprintf(stderr, "variable %s\n", name.c_str());
      other = true;
    }
  }
  say("environment.listed", "variables", other);
  say("environment.listed", "canary", std::getenv(canaries.at("variable").c_str()) != nullptr);
  bool inherited = false;
  for (int fd = 3; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) {
      std::fprintf(stderr, "descriptor %d\n", fd);
      inherited = true;
    }
  }
  say("descriptors.standard", "inherited", inherited);
  for (const char* device :
       {"tty", "ptmx", "kmsg", "mem", "fuse", "net/tun", "kvm", "loop-control", "console", "pts/0"}) {
    attempt("devices.listed", device, opened(std::string("/dev/") + device, O_RDONLY));
  }
}

void check_limits() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  say("limits.open_files", "limit", limit.rlim_max > 256);
  ::getrlimit(RLIMIT_FSIZE, &limit);
  say("limits.file_size", "limit", limit.rlim_max > 50'000'000);
  ::getrlimit(RLIMIT_CPU, &limit);
  say("limits.cpu_seconds", "limit", limit.rlim_max > 60);
}

}  // namespace

int main(int argc, char** argv) {
  Canaries canaries;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      canaries[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  for (const char* name : {"key", "read", "pid", "shm", "socket", "abstract", "datagram", "port", "variable"}) {
    if (!canaries.contains(name)) {
      std::fprintf(stderr, "no canary %s\n", name);
      return 2;
    }
  }
  check_start(canaries);
  check_reading(canaries);
  check_writing(canaries);
  check_proc(canaries);
  check_processes(canaries);
  check_ipc(canaries);
  check_network(canaries);
  check_calls();
  check_limits();
  std::printf("complete\n");
  return 0;
}
