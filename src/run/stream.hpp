// SPDX-License-Identifier: Apache-2.0
#pragma once
// Source reads a descriptor while it is wanted; Sink writes at once what fits and keeps the rest. Both go around
// libuv's own streams: a small message costs one read(2) and one write(2).

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "run/endpoint.hpp"
#include "run/loop.hpp"

namespace cordon::run {

class Source {
 public:
  struct Events {
    std::function<void(std::string_view)> bytes = {};
    std::function<void()> end = {};     // once; end of file or a read error
    std::function<void()> hangup = {};  // once; the other side closed while reading was paused
  };
  // `buffer` is borrowed and may be shared by all sources of a loop.
  Source(Loop& loop, Endpoint endpoint, std::span<char> buffer, Events events);

  void resume();
  // Stops reading, so that the kernel's buffer fills; a hang-up is still noticed.
  void pause();
  // For good; no more events.
  void close();
  bool paused() const { return state_ == State::paused; }
  bool ended() const { return state_ == State::ended; }

 private:
  enum class State : std::uint8_t { idle, reading, paused, ended };
  void ready(int happened);
  void read_once();
  void stop_waiting();

  Endpoint endpoint_;
  std::span<char> buffer_;
  Events events_;
  std::unique_ptr<Poll> poll_ = {};
  std::unique_ptr<Idle> idle_ = {};  // instead of poll_, for what cannot be polled
  State state_ = State::idle;
  bool hung_up_ = false;
};

class Sink {
 public:
  // `changed` is called from the loop when the queue got shorter or the other side is gone.
  Sink(Loop& loop, Endpoint endpoint, std::function<void()> changed);

  // Takes the whole line. Nothing happens when the sink is closed or broken.
  void write(std::string line);
  // Closes the descriptor once everything is written.
  void close_when_drained();
  // Drops what is queued.
  void close() { shut(State::closed); }

  std::size_t queued_bytes() const { return queued_bytes_; }
  bool broken() const { return state_ == State::broken; }
  // Nothing left to do: all written, or nobody to write to.
  bool drained() const { return queued_bytes_ == 0; }

 private:
  enum class State : std::uint8_t { open, closing, closed, broken };
  void drain();
  bool write_some();
  void settle();
  void shut(State state);

  Loop& loop_;
  Endpoint endpoint_;
  std::function<void()> changed_;
  std::unique_ptr<Poll> poll_ = {};
  std::deque<std::string> queue_ = {};
  std::size_t front_done_ = 0;  // bytes of queue_.front() that are written
  std::size_t queued_bytes_ = 0;
  State state_ = State::open;
};

}  // namespace cordon::run
