// SPDX-License-Identifier: Apache-2.0
// Ends, exits and time. The client's budget is 2 s from its end of stream and 1 s from SIGTERM.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"

namespace cordon::gate {

Actions Session::Impl::end(Side from, Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  wire::LineReader& reader = from == Side::client ? client_lines_ : server_lines_;
  if (reader.unfinished_bytes() > 0) {
    // Never a partial line: whoever wrote it may have meant something else.
    const std::string detail = text::cat("the stream ended inside a line, after ", reader.unfinished_bytes(), " bytes");
    record(refused_record(from, Errc::message_malformed, detail, {}, ""));
    notice_once(text::cat("the ", from == Side::client ? "client" : "server", "'s stream ended inside a line"));
  }
  if (from == Side::client) {
    client_ended();
  } else if (!server_gone_) {
    server_gone_ = true;
    // How it ends tells whether another one takes its place.
    const bool may_return = spare_ && ended_by_probe();
    if (!may_return) {
      drop_spare();
      if (ended_by_probe()) {
        outlive_probe();
      }
      fail_everything(Errc::server_exited, "the server closed its output before it answered");
    }
    signal(SignalServer::Kind::terminate);
    if (!kill_at_) {
      kill_at_ = now_ + kKillAfterTermMs;
    }
  }
  settle_spare();
  drained();
  return take();
}

void Session::Impl::client_ended() {
  if (client_ended_) {
    return;
  }
  client_ended_ = true;
  if (config_.launch_failure) {
    stop(exit_status(config_.launch_failure->code));
    return;
  }
  refuse_asked(Errc::confirmation_unavailable, "withdrawn", "the client ended before a person had confirmed it");
  // Nobody answers any more.
  fail_questions(std::nullopt, Errc::timed_out, "the client is gone");
  drain_until_ = now_ + kDrainMs;
  terminate_at_ = now_ + kTerminateAfterEofMs;
  kill_at_ = now_ + kKillAfterEofMs;
}

// After the client's end: requests that came before it are still answered, for a moment.
void Session::Impl::drained() {
  if (!client_ended_ || server_input_closed_ || stopped_) {
    return;
  }
  const bool waiting = !held_.empty() || !early_.empty() || std::ranges::any_of(outstanding_, [](const auto& entry) {
    return entry.second.method != "subscriptions/listen";
  });
  if (!waiting || server_gone_ || now_ >= *drain_until_) {
    close_server_input();
  }
}

void Session::Impl::close_server_input() {
  if (!server_input_closed_) {
    server_input_closed_ = true;
    actions_.emplace_back(CloseServerInput{});
  }
}

void Session::Impl::signal(SignalServer::Kind kind) {
  bool& sent = kind == SignalServer::Kind::kill ? kill_sent_ : terminate_sent_;
  if (!sent) {
    sent = true;
    actions_.emplace_back(SignalServer{kind});
  }
}

// Nobody is left waiting.
void Session::Impl::fail_everything(Errc code, std::string_view detail) {
  // Taken out first: what waited for the handshake is not judged again when that fails.
  const std::deque<Message> early = std::exchange(early_, {});
  for (auto& [id, request] : std::exchange(outstanding_, {})) {
    fail_reply(id, request, code, detail);
  }
  refuse_asked(code, "withdrawn", detail);
  for (Held& held : std::exchange(held_, {})) {
    to_client(wire::error_line(*held.message.id, code, detail));
  }
  for (const Message& message : early) {
    if (message.id) {
      to_client(wire::error_line(*message.id, code, detail));
    }
  }
  held_bytes_ = 0;
  for (Learning& list : lists_) {
    list.walk.reset();
  }
  own_.clear();
  questions_.open.clear();
  tasks_.clear();
}

Actions Session::Impl::exited(ExitReport report, Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  if (respawn(report)) {
    return take();
  }
  server_gone_ = true;
  respawning_ = false;
  record(exit_record(report));
  const std::string how = text::cat(report.signalled ? "was ended by signal " : "exited with status ", report.code);
  if (ended_by_probe()) {
    outlive_probe();
  }
  if (config_.launch_failure) {
    notice(text::cat("the server ", how));
    return take();
  }
  // A server that was asked to open and never did has failed, even when its client does not wait any more.
  const bool never_opened = initialize_asked_ && !opening_;
  const bool ours = (client_ended_ || terminate_at_.has_value()) && !never_opened;
  fail_everything(Errc::server_exited, text::cat("the server ", how, " before it answered"));
  if (!ours) {
    notice(text::cat("the server ", how));
  }
  stop(ours ? 0 : exit_status(Errc::server_exited));
  return take();
}

Actions Session::Impl::terminate(Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  if (config_.launch_failure) {
    stop(exit_status(config_.launch_failure->code));
    return take();
  }
  terminate_at_ = now;
  kill_at_ = std::min(kill_at_.value_or(now + kKillAfterTermMs), now + kKillAfterTermMs);
  close_server_input();
  signal(SignalServer::Kind::terminate);
  settle_spare();
  return take();
}

Actions Session::Impl::audit_failed(Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  actions_.clear();
  notice("the audit log cannot be written; nothing more is passed on");
  fail_everything(Errc::audit_unavailable, "the audit log cannot be written");
  close_server_input();
  signal(SignalServer::Kind::kill);
  stop(exit_status(Errc::audit_unavailable));
  return take();
}

void Session::Impl::tick_lists() {
  for (Learning& list : lists_) {
    if (list.walk && now_ >= list.walk->deadline && server_is_busy() && now_ < list.walk->last_deadline) {
      list.walk->deadline = now_ + kLearnTimeoutMs;
      for (Held& held : held_) {
        held.deadline = std::max(held.deadline, std::min(held.last_deadline, list.walk->deadline));
      }
    }
    if (list.walk && now_ >= list.walk->deadline) {
      walk_failed(
          list.kind,
          {Errc::timed_out, text::cat("the server did not answer within ", kLearnTimeoutMs / 1000, " s"), {}, {}});
    }
  }
  while (!held_.empty() && now_ >= held_.front().deadline) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    held_bytes_ -= held.bytes;
    refuse_held(held, {Errc::timed_out,
                       text::cat("the server did not show its ", catalog::names(held.kind).text, " list in time"),
                       {},
                       {}});
  }
  for (Learning& list : lists_) {
    if (list.walk_due && now_ >= *list.walk_due) {
      list.walk_due.reset();
      want_walk(list.kind, handshake_ >= Handshake::answered ? wire::Era::handshake : wire::Era::stateless);
    }
    if (list.relist_at && now_ >= *list.relist_at && !client_ended_) {
      list.relist_at = now_ + kRelistMs;
      ++list.epoch;
      want_walk(list.kind, wire::Era::handshake);
    }
  }
}

