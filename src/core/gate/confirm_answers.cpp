// SPDX-License-Identifier: Apache-2.0
// What becomes of a question that is open: an answer in the client or on another terminal, the end of its time, or the
// end of whoever asked. Each question ends once; what comes later is dropped.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Value;
using wire::MessageKind;

namespace {

constexpr std::size_t kMaxWithdrawn = 256;

std::string_view via(bool form) { return form ? "form" : "approve"; }

}  // namespace

// Out of what waits, with its share of the memory. Its nonce is spent.
Session::Impl::Asked Session::Impl::take_asked(std::map<Id, Asked>::iterator place) {
  Asked asked = std::move(place->second);
  asked_.erase(place);
  held_bytes_ -= asked.message.document.text().size();
  confirmations_.spend(asked.nonce);
  hand_over_reservation(asked.nonce, *asked.message.id);  // given up where the call is refused or cancelled
  return asked;
}

// The question ended otherwise than by its answer: a form is taken off the screen.
void Session::Impl::end_question(const Asked& asked, std::string_view outcome) {
  record_question(asked.message, via(asked.way == Way::form), outcome, asked.effect);
  if (asked.way == Way::approve) {
    publish();
    return;
  }
  withdrawn_questions_.push_back(asked.question);
  if (withdrawn_questions_.size() > kMaxWithdrawn) {
    withdrawn_questions_.pop_front();
  }
  to_client(wire::notification_line("notifications/cancelled", json::Writer()
                                                                   .begin_object()
                                                                   .member("requestId", asked.question)
                                                                   .member("reason", "the question is no longer open")
                                                                   .end_object()
                                                                   .take()));
}

// True when the reply was to a question of ours: the server never sees it.
bool Session::Impl::on_form_answer(const Message& reply) {
  if (!reply.id || !reply.id->is_string()) {
    return false;
  }
  const std::string id(reply.id->text());
  if (const auto late = std::ranges::find(withdrawn_questions_, id); late != withdrawn_questions_.end()) {
    withdrawn_questions_.erase(late);
    return true;
  }
  if (reply.kind == MessageKind::error) {
    return form_failed(*reply.id, "the client answered the question with an error");
  }
  const auto place = std::ranges::find_if(
      asked_, [&](const auto& entry) { return entry.second.way == Way::form && entry.second.question == id; });
  if (place == asked_.end()) {
    return false;
  }
  const Choice choice = read_choice(reply.result, config_.policy.tools.confirm.remember);
  if (choice == Choice::unreadable) {
    return form_failed(*reply.id, "the client's answer to the question could not be read");
  }
  settle(take_asked(place), choice);
  return true;
}

// A client that said that it can ask, and cannot. There is still the other way.
bool Session::Impl::form_failed(const Id& id, std::string_view why) {
  const auto place = std::ranges::find_if(asked_, [&](const auto& entry) {
    return id.is_string() && entry.second.way == Way::form && entry.second.question == id.text();
  });
  if (place == asked_.end()) {
    return false;
  }
  Asked asked = std::move(place->second);
  asked_.erase(place);
  held_bytes_ -= asked.message.document.text().size();
  record_question(asked.message, "form", "failed", asked.effect);
  notice_once(std::string(why));
  if (config_.policy.tools.confirm.without_client_support == policy::Confirm::Fallback::approve &&
      config_.can_approve) {
    const ToolView* tool = view_ ? view_->find(asked.subject.tool) : nullptr;
    const std::string text = confirm_text({config_.policy.server, asked.subject.tool, asked.effect,
                                           tool != nullptr && tool->flagged, asked.message.params.find("arguments")},
                                          secret_finder_);
    ask_elsewhere(std::move(asked), text);
    return true;
  }
  confirmations_.spend(asked.nonce);
  reserved_.erase(asked.nonce);
  refuse_call(asked.message, Errc::confirmation_unavailable, "the client could not ask",
              "a person has to confirm it and this client could not ask one");
  return true;
}

