// SPDX-License-Identifier: Apache-2.0
// What rules and effect classes say of one call, by its own arguments.
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/session_state.hpp"

namespace cordon::gate {

policy::CallJudgement Session::Impl::judge_call(const ToolView& tool, const json::Value& arguments) const {
  policy::Call call{.tool = tool.name,
                    .effect = tool.effect,
                    .effect_by_person = tool.effect_by_person,
                    .when = &tool.when,
                    .arguments = arguments};
  std::optional<json::Document> definition;
  if (!tool.when.empty() || call_judge_.looks_at_arguments(tool.name)) {
    // What was reviewed, whatever is served; what nobody has reviewed as it is served.
    const catalog::PinnedTool* pinned = config_.snapshot ? config_.snapshot->find(tool.name) : nullptr;
    const std::string& text = pinned != nullptr ? pinned->definition : tool.served;
    if (!text.empty()) {
      definition.emplace(parse_own(text));
      call.schema = definition->root().find("inputSchema");
    }
  }
  return call_judge_.judge(call, config_.view);
}

void Session::Impl::refuse_arguments(const Message& message, std::string_view name,
                                     const policy::CallJudgement& judged) {
  const std::string& because = judged.verdict.because;
  const std::string where = text::printable(judged.finding.pointer, 200);
  notice_once(text::cat("a call to '", text::printable(name, 100), "' was refused by ", because, ": argument ", where,
                        " ", judged.finding.reason, explain_hint(name)));
  refuse_call(message, *judged.refusal, text::cat(because, ": ", where, " ", judged.finding.reason),
              *judged.refusal == Errc::message_ambiguous ? "an argument of this call can be read in more than one way"
                                                         : "the policy does not allow an argument of this call",
              judged.effects.all.front());
}

void Session::Impl::pass_call(Message message, const ToolView& tool, const policy::CallJudgement& judged) {
  const policy::Effect effect = judged.effects.all.front();
  const bool confirm = judged.verdict.action == policy::Action::confirm;
  Outstanding outstanding;
  outstanding.tool = tool.name;
  outstanding.limits = judged.limits;
  // Nobody is asked about a call that has no room anyway, and while somebody is asked its place is kept.
  const bool counted_before = retried_.contains(*message.id);
  if (!counted_before && !has_place(*message.id) && !admit_by_limits(message, outstanding)) {
    return;
  }
  if (confirm && !confirmed(message, tool, judged, effect)) {
    return;  // refused, or somebody is asked
  }
  give_up_place(*message.id);
  if (!counted_before) {
    limits_of_calls_.count(config_.policy.tools, outstanding.limits, now_);
  }
  const bool flagged = tool.flagged || judged.verdict.action == policy::Action::flag;
  if (flagged) {
    notice_once(text::cat("a call to '", text::printable(tool.name, 100), "' passed and is flagged"));
  }
  record_call(message,
              confirm   ? "confirm"
              : flagged ? "flag"
                        : "allow",
              std::nullopt, judged.verdict.because, &tool, effect);
  outstanding.flagged = flagged;
  if (confirm) {
    outstanding.confirmed = subject_of(message, tool, judged.verdict, effect);
  }
  forward_request(std::move(message), std::move(outstanding));
}

}  // namespace cordon::gate
