// SPDX-License-Identifier: Apache-2.0
#include "probe/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

int connect_unix(const std::string& name, int type) {
  sockaddr_un target = {};
  if (name.size() > sizeof target.sun_path) {
    return ENAMETOOLONG;
  }
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return errno;
  }
  target.sun_family = AF_UNIX;
  std::memcpy(target.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  int error_number = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&target), length));
  if (error_number == EAGAIN) {
    error_number = 0;  // it listens, and only its queue is full
  }
  ::close(fd);
  return error_number;
}

// A datagram that nobody takes comes back as an error to the next one.
int send_twice(int fd) {
  constexpr int kWaitMs = 50;
  const char byte = 'x';
  if (::send(fd, &byte, 1, MSG_NOSIGNAL) != 1) {
    return errno;
  }
  pollfd wait = {fd, 0, 0};
  ::poll(&wait, 1, kWaitMs);
  return ::send(fd, &byte, 1, MSG_NOSIGNAL) == 1 ? 0 : errno;
}

}  // namespace

int open_socket(int family, int type, int protocol) {
  return result_of_open(::socket(family, type | SOCK_CLOEXEC, protocol));
}

int connect_ip(const char* address, int port, int type) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return errno;
  }
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address, &target.sin_addr);
  int error_number = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&target), sizeof target));
  if (error_number == 0 && type == SOCK_DGRAM) {
    error_number = send_twice(fd);
  }
  ::close(fd);
  return error_number;
}

// Through its folder, since a whole path may be longer than an address can hold.
int connect_path(const std::string& path, int type) {
  const std::size_t slash = path.rfind('/');
  const int folder = ::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return errno;
  }
  const int error_number = connect_unix("/proc/self/fd/" + std::to_string(folder) + path.substr(slash), type);
  ::close(folder);
  return error_number;
}

int connect_to_own(const std::string& path) {
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), std::min(path.size(), sizeof local.sun_path - 1));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int error_number = result_of(::bind(fd, reinterpret_cast<sockaddr*>(&local), sizeof local));
  if (error_number == 0) {
    error_number = result_of(::listen(fd, 1));
  }
  if (error_number == 0) {
    error_number = connect_unix(path, SOCK_STREAM);
    ::unlink(path.c_str());
  }
  ::close(fd);
  return error_number;
}

int connect_abstract(const std::string& name) { return connect_unix(std::string(1, '\0') + name, SOCK_STREAM); }

}  // namespace cordon::probe
