// SPDX-License-Identifier: Apache-2.0
// A call that wants a person's word: who is asked, in which way, and what proves the answer.
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/sealed_state.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using Standing = Confirmations::Standing;

namespace {

constexpr std::string_view kQuestionKey = "mcp-cordon/confirm";  // in inputRequests and inputResponses

// The request again without what is ours: with the server's own state and answers, byte for byte.
std::string without_our_answer(const Value& request, const std::optional<std::string>& server_state) {
  const auto edit_responses = [](std::string_view key, const Value&) -> std::optional<std::string> {
    return key == kQuestionKey ? std::optional(std::string()) : std::nullopt;
  };
  const auto edit_params = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    if (key == "requestState") {
      return server_state.value_or("");
    }
    if (key == "inputResponses" && value.find(kQuestionKey)) {
      return value.size() == 1 ? std::string() : wire::edited(value, edit_responses);
    }
    return std::nullopt;
  };
  const auto edit = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "params" ? std::optional(wire::edited(value, edit_params)) : std::nullopt;
  };
  return wire::edited(request, edit);
}

}  // namespace

// Whether the person can be asked within the client that sent this.
bool Session::Impl::can_ask_in_client(const Message& message) const {
  if (message.modern()) {
    return shows_forms(message.meta().find(wire::kMetaClientCapabilities));
  }
  return handshake_ == Handshake::initialized && client_shows_forms_ &&
         wire::lookup(revision_, wire::Direction::to_client, wire::Form::request, "elicitation/create").has_value();
}

ConfirmSubject Session::Impl::subject_of(const Message& message, const ToolView& tool, const policy::Verdict& verdict,
                                         policy::Effect effect) const {
  return confirm_subject({.server = config_.policy.server,
                          .session = config_.session_id,
                          .tool = tool.name,
                          .definition = tool.served,
                          .snapshot = config_.snapshot ? std::string_view(config_.snapshot->digest) : "",
                          .effect = policy::name(effect),
                          .because = verdict.because},
                         message.params.find("arguments"));
}

void Session::Impl::record_question(const Message& message, std::string_view via, std::string_view outcome,
                                    policy::Effect effect) {
  const Value arguments = message.params.find("arguments");
  json::Writer w;
  w.begin_object().member("event", "confirmation").member("id", text::printable(message.id_json(), 256));
  w.member("tool", text::printable(message.params.find("name").string(), 256)).member("effect", policy::name(effect));
  w.member("via", via).member("outcome", outcome);
  if (config_.policy.audit_arguments != policy::AuditArguments::none) {
    const bool given = arguments && !arguments.is(Kind::null);
    w.member("arguments_digest", argument_digest(given ? arguments : Value()));
  }
  w.end_object();
  record(w.take());
}

std::string_view Session::Impl::outcome_of(Choice choice) {
  switch (choice) {
    case Choice::allow:
      return "allowed";
    case Choice::allow_same_arguments:
      return "remembered_arguments";
    case Choice::allow_tool:
      return "remembered_tool";
    case Choice::decline:
      return "declined";
    case Choice::cancel:
      return "cancelled";
    case Choice::unreadable:
      return "failed";
  }
  CORDON_ASSERT(false);
}

void Session::Impl::note_choice(const ConfirmSubject& subject, Choice choice) {
  if (choice == Choice::decline || choice == Choice::cancel) {
    confirmations_.decline(subject, now_);
  } else if (choice == Choice::allow_same_arguments) {
    confirmations_.remember_arguments(subject);
  } else if (choice == Choice::allow_tool) {
    confirmations_.remember_pattern(subject);
  }
}

