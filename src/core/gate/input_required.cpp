// SPDX-License-Identifier: Apache-2.0
// The other direction in the stateless era, where questions stand inside a result and answers in a retry, and the
// addresses that an error of 2025-11-25 may carry. Each question is judged by itself:
//   those that pass      go to the client, and only they may be answered by its retry
//   those that we answer (a declined form, our roots) wait for that retry, and are added to it
//   nothing left to ask  we retry ourselves, with our answers alone
//   one that is refused  (sampling that the server was not offered) has no answer: the result is withheld
// A retry is a call like any other: pin, rules and effects are asked again.
#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/questions.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Member;
using json::Value;
using wire::Era;
using wire::MessageKind;
using wire::Revision;
using Outcome = JudgedQuestion::Outcome;

namespace {

constexpr std::int64_t kUrlRequired = -32042;
constexpr std::size_t kMaxKeyBytes = 256;

bool may_ask(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

std::string digest_of_state(const Value& state) {
  Sha256 hash;
  hash.update(state.string());
  return hex(hash.finish());
}

// One question as it goes to the client.
std::string question_json(std::string_view method, const std::string& params) {
  json::Writer w;
  w.begin_object().member("method", method).member_raw("params", params).end_object();
  return w.take();
}

bool shape_fits(const Value& result) {
  // An answer beside the questions would pass by what is asked of answers.
  for (const std::string_view answer : {"content", "structuredContent", "contents", "messages"}) {
    if (result.find(answer)) {
      return false;
    }
  }
  const Value type = result.find("resultType");
  const Value asked = result.find("inputRequests");
  const std::size_t questions = asked ? asked.size() : 0;
  const Value state = result.find("requestState");
  const bool readable = !state || (state.is(Kind::string) && !state.has_lone_surrogate() && !state.has_nul());
  return type.is(Kind::string) && type.string_equals("input_required") && (questions > 0 || state) && readable &&
         (!asked || (asked.is(Kind::object) && questions <= kMaxQuestionsInResult));
}

}  // namespace

bool Session::Impl::asks_client(const Message& reply) {
  if (reply.kind == MessageKind::error) {
    return reply.error.find("code").safe_integer() == kUrlRequired || data_asks(reply.error.find("data"));
  }
  const Value type = reply.result.find("resultType");
  return reply.result.find("inputRequests") || (type.is(Kind::string) && type.string_equals("input_required"));
}

// Kept as long as there is room: without it no question of its result passes.
void Session::Impl::remember_line(const Message& message, Outstanding& outstanding) const {
  if (!may_ask(message.method)) {
    return;
  }
  std::size_t bytes = message.document.text().size();
  for (const auto& [id, request] : outstanding_) {
    bytes += request.line.size();
  }
  if (bytes <= limits_.max_bytes) {
    outstanding.line = message.document.text();
  }
}

void Session::Impl::withhold_question(const Message& message, const Outstanding& request, Errc code,
                                      std::string_view because) {
  record(refused_record(Side::server, code, because, message.id, request.method));
  notice_server("the server asked the client for something inside a result; refused");
  fail_reply(*message.id, request, code, "the server asked for something instead");
}

void Session::Impl::on_asking_reply(Message message, const Outstanding& request) {
  if (refuse_by_size(message, request)) {
    return;
  }
  if (wire::has_own_meta(message.document.root())) {
    record(refused_record(Side::server, Errc::message_ambiguous, "members under dev.mcp-cordon/ were removed",
                          message.id, request.method));
    auto cleaned = wire::parse(wire::without_own_meta(message.document.root()), limits_);
    CORDON_ASSERT(cleaned.has_value());
    message = std::move(*cleaned);
  }
  if (message.kind == MessageKind::error) {
    on_address_required(std::move(message), request);
    return;
  }
  if (request.era != Era::stateless || request.line.empty() || !shape_fits(message.result)) {
    withhold_question(message, request, Errc::client_request_blocked, "a result that asks the client");
    return;
  }
  json::Writer passed;
  passed.begin_object();
  AskedResult asked;
  const QuestionContext context = question_context(Revision::v2026_07_28, request.offers);
  for (const Member member : message.result.find("inputRequests").members()) {
    const std::string key = member.key.string();
    const Value method = member.value.find("method");
    // Keys under our prefix are those of our own questions.
    if (!method.is(Kind::string) || key.size() > kMaxKeyBytes || member.key.has_lone_surrogate() ||
        key.starts_with(wire::kOwnIdPrefix)) {
      withhold_question(message, request, Errc::client_request_blocked, "a question that cannot be read");
      return;
    }
    if (!admit_question(method.string())) {
      withhold_question(message, request, Errc::rate_limited, "more questions than pass");
      return;
    }
    JudgedQuestion judged = judge_question(method.string(), member.value.find("params"), context);
    note_question(member.key.raw(), method.string(), judged, request.method);
    if (judged.outcome == Outcome::refuse) {
      withhold_question(message, request, Errc::client_request_blocked, judged.because);
      return;
    }
    if (judged.outcome == Outcome::answer) {
      asked.answered.emplace(key, std::move(judged.result));
    } else {
      asked.passed.insert(key);
      passed.member_raw(key, question_json(method.string(), judged.params));
    }
  }
  passed.end_object();
  if (asked.passed.empty() && !asked.answered.empty()) {
    retry_ourselves(message, request, asked);
  } else {
    pass_asking(message, request, std::move(asked), passed.take());
  }
}

// Every question was answered by us: the client need not hear of it.
void Session::Impl::retry_ourselves(const Message& message, const Outstanding& request, const AskedResult& asked) {
  auto again = wire::parse(request.line, limits_);
  CORDON_ASSERT(again.has_value());
  const Value state = message.result.find("requestState");
  // What an earlier retry of the client brought was for an earlier question.
  const auto fresh_params = [](std::string_view key, const Value&) -> std::optional<std::string> {
    return key == "inputResponses" || key == "requestState" ? std::optional(std::string()) : std::nullopt;
  };
  const auto fresh = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "params" ? std::optional(wire::edited(value, fresh_params)) : std::nullopt;
  };
  auto plain = wire::parse(wire::edited(again->document.root(), fresh), limits_);
  CORDON_ASSERT(plain.has_value());
  auto answered = wire::parse(with_answers(*plain, asked.answered, state ? state.raw() : std::string_view()), limits_);
  if (!answered) {
    withhold_question(message, request, Errc::client_request_blocked, "a question that has no room for an answer");
    return;
  }
  if (request.confirmed) {
    // The call that a person confirmed goes on.
    words_.insert_or_assign(answered->id_json(), Word{request.confirmed->call, true});
  }
  // Else a server that asks again and again would keep the call for ever.
  retried_.insert_or_assign(*answered->id, request.answer_by);
  if (!request.limits.empty()) {
    // Should it have to wait for a list, its place is not given to another call.
    reserved_.insert_or_assign(holder_of(*answered->id), Reservation{request.limits, now_ + kMaxLearnMs, true});
  }
  dispatch_request(std::move(*answered));
}

