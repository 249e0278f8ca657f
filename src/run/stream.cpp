// SPDX-License-Identifier: Apache-2.0
#include "run/stream.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cordon::run {

Source::Source(Loop& loop, Endpoint endpoint, std::span<char> buffer, Events events)
    : endpoint_(std::move(endpoint)), buffer_(buffer), events_(std::move(events)) {
  if (!endpoint_.always_ready() && endpoint_.fd() >= 0) {
    if (auto poll = Poll::create(loop, endpoint_, [this](int happened) { ready(happened); })) {
      poll_ = std::move(*poll);
      return;
    }
  }
  idle_ = std::make_unique<Idle>(loop, [this] { read_once(); });
}

void Source::resume() {
  if (state_ != State::idle && state_ != State::paused) {
    return;
  }
  state_ = State::reading;
  if (poll_) {
    poll_->want(UV_READABLE);
  } else {
    idle_->set(true);
  }
}

void Source::pause() {
  if (state_ != State::idle && state_ != State::reading) {
    return;
  }
  state_ = State::paused;
  if (poll_) {
    poll_->want(hung_up_ ? 0 : UV_DISCONNECT);
  } else {
    idle_->set(false);
  }
}

void Source::close() {
  state_ = State::ended;
  stop_waiting();
  endpoint_ = Endpoint();
}

// The owners of the handles stay: this may run in a callback of theirs.
void Source::stop_waiting() {
  if (poll_) {
    poll_->close();
  } else {
    idle_->set(false);
  }
}

void Source::ready(int happened) {
  if (state_ == State::reading) {
    read_once();
  } else if (state_ == State::paused && happened != 0 && !hung_up_) {
    // Level-triggered: it would be reported again and again.
    hung_up_ = true;
    poll_->want(0);
    events_.hangup();
  }
}

void Source::read_once() {
  const Transfer got = endpoint_.read(buffer_);
  switch (got.kind) {
    case Transfer::Kind::done:
      // After an error report libuv no longer watches.
      if (poll_) {
        poll_->want(UV_READABLE);
      }
      events_.bytes(std::string_view(buffer_.data(), got.bytes));
      return;
    case Transfer::Kind::again:
      if (poll_) {
        poll_->want(UV_READABLE);
      }
      return;
    case Transfer::Kind::end:
    case Transfer::Kind::broken:
      state_ = State::ended;
      stop_waiting();
      events_.end();
      return;
  }
}

Sink::Sink(Loop& loop, Endpoint endpoint, std::function<void()> changed)
    : loop_(loop), endpoint_(std::move(endpoint)), changed_(std::move(changed)) {}

void Sink::write(std::string line) {
  if (state_ != State::open || line.empty()) {
    return;
  }
  if (queue_.empty()) {
    // Nearly always all of it fits.
    const Transfer sent = endpoint_.write(line);
    if (sent.kind == Transfer::Kind::broken) {
      shut(State::broken);
      return;
    }
    if (sent.bytes == line.size()) {
      return;
    }
    front_done_ = sent.bytes;
    queued_bytes_ = line.size() - sent.bytes;
    queue_.push_back(std::move(line));
    if (endpoint_.always_ready()) {
      drain();
    } else {
      settle();
    }
    return;
  }
  queued_bytes_ += line.size();
  queue_.push_back(std::move(line));
}

void Sink::close_when_drained() {
  if (state_ == State::open) {
    state_ = State::closing;
    settle();
  }
}

// Writes until it would block. One attempt is enough where less than everything was taken.
void Sink::drain() {
  while (!queue_.empty() && write_some()) {
  }
  settle();
}

bool Sink::write_some() {
  std::array<iovec, 16> pieces;
  std::size_t count = 0;
  std::size_t skip = front_done_;
  std::size_t offered = 0;
  for (auto line = queue_.begin(); line != queue_.end() && count < pieces.size(); ++line) {
    pieces[count++] = {line->data() + skip, line->size() - skip};
    offered += line->size() - skip;
    skip = 0;
  }
  const Transfer sent = endpoint_.write(std::span(pieces).first(count));
  if (sent.kind == Transfer::Kind::broken) {
    shut(State::broken);
    return false;
  }
  queued_bytes_ -= sent.bytes;
  front_done_ += sent.bytes;
  while (!queue_.empty() && front_done_ >= queue_.front().size()) {
    front_done_ -= queue_.front().size();
    queue_.pop_front();
  }
  // A file or device that cannot be waited for takes the rest right away.
  return sent.kind == Transfer::Kind::done && (sent.bytes == offered || endpoint_.always_ready());
}

// Waits for room, or closes, as the queue demands.
void Sink::settle() {
  if (state_ != State::open && state_ != State::closing) {
    return;
  }
  if (queue_.empty()) {
    if (poll_) {
      poll_->want(0);
    }
    if (state_ == State::closing) {
      shut(State::closed);
    }
    return;
  }
  if (!poll_) {
    auto poll = Poll::create(loop_, endpoint_, [this](int) {
      drain();
      changed_();
    });
    if (!poll) {
      shut(State::broken);
      return;
    }
    poll_ = std::move(*poll);
  }
  poll_->want(UV_WRITABLE);
}

void Sink::shut(State state) {
  state_ = state;
  queue_.clear();
  queued_bytes_ = 0;
  front_done_ = 0;
  if (poll_) {
    poll_->close();
  }
  endpoint_ = Endpoint();
}

}  // namespace cordon::run
