// SPDX-License-Identifier: Apache-2.0
// A program for a sandbox in which init is asked before anything connects. Arguments: a socket that somebody outside
// listens at, shown in a granted folder. It prints lines "ID EXPECTED GOT", and does nothing where it is not inside.
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(const std::string& id, const std::string& expected, const std::function<int()>& attempt) {
  const int error_number = attempt();
  const char* name = error_number == 0 ? "allowed" : ::strerrorname_np(error_number);
  std::printf("%s %s %s\n", id.c_str(), expected.c_str(), name != nullptr ? name : "?");
  std::fflush(stdout);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un out = {};
  out.sun_family = AF_UNIX;
  std::memcpy(out.sun_path, path.data(), std::min(path.size(), sizeof out.sun_path - 1));
  return out;
}

int make(int family, bool blocking = true) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), 0);
}

int connect_unix(const std::string& path, bool blocking = true) {
  const int fd = make(AF_UNIX, blocking);
  const sockaddr_un address = address_of(path);
  const int error_number = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::close(fd);
  return error_number;
}

int listen_unix(const std::string& path, int queue = 512) {
  const int fd = make(AF_UNIX);
  const sockaddr_un address = address_of(path);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd, queue) != 0) {
    return -1;
  }
  return fd;
}

int raw(int fd, const void* address, socklen_t length) {
  return ::syscall(SYS_connect, fd, address, length) == 0 ? 0 : errno;
}

void try_own(const std::string& granted) {
  (void)listen_unix("/tmp/own");
  check("own", "allowed", [] { return connect_unix("/tmp/own"); });
  check("own_nonblocking", "allowed", [] { return connect_unix("/tmp/own", false); });
  check("own_relative", "allowed", [] { return ::chdir("/tmp") == 0 ? connect_unix("own") : errno; });
  check("own_of_a_thread", "allowed", [] {
    int error_number = 0;
    std::thread([&] { error_number = connect_unix("/tmp/own"); }).join();
    return error_number;
  });
  check("own_through_proc", "allowed", [] {
    const int folder = ::open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return connect_unix("/proc/self/fd/" + std::to_string(folder) + "/own");
  });
  check("granted", "ECONNREFUSED", [&] { return connect_unix(granted); });
  check("granted_nonblocking", "ECONNREFUSED", [&] { return connect_unix(granted, false); });
  check("granted_through_a_link", "ECONNREFUSED",
        [&] { return ::symlink(granted.c_str(), "/tmp/link") == 0 ? connect_unix("/tmp/link") : 0; });
  check("granted_relative", "ECONNREFUSED", [&] {
    const std::string folder = granted.substr(0, granted.rfind('/'));
    return ::chdir(folder.c_str()) == 0 ? connect_unix(granted.substr(folder.size() + 1)) : 0;
  });
  check("granted_through_proc", "ECONNREFUSED", [&] {
    const std::string folder = granted.substr(0, granted.rfind('/'));
    const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return connect_unix("/proc/self/fd/" + std::to_string(fd) + granted.substr(folder.size()));
  });
  check("missing", "ENOENT", [] { return connect_unix("/tmp/nothing"); });
  check("no_socket", "ECONNREFUSED", [] { return connect_unix("/tmp"); });
}

void try_odd() {
  const sockaddr_un own = address_of("/tmp/own");
  check("no_descriptor", "EBADF", [&] { return raw(999, &own, sizeof own); });
  check("bad_pointer", "EFAULT", [] { return raw(make(AF_UNIX), reinterpret_cast<void*>(8), sizeof(sockaddr_un)); });
  check("no_length", "EINVAL", [&] { return raw(make(AF_UNIX), &own, 0); });
  check("too_long", "EINVAL", [&] { return raw(make(AF_UNIX), &own, 4096); });
  check("not_a_socket", "ENOTSOCK", [&] { return raw(::open("/dev/null", O_RDWR | O_CLOEXEC), &own, sizeof own); });
  check("unix_name_for_inet", "EAFNOSUPPORT", [&] { return raw(make(AF_INET), &own, sizeof own); });
  check("abstract", "allowed", [] {
    const int fd = make(AF_UNIX);
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, "\0own", 4);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 4);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&name), length) != 0 || ::listen(fd, 1) != 0) {
      return errno;
    }
    return raw(make(AF_UNIX), &name, length);
  });
  for (const bool blocking : {true, false}) {
    check(blocking ? "inet" : "inet_nonblocking", blocking ? "allowed" : "EINPROGRESS", [&] {
      const int fd = make(AF_INET);
      sockaddr_in name = {};
      name.sin_family = AF_INET;
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t length = sizeof name;
      if (::bind(fd, reinterpret_cast<sockaddr*>(&name), length) != 0 || ::listen(fd, 1) != 0 ||
          ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
        return errno;
      }
      const int error_number = raw(make(AF_INET, blocking), &name, length);
      return error_number == 0 && !blocking ? EINPROGRESS : error_number;  // on lo it may be there at once
    });
  }
}

// The address changes while it is looked at: whatever is read counts.
void try_race(const std::string& granted) {
  constexpr int kTries = 400;
  sockaddr_un address = address_of("/tmp/own");
  const sockaddr_un own = address;
  const sockaddr_un other = address_of(granted);
  std::atomic<bool> done = false;
  std::thread changes([&] {
    while (!done) {
      std::memcpy(&address, &other, sizeof address);
      std::memcpy(&address, &own, sizeof address);
    }
  });
  for (int i = 0; i < kTries; ++i) {
    const int fd = make(AF_UNIX, i % 2 == 0);
    (void)raw(fd, &address, sizeof address);
    ::close(fd);
  }
  done = true;
  changes.join();
}

// Connects that wait for a peer that never takes them: others are served meanwhile, and the number is bounded.
void try_many() {
  (void)listen_unix("/tmp/full", 0);
  std::atomic<int> turned_away = 0;
  std::vector<std::thread> threads;
  constexpr int kMany = 160;
  for (int i = 0; i < kMany; ++i) {
    threads.emplace_back([&] { turned_away += connect_unix("/tmp/full") == EAGAIN ? 1 : 0; });
  }
  while (turned_away == 0) {
    ::usleep(1000);
  }
  check("bounded", "EAGAIN", [] { return connect_unix("/tmp/own"); });
  for (std::thread& thread : threads) {
    thread.detach();
  }
}

}  // namespace

int main(int argc, char** argv) {
  // The only interface is lo, and pid 1 is our parent: else this is no sandbox.
  struct if_nameindex* interfaces = ::if_nameindex();
  if (argc != 2 || ::getppid() != 1 || interfaces == nullptr || interfaces[0].if_index == 0 ||
      interfaces[1].if_index != 0) {
    return 3;
  }
  try_own(argv[1]);
  try_odd();
  try_race(argv[1]);
  check("after_the_race", "allowed", [] { return connect_unix("/tmp/own"); });
  check("unreadable", "EACCES", [] {
    (void)::prctl(PR_SET_DUMPABLE, 0);
    const int error_number = connect_unix("/tmp/own");
    (void)::prctl(PR_SET_DUMPABLE, 1);
    return error_number;
  });
  try_many();
  std::puts("complete yes yes");
  std::fflush(stdout);
  ::_exit(0);
}