void Session::Impl::pass_asking(const Message& message, const Outstanding& request, AskedResult asked,
                                const std::string& passed) {
  const auto call = wire::parse(request.line, limits_);
  CORDON_ASSERT(call.has_value());
  const Value state = message.result.find("requestState");
  asked.call = digest_of_call(*call);
  asked.state = state ? digest_of_state(state) : std::string();
  // A call that a person confirmed: the state also proves that, with the server's own inside.
  const std::optional<std::string> sealed = request.confirmed ? state_for_client(request, state) : std::nullopt;
  if (request.confirmed && !sealed) {
    withhold_question(message, request, Errc::client_request_blocked, "a state that is too long to be carried");
    return;
  }
  std::string result = wire::edited(message.result, [&](std::string_view key, const Value& value) {
    return key == "inputRequests"  ? std::optional(passed)
           : key == "requestState" ? std::optional(sealed ? *sealed : pass_state(value))
                                   : std::nullopt;
  });
  if (sealed && !state) {
    result.back() = ',';
    result += text::cat("\"requestState\":", *sealed, '}');
  }
  if (!asked.answered.empty()) {
    json::Writer keys;
    keys.begin_array();
    for (const auto& [key, answer] : asked.answered) {
      keys.string(key);
    }
    keys.end_array();
    result = wire::with_meta(parse_own(result).root(), "dev.mcp-cordon/answered", keys.take());
  }
  if (request.flagged) {
    result = wire::with_meta(parse_own(result).root(), "dev.mcp-cordon/flagged", "true");
  }
  questions_.remember(std::move(asked));
  to_client(treated_line(parse_own(wire::result_line(*message.id, result)), message.id,
                         request.tool.empty() ? request.method : request.tool, false));
}

