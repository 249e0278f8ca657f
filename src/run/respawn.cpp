// SPDX-License-Identifier: Apache-2.0
// The second server takes the place of the first (core/gate/respawn.cpp says when). It was started when ours was the
// right to start anything, and has waited since; here it is begun, and its pipes become those of the conversation.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "run/conversation.hpp"
#include "sandbox/launch.hpp"

namespace cordon::run {

void Conversation::drop_spare() {
  spare_until_.reset();
  if (!spare_) {
    return;
  }
  if (spare_->dropped) {
    spare_->dropped();
  }
  spare_.reset();  // with its lifeline: it ends
}

void Conversation::respawn() {
  if (passed(spare_until_)) {
    drop_spare();
  }
  spare_until_.reset();
  // The engine is busy, and hears of it at the next turn.
  if (const Status begun = begin_spare(); !begun) {
    respawned_ = begun;
    drop_spare();
  }
}

Status Conversation::begin_spare() {
  if (!spare_) {
    return fail(Errc::launch_failed, "too much time went by before it was asked for", "launch");
  }
  if (const Status same = spare_->admit ? spare_->admit() : Status(); !same) {
    return same;
  }
  auto status = Endpoint::own(std::move(spare_->status));
  if (!status) {
    return std::unexpected(status.error());
  }
  old_in_ = std::move(server_in_);
  old_out_ = std::move(server_out_);
  old_err_ = std::move(server_err_);
  old_in_->close();
  old_out_->close();
  if (Status connected = connect_server(spare_->process); !connected) {
    server_in_ = std::move(old_in_);
    server_out_ = std::move(old_out_);
    server_err_ = std::move(old_err_);
    return connected;
  }
  if (egress_) {
    egress_->close();
    old_egress_ = std::move(egress_);
  }
  status_of_start_ = std::make_unique<Source>(
      *loop_, std::move(*status), buffer_,
      Source::Events{[this](std::string_view bytes) {
                       constexpr std::size_t kMostBytes = 4096;
                       start_said_.append(bytes.substr(0, kMostBytes - std::min(start_said_.size(), kMostBytes)));
                     },
                     [this] {
                       spare_started();
                       settle();
                     },
                     [] {}});
  if (const Status begun = sandbox::begin(spare_->process.lifeline); !begun) {
    return begun;
  }
  if (!child_->replace(std::move(spare_->process.lifeline))) {
    return fail(Errc::launch_failed, "the process that was kept ready is gone", "launch");
  }
  // From here on its exit is told.
  server_ended_ = false;
  server_deaf_ = false;
  server_held_ = false;
  drain_until_.reset();
  starting_ = true;
  start_until_ = now() + config_.start_ms;
  status_of_start_->resume();
  return {};
}

// The end of its status pipe, or of our patience.
void Conversation::spare_started() {
  if (!std::exchange(starting_, false)) {
    return;
  }
  start_until_.reset();
  status_of_start_->close();
  if (status_) {
    return;
  }
  Status how = start_outcome(start_said_);
  if (how) {
    how = spare_runs();
  }
  if (!how) {
    child_->kill();
  }
  spare_.reset();
  respawned_ = std::move(how);
}

Status Conversation::spare_runs() {
  auto sockets = spare_->running ? spare_->running(spare_->handover) : Result<egress::Sockets>(egress::Sockets{});
  if (!sockets) {
    return std::unexpected(sockets.error());
  }
  if (old_egress_) {
    egress_ = std::make_unique<EgressBroker>(*loop_, old_egress_->again(std::move(*sockets)), egress_output());
    if (Status open = egress_->start(); !open) {
      return open;
    }
  }
  if (!old_err_->ended()) {
    old_err_->close();
    log_.server_end(now());
  }
  server_err_->resume();
  server_out_->resume();
  return {};
}

}  // namespace cordon::run
