// SPDX-License-Identifier: Apache-2.0
#include "core/gate/open_questions.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {

using json::Kind;
using json::Member;
using json::Value;

bool OpenQuestions::admit(Instant now) {
  constexpr std::int64_t kMinuteMs = 60'000;
  while (!asked_at.empty() && now - asked_at.front() >= kMinuteMs) {
    asked_at.pop_front();
  }
  if (asked_at.size() >= kQuestionsPerMinute) {
    return false;
  }
  asked_at.push_back(now);
  return true;
}

std::size_t OpenQuestions::open_for_people() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open, [](const auto& entry) { return entry.second.method != "ping"; }));
}

const std::string* OpenQuestions::id_of(const wire::Id& server_id) const {
  const auto found = std::ranges::find_if(open, [&](const auto& entry) { return entry.second.server_id == server_id; });
  return found == open.end() ? nullptr : &found->first;
}

void OpenQuestions::settle(const std::string& id) {
  constexpr std::size_t kRemembered = 64;
  if (open.erase(id) != 0) {
    settled.push_back(id);
    if (settled.size() > kRemembered) {
      settled.pop_front();
    }
  }
}

void OpenQuestions::remember(AskedResult result) {
  asked.push_back(std::move(result));
  if (asked.size() > kMaxRememberedAsked) {
    asked.pop_front();
  }
}

void OpenQuestions::remember_elicitation(const std::string& id, Instant now) {
  constexpr std::size_t kMaxBytes = 256;
  if (id.empty() || id.size() > kMaxBytes) {
    return;
  }
  // Of the same id one stays, the later.
  std::erase_if(elicitations, [&](const Elicitation& one) { return one.id == id || one.until <= now; });
  if (elicitations.size() >= kMaxRememberedElicitations) {
    elicitations.pop_front();
  }
  elicitations.push_back({id, now + kElicitationMs});
}

bool OpenQuestions::take_elicitation(const std::string& id, Instant now) {
  const auto found = std::ranges::find(elicitations, id, &Elicitation::id);
  const bool known = found != elicitations.end() && found->until > now;
  if (found != elicitations.end()) {
    elicitations.erase(found);
  }
  return known;
}

std::string digest_of_call(const wire::Message& message) {
  const auto drop = [](std::string_view key, const Value&) -> std::optional<std::string> {
    const bool answers = key == "_meta" || key == "inputResponses" || key == "requestState";
    return answers ? std::optional(std::string()) : std::nullopt;
  };
  Sha256 hash;
  hash.update(message.method);
  hash.update("\n");
  hash.update(json::canonical(parse_own(wire::edited(message.params, drop)).root()));
  return hex(hash.finish());
}

std::string with_answers(const wire::Message& message, const std::map<std::string, std::string>& ours,
                         std::string_view state) {
  const Value given = message.params.find("inputResponses");
  json::Writer answers;
  answers.begin_object();
  for (const Member member : given.members()) {
    answers.key(member.key.string()).value(member.value);
  }
  for (const auto& [key, result] : ours) {
    answers.member_raw(key, result);
  }
  answers.end_object();
  json::Writer params;
  params.begin_object();
  for (const Member member : message.params.members()) {
    const bool replaced =
        member.key.string_equals("inputResponses") || (!state.empty() && member.key.string_equals("requestState"));
    if (!replaced) {
      params.key(member.key.string()).value(member.value);
    }
  }
  params.member_raw("inputResponses", answers.take());
  if (!state.empty()) {
    params.member_raw("requestState", state);
  }
  params.end_object();
  const std::string whole = params.take();
  return wire::edited(message.document.root(), [&](std::string_view key, const Value&) -> std::optional<std::string> {
    return key == "params" ? std::optional(whole) : std::nullopt;
  });
}

std::string pass_state(const Value& state) { return std::string(state.raw()); }

std::optional<std::string> take_state(const Value& from_client) {
  return from_client.is(Kind::string) ? std::optional(from_client.string()) : std::nullopt;
}

}  // namespace cordon::gate
