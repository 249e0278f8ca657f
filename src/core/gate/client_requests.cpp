// SPDX-License-Identifier: Apache-2.0
// The other direction in the handshake era: requests of the server that the client answers, under ids of ours, so that
// no answer can be taken for one to a question of another.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/questions.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using wire::Direction;
using wire::Form;
using wire::MessageKind;
using Outcome = JudgedQuestion::Outcome;

QuestionContext Session::Impl::question_context(wire::Revision revision, const ClientOffers& offers) const {
  return {config_.policy, config_.roots, revision, offers};
}

namespace {

std::string tools_text(const std::vector<std::string>& tools) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(tools.size(), kShown); ++i) {
    out += text::cat(i == 0 ? "" : ", ", text::printable(tools[i], 64));
  }
  return tools.size() > kShown ? text::cat(out, " and ", tools.size() - kShown, " more") : out;
}

std::string decision_of(const JudgedQuestion& judged) {
  if (judged.outcome == Outcome::pass) {
    return judged.flagged ? "flag" : "allow";
  }
  return judged.outcome == Outcome::answer && judged.result != kDeclined ? "answer" : "block";
}

}  // namespace

// One question, told to the log and, when a person should know, to stderr. `within`: the request of the client whose
// result it stands in; empty for a request of the server.
void Session::Impl::note_question(std::string_view id, std::string_view method, const JudgedQuestion& judged,
                                  std::string_view within) {
  const std::string decision = decision_of(judged);
  record(question_record({id, method, within, decision}, judged));
  const std::string what = text::cat("the server asked the client for ", text::printable(method, 100));
  if (decision == "block") {
    notice_server(text::cat(what, "; refused: ", judged.because));
  } else if (judged.flagged) {
    notice_server(judged.host.empty()
                      ? text::cat(what, judged.tools.empty() ? "" : " with tools: ", tools_text(judged.tools),
                                  "; it passed and is flagged")
                      : text::cat(what, " at ", text::printable(judged.host, 255), "; it passed and is flagged"));
  }
}

// Too many at once, or lately. Said once a minute, so that the log is not the next thing to be flooded.
bool Session::Impl::admit_question(std::string_view method) {
  if (questions_.open_for_people() < kMaxOpenQuestions && questions_.admit(now_)) {
    return true;
  }
  constexpr std::int64_t kMinuteMs = 60'000;
  if (!questions_.flood_noted || now_ - *questions_.flood_noted >= kMinuteMs) {
    questions_.flood_noted = now_;
    record(refused_record(Side::server, Errc::rate_limited,
                          "more questions than pass; those that follow in this minute are not recorded", {}, method));
    notice_once("the server asks the client too much; what is too much is refused");
  }
  return false;
}

// The answer of somebody who says no. An elicitation gets no error: a server that finds none proceeds without asking.
void Session::Impl::refuse_question(const Id& server_id, std::string_view method, Errc code, std::string_view detail) {
  if (method == "elicitation/create") {
    to_server(wire::result_line(server_id, code == Errc::client_request_blocked ? kDeclined : kCancelled));
  } else {
    to_server(wire::error_line(server_id, code, detail));
  }
}

