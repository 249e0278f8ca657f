// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pipes for tests.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/fd.hpp"

namespace cordon::test {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// What can be read without waiting.
inline std::string read_available(int fd) {
  std::string out;
  std::array<char, 65536> buffer;
  pollfd entry{fd, POLLIN, 0};
  while (::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) {
      break;
    }
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return out;
}

}  // namespace cordon::test
