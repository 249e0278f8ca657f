// SPDX-License-Identifier: Apache-2.0
// Some servers end on any request that comes before `initialize`, so also when a client asks them for the stateless
// era. Such a server is started a second time, if the launch keeps a second one ready, and the client never learns of
// it.
//
// Only once, and only for an end that follows the probe when nothing else was sent: whatever a server has done, counted
// or used up in a conversation, it does not get rid of by ending.
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"

namespace cordon::gate {
namespace {

constexpr std::string_view kWhy =
    "the server ends when it is asked server/discover, and it was; it has to be started again and opened with "
    "initialize";

// A limit ended it: of the launch, or of its process, which the kernel tells by these. They come as a status from
// whoever waited for it inside.
bool ended_by_limit(const ExitReport& report) {
  constexpr int kKilled = 128 + 9;
  constexpr int kOfCpuTime = 128 + 24;
  constexpr int kOfFileSize = 128 + 25;
  return report.limited || report.signalled || report.code == kKilled || report.code == kOfCpuTime ||
         report.code == kOfFileSize;
}

}  // namespace

// Nothing but probes was sent, and none of them was answered.
bool Session::Impl::only_probed() const {
  return !client_ended_ && !terminate_at_ && lines_sent_ == probes_sent_ && questions_.open.empty() &&
         (lines_sent_ == 0 || !outstanding_.empty());
}

// A client that probes for the stateless era takes -32601 for a server of the other one, and opens again.
bool Session::Impl::ended_by_probe() const { return probes_sent_ > 0 && only_probed(); }

void Session::Impl::settle_spare() {
  if (spare_ && !stopped_ && !only_probed()) {
    drop_spare();
  }
}

void Session::Impl::drop_spare() {
  if (std::exchange(spare_, false)) {
    actions_.emplace_back(DropSpare{});
  }
}

void Session::Impl::answer_probes() {
  for (const auto& [id, request] : std::exchange(outstanding_, {})) {
    forget_token(request);
    to_client(wire::error_line(id, Errc::method_not_allowed, "the server has no server/discover"));
  }
}

// What the client can still be told is why nothing comes.
void Session::Impl::outlive_probe() {
  answer_probes();
  record(refused_record(Side::server, Errc::server_exited, "the server ended when it was asked server/discover", {},
                        "server/discover"));
  expect_no_server();
}

void Session::Impl::expect_no_server() {
  notice(text::cat(kWhy, ": set the client to the handshake protocol, or let it start the server twice"));
  config_.launch_failure = Error{Errc::server_exited, std::string(kWhy), {}, {}};
  give_up_at_ = now_ + kFailedLaunchMs;
}

// True when another server takes its place.
bool Session::Impl::respawn(const ExitReport& report) {
  if (!spare_ || !ended_by_probe() || ended_by_limit(report)) {
    return false;
  }
  spare_ = false;
  respawning_ = true;
  // Before the records: an answer is not lost when these cannot be written.
  answer_probes();
  record(exit_record(report));
  record(respawn_record("server/discover"));
  notice("the server ended when it was asked server/discover; it is started once more, in the same way");
  server_gone_ = false;
  server_lines_ = wire::LineReader(limits_.max_bytes);
  lines_sent_ = 0;
  probes_sent_ = 0;
  terminate_sent_ = false;
  kill_sent_ = false;
  kill_at_.reset();
  actions_.emplace_back(Respawn{});
  return true;
}

Actions Session::Impl::respawned(const Status& how, Instant now) {
  if (stopped_ || !respawning_) {
    return {};
  }
  now_ = now;
  respawning_ = false;
  if (how) {
    return take();
  }
  server_gone_ = true;
  record(refused_record(Side::server, how.error().code, how.error().detail, {}, "server/discover"));
  notice(text::cat("the server could not be started once more: ", text::printable(how.error().to_string(), 1000)));
  const bool nobody_waits = client_ended_ || terminate_at_ || initialize_asked_;
  fail_everything(Errc::server_exited, kWhy);
  expect_no_server();
  if (nobody_waits) {
    stop(exit_status(Errc::server_exited));
  }
  return take();
}

}  // namespace cordon::gate