void Session::Impl::on_server_request(Message message) {
  if (handshake_ == Handshake::none) {
    record(refused_record(Side::server, Errc::method_not_allowed, "a request of the server outside of a handshake",
                          message.id, message.method));
    return;
  }
  if (questions_.id_of(*message.id) != nullptr) {
    // Not answered: the one answer that this id gets is that to the first request.
    record(refused_record(Side::server, Errc::message_ambiguous, "the id of an open question", message.id,
                          message.method));
    return;
  }
  message = without_ours(std::move(message));
  const bool exists = wire::lookup(revision_, Direction::to_client, Form::request, message.method).has_value();
  if (exists && message.method == "ping") {
    if (questions_.open.size() < config_.policy.messages.in_flight && !client_ended_) {
      ask_client(message, "");
    } else {
      refuse_question(*message.id, message.method, Errc::rate_limited, "too many questions wait already");
    }
    return;
  }
  if (!exists || handshake_ < Handshake::answered) {
    record(refused_record(Side::server, Errc::client_request_blocked, "a request of the server", message.id,
                          message.method));
    notice_server(text::cat("the server asked the client for ", text::printable(message.method, 100), "; refused"));
    refuse_question(*message.id, exists ? message.method : "", Errc::method_not_allowed,
                    "the client does not offer this");
    return;
  }
  if (names_unknown_task(message.meta())) {
    record(refused_record(Side::server, Errc::client_request_blocked, "a question of a task that does not exist",
                          message.id, message.method));
    refuse_question(*message.id, message.method, Errc::client_request_blocked, "there is no such task");
    return;
  }
  if (client_ended_ || !admit_question(message.method)) {
    refuse_question(*message.id, message.method, Errc::rate_limited, "the client takes no more questions now");
    return;
  }
  const JudgedQuestion judged = judge_question(message.method, message.params, question_context(revision_, offers_));
  note_question(message.id_json(), message.method, judged, "");
  switch (judged.outcome) {
    case Outcome::pass:
      questions_.remember_elicitation(judged.elicitation_id, now_);
      ask_client(message, judged.params);
      return;
    case Outcome::answer:
      to_server(wire::result_line(*message.id, judged.result));
      return;
    case Outcome::refuse:
      refuse_question(*message.id, message.method, Errc::method_not_allowed, "the client does not offer this");
      return;
  }
}

// `params`: JSON, or empty to leave them as they are.
void Session::Impl::ask_client(const Message& message, const std::string& params) {
  const std::string id = text::cat(wire::kOwnIdPrefix, config_.session_id, "/q", ++questions_.count);
  OpenQuestion question{*message.id, message.method, now_ + kQuestionMs, {}};
  if (const Value token = message.meta().find("progressToken")) {
    if (auto read = wire::read_id(token)) {
      question.progress_token = std::move(*read);
    }
  }
  questions_.open.emplace(id, std::move(question));
  bool has_params = false;
  std::string line = wire::edited(message.document.root(), [&](std::string_view key, const Value&) {
    has_params = has_params || key == "params";
    return key == "id"                          ? std::optional(json::quoted(id))
           : key == "params" && !params.empty() ? std::optional(params)
                                                : std::nullopt;
  });
  if (!has_params && !params.empty() && params != "{}") {
    line = wire::request_line(Id(id), message.method, params);
    line.pop_back();
  }
  // What it shows, or gives to a model, is text of the server as that of a result is.
  to_client(treated_line(parse_own(line), message.id, message.method, false));
}

namespace {

std::string_view answer_of(const wire::Message& message) {
  if (message.kind == MessageKind::error) {
    return "error";
  }
  const Value action = message.result.find("action");
  for (const std::string_view word : {"accept", "decline", "cancel"}) {
    if (action.is(Kind::string) && action.string_equals(word)) {
      return word;
    }
  }
  return "result";
}

}  // namespace

void Session::Impl::on_client_reply(Message message) {
  if (on_form_answer(message)) {
    return;
  }
  const std::string id(message.id ? message.id->text() : std::string_view());
  const auto found = questions_.open.find(id);
  if (found == questions_.open.end()) {
    const auto late = std::ranges::find(questions_.settled, id);
    if (late != questions_.settled.end()) {
      questions_.settled.erase(late);  // the race of an answer and a question taken back is legal
      return;
    }
    record(refused_record(Side::client, Errc::reply_unexpected, "a reply to no outstanding request", message.id, ""));
    return;
  }
  const OpenQuestion question = std::move(found->second);
  questions_.open.erase(found);
  if (question.method != "ping") {
    record(answered_record(question.server_id, question.method, answer_of(message)));
  }
  if (wire::has_own_meta(message.document.root())) {
    record(refused_record(Side::client, Errc::message_ambiguous, "members under dev.mcp-cordon/ were removed",
                          message.id, question.method));
    auto cleaned = wire::parse(wire::without_own_meta(message.document.root()), limits_);
    CORDON_ASSERT(cleaned.has_value());
    message = std::move(*cleaned);
  }
  to_server(wire::edited(message.document.root(),
                         [&](std::string_view key, const Value&) {
                           return key == "id" ? std::optional(question.server_id.json()) : std::nullopt;
                         }) +
            '\n');
}

