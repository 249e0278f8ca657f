// SPDX-License-Identifier: Apache-2.0
#include "app/explain.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "app/session_context.hpp"
#include "base/text.hpp"
#include "core/catalog/effects.hpp"
#include "core/gate/reviewed_schemas.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/judge_call.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kHomeInside = "/home/cordon";

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

constexpr std::string_view kLiveToo =
    "  only while the live definition is the reviewed one: a changed tool is judged by catalog.drift first\n";

// Where the class alone decides, a person can change either.
std::string way_out(const policy::Policy& policy, const policy::Verdict& verdict, const std::string& tool) {
  if (verdict.action == policy::Action::allow || !verdict.because.starts_with("effect ")) {
    return {};
  }
  return text::cat("  to change that: another class (mcp-cordon review ", policy.server,
                   " --all), or a rule in tools.rules of the policy, as {tools: [",
                   json::quoted(text::printable(tool, 256)), "], action: allow}\n");
}

// How the tool stands to the snapshot. Nothing: it is never shown.
struct Pin {
  const catalog::PinnedTool* pinned = nullptr;
  policy::Effect effect = policy::Effect::unknown;
  bool by_person = false;
  std::string effect_text = {};  // with who set it
};

std::optional<Pin> pin_of(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool) {
  Pin out;
  out.pinned = snapshot == nullptr ? nullptr : snapshot->find(tool);
  const bool flagged = snapshot == nullptr && policy.catalog.missing == policy::Missing::flag;
  if (out.pinned == nullptr) {
    out.effect_text = "unknown (not reviewed)";
    return flagged || policy.catalog.drift.added == policy::DriftAction::flag ? std::optional(out) : std::nullopt;
  }
  out.by_person = out.pinned->effect_source == catalog::EffectSource::reviewer;
  out.effect = policy::effect_from_name(out.pinned->effect).value_or(policy::Effect::unknown);
  // A class that nobody confirmed counts as unknown where it is the most permissive one.
  if (!out.by_person && out.effect == policy::Effect::read) {
    out.effect = policy::Effect::unknown;
  }
  out.effect_text = text::cat(policy::name(out.effect), out.by_person ? "" : " (nobody has set it)");
  return out;
}

std::string never_shown(const catalog::Snapshot* snapshot, const std::string& tool) {
  std::vector<std::string_view> names;
  for (const catalog::PinnedTool& one :
       snapshot == nullptr ? std::span<const catalog::PinnedTool>() : std::span(snapshot->tools)) {
    names.push_back(one.name);
  }
  const std::optional<std::string_view> meant = text::nearest(tool, names);
  return text::cat(text::printable(tool, 256), ": not in the snapshot",
                   meant ? text::cat(" (did you mean '", text::printable(*meant, 256), "'?)") : std::string(),
                   "; not listed, a call is answered as for an unknown tool\n");
}

// What the classes hang on, and what speaks for the class, in the words of the proposal.
std::string effect_lines(const Pin& pin) {
  std::string out;
  if (pin.pinned == nullptr) {
    return out;
  }
  for (const catalog::EffectCondition& condition : pin.pinned->when) {
    out += text::cat("    ", text::printable(condition.argument, 128),
                     condition.value ? text::cat(" is ", text::printable(*condition.value, 64)) : " is given", ": ",
                     condition.effect, '\n');
  }
  const catalog::EffectProposal proposal = catalog::propose_effect(pin.pinned->definition);
  return text::cat(out, "    proposed: ", proposal.effect,
                   proposal.reasons.empty()
                       ? std::string()
                       : text::cat(" (", text::printable(text::join(proposal.reasons, "; "), 500), ")"),
                   '\n');
}

}  // namespace

std::string explain_tool(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool) {
  const std::optional<Pin> pin = pin_of(policy, snapshot, tool);
  if (!pin) {
    return never_shown(snapshot, tool);
  }
  std::vector<policy::Effect> possible = {pin->effect};
  for (std::size_t i = 0; pin->pinned != nullptr && i < pin->pinned->when.size(); ++i) {
    possible.push_back(policy::effect_from_name(pin->pinned->when[i].effect).value_or(policy::Effect::unknown));
  }
  // As far as it can be said without arguments.
  const policy::Verdict listed = policy::listing_verdict(policy.tools, tool, possible);
  const policy::Verdict verdict =
      listed.action == policy::Action::hide ? listed : policy::evaluate(policy.tools, tool, pin->effect);
  const bool too_much = policy.tools.read_only && verdict.action != policy::Action::hide &&
                        (pin->effect != policy::Effect::read || !pin->by_person);
  const policy::Action action = too_much ? policy::Action::block : verdict.action;
  std::string out = text::cat(text::printable(tool, 256), ": ", policy::name(action), "\n  ", consequence(action),
                              "\n  effect class: ", pin->effect_text, '\n', effect_lines(*pin),
                              "  because: ", too_much ? "the session is read-only; else " : "",
                              text::printable(verdict.because, 1024), "\n");
  if (possible.size() > 1 || policy::CallJudge(policy.tools).looks_at_arguments(tool)) {
    out += "  a call is judged by its arguments as well: add --arguments JSON\n";
  }
  return out + (too_much ? std::string() : way_out(policy, verdict, tool)) + std::string(kLiveToo);
}

