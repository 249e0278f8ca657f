// SPDX-License-Identifier: Apache-2.0
#include "run/egress_greeting.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace cordon::run {

using State = egress::ProxyRequest::State;

EgressGreeting::EgressGreeting(Loop& loop, std::uint64_t number, UniqueFd inside, Over over)
    : loop_(loop), number_(number), inside_(std::move(inside)), over_(std::move(over)), timer_(loop, [this] {
        end();
      }) {}

void EgressGreeting::start(std::uint64_t patience_ms) {
  auto poll = Poll::create(loop_, inside_.get(), [this](int) { ready(); });
  if (!poll) {
    return end();
  }
  poll_ = std::move(*poll);
  timer_.set(patience_ms);
  poll_->want(UV_READABLE);
}

void EgressGreeting::say(std::string_view answer) {
  // It is short and the socket's buffer is empty: who does not read gets nothing.
  (void)send_some(inside_.get(), std::as_bytes(std::span(answer)));
}

void EgressGreeting::ready() {
  while (!ended_ && read_some()) {
  }
  if (!ended_) {
    poll_->want(UV_READABLE);
  }
}

// Looks first and takes only what is the request's.
bool EgressGreeting::read_some() {
  std::array<std::byte, 4096> seen = {};
  const ssize_t there = ::recv(inside_.get(), seen.data(), seen.size(), MSG_PEEK);
  if (there < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  if (there <= 0) {
    end();
    return false;
  }
  const State state = request_.feed(std::span(seen).first(static_cast<std::size_t>(there)));
  (void)receive(inside_.get(), std::span(seen).first(request_.taken()));
  if (state == State::reply || state == State::refused) {
    say(request_.reply());
  }
  if (state == State::done || state == State::refused) {
    end();
  }
  return true;
}

void EgressGreeting::end() {
  if (std::exchange(ended_, true)) {
    return;
  }
  timer_.stop();
  if (poll_) {
    poll_->close();
  }
  over_(number_);
}

}  // namespace cordon::run