// A retry that answers a question of ours, or continues a confirmed call. False: it was refused. What is ours is taken
// out; whether the word is one for this very call is told when that is judged, from the start.
bool Session::Impl::take_word(Message& message) {
  const Value state = message.params.find("requestState");
  const Value answer = message.params.find("inputResponses").find(kQuestionKey);
  const bool ours = state.is(Kind::string) && looks_sealed(state.string());
  if ((!ours && !answer) || !message.params.find("name").is(Kind::string)) {
    return true;  // nothing of ours, or malformed: refused by what comes next
  }
  const std::string tool = message.params.find("name").string();
  const auto refuse = [&](Errc code, std::string because, std::string detail) {
    refuse_call(message, code, std::move(because), std::move(detail));
    return false;
  };
  const std::optional<SealedState> sealed = ours ? unseal(config_.confirm_key, state.string()) : std::nullopt;
  if (!sealed || sealed->server != config_.policy.server || sealed->session != config_.session_id) {
    return refuse(Errc::confirmation_unavailable, "a confirmation that was not asked for",
                  "the confirmation that came with it is none that was asked for here");
  }
  const std::optional<Confirmations::Open> open = confirmations_.spend(sealed->nonce);
  hand_over_reservation(sealed->nonce, *message.id);
  if (now_ >= sealed->expires) {
    return refuse(Errc::timed_out, "a confirmation that came too late", "nobody confirmed it in time");
  }
  if (!open || open->stage != sealed->stage || open->subject.call != sealed->call || sealed->tool != tool) {
    return refuse(Errc::confirmation_unavailable, "a confirmation that was used before, or of another call",
                  "the confirmation that came with it was used before, or is for another call");
  }
  const bool continues = open->stage == Confirmations::Stage::granted;
  if (continues && answer) {
    return refuse(Errc::confirmation_unavailable, "an answer to no question", "it answers a question twice");
  }
  const Choice choice = continues ? Choice::allow : read_choice(answer, config_.policy.tools.confirm.remember);
  if (choice == Choice::unreadable) {
    return refuse(Errc::confirmation_unavailable, "no answer to the question", "the question was not answered");
  }
  const ToolView* view = view_ ? view_->find(tool) : nullptr;
  record_question(message, "input_required", continues ? "continued" : outcome_of(choice),
                  view != nullptr ? view->effect : policy::Effect::unknown);
  note_choice(open->subject, choice);
  if (choice == Choice::decline || choice == Choice::cancel) {
    drop_questions_like(open->subject);
    return refuse(Errc::confirmation_declined, std::string(outcome_of(choice)), "a person was asked and did not agree");
  }
  auto stripped = wire::parse(without_our_answer(message.document.root(), sealed->inner), limits_);
  CORDON_ASSERT(stripped.has_value());
  message = std::move(*stripped);
  words_.insert_or_assign(message.id_json(), Word{open->subject.call, continues});
  return true;
}

// Called when all else lets the call pass. True: a person's word is there. False: the call was refused or waits.
bool Session::Impl::confirmed(Message& message, const ToolView& tool, const policy::CallJudgement& judged,
                              policy::Effect effect) {
  const ConfirmSubject subject = subject_of(message, tool, judged.verdict, effect);
  if (auto word = words_.extract(message.id_json())) {
    if (word.mapped().call != subject.call) {
      refuse_call(message, Errc::confirmation_unavailable, "the confirmation is of another call",
                  "the confirmation is for another call, or the tool has changed since");
      return false;
    }
    return true;
  }
  if (message.params.find("inputResponses") || message.params.find("requestState")) {
    refuse_call(message, Errc::client_request_blocked, "inputResponses without a confirmation",
                "it continues a call that nobody has confirmed");
    return false;
  }
  switch (confirmations_.standing(subject, now_)) {
    case Standing::remembered:
      record_question(message, "remembered", "allowed", effect);
      return true;
    case Standing::declined:
      refuse_call(message, Errc::confirmation_declined, "declined before",
                  "a person was asked before and did not agree");
      return false;
    case Standing::too_many:
      refuse_call(message, Errc::rate_limited, "too many questions are open",
                  "too many calls wait for a person's word already");
      return false;
    case Standing::too_often:
      refuse_call(message, Errc::rate_limited, "too many questions in a minute",
                  "a person was asked too often within a minute");
      return false;
    case Standing::ask:
      ask(std::move(message), tool, subject, judged.limits, effect);
      return false;
  }
  CORDON_ASSERT(false);
}

