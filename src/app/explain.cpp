// SPDX-License-Identifier: Apache-2.0
#include "app/explain.hpp"

#include "app/session_context.hpp"
#include "base/text.hpp"
#include "core/policy/evaluate.hpp"

namespace cordon::app {
namespace {

std::string_view consequence(policy::Action action) {
  switch (action) {
    case policy::Action::allow:
      return "a call passes";
    case policy::Action::flag:
      return "a call passes and is marked";
    case policy::Action::confirm:
      return "a call waits for a person's word: asked in the client where that shows forms, else as tools.confirm says";
    case policy::Action::block:
      return "the tool is listed, a call is refused";
    case policy::Action::hide:
      return "the tool is not listed, a call is answered as for an unknown tool";
  }
  return "";
}

}  // namespace

std::string explain_tool(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool) {
  const std::string shown = text::printable(tool, 256);
  const catalog::PinnedTool* pinned = snapshot == nullptr ? nullptr : snapshot->find(tool);
  const bool flagged = snapshot == nullptr && policy.catalog.missing == policy::Missing::flag;
  if (pinned == nullptr && !flagged && policy.catalog.drift.added != policy::DriftAction::flag) {
    return text::cat(shown, ": not in the snapshot; not listed, a call is answered as for an unknown tool\n");
  }
  // A class that nobody confirmed counts as unknown where it is the most permissive one.
  std::string effect = pinned == nullptr ? "unknown" : pinned->effect;
  if (pinned != nullptr && pinned->effect_source == catalog::EffectSource::proposed && effect == "read") {
    effect = "unknown";
  }
  const policy::Verdict verdict =
      policy::evaluate(policy.tools, tool, policy::effect_from_name(effect).value_or(policy::Effect::unknown));
  std::string out = text::cat(shown, ": ", policy::name(verdict.action), "\n  ", consequence(verdict.action),
                              "\n  effect class: ", effect);
  if (pinned == nullptr) {
    out += " (not reviewed)";
  } else if (pinned->effect_source == catalog::EffectSource::proposed) {
    out += " (nobody has set it)";
  }
  out += text::cat("\n  because: ", text::printable(verdict.because, 1024), "\n");
  out += "  only while the live definition is the reviewed one: a changed tool is judged by catalog.drift first\n";
  return out;
}

Result<std::string> explain(const Caller& caller, const PolicyChoice& choice, const std::string& tool) {
  const Result<LoadedPolicy> loaded = load_policy(caller, choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Result<LoadedSnapshot> found = load_snapshot(caller, *loaded);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (const Status admitted = admit_snapshot(*loaded, *found); !admitted) {
    return std::unexpected(admitted.error());
  }
  return explain_tool(loaded->policy, found->snapshot ? &*found->snapshot : nullptr, tool);
}

}  // namespace cordon::app