Actions Session::Impl::tick(Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  if (config_.launch_failure && !give_up_at_) {
    give_up_at_ = now + kFailedLaunchMs;
  }
  if (give_up_at_ && now >= *give_up_at_) {
    stop(exit_status(config_.launch_failure->code));
    return take();
  }
  tick_lists();
  tick_asked();
  tick_open_questions();
  tick_answers();
  settle_spare();
  drained();
  if (terminate_at_ && now >= *terminate_at_) {
    close_server_input();
    signal(SignalServer::Kind::terminate);
  }
  if (kill_at_ && now >= *kill_at_) {
    signal(SignalServer::Kind::kill);
  }
  return take();
}

std::optional<Instant> Session::Impl::next_deadline() const {
  if (stopped_) {
    return std::nullopt;
  }
  std::optional<Instant> next;
  const auto consider = [&](const std::optional<Instant>& deadline) {
    if (deadline && (!next || *deadline < *next)) {
      next = deadline;
    }
  };
  // The first tick tells a failed launch what time it is.
  consider(config_.launch_failure && !give_up_at_ ? std::optional(Instant{}) : give_up_at_);
  for (const Learning& list : lists_) {
    consider(list.walk ? std::optional(list.walk->deadline) : std::nullopt);
    consider(client_ended_ ? std::nullopt : list.relist_at);
    consider(client_ended_ ? std::nullopt : list.walk_due);
  }
  for (const auto& [id, asked] : asked_) {
    consider(std::min(asked.deadline, asked.progress_at));
  }
  consider(question_deadline());
  consider(held_.empty() ? std::nullopt : std::optional(held_.front().deadline));
  consider(next_answer_deadline());
  consider(client_ended_ && !server_input_closed_ ? drain_until_ : std::nullopt);
  consider(terminate_sent_ ? std::nullopt : terminate_at_);
  consider(kill_sent_ ? std::nullopt : kill_at_);
  return next;
}

}  // namespace cordon::gate
