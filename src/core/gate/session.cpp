// SPDX-License-Identifier: Apache-2.0
#include "core/gate/session.hpp"

#include <utility>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

namespace {

// A call makes two: its record and its line.
constexpr std::size_t kUsualActions = 2;

}  // namespace

Session::Session(SessionConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Actions Session::feed(Side from, std::string_view bytes, Instant now) { return impl_->feed(from, bytes, now); }
Actions Session::end(Side from, Instant now) { return impl_->end(from, now); }
Actions Session::exited(ExitReport report, Instant now) { return impl_->exited(report, now); }
Actions Session::respawned(const Status& how, Instant now) { return impl_->respawned(how, now); }
Actions Session::terminate(Instant now) { return impl_->terminate(now); }
Actions Session::audit_failed(Instant now) { return impl_->audit_failed(now); }
Actions Session::approval(std::string_view line, Instant now) { return impl_->approval(line, now); }
Actions Session::tick(Instant now) { return impl_->tick(now); }
std::optional<Instant> Session::next_deadline() const { return impl_->next_deadline(); }

Session::Impl::Impl(SessionConfig config)
    : config_(std::move(config)),
      call_judge_(config_.policy.tools),
      limits_{config_.policy.messages.max_bytes, config_.policy.messages.max_depth},
      client_lines_(limits_.max_bytes),
      server_lines_(limits_.max_bytes),
      confirmations_(config_.policy.tools.confirm.remember) {
  CORDON_ASSERT(config_.snapshot || config_.launch_failure || config_.policy.catalog.missing == policy::Missing::flag);
  config_.spelled = config_.spelled.empty() ? config_.policy.server : std::move(config_.spelled);
  if (config_.snapshot && !config_.snapshot->variables.empty()) {
    variables_.emplace(config_.policy.catalog, config_.known_values, *config_.snapshot);
  }
  extension_reviewed_ = !config_.snapshot || has_task_extension(parse_own(config_.snapshot->capabilities).root());
  make_schemas_ready();
  server_gone_ = config_.launch_failure.has_value();
  spare_ = config_.can_respawn && !server_gone_;
  for (const catalog::ListKind kind : catalog::kListKinds) {
    list(kind).kind = kind;
  }
}

Actions Session::Impl::take() {
  watch_clocks();
  if (stopped_) {
    // Nothing comes after Stop.
    while (!actions_.empty() && !std::holds_alternative<Stop>(actions_.back())) {
      actions_.pop_back();
    }
  }
  return std::exchange(actions_, {});
}

void Session::Impl::stop(int status) {
  if (!stopped_) {
    stopped_ = true;
    actions_.emplace_back(Stop{status});
  }
}

Actions Session::Impl::feed(Side from, std::string_view bytes, Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  wire::LineReader& reader = from == Side::client ? client_lines_ : server_lines_;
  std::vector<wire::LineEvent> events = reader.feed(bytes);
  actions_.reserve(events.size() * kUsualActions);
  for (wire::LineEvent& event : events) {
    if (stopped_) {
      break;
    }
    on_line(from, std::move(event));
  }
  drained();
  return take();
}

void Session::Impl::on_line(Side from, wire::LineEvent event) {
  if (auto* line = std::get_if<wire::Line>(&event)) {
    on_text(from, std::move(line->text));
  } else if (from == Side::client) {
    on_client_overlong(std::get<wire::OverlongLine>(event));
  } else {
    on_server_overlong(std::get<wire::OverlongLine>(event));
  }
  settle_spare();
}

void Session::Impl::on_text(Side from, std::string line) {
  if (from == Side::client && (line.empty() || line == "\r")) {
    return;  // a blank line says nothing
  }
  auto message = wire::parse(std::move(line), limits_);
  if (message) {
    if (from == Side::client) {
      on_client_message(std::move(*message));
    } else {
      on_server_message(std::move(*message));
    }
    return;
  }
  const auto refuse = [&](wire::Refused one) {
    if (from == Side::client) {
      on_client_refused(std::move(one));
    } else {
      on_server_refused(std::move(one));
    }
  };
  wire::Refused& refused = message.error();
  if (refused.is_array && handshake_ >= Handshake::answered && revision_ == wire::Revision::v2025_03_26) {
    // The one revision with batches. Each element is judged and goes on as a line of its own, also beside one that is
    // none: who waits for its answer gets it. A batch inside a batch is malformed, because elements are objects.
    auto lines = wire::split_batch(refused.line, limits_, config_.policy.messages.in_flight);
    if (lines) {
      for (std::string& element : *lines) {
        if (element.starts_with('{')) {
          on_text(from, std::move(element));
        } else {
          wire::Refused none;
          none.error = {Errc::message_malformed, "an element of a batch that is no object", {}, {}};
          none.is_json_rpc = true;
          none.line = std::move(element);
          refuse(std::move(none));
        }
      }
      return;
    }
    refused.error = std::move(lines.error());
    // Any request may be answered in it: none is left waiting.
    refused.unreadable_id = from == Side::server && refused.error.code == Errc::message_too_large;
  }
  refuse(std::move(refused));
}

void Session::Impl::notice_once(std::string text) {
  constexpr std::size_t kMaxRemembered = 1'000;
  if (noticed_.size() < kMaxRemembered && noticed_.insert(text).second) {
    notice(std::move(text));
  }
}

void Session::Impl::notice_server(std::string text) {
  constexpr std::size_t kMaxRemembered = 50;
  if (noticed_of_server_.size() < kMaxRemembered && noticed_of_server_.insert(text).second) {
    notice(std::move(text));
  }
}

std::string Session::Impl::own_id() { return text::cat(wire::kOwnIdPrefix, config_.session_id, "/", ++own_count_); }

}  // namespace cordon::gate