void Session::Impl::ask(Message message, const ToolView& tool, ConfirmSubject subject, const RuleIndexes& limits,
                        policy::Effect effect) {
  const policy::Confirm& rules = config_.policy.tools.confirm;
  const Value arguments = message.params.find("arguments");
  const bool long_arguments = arguments && arguments.raw().size() > kMaxTerminalBytes;
  const std::string text =
      long_arguments
          ? std::string()
          : confirm_text({config_.policy.server, tool.name, effect, tool.flagged, arguments}, secret_finder_);
  const bool in_client = !long_arguments && can_ask_in_client(message) && fits_form(text);
  const bool elsewhere = rules.without_client_support == policy::Confirm::Fallback::approve && config_.can_approve &&
                         !long_arguments && fits_terminal(text);
  if ((!in_client && !elsewhere) || held_bytes_ + message.document.text().size() > limits_.max_bytes) {
    notice_once(text::cat("a call to '", text::printable(tool.name, 100), "' needs a confirmation, and ",
                          elsewhere || in_client ? "too much waits already"
                          : long_arguments || !fits_terminal(text)
                              ? "its arguments are too long to be shown"
                              : "neither this client nor the policy (tools.confirm) has a way to ask",
                          "; it was refused"));
    refuse_call(message, Errc::confirmation_unavailable, "nobody can be asked",
                "a person has to confirm it and cannot be asked here");
    return;
  }
  Asked asked;
  asked.subject = std::move(subject);
  asked.effect = effect;
  asked.nonce = confirmations_.fresh_nonce(config_.confirm_key, "question");
  asked.deadline = now_ + std::int64_t{1000} * rules.timeout_seconds;
  asked.progress_at = now_ + kProgressMs;
  asked.message = std::move(message);
  confirmations_.open(asked.nonce, {asked.subject, Confirmations::Stage::asked, asked.deadline}, now_);
  reserve(asked.nonce, limits, asked.deadline);
  if (in_client && asked.message.modern()) {
    ask_in_result(asked, text);
  } else if (in_client) {
    ask_form(std::move(asked), text);
  } else {
    ask_elsewhere(std::move(asked), text);
  }
}

void Session::Impl::ask_form(Asked asked, std::string_view text) {
  asked.way = Way::form;
  asked.question = own_id();
  record_question(asked.message, "form", "asked", asked.effect);
  to_client(wire::request_line(Id(asked.question), "elicitation/create",
                               elicitation_params(text, config_.policy.tools.confirm.remember)));
  held_bytes_ += asked.message.document.text().size();
  const Id id = *asked.message.id;
  asked_.emplace(id, std::move(asked));
}

// The stateless era: the answer is a question, and the client calls again with what the person said.
void Session::Impl::ask_in_result(const Asked& asked, std::string_view text) {
  record_question(asked.message, "input_required", "asked", asked.effect);
  const SealedState state{.stage = Confirmations::Stage::asked,
                          .server = config_.policy.server,
                          .session = config_.session_id,
                          .tool = asked.subject.tool,
                          .call = asked.subject.call,
                          .nonce = asked.nonce,
                          .expires = asked.deadline};
  json::Writer w;
  w.begin_object().member("resultType", "input_required").key("inputRequests").begin_object();
  w.key(kQuestionKey).begin_object().member("method", "elicitation/create");
  w.member_raw("params", elicitation_params(text, config_.policy.tools.confirm.remember)).end_object().end_object();
  w.member("requestState", seal(config_.confirm_key, state)).end_object();
  to_client(wire::result_line(*asked.message.id, w.take()));
}

void Session::Impl::ask_elsewhere(Asked asked, std::string_view text) {
  asked.way = Way::approve;
  asked.question = confirmations_.fresh_nonce(config_.confirm_key, "approve").substr(0, 8);
  json::Writer w;
  w.begin_object().member("id", asked.question).member("server", config_.policy.server);
  w.member("tool", text::printable(asked.subject.tool, 1024));
  w.member("effect", policy::name(asked.effect)).member_int("until_ms", asked.deadline.ms);
  w.member("nonce", asked.nonce).member("text", text).end_object();
  asked.published = w.take();
  record_question(asked.message, "approve", "asked", asked.effect);
  notice(text::cat("a call to '", text::printable(asked.subject.tool, 100), "' of ", config_.policy.server,
                   " waits for a person's word; on another terminal, within ",
                   config_.policy.tools.confirm.timeout_seconds, " s: mcp-cordon approve ", asked.question));
  held_bytes_ += asked.message.document.text().size();
  const Id id = *asked.message.id;
  asked_.insert_or_assign(id, std::move(asked));
  publish();
}

std::optional<std::string> Session::Impl::state_for_client(const Outstanding& request, const Value& server_state) {
  if (!request.confirmed) {
    return server_state ? std::optional(std::string(server_state.raw())) : std::nullopt;
  }
  if (server_state && server_state.raw().size() > kMaxInnerState) {
    return std::nullopt;
  }
  SealedState state{.stage = Confirmations::Stage::granted,
                    .server = config_.policy.server,
                    .session = config_.session_id,
                    .tool = request.confirmed->tool,
                    .call = request.confirmed->call,
                    .nonce = confirmations_.fresh_nonce(config_.confirm_key, "continued"),
                    .expires = now_ + kContinuationMs};
  if (server_state) {
    state.inner = std::string(server_state.raw());
  }
  confirmations_.open(state.nonce, {*request.confirmed, Confirmations::Stage::granted, state.expires}, now_);
  return json::quoted(seal(config_.confirm_key, state));
}

}  // namespace cordon::gate
