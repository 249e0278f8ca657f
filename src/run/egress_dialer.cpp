// SPDX-License-Identifier: Apache-2.0
#include "run/egress_dialer.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cordon::run {

std::vector<egress::IpAddress> in_turn(const std::vector<egress::IpAddress>& addresses) {
  std::vector<egress::IpAddress> six;
  std::vector<egress::IpAddress> four;
  for (const egress::IpAddress& address : addresses) {
    (address.v6 ? six : four).push_back(address);
  }
  std::vector<egress::IpAddress> out;
  for (std::size_t i = 0; i < std::max(six.size(), four.size()); ++i) {
    if (i < six.size()) {
      out.push_back(six[i]);
    }
    if (i < four.size()) {
      out.push_back(four[i]);
    }
  }
  return out;
}

Dialer::Dialer(Loop& loop, std::vector<egress::IpAddress> addresses, std::uint16_t port, Done done)
    : loop_(loop), addresses_(std::move(addresses)), port_(port), done_(std::move(done)), timer_(loop, [this] {
        next();
      }) {}

// One attempt more; when there is none left to make or wait for, that is the outcome.
void Dialer::next() {
  while (tried_ < addresses_.size()) {
    const egress::IpAddress address = addresses_[tried_++];
    Connecting started = start_connect(address, port_);
    if (started.error_number == 0) {
      return finish({std::move(started.fd), address, 0});
    }
    if (started.error_number != EINPROGRESS) {
      error_number_ = started.error_number;
      continue;
    }
    auto attempt = std::make_unique<Attempt>();
    attempt->fd = std::move(started.fd);
    attempt->address = address;
    Attempt* const here = attempt.get();
    auto poll = Poll::create(loop_, attempt->fd.get(), [this, here](int) { ready(*here); });
    if (!poll) {
      error_number_ = EMFILE;
      continue;
    }
    attempt->poll = std::move(*poll);
    attempt->poll->want(UV_WRITABLE);
    attempts_.push_back(std::move(attempt));
    ++open_;
    if (tried_ < addresses_.size()) {
      timer_.set(kStaggerMs);
    }
    return;
  }
  if (open_ == 0) {
    finish({{}, {}, error_number_ == 0 ? EHOSTUNREACH : error_number_});
  }
}

void Dialer::ready(Attempt& attempt) {
  if (over_ || !attempt.fd) {
    return;
  }
  const int failed = socket_error(attempt.fd.get());
  attempt.poll->close();
  if (failed == 0) {
    return finish({std::move(attempt.fd), attempt.address, 0});
  }
  error_number_ = failed;
  attempt.fd.reset();
  --open_;
  next();
}

void Dialer::finish(Outcome outcome) {
  over_ = true;
  timer_.stop();
  for (const auto& attempt : attempts_) {
    attempt->poll->close();
    attempt->fd.reset();
  }
  done_(std::move(outcome));
}

}  // namespace cordon::run
