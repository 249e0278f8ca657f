// SPDX-License-Identifier: Apache-2.0
#include "run/loop.hpp"

#include <fcntl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"

namespace cordon::run {
namespace {

template <typename Owner>
Owner& owner_of(void* data) {
  return *static_cast<Owner*>(data);
}

std::unexpected<Error> uv_failed(std::string_view what, int status) {
  return fail(Errc::internal, text::cat(what, ": ", uv_strerror(status)), "event loop");
}

}  // namespace

Instant monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return {std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000};
}

Result<std::unique_ptr<Loop>> Loop::create() {
  // libuv 1.45 and later may ask the kernel through a ring, around every filter of system calls, ours included.
  ::setenv("UV_USE_IO_URING", "0", 1);
  std::unique_ptr<Loop> loop(new Loop);
  const int status = uv_loop_init(&loop->loop_);
  if (status != 0) {
    loop->loop_.data = loop.get();  // tells the destructor that there is nothing to close
    return uv_failed("uv_loop_init", status);
  }
  loop->loop_.data = nullptr;
  return loop;
}

Loop::~Loop() {
  if (loop_.data != nullptr) {
    return;
  }
  // All handles are closed by now; their callbacks still have to run.
  uv_run(&loop_, UV_RUN_NOWAIT);
  CORDON_ASSERT(uv_loop_close(&loop_) == 0);
}

void Loop::run() { uv_run(&loop_, UV_RUN_DEFAULT); }
void Loop::stop() { uv_stop(&loop_); }

Timer::Timer(Loop& loop, std::function<void()> fire)
    : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)), fire_(std::move(fire)) {
  CORDON_ASSERT(fd_ && uv_poll_init(loop.raw(), handle_.get(), fd_.get()) == 0);
  handle_.opened(this);
  CORDON_ASSERT(uv_poll_start(handle_.get(), UV_READABLE, &Timer::fired) == 0);
  uv_unref(handle_.generic());
}

void Timer::set(std::optional<Instant> when) {
  if (when == when_) {
    return;
  }
  when_ = when;
  itimerspec spec{};  // all zero: never
  if (when) {
    // A timer in the past must not spin.
    const std::int64_t ms = std::max(when->ms, monotonic_now().ms + 1);
    spec.it_value = {ms / 1000, ms % 1000 * 1'000'000};
    uv_ref(handle_.generic());  // the loop goes on for it, as for any timer
  } else {
    uv_unref(handle_.generic());
  }
  CORDON_ASSERT(::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
}

void Timer::fired(uv_poll_t* handle, int, int) noexcept {
  Timer& self = owner_of<Timer>(handle->data);
  std::uint64_t times = 0;
  if (::read(self.fd_.get(), &times, sizeof times) != static_cast<ssize_t>(sizeof times)) {
    return;  // set anew before it was read
  }
  uv_unref(self.handle_.generic());
  self.when_.reset();
  self.fire_();
}

Idle::Idle(Loop& loop, std::function<void()> turn) : turn_(std::move(turn)) {
  CORDON_ASSERT(uv_idle_init(loop.raw(), handle_.get()) == 0);
  handle_.opened(this);
}

void Idle::set(bool on) {
  if (on) {
    uv_idle_start(handle_.get(), &Idle::turned);
  } else {
    uv_idle_stop(handle_.get());
  }
}

void Idle::turned(uv_idle_t* handle) noexcept { owner_of<Idle>(handle->data).turn_(); }

Result<std::unique_ptr<Poll>> Poll::create(Loop& loop, const Endpoint& endpoint, Ready ready) {
  std::unique_ptr<Poll> poll(new Poll(std::move(ready)));
  // uv_poll_init makes the description non-blocking, which only our own may stay.
  const int flags = endpoint.is_shared() ? ::fcntl(endpoint.fd(), F_GETFL) : -1;
  const int status = uv_poll_init(loop.raw(), poll->handle_.get(), endpoint.fd());
  if (flags >= 0) {
    ::fcntl(endpoint.fd(), F_SETFL, flags);
  }
  if (status != 0) {
    return uv_failed("uv_poll_init", status);
  }
  poll->handle_.opened(poll.get());
  return poll;
}

Result<std::unique_ptr<Poll>> Poll::create(Loop& loop, int fd, Ready ready) {
  std::unique_ptr<Poll> poll(new Poll(std::move(ready)));
  if (const int status = uv_poll_init(loop.raw(), poll->handle_.get(), fd); status != 0) {
    return uv_failed("uv_poll_init", status);
  }
  poll->handle_.opened(poll.get());
  return poll;
}

void Poll::want(int events) {
  if (events == wanted_ || !handle_.is_open()) {
    return;
  }
  wanted_ = events;
  if (events == 0) {
    uv_poll_stop(handle_.get());
  } else {
    CORDON_ASSERT(uv_poll_start(handle_.get(), events, &Poll::polled) == 0);
  }
}

void Poll::polled(uv_poll_t* handle, int status, int events) noexcept {
  Poll& self = owner_of<Poll>(handle->data);
  // After an error libuv has stopped the handle; reading or writing will tell what it was.
  const int seen = status < 0 ? std::exchange(self.wanted_, 0) : events;
  self.ready_(seen);
}

SignalWatch::SignalWatch(Loop& loop, int number, std::function<void(int)> caught) : caught_(std::move(caught)) {
  CORDON_ASSERT(uv_signal_init(loop.raw(), handle_.get()) == 0);
  handle_.opened(this);
  CORDON_ASSERT(uv_signal_start(handle_.get(), &SignalWatch::signalled, number) == 0);
}

void SignalWatch::signalled(uv_signal_t* handle, int number) noexcept {
  owner_of<SignalWatch>(handle->data).caught_(number);
}

}  // namespace cordon::run