std::string explain_call(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool,
                         const json::Value& arguments) {
  const std::optional<Pin> pin = pin_of(policy, snapshot, tool);
  if (!pin) {
    return never_shown(snapshot, tool);
  }
  policy::Call call{.tool = tool, .effect = pin->effect, .effect_by_person = pin->by_person, .arguments = arguments};
  Result<json::Document> definition = fail(Errc::internal, "");
  if (pin->pinned != nullptr) {
    call.when = &pin->pinned->when;
    const std::size_t size = pin->pinned->definition.size();
    definition = json::read(pin->pinned->definition, {.max_bytes = size, .max_depth = 1024});
    call.schema = definition ? definition->root().find("inputSchema") : json::Value();
  }
  policy::LexicalPaths paths;
  const std::string cwd = policy.launch.cwd.empty() ? std::string(kHomeInside) : policy.launch.cwd;
  policy::Trace trace;
  const policy::CallJudgement judged =
      policy::CallJudge(policy.tools)
          .judge(call, {.cwd = cwd, .home = std::string(kHomeInside), .files = &paths}, &trace);
  const bool too_much = policy.tools.read_only && !judged.effects.only(policy::Effect::read);
  std::optional<Error> unfit;
  if (policy.tools.schema == policy::SchemaCheck::enforce && snapshot != nullptr) {
    unfit = gate::ReviewedSchemas(*snapshot, policy).refuse_arguments(tool, arguments);
  }
  const bool hidden = judged.verdict.action == policy::Action::hide;
  std::string out = text::cat(text::printable(tool, 256), ": ");
  if (too_much) {
    out += "block\n  the session is read-only, and this call is not\n";
  } else if (judged.refusal) {
    out += text::cat("block, ", name(*judged.refusal), "\n  the call is refused: argument ",
                     text::printable(judged.finding.pointer, 256), ' ', judged.finding.reason, '\n');
  } else if (unfit && !hidden) {
    out +=
        text::cat("block, ", name(unfit->code),
                  "\n  the call is refused by the reviewed input schema: ", text::printable(unfit->detail, 512), '\n');
  } else {
    out += text::cat(policy::name(judged.verdict.action), "\n  ", consequence(judged.verdict.action), '\n');
  }
  out += text::cat("  pin: ", pin->pinned != nullptr ? "reviewed" : "not reviewed",
                   "\n  effect class of the tool: ", pin->effect_text, '\n', effect_lines(*pin), "  of this call:");
  for (const policy::Effect effect : judged.effects.all) {
    out += text::cat(' ', policy::name(effect));
  }
  out += '\n';
  for (const std::string& reason : judged.effects.reasons) {
    out += text::cat("    ", text::printable(reason, 512), '\n');
  }
  out += text::cat("  because: ", text::printable(judged.verdict.because, 1024), "\n");
  for (const std::string& line : trace) {
    if (line == judged.verdict.because) {
      continue;
    }
    out += text::cat("    ", text::printable(line, 1024), '\n');
  }
  const bool by_class = !too_much && !judged.refusal && !unfit;
  return out + (by_class ? way_out(policy, judged.verdict, tool) : std::string()) + std::string(kLiveToo);
}

Result<std::string> explain(const ExplainRequest& request) {
  Result<LoadedPolicy> loaded = load_policy(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Result<LoadedSnapshot> found = load_snapshot(request.caller, *loaded);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (const Status admitted = admit_snapshot(*loaded, *found); !admitted) {
    return std::unexpected(admitted.error());
  }
  loaded->policy.tools.read_only = loaded->policy.tools.read_only || request.read_only;
  const catalog::Snapshot* snapshot = found->snapshot ? &*found->snapshot : nullptr;
  return request.arguments ? explain_call(loaded->policy, snapshot, request.tool, request.arguments)
                           : explain_tool(loaded->policy, snapshot, request.tool);
}

}  // namespace cordon::app
