// SPDX-License-Identifier: Apache-2.0
#pragma once
// libuv behind small owning classes: each owns one handle, which libuv frees after its close callback has run.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/time.hpp"
#include "run/endpoint.hpp"

namespace cordon::run {

// Milliseconds of CLOCK_MONOTONIC.
Instant monotonic_now();

class Loop {
 public:
  static Result<std::unique_ptr<Loop>> create();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();   // until stop()
  void stop();  // may be called from any callback
  uv_loop_t* raw() { return &loop_; }

 private:
  Loop() = default;
  uv_loop_t loop_ = {};
};

// Owns a handle of libuv type Raw. `data` of the handle points at the owner.
template <typename Raw>
class Handle {
 public:
  Handle() : raw_(std::make_unique<Raw>()) {}
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Raw* get() { return raw_.get(); }
  uv_handle_t* generic() { return reinterpret_cast<uv_handle_t*>(raw_.get()); }
  // Once libuv has taken it over.
  void opened(void* owner) {
    open_ = true;
    raw_->data = owner;
  }
  // No callback comes any more; may be called from one. libuv has forgotten the descriptor when this returns.
  void close() {
    if (open_) {
      open_ = false;
      uv_close(generic(), &Handle::closed);
      [[maybe_unused]] Raw* freed_by_callback = raw_.release();
    }
  }
  bool is_open() const { return open_; }

 private:
  static void closed(uv_handle_t* handle) noexcept { const std::unique_ptr<Raw> last(reinterpret_cast<Raw*>(handle)); }
  std::unique_ptr<Raw> raw_;
  bool open_ = false;
};

class Timer {
 public:
  Timer(Loop& loop, std::function<void()> fire);
  // Fires once at `when`, or never. Setting what is set already costs nothing.
  void set(std::optional<Instant> when);

 private:
  static void fired(uv_poll_t* handle, int status, int events) noexcept;
  // A timer of the kernel's, armed when the deadline changes, which is seldom: with libuv's own, each wait of the loop
  // would arm and disarm one, and every message goes through two waits.
  UniqueFd fd_;
  Handle<uv_poll_t> handle_ = {};
  std::function<void()> fire_;
  std::optional<Instant> when_ = {};
};

// Calls `turn` once per turn of the loop while it is on; for descriptors that are always ready.
class Idle {
 public:
  Idle(Loop& loop, std::function<void()> turn);
  void set(bool on);

 private:
  static void turned(uv_idle_t* handle) noexcept;
  Handle<uv_idle_t> handle_ = {};
  std::function<void()> turn_;
};

// Waits for one descriptor.
class Poll {
 public:
  // UV_READABLE, UV_WRITABLE, UV_DISCONNECT; an error or hang-up is reported as all that was wanted.
  using Ready = std::function<void(int events)>;
  // Errors with EPERM when the kernel cannot poll this descriptor (regular files, /dev/null).
  static Result<std::unique_ptr<Poll>> create(Loop& loop, const Endpoint& endpoint, Ready ready);
  // Likewise for a descriptor that is ours alone and non-blocking; borrowed, and to be closed after this.
  static Result<std::unique_ptr<Poll>> create(Loop& loop, int fd, Ready ready);
  void want(int events);  // 0: nothing
  // To be called before the descriptor is closed, or libuv would forget the next one that gets its number.
  void close() { handle_.close(); }

 private:
  explicit Poll(Ready ready) : ready_(std::move(ready)) {}
  static void polled(uv_poll_t* handle, int status, int events) noexcept;
  Handle<uv_poll_t> handle_ = {};
  Ready ready_;
  int wanted_ = 0;
};

class SignalWatch {
 public:
  // Handlers do not survive exec, so the server starts with default dispositions.
  SignalWatch(Loop& loop, int number, std::function<void(int)> caught);

 private:
  static void signalled(uv_signal_t* handle, int number) noexcept;
  Handle<uv_signal_t> handle_ = {};
  std::function<void(int)> caught_;
};

}  // namespace cordon::run
