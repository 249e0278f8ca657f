// SPDX-License-Identifier: Apache-2.0
// The bare relay that everything is measured against: CMD behind two pipes, and poll, read, write. It looks at nothing.
// Usage: bench-relay CMD ARGS…

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <vector>

namespace {

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// False once `from` has ended or `to` is gone.
bool copy_once(int from, int to, std::vector<char>& buffer) {
  const ssize_t got = read(from, buffer.data(), buffer.size());
  if (got < 0) {
    return errno == EINTR;
  }
  return got > 0 && write_all(to, buffer.data(), static_cast<std::size_t>(got));
}

int relay(int server_in, int server_out, pid_t child) {
  std::vector<char> buffer(std::size_t{64} * 1024);
  std::array<pollfd, 2> watched = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{server_out, POLLIN, 0}};
  while (watched[1].fd >= 0) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      return 1;
    }
    if (watched[0].fd >= 0 && watched[0].revents != 0 && !copy_once(STDIN_FILENO, server_in, buffer)) {
      close(server_in);
      watched[0].fd = -1;
    }
    if (watched[1].revents != 0 && !copy_once(server_out, STDOUT_FILENO, buffer)) {
      watched[1].fd = -1;
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::array<int, 2> to_server{};
  std::array<int, 2> from_server{};
  if (argc < 2 || pipe2(to_server.data(), O_CLOEXEC) != 0 || pipe2(from_server.data(), O_CLOEXEC) != 0) {
    std::perror("bench-relay");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    dup2(to_server[0], STDIN_FILENO);
    dup2(from_server[1], STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  close(to_server[0]);
  close(from_server[1]);
  return child < 0 ? 1 : relay(to_server[1], from_server[0], child);
}