// -32042: go to these addresses first. The client cannot say no to one of them, so that one alone stops all.
void Session::Impl::on_address_required(Message message, const Outstanding& request) {
  const Value data = message.error.find("data");
  const Value listed = data.find("elicitations");
  const bool legal = request.era == Era::handshake && revision_ == Revision::v2025_11_25 && may_ask(request.method) &&
                     message.error.find("code").safe_integer() == kUrlRequired && listed.is(Kind::array) &&
                     listed.size() <= kMaxQuestionsInResult && !data.find("inputRequests");
  if (!legal) {
    withhold_question(message, request, Errc::client_request_blocked, "an error that asks the client");
    return;
  }
  json::Writer passed;
  passed.begin_object().key("elicitations").begin_array();
  std::vector<std::string> ids;
  for (const Value one : listed.elements()) {
    const Value mode = one.find("mode");
    const bool address = mode.is(Kind::string) && mode.string_equals("url");
    if (!address || !admit_question("elicitation/create")) {
      withhold_question(message, request, Errc::client_request_blocked, "an error that asks the client");
      return;
    }
    const JudgedQuestion judged = judge_question("elicitation/create", one, question_context(revision_, offers_));
    note_question(message.id_json(), "elicitation/create", judged, request.method);
    if (judged.outcome != Outcome::pass) {
      withhold_question(message, request, Errc::client_request_blocked, judged.because);
      return;
    }
    ids.push_back(judged.elicitation_id);
    passed.raw(judged.params);
  }
  passed.end_array().end_object();
  const std::string rewritten = passed.take();
  for (const std::string& id : ids) {
    questions_.remember_elicitation(id, now_);
  }
  const auto edit_error = [&](std::string_view key, const Value&) {
    return key == "data" ? std::optional(rewritten) : std::nullopt;
  };
  const std::string line = wire::edited(message.document.root(), [&](std::string_view key, const Value& value) {
    return key == "error" ? std::optional(wire::edited(value, edit_error)) : std::nullopt;
  });
  to_client(treated_line(parse_own(line), message.id, request.tool.empty() ? request.method : request.tool, false));
}

// A request of the client that carries answers: only to what was asked, once, and with the state that was given. Ours
// are added. False when it may not go on; then everything is said.
bool Session::Impl::admit_answers(Message& message) {
  const Value answers = message.params.find("inputResponses");
  const Value state = message.params.find("requestState");
  if (!answers && !state) {
    return true;
  }
  const auto refuse = [&](std::string_view because) {
    constexpr std::string_view kDetail = "it answers a question that was never passed on";
    if (message.method == "tools/call" && message.params.find("name").is(Kind::string)) {
      refuse_call(message, Errc::client_request_blocked, std::string(because), std::string(kDetail));
    } else {
      refuse_request(message, Errc::client_request_blocked, std::string(kDetail));
    }
    return false;
  };
  const auto own_state = state ? take_state(state) : std::optional(std::string());
  if (!message.modern() || !may_ask(message.method) || !own_state || (answers && !answers.is(Kind::object))) {
    return refuse("answers without a question");
  }
  const std::string call = digest_of_call(message);
  const std::string state_digest = state ? hex(sha256(*own_state)) : std::string();
  const auto fits = [&](const AskedResult& asked) {
    if (asked.call != call || asked.state != state_digest) {
      return false;
    }
    for (const Member member : answers.members()) {
      if (!asked.passed.contains(member.key.string()) || !member.value.is(Kind::object)) {
        return false;
      }
    }
    return true;
  };
  const auto found = std::ranges::find_if(questions_.asked, fits);
  if (found == questions_.asked.end()) {
    return refuse("answers without a question");
  }
  const AskedResult asked = std::move(*found);
  questions_.asked.erase(found);
  for (const Member member : answers.members()) {
    const Value action = member.value.find("action");
    const std::string said = action.is(Kind::string) ? text::printable(action.string(), 16) : "result";
    record(answered_record(Id(member.key.string()), message.method, said));
  }
  if (asked.answered.empty()) {
    return true;
  }
  auto merged = wire::parse(with_answers(message, asked.answered, ""), limits_);
  if (!merged) {
    return refuse("no room for the answers");
  }
  message = std::move(*merged);
  return true;
}

}  // namespace cordon::gate
