// SPDX-License-Identifier: Apache-2.0
#include "core/gate/confirmation.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::size_t kMaxDeclines = 256;  // each took a person's hand
constexpr std::size_t kMaxRemembered = 1024;

}  // namespace

// JSON arrays, so that no two lists of parts give the same text.
ConfirmSubject confirm_subject(const SubjectParts& parts, const json::Value& arguments) {
  const bool given = arguments && !arguments.is(json::Kind::null);
  json::Writer call;
  call.begin_array().string("call").string(parts.server).string(parts.session).string(parts.tool);
  call.string(parts.definition).string(parts.snapshot).raw(given ? json::canonical(arguments) : "{}").end_array();
  json::Writer pattern;
  pattern.begin_array().string("pattern").string(parts.server).string(parts.session).string(parts.tool);
  pattern.string(parts.definition).string(parts.snapshot).string(parts.effect).string(parts.because).end_array();
  return {std::string(parts.tool), hex(sha256(call.take())), hex(sha256(pattern.take()))};
}

void Confirmations::forget(Instant now) {
  std::erase_if(open_, [&](const auto& entry) { return now >= entry.second.deadline; });
  while (!asked_at_.empty() && now - asked_at_.front() >= kMinuteMs) {
    asked_at_.pop_front();
  }
  while (!declined_.empty() && (now - declined_.front().at >= kDeclinedMs || declined_.size() > kMaxDeclines)) {
    declined_.pop_front();
  }
}

std::size_t Confirmations::count(Stage stage) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_, [&](const auto& entry) { return entry.second.stage == stage; }));
}

Confirmations::Standing Confirmations::standing(const ConfirmSubject& subject, Instant now) {
  forget(now);
  if (remembered_.contains(subject.call) || remembered_.contains(subject.pattern)) {
    return Standing::remembered;
  }
  const bool same = std::ranges::any_of(declined_, [&](const Decline& one) { return one.call == subject.call; });
  const auto of_tool = std::ranges::count_if(declined_, [&](const Decline& one) { return one.tool == subject.tool; });
  if (same || static_cast<std::size_t>(of_tool) >= kDeclinesPerTool) {
    return Standing::declined;
  }
  if (count(Stage::asked) >= kMaxAsked) {
    return Standing::too_many;
  }
  return asked_at_.size() >= kAskedPerMinute ? Standing::too_often : Standing::ask;
}

std::string Confirmations::fresh_nonce(const MacKey& key, std::string_view purpose) {
  return hex(hmac_sha256(key, text::cat("nonce/", purpose, '/', ++nonces_)));
}

void Confirmations::open(const std::string& nonce, Open question, Instant now) {
  forget(now);
  if (question.stage == Stage::asked) {
    asked_at_.push_back(now);
  } else if (count(Stage::granted) >= kMaxContinuations) {
    const auto oldest = std::ranges::min_element(open_, {}, [](const auto& entry) {
      return entry.second.stage == Stage::granted ? entry.second.deadline.ms : INT64_MAX;
    });
    open_.erase(oldest);
  }
  open_.insert_or_assign(nonce, std::move(question));
}

std::optional<Confirmations::Open> Confirmations::spend(const std::string& nonce) {
  const auto found = open_.find(nonce);
  if (found == open_.end()) {
    return std::nullopt;
  }
  Open question = std::move(found->second);
  open_.erase(found);
  return question;
}

void Confirmations::decline(const ConfirmSubject& subject, Instant now) {
  declined_.push_back({subject.tool, subject.call, now});
  // Nor may another question about the same call, asked before this no, be answered with a yes.
  std::erase_if(open_, [&](const auto& entry) {
    return entry.second.stage == Stage::asked && entry.second.subject.call == subject.call;
  });
}

void Confirmations::remember_arguments(const ConfirmSubject& subject) {
  if (remember_ != policy::Confirm::Remember::never && remembered_.size() < kMaxRemembered) {
    remembered_.insert(subject.call);
  }
}

void Confirmations::remember_pattern(const ConfirmSubject& subject) {
  if (remember_ == policy::Confirm::Remember::session && remembered_.size() < kMaxRemembered) {
    remembered_.insert(subject.pattern);
  }
}

}  // namespace cordon::gate
