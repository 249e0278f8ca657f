// SPDX-License-Identifier: Apache-2.0
#include "run/egress_watch.hpp"

#include <array>
#include <utility>

#include "egress/refusal.hpp"

namespace cordon::run {
namespace {

// Packets read before other descriptors get their turn. What is too much for the socket's buffer is lost.
constexpr int kTurns = 16;

}  // namespace

EgressWatch::EgressWatch(Loop& loop, UniqueFd socket, Refused refused)
    : socket_(std::move(socket)), refused_(std::move(refused)) {
  auto poll = Poll::create(loop, socket_.get(), [this](int) { ready(); });
  if (!poll) {
    socket_.reset();
    return;
  }
  poll_ = std::move(*poll);
  poll_->want(UV_READABLE);
}

void EgressWatch::ready() {
  std::array<std::byte, egress::kRefusalBytes> packet = {};
  for (int turn = 0; turn < kTurns && socket_; ++turn) {
    const std::ptrdiff_t got = receive(socket_.get(), packet);
    if (got <= 0) {
      break;
    }
    if (const auto door = egress::refused_door(std::span(packet).first(static_cast<std::size_t>(got)))) {
      refused_(*door);
    }
  }
  if (socket_) {
    poll_->want(UV_READABLE);
  }
}

void EgressWatch::close() {
  ready();
  if (poll_) {
    poll_->close();
  }
  socket_.reset();
}

}  // namespace cordon::run