// An answer of the client that could not be read. Without an id it may have been to any of them.
void Session::Impl::fail_questions(const std::optional<Id>& id, Errc code, std::string_view detail) {
  const std::string own(id ? id->text() : std::string_view());
  for (auto at = questions_.open.begin(); at != questions_.open.end();) {
    if (id && at->first != own) {
      ++at;
      continue;
    }
    refuse_question(at->second.server_id, at->second.method, code, detail);
    at = questions_.open.erase(at);
  }
}

// The client is gone, or takes too long.
void Session::Impl::tick_open_questions() {
  for (auto at = questions_.open.begin(); at != questions_.open.end();) {
    const std::string id = at->first;
    const OpenQuestion question = at->second;
    ++at;
    if (now_ < question.deadline) {
      continue;
    }
    questions_.settle(id);
    record(refused_record(Side::client, Errc::timed_out, "a question that was not answered", question.server_id,
                          question.method));
    json::Writer w;
    w.begin_object().member("requestId", id).member("reason", "timed out").end_object();
    to_client(wire::notification_line("notifications/cancelled", w.take()));
    refuse_question(question.server_id, question.method, Errc::timed_out, "the client did not answer in time");
  }
}

std::optional<Instant> Session::Impl::question_deadline() const {
  std::optional<Instant> first;
  for (const auto& [id, question] : questions_.open) {
    if (!first || question.deadline < *first) {
      first = question.deadline;
    }
  }
  return first;
}

// Notifications of the server about a question of its own. True when this one was.
bool Session::Impl::on_question_notification(const Message& message) {
  if (handshake_ == Handshake::none) {
    return false;
  }
  if (message.method == "notifications/cancelled") {
    const Value target = message.params.find("requestId");
    const auto id = target ? wire::read_id(target) : fail(Errc::message_malformed, "no requestId");
    const std::string* known = id ? questions_.id_of(*id) : nullptr;
    if (known == nullptr) {
      return false;
    }
    const std::string own = *known;
    questions_.settle(own);
    json::Writer w;
    w.begin_object().member("requestId", own);
    if (const Value reason = message.params.find("reason"); reason.is(Kind::string)) {
      w.key("reason").value(reason);
    }
    w.end_object();
    to_client(treated_line(parse_own(wire::notification_line(message.method, w.take())), {}, message.method, false));
    return true;
  }
  if (message.method == "notifications/elicitation/complete" &&
      wire::lookup(revision_, Direction::to_client, Form::notification, message.method)) {
    const Value id = message.params.find("elicitationId");
    if (!id.is(Kind::string) || !questions_.take_elicitation(id.string(), now_)) {
      return false;
    }
    json::Writer w;
    w.begin_object().key("elicitationId").value(id).end_object();
    to_client(wire::notification_line(message.method, w.take()));
    return true;
  }
  return false;
}

// Notifications of the client about what the server asks. True when this one was.
bool Session::Impl::on_answering_notification(Message& message) {
  if (handshake_ < Handshake::answered || message.modern()) {
    return false;
  }
  if (message.method == "notifications/progress") {
    const Value given = message.params.find("progressToken");
    const auto token = given ? wire::read_id(given) : fail(Errc::message_malformed, "no progressToken");
    const bool known = token && std::ranges::any_of(questions_.open, [&](const auto& entry) {
                         return entry.second.progress_token == *token;
                       });
    if (known) {
      to_server(client_line(std::move(message)));
    }
    return known;
  }
  using Roots = policy::ClientRequests::Roots;
  const Roots roots = config_.policy.client_requests.roots;
  if (message.method == "notifications/roots/list_changed" && offers_.roots &&
      (roots == Roots::allow || roots == Roots::flag)) {
    to_server(client_line(std::move(message)));
    return true;
  }
  return false;
}

}  // namespace cordon::gate