// Allowed: the call is judged again from the start, since all that counts may have changed while the person thought.
void Session::Impl::settle(Asked asked, Choice choice) {
  if (asked.way == Way::approve) {
    publish();
  }
  record_question(asked.message, via(asked.way == Way::form), outcome_of(choice), asked.effect);
  note_choice(asked.subject, choice);
  if (choice == Choice::decline || choice == Choice::cancel) {
    refuse_call(asked.message, Errc::confirmation_declined, std::string(outcome_of(choice)),
                "a person was asked and did not agree");
    drop_questions_like(asked.subject);
    return;
  }
  words_.insert_or_assign(asked.message.id_json(), Word{asked.subject.call, false});
  if (usable(catalog::ListKind::tools)) {
    decide_call(std::move(asked.message));
  } else {
    hold(std::move(asked.message), catalog::ListKind::tools);
  }
}

// A no holds for the same call, also where that was asked about a second time meanwhile.
void Session::Impl::drop_questions_like(const ConfirmSubject& subject) {
  for (auto place = asked_.begin(); place != asked_.end();) {
    const auto next = std::next(place);
    if (place->second.subject.call == subject.call) {
      const Asked asked = take_asked(place);
      end_question(asked, "withdrawn");
      refuse_call(asked.message, Errc::confirmation_declined, "declined before",
                  "a person was asked and did not agree");
    }
    place = next;
  }
}

// The client gave the call up. True when it was one that waits.
bool Session::Impl::cancel_asked(const Id& id) {
  const auto place = asked_.find(id);
  if (place == asked_.end()) {
    return false;
  }
  end_question(take_asked(place), "withdrawn");
  reserved_.erase(holder_of(id));
  return true;
}

void Session::Impl::refuse_asked(Errc code, std::string_view outcome, std::string_view detail) {
  while (!asked_.empty()) {
    const Asked asked = take_asked(asked_.begin());
    end_question(asked, outcome);
    if (code == Errc::confirmation_unavailable) {
      refuse_call(asked.message, code, std::string(outcome), std::string(detail));
    } else {
      to_client(wire::error_line(*asked.message.id, code, detail));
    }
  }
  reserved_.clear();
}

Actions Session::Impl::approval(std::string_view line, Instant now) {
  if (stopped_) {
    return {};
  }
  now_ = now;
  const std::vector<std::string_view> words = text::split(line, ' ');
  const bool allow = words[0] == "allow";
  const auto place = words.size() != 3 || (!allow && words[0] != "refuse")
                         ? asked_.end()
                         : std::ranges::find_if(asked_, [&](const auto& entry) {
                             return entry.second.way == Way::approve && entry.second.question == words[1];
                           });
  // The digest proves that what was decided about is what is asked, and not what somebody put in its place.
  if (place == asked_.end() || words[2] != hex(sha256(place->second.published)) || now_ >= place->second.deadline) {
    notice_once("an answer of mcp-cordon approve belongs to no question that is open; it was dropped");
    return take();
  }
  settle(take_asked(place), allow ? Choice::allow : Choice::decline);
  drained();
  return take();
}

void Session::Impl::tell_progress(Asked& asked) {
  asked.progress_at = now_ + kProgressMs;
  const Value token = asked.message.meta().find("progressToken");
  if (!token || !wire::read_id(token)) {
    return;
  }
  // Small steps: what the server reports of this call later must still be more.
  json::Writer w;
  w.begin_object().member_raw("progressToken", token.raw());
  w.member_raw("progress", text::cat("0.0000", 1000 + ++asked.progress));
  w.member("message", "mcp-cordon waits for a person to confirm this call").end_object();
  to_client(wire::notification_line("notifications/progress", w.take()));
}

void Session::Impl::tick_asked() {
  for (auto place = asked_.begin(); place != asked_.end();) {
    const auto next = std::next(place);
    if (now_ >= place->second.deadline) {
      const Asked asked = take_asked(place);
      end_question(asked, "timed_out");
      refuse_call(asked.message, Errc::timed_out, "nobody answered",
                  text::cat("nobody confirmed it within ", config_.policy.tools.confirm.timeout_seconds, " s"));
    } else if (now_ >= place->second.progress_at) {
      tell_progress(place->second);
    }
    place = next;
  }
}

void Session::Impl::publish() {
  std::string lines;
  for (const auto& [id, asked] : asked_) {
    if (asked.way == Way::approve) {
      lines += asked.published + '\n';
    }
  }
  if (!lines.empty() || published_) {
    published_ = !lines.empty();
    actions_.emplace_back(Publish{std::move(lines)});
  }
}

}  // namespace cordon::gate
