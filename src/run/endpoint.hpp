// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading and writing one descriptor without blocking and without touching flags that other processes share.
// O_NONBLOCK belongs to the open file description, so setting it on our stdin would set it for the client too.

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::run {

// What one attempt came to. `bytes` with done alone, `error_number` with broken alone.
struct Transfer {
  enum class Kind : std::uint8_t { done, again, end, broken };
  Kind kind = Kind::broken;
  std::size_t bytes = 0;
  int error_number = 0;
};

class Endpoint {
 public:
  Endpoint() = default;

  // Our own end of a pipe or socket; O_NONBLOCK is set on it.
  static Result<Endpoint> own(UniqueFd fd);
  // Borrowed descriptors, of which the description may be shared: pipe, socket, file, terminal, /dev/null, or closed.
  static Endpoint shared_reader(int fd) { return shared(fd, Direction::read); }
  static Endpoint shared_writer(int fd) { return shared(fd, Direction::write); }

  // The descriptor to wait for; -1 when there is none.
  int fd() const { return own_ ? own_.get() : borrowed_; }
  // True when the description may be shared, so that its flags must stay as they are.
  bool is_shared() const { return !own_; }
  // Regular files are always ready and cannot be polled.
  bool always_ready() const { return way_ == Way::file; }

  Transfer read(std::span<char> into) const;
  // As many of the pieces as fit.
  Transfer write(std::span<const iovec> pieces) const;
  Transfer write(std::string_view bytes) const;

 private:
  enum class Direction : std::uint8_t { read, write };
  enum class Way : std::uint8_t {
    closed,
    nonblocking,  // a description of our own
    socket,       // per-call flags
    guarded,      // blocking description of others: asked first, small steps
    file,         // regular file: never waits for a peer
  };
  static Endpoint shared(int fd, Direction direction);
  bool ready(short events) const;

  UniqueFd own_ = {};
  int borrowed_ = -1;
  Way way_ = Way::closed;
};

}  // namespace cordon::run
