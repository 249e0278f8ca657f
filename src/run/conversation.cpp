// SPDX-License-Identifier: Apache-2.0
#include "run/conversation.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.hpp"

namespace cordon::run {
namespace {

constexpr std::int64_t kHangupMs = 200;
constexpr std::int64_t kReapMs = 400;
constexpr std::int64_t kOrphansMs = 100;

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

void take_earlier(std::optional<Instant>& first, const std::optional<Instant>& other) {
  if (other && (!first || *other < *first)) {
    first = other;
  }
}

// A queue that was too long must shrink to half before it counts as short again.
bool too_long(std::size_t queued, std::size_t bound, bool before) { return queued > (before ? bound / 2 : bound); }

}  // namespace

Result<int> Conversation::run() {
  if (const Status open = egress_ ? egress_->start() : Status(); !open) {
    abandon();
    return std::unexpected(open.error());
  }
  act(engine_.start(now()));
  for (Source* source : {client_in_.get(), server_out_.get()}) {
    if (source != nullptr && !status_) {
      source->resume();
    }
  }
  if (server_err_) {
    server_err_->resume();
  }
  if (child_) {
    child_->start();
  }
  settle();
  if (!done()) {
    loop_->run();
  }
  if (child_) {
    if (child_->running()) {
      child_->kill();
    }
    child_->end_orphans(kOrphansMs);
  }
  if (egress_) {
    egress_->close();
  }
  // The log has said what it could not keep; a session that is over has nobody to tell.
  [[maybe_unused]] const Status flushed = records_failed_ ? Status() : records_.flush();
  log_.flush(now());
  if (!status_) {
    return fail(Errc::internal, "the event loop ended before the session", "proxy");
  }
  return *status_;
}

void Conversation::abandon() {
  drop_spare();
  if (egress_) {
    egress_->close();
  }
  if (child_) {
    child_->kill();
    child_->end_orphans(kReapMs);
  }
}

void Conversation::client_bytes(std::string_view bytes) {
  act(engine_.feed(gate::Side::client, bytes, now()));
  settle();
}

void Conversation::client_end() {
  end_client();
  settle();
}

// Reading was held back. What the client wrote last is still wanted, if the server takes its share soon.
void Conversation::client_hangup() {
  if (status_) {
    limit(config_.end_limit_ms);
  } else {
    hangup_until_ = now() + kHangupMs;
  }
  settle();
}

void Conversation::server_bytes(std::string_view bytes) {
  act(engine_.feed(gate::Side::server, bytes, now()));
  settle();
}

void Conversation::server_end() {
  drain_until_.reset();
  end_server();
  settle();
}

void Conversation::server_exit(gate::ExitReport report) {
  for (const std::string& line : notes_ ? read_notes(notes_.get()) : std::vector<std::string>()) {
    log_.notice(line, now());
    report.limited = true;
  }
  exit_ = report;
  if (config_.server_exited) {
    config_.server_exited(report);
  }
  drain_until_ = now() + config_.drain_ms;
  settle();
}

void Conversation::caught(int) {
  limit(signalled_ ? 0 : config_.signal_limit_ms);
  if (!std::exchange(signalled_, true)) {
    act(engine_.terminate(now()));
  }
  settle();
}

void Conversation::end_client() {
  if (!std::exchange(client_ended_, true)) {
    limit(config_.end_limit_ms);
    act(engine_.end(gate::Side::client, now()));
  }
}

void Conversation::end_server() {
  if (!std::exchange(server_ended_, true)) {
    act(engine_.end(gate::Side::server, now()));
  }
}

void Conversation::limit(std::int64_t delay_ms) { take_earlier(limit_, now() + delay_ms); }

void Conversation::act(gate::Actions actions) {
  for (std::size_t i = 0; i < actions.size() && !status_;) {
    if (carry_out(actions[i])) {
      ++i;
      continue;
    }
    // The record is not in the log, so nothing that follows it may happen.
    actions = engine_.audit_failed(now());
    i = 0;
  }
}

// False when a record could not be written.
bool Conversation::carry_out(gate::Action& action) {
  return std::visit(Overloaded{
                        [&](gate::ToServer& to) {
                          // Belt and braces: nothing reaches the server that the log cannot tell.
                          if (server_in_ && !records_failed_) {
                            server_in_->write(std::move(to.line));
                          }
                          return true;
                        },
                        [&](gate::ToClient& to) {
                          if (client_out_) {
                            client_out_->write(std::move(to.line));
                          }
                          return true;
                        },
                        [&](gate::Record& record) { return write_record(record.body); },
                        [&](gate::Notice& notice) {
                          log_.notice(notice.text, now());
                          return true;
                        },
                        [&](gate::Stray& stray) {
                          log_.server_line(stray.bytes, now());
                          return true;
                        },
                        [&](gate::Overheard& said) {
                          log_.overheard(said.text);
                          return true;
                        },
                        [&](gate::Publish& waiting) {
                          publish(waiting.lines);
                          return true;
                        },
                        [&](gate::CloseServerInput&) {
                          if (server_in_) {
                            server_in_->close_when_drained();
                          }
                          return true;
                        },
                        [&](gate::SignalServer& signal) {
                          if (child_ && signal.kind == gate::SignalServer::Kind::terminate) {
                            child_->terminate();
                          } else if (child_) {
                            child_->kill();
                          }
                          return true;
                        },
                        [&](gate::Respawn&) {
                          respawn();
                          return true;
                        },
                        [&](gate::DropSpare&) {
                          drop_spare();
                          return true;
                        },
                        [&](gate::Stop& over) {
                          stop(over.exit_status);
                          return true;
                        },
                    },
                    action);
}

void Conversation::publish(std::string_view lines) {
  if (config_.approvals == nullptr) {
    return;
  }
  // The call waits for nothing then, and ends with its time.
  if (const Status written = config_.approvals->publish(lines); !written) {
    log_.notice(written.error().to_string(), now());
  }
  approvals_at_ = lines.empty() ? std::nullopt : std::optional(now() + ApprovalDesk::kPollMs);
}

void Conversation::hear_approvals() {
  if (status_ || !passed(approvals_at_)) {
    return;
  }
  approvals_at_ = now() + ApprovalDesk::kPollMs;
  for (const std::string& line : config_.approvals->take_answers()) {
    if (!status_) {
      act(engine_.approval(line, now()));
    }
  }
}

bool Conversation::write_record(std::string_view body) {
  if (records_failed_) {
    return true;  // the engine knows
  }
  const Status written = records_.append(body);
  if (!written) {
    records_failed_ = true;
    log_.notice(written.error().to_string(), now());
  }
  return written.has_value();
}

// Called from within the broker, which must not be told to end from there: the timer does.
bool Conversation::egress_record(std::string_view body) {
  if (!records_failed_ && !write_record(body)) {
    egress_failed_ = true;
  }
  arm();
  return !records_failed_;
}

void Conversation::stop(int exit_status) {
  status_ = exit_status;
  drop_spare();
  if (egress_) {
    egress_->close();
  }
  flush_until_ = now() + config_.flush_ms;
  if (server_out_) {
    server_out_->close();
    server_in_->close();
  }
  if (child_) {
    child_->kill();
    reap_until_ = now() + kReapMs;
    errors_until_ = now() + config_.drain_ms;
  }
  // Only to notice when it goes away.
  if (client_in_) {
    client_in_->pause();
  }
}

void Conversation::settle() {
  while (!status_ && next_event()) {
  }
  if (!status_) {
    balance();
  }
  arm();
  if (done()) {
    loop_->stop();
  }
}

// What came to light while actions were carried out, one at a time, so that the engine is never entered twice.
bool Conversation::next_event() {
  if (client_out_ && client_out_->broken() && !client_ended_) {
    if (client_in_) {
      client_in_->close();
    }
    end_client();
    return true;
  }
  if (server_in_ && server_in_->broken() && !std::exchange(server_deaf_, true)) {
    // Nothing can be asked any more; what it still has to say is let through.
    take_earlier(drain_until_, now() + config_.drain_ms);
    return true;
  }
  if (respawned_) {
    const Status how = *std::exchange(respawned_, std::nullopt);
    act(engine_.respawned(how, now()));
    return true;
  }
  if (exit_ && server_ended_ && !starting_) {
    const gate::ExitReport report = *std::exchange(exit_, std::nullopt);
    act(engine_.exited(report, now()));
    return true;
  }
  return false;
}

void Conversation::balance() {
  const std::size_t to_server = server_in_ ? server_in_->queued_bytes() : 0;
  const std::size_t to_client = client_out_ ? client_out_->queued_bytes() : 0;
  if (client_in_) {
    hold(*client_in_, client_held_,
         too_long(to_server, config_.queue_bytes, client_held_) ||
             too_long(to_client, config_.max_queue_bytes, client_held_));
  }
  if (server_out_ && !starting_) {
    hold(*server_out_, server_held_,
         too_long(to_client, config_.queue_bytes, server_held_) ||
             too_long(to_server, config_.max_queue_bytes, server_held_));
  }
  if (!client_held_) {
    hangup_until_.reset();
  }
}

void Conversation::hold(Source& source, bool& held, bool wanted) {
  if (held == wanted) {
    return;
  }
  held = wanted;
  if (held) {
    source.pause();
  } else {
    source.resume();
  }
}

void Conversation::timer() {
  log_.tick(now());
  if (!records_failed_ && passed(records_.next_deadline()) && !records_.flush()) {
    records_failed_ = true;
    act(engine_.audit_failed(now()));
  }
  if (egress_ && passed(egress_->next_deadline())) {
    egress_->flush();
  }
  if (std::exchange(egress_failed_, false) && !status_) {
    act(engine_.audit_failed(now()));
  }
  hear_approvals();
  if (!status_ && passed(engine_.next_deadline())) {
    act(engine_.tick(now()));
  }
  expire();
  settle();
}

void Conversation::expire() {
  if (status_) {
    return;  // done() looks at what counts then
  }
  if (passed(hangup_until_)) {
    hangup_until_.reset();
    client_in_->close();
    end_client();
  }
  if (!status_ && passed(spare_until_)) {
    drop_spare();
  }
  if (!status_ && passed(start_until_)) {
    start_said_ = text::cat("it was not set up within ", config_.start_ms, " ms");
    spare_started();
  }
  if (!status_ && !starting_ && passed(drain_until_)) {
    drain_until_.reset();
    if (server_held_ && !client_ended_) {
      drain_until_ = now() + config_.drain_ms;  // the client takes its time; that is not the server's silence
    } else {
      server_out_->close();
      end_server();
    }
  }
  if (!status_ && passed(limit_)) {
    log_.notice("the session did not end in time and was cut off", now());
    stop(exit_status(Errc::timed_out));
  }
}

void Conversation::arm() {
  std::optional<Instant> next = limit_;
  take_earlier(next, log_.next_deadline());
  if (!status_) {
    take_earlier(next, engine_.next_deadline());
    take_earlier(next, records_failed_ ? std::nullopt : records_.next_deadline());
    take_earlier(next, egress_failed_ ? std::optional(now()) : egress_ ? egress_->next_deadline() : std::nullopt);
    take_earlier(next, starting_ ? start_until_ : drain_until_);
    take_earlier(next, spare_until_);
    take_earlier(next, approvals_at_);
    take_earlier(next, hangup_until_);
  } else {
    for (const auto& deadline : {flush_until_, reap_until_, errors_until_}) {
      if (deadline && *deadline > now()) {
        take_earlier(next, deadline);
      }
    }
  }
  timer_.set(next);
}

bool Conversation::done() const {
  if (!status_) {
    return false;
  }
  const bool flushed = !client_out_ || client_out_->drained() || passed(flush_until_);
  const bool reaped = !child_ || !child_->running() || passed(reap_until_);
  const bool heard = !server_err_ || server_err_->ended() || passed(errors_until_);
  return (flushed && reaped && heard) || passed(limit_);
}

}  // namespace cordon::run
