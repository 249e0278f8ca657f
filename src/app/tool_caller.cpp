// SPDX-License-Identifier: Apache-2.0
#include "app/tool_caller.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/json/write.hpp"
#include "core/wire/methods.hpp"
#include "core/wire/names.hpp"
#include "core/wire/synth.hpp"

namespace cordon::app {
namespace {

constexpr std::int64_t kKillAfterMs = 700;

}  // namespace

ToolCaller::ToolCaller(ToolCallerConfig config)
    : config_(std::move(config)), lines_(config_.limits.max_bytes), answers_(config_.arguments.size()) {}

gate::Actions ToolCaller::take() { return std::exchange(actions_, {}); }

gate::Actions ToolCaller::start(Instant now) {
  now_ = now;
  ask(config_.opening == gate::Opening::initialize ? "initialize" : "server/discover", opening_params());
  return take();
}

gate::Actions ToolCaller::feed(std::string_view server_bytes, Instant now) {
  now_ = now;
  if (!stopped_) {
    for (wire::LineEvent& event : lines_.feed(server_bytes)) {
      on_line(std::move(event));
    }
  }
  return take();
}

gate::Actions ToolCaller::end(Instant now) {
  now_ = now;
  give_up(Errc::server_exited, "the server closed its output");
  return take();
}

gate::Actions ToolCaller::exited(gate::ExitReport report, Instant now) {
  now_ = now;
  give_up(Errc::server_exited,
          text::cat("the server ", report.signalled ? "was ended by signal " : "exited with status ", report.code));
  if (!std::exchange(stopped_, true)) {
    actions_.emplace_back(gate::Stop{0});
  }
  return take();
}

gate::Actions ToolCaller::tick(Instant now) {
  now_ = now;
  if (deadline_ && now >= *deadline_) {
    if (opened_) {
      asked_.reset();  // no answer to this call; a later one may be answered
      call_next();
    } else {
      give_up(Errc::timed_out, "the server did not answer the opening");
    }
  }
  if (kill_at_ && now >= *kill_at_) {
    kill_at_.reset();
    actions_.emplace_back(gate::SignalServer{gate::SignalServer::Kind::kill});
  }
  return take();
}

std::optional<Instant> ToolCaller::next_deadline() const {
  if (stopped_) {
    return std::nullopt;
  }
  return deadline_ && (!kill_at_ || *deadline_ < *kill_at_) ? deadline_ : kill_at_;
}

Result<std::vector<ToolAnswer>> ToolCaller::take_answers() {
  if (failure_ && calls_ == 0) {
    return std::unexpected(*failure_);
  }
  if (!finished_) {  // the driver ended it, for example because of a signal
    return fail(Errc::timed_out, "ended before the calls were made");
  }
  return std::move(answers_);
}

void ToolCaller::ask(std::string_view method, const std::string& params) {
  asked_ = wire::Id(text::cat(wire::kOwnIdPrefix, "probe/", ++count_));
  deadline_ = now_ + config_.answer_timeout_ms;
  actions_.emplace_back(gate::ToServer{wire::request_line(*asked_, method, params)});
}

void ToolCaller::call_next() {
  if (calls_ == config_.arguments.size()) {
    finish();
    return;
  }
  ++calls_;
  ask("tools/call", call_params());
}

void ToolCaller::give_up(Errc code, std::string detail) {
  if (!finished_) {
    failure_ = Error{code, std::move(detail)};
    finish();
  }
}

void ToolCaller::finish() {
  finished_ = true;
  asked_.reset();
  deadline_.reset();
  kill_at_ = now_ + kKillAfterMs;
  actions_.emplace_back(gate::CloseServerInput{});
  actions_.emplace_back(gate::SignalServer{gate::SignalServer::Kind::terminate});
}

void ToolCaller::on_line(wire::LineEvent event) {
  auto* line = std::get_if<wire::Line>(&event);
  if (finished_ || line == nullptr) {
    if (!finished_) {
      give_up(Errc::message_too_large, "the server wrote a line that is too long");
    }
    return;
  }
  auto message = wire::parse(std::move(line->text), config_.limits);
  if (!message) {
    if (!message.error().is_json_rpc) {
      actions_.emplace_back(gate::Stray{std::move(message.error().line)});
    } else if (message.error().id == asked_ && !message.error().has_method) {
      give_up(message.error().error.code, message.error().error.detail);
    }
    return;
  }
  if (message->kind == wire::MessageKind::request) {
    on_request(*message);
  } else if (asked_ && message->id == asked_) {
    on_answer(*message);
  }
}

void ToolCaller::on_request(const wire::Message& message) {
  if (message.method == "ping") {
    actions_.emplace_back(gate::ToServer{wire::result_line(*message.id, "{}")});
  } else if (message.method == "elicitation/create") {
    actions_.emplace_back(gate::ToServer{wire::result_line(*message.id, R"({"action":"decline"})")});
  } else {
    actions_.emplace_back(
        gate::ToServer{wire::error_line(*message.id, Errc::method_not_allowed, "this client offers nothing")});
  }
}

void ToolCaller::on_answer(const wire::Message& message) {
  asked_.reset();
  deadline_.reset();
  if (!opened_) {
    on_opened(message);
    return;
  }
  const bool error = message.kind == wire::MessageKind::error;
  answers_[calls_ - 1] = {error ? ToolAnswer::Kind::error : ToolAnswer::Kind::result,
                          std::string(error ? message.error.raw() : message.result.raw())};
  call_next();
}

void ToolCaller::on_opened(const wire::Message& message) {
  if (message.kind == wire::MessageKind::error) {
    give_up(Errc::method_not_allowed, text::cat("the server refused the opening: ",
                                                text::printable(message.error.find("message").string(), 200)));
    return;
  }
  opened_ = true;
  if (config_.opening == gate::Opening::initialize) {
    actions_.emplace_back(gate::ToServer{wire::notification_line("notifications/initialized", "")});
  }
  call_next();
}

std::string ToolCaller::meta() const {
  json::Writer out;
  out.begin_object().member(wire::kMetaVersion, wire::name(wire::Revision::v2026_07_28));
  out.key(wire::kMetaClientInfo).begin_object().member("name", "mcp-cordon").member("version", config_.version);
  out.end_object().member_raw(wire::kMetaClientCapabilities, "{}").end_object();
  return out.take();
}

std::string ToolCaller::opening_params() const {
  json::Writer out;
  out.begin_object();
  if (config_.opening == gate::Opening::discover) {
    out.member_raw("_meta", meta());
  } else {
    out.member("protocolVersion", wire::name(wire::Revision::v2025_11_25)).member_raw("capabilities", "{}");
    out.key("clientInfo").begin_object().member("name", "mcp-cordon").member("version", config_.version).end_object();
  }
  out.end_object();
  return out.take();
}

std::string ToolCaller::call_params() const {
  json::Writer out;
  out.begin_object().member("name", config_.tool).member_raw("arguments", config_.arguments[calls_ - 1]);
  if (config_.opening == gate::Opening::discover) {
    out.member_raw("_meta", meta());
  }
  out.end_object();
  return out.take();
}

}  // namespace cordon::app
