// SPDX-License-Identifier: Apache-2.0
// prompts/get, resources/read and what else names a prompt or resource: the pin first, then the policy.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/gate/uri_template.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {

using catalog::ListKind;
using json::Kind;
using json::Value;

namespace {

// No member of a reference that a reader without regard to case takes for what it names.
bool is_clear(const Value& ref) {
  bool clear = true;
  for (const json::Member member : ref.members()) {
    const std::string key = member.key.string();
    const std::string lower = text::lower_ascii(key);
    clear = clear && (key == lower || (lower != "type" && lower != "name" && lower != "uri"));
  }
  return clear;
}

bool flagged(const ItemView& item, const policy::Verdict& verdict) {
  return item.flagged || verdict.action == policy::Action::flag;
}

}  // namespace

void Session::Impl::decide_held(Message message, ListKind kind) {
  if (message.method == catalog::names(kind).method) {
    answer_list(message, kind);
  } else if (message.method == "tools/call") {
    decide_call(std::move(message));
  } else if (message.method == "prompts/get") {
    on_prompt(std::move(message));
  } else if (message.method == "completion/complete") {
    on_completion(std::move(message));
  } else if (message.method == "subscriptions/listen") {
    on_listen(std::move(message));
  } else {
    on_resource(std::move(message));
  }
}

std::optional<Session::Impl::ItemRefusal> Session::Impl::judge_item(std::optional<Errc> refusal,
                                                                    const policy::Verdict& verdict) const {
  if (verdict.action == policy::Action::hide) {
    return ItemRefusal{Errc::tool_not_reviewed, verdict.because, {}};
  }
  if (refusal == Errc::tool_not_reviewed) {
    return ItemRefusal{Errc::tool_not_reviewed, "not in the snapshot", {}};
  }
  if (refusal) {
    return ItemRefusal{*refusal, "drift.changed", "its definition is not the one a person reviewed"};
  }
  if (identity_blocked_) {
    return ItemRefusal{Errc::tool_changed, "drift of the server's identity, instructions or capabilities",
                       "what the server says of itself is not what a person reviewed"};
  }
  if (verdict.action == policy::Action::block || verdict.action == policy::Action::confirm) {
    return ItemRefusal{Errc::tool_blocked, verdict.because, "the policy does not allow it"};
  }
  return std::nullopt;
}

void Session::Impl::record_item(const Message& message, ListKind kind, std::string_view key, std::string_view decision,
                                std::optional<Errc> reason, std::string_view because) {
  json::Writer w;
  w.begin_object().member("event", "item").member("id", text::printable(message.id_json(), 256));
  w.member("method", message.method).member("item", catalog::names(kind).item);
  w.member("name", text::printable(key, 256)).member("decision", decision);
  if (reason) {
    w.member("reason", name(*reason));
  }
  w.member("because", because).end_object();
  record(w.take());
}

// Unknown and hidden ones get the same answer. The words are ours alone: models read them.
void Session::Impl::refuse_item(const Message& message, ListKind kind, std::string_view key,
                                const ItemRefusal& refusal) {
  const bool hidden = refusal.code == Errc::tool_not_reviewed;
  record_item(message, kind, key, hidden ? "hide" : "block", refusal.code, refusal.because);
  if (hidden) {
    to_client(wire::error_line(*message.id, json_rpc_code(refusal.code),
                               text::cat("Unknown ", catalog::names(kind).text, ": ", text::printable(key, 256)),
                               refusal.code));
    return;
  }
  // A difference can be looked at; a line of the policy is named.
  const std::string hint = refusal.code == Errc::tool_blocked
                               ? std::string()
                               : text::cat("; to look at it: mcp-cordon diff ", config_.spelled);
  notice_once(
      text::cat(message.method, " of '", text::printable(key, 100), "' was refused by ", refusal.because, hint));
  to_client(wire::error_line(*message.id, refusal.code,
                             text::cat(refusal.detail, ". Only a person can change this, outside of this session.")));
}

void Session::Impl::pass_item(Message message, ListKind kind, std::string_view key, const ItemJudgement& judgement) {
  if (judgement.flagged) {
    notice_once(text::cat(message.method, " of '", text::printable(key, 100), "' passed and is flagged"));
  }
  record_item(message, kind, key, judgement.flagged ? "flag" : "allow", std::nullopt, judgement.because);
  Outstanding outstanding;
  outstanding.tool = judgement.interface_of;
  outstanding.interface_digest = judgement.interface_digest;
  outstanding.flagged = judgement.flagged;
  forward_request(std::move(message), std::move(outstanding));
}

Session::Impl::ItemJudgement Session::Impl::judge_prompt(const std::string& name) const {
  ItemJudgement judgement;
  if (!usable(ListKind::prompts)) {
    judgement.missing = ListKind::prompts;
    return judgement;
  }
  const ItemView* prompt = items(ListKind::prompts)->find(name);
  if (prompt == nullptr) {
    judgement.refusal = ItemRefusal{Errc::tool_not_reviewed, "the server does not offer it", {}};
    return judgement;
  }
  judgement.refusal = judge_item(prompt->refusal, prompt->verdict);
  judgement.because = prompt->verdict.because;
  judgement.flagged = flagged(*prompt, prompt->verdict);
  return judgement;
}

void Session::Impl::on_prompt(Message message) {
  const Value name = message.params.find("name");
  const Value arguments = message.params.find("arguments");
  if (!name.is(Kind::string) || (arguments && !arguments.is(Kind::object) && !arguments.is(Kind::null))) {
    refuse_request(message, Errc::message_malformed, "prompts/get needs a string `name` and an object `arguments`");
    return;
  }
  settle_item(std::move(message), ListKind::prompts, name.string(), judge_prompt(name.string()));
}

// Waits, refuses or passes.
void Session::Impl::settle_item(Message message, ListKind kind, const std::string& key,
                                const ItemJudgement& judgement) {
  if (judgement.missing) {
    hold(std::move(message), *judgement.missing);
  } else if (judgement.refusal) {
    refuse_item(message, kind, key, *judgement.refusal);
  } else {
    if (message.method == "resources/subscribe") {
      subscribed_.insert(key);
    }
    pass_item(std::move(message), kind, key, judgement);
  }
}

// Content that a client shows and runs passes only as the pin of a tool knows it.
Session::Impl::ItemJudgement Session::Impl::judge_interface(const std::string& uri) const {
  ItemJudgement judgement;
  if (!usable(ListKind::tools)) {
    judgement.missing = ListKind::tools;
    return judgement;
  }
  const ToolView* owner = view_->interface_owner(uri);
  if (owner == nullptr) {
    judgement.refusal = ItemRefusal{Errc::tool_not_reviewed, "no reviewed tool names it", {}};
    return judgement;
  }
  const policy::Verdict verdict = policy::evaluate_resource(config_.policy, uri, policy::ResourceOrigin::listed);
  judgement.refusal = judge_item(std::nullopt, verdict);
  judgement.because = verdict.because;
  judgement.flagged = verdict.action == policy::Action::flag;
  judgement.interface_of = owner->name;
  judgement.interface_digest = owner->interface_digest;
  return judgement;
}

Session::Impl::ItemJudgement Session::Impl::judge_resource(const std::string& uri) const {
  ItemJudgement judgement;
  const auto decide = [&](std::optional<Errc> refusal, const policy::Verdict& verdict, bool by_flag) {
    judgement.refusal = judge_item(refusal, verdict);
    judgement.because = verdict.because;
    judgement.flagged = by_flag || verdict.action == policy::Action::flag;
    return judgement;
  };
  if (uri.starts_with("ui://") && config_.snapshot) {
    return judge_interface(uri);
  }
  if (policy::is_dynamic(config_.policy.catalog, uri)) {
    return decide(std::nullopt, policy::evaluate_resource(config_.policy, uri, policy::ResourceOrigin::listed), false);
  }
  for (const ListKind kind : {ListKind::resources, ListKind::templates}) {
    if (!usable(kind)) {
      judgement.missing = kind;
      return judgement;
    }
    if (kind == ListKind::templates) {
      break;
    }
    if (const ItemView* listed = items(kind)->find(uri)) {
      return decide(listed->refusal, listed->verdict, listed->flagged);
    }
  }
  const ItemView* from = nullptr;
  for (const ItemView& one : items(ListKind::templates)->items()) {
    const bool better = from == nullptr || (from->refusal && !one.refusal);
    if (better && !policy::is_ambiguous_uri(uri) && template_matches(one.key, uri)) {
      from = &one;
    }
  }
  if (from == nullptr) {
    judgement.refusal = ItemRefusal{Errc::tool_not_reviewed, "neither listed nor named by a template", {}};
    return judgement;
  }
  return decide(from->refusal, policy::evaluate_resource(config_.policy, uri, policy::ResourceOrigin::by_template),
                from->flagged);
}

// resources/read, resources/subscribe, resources/unsubscribe.
void Session::Impl::on_resource(Message message) {
  const Value value = message.params.find("uri");
  if (!value.is(Kind::string)) {
    refuse_request(message, Errc::message_malformed, text::cat(message.method, " needs a string `uri`"));
    return;
  }
  const std::string uri = value.string();
  if (message.method != "resources/read" && (!opening_ || !opening_->subscribe)) {
    refuse_request(message, Errc::method_not_allowed, text::cat(message.method, " is not part of what was reviewed"));
    return;
  }
  if (message.method == "resources/unsubscribe") {
    if (subscribed_.erase(uri) == 0) {
      refuse_item(message, ListKind::resources, uri, {Errc::tool_not_reviewed, "it was not subscribed to", {}});
    } else {
      forward_request(std::move(message), {});
    }
    return;
  }
  settle_item(std::move(message), ListKind::resources, uri, judge_resource(uri));
}

// What may be completed is what may be used.
void Session::Impl::on_completion(Message message) {
  const Value ref = message.params.find("ref");
  const Value type = ref.find("type");
  if (!is_clear(ref)) {
    refuse_request(message, Errc::message_ambiguous, "a member of `ref` equals another only after case folding");
    return;
  }
  if (type.is(Kind::string) && type.string_equals("ref/prompt") && ref.find("name").is(Kind::string)) {
    const std::string prompt = ref.find("name").string();
    settle_item(std::move(message), ListKind::prompts, prompt, judge_prompt(prompt));
    return;
  }
  if (!type.is(Kind::string) || !type.string_equals("ref/resource") || !ref.find("uri").is(Kind::string)) {
    refuse_request(message, Errc::message_malformed, "completion/complete needs a `ref` to a prompt or a resource");
    return;
  }
  const std::string uri = ref.find("uri").string();
  ItemJudgement judgement;
  if (!usable(ListKind::templates)) {
    judgement.missing = ListKind::templates;
  } else if (const ItemView* named = items(ListKind::templates)->find(uri)) {
    judgement.refusal = judge_item(named->refusal, named->verdict);
    judgement.because = named->verdict.because;
    judgement.flagged = flagged(*named, named->verdict);
  } else {
    judgement = judge_resource(uri);
  }
  settle_item(std::move(message), ListKind::templates, uri, judgement);
}

void Session::Impl::on_listen(Message message) {
  const Value wanted = message.params.find("notifications");
  Outstanding outstanding;
  constexpr std::array kFlags = std::to_array<std::pair<std::string_view, wire::Feature>>({
      {"toolsListChanged", wire::Feature::tools},
      {"promptsListChanged", wire::Feature::prompts},
      {"resourcesListChanged", wire::Feature::resources},
  });
  for (const auto& [flag, feature] : kFlags) {
    if (const Value value = wanted.find(flag); value.is(Kind::boolean) && value.boolean()) {
      outstanding.wants_changes.insert(feature);
    }
  }
  for (const Value element : wanted.find("resourceSubscriptions").elements()) {
    if (!element.is(Kind::string)) {
      refuse_request(message, Errc::message_malformed, "resourceSubscriptions holds something that is no string");
      return;
    }
    const std::string uri = element.string();
    const ItemJudgement judgement = judge_resource(uri);
    if (judgement.missing || judgement.refusal) {
      settle_item(std::move(message), ListKind::resources, uri, judgement);
      return;
    }
    outstanding.watched.insert(uri);
  }
  for (const Value element : wanted.find("taskIds").elements()) {
    const std::string id = element.is(Kind::string) ? element.string() : std::string();
    if (tasks_.find(id, wire::Era::stateless, now_) == nullptr || !declares_tasks(message)) {
      refuse_task(message);
      return;
    }
    outstanding.tasks.insert(id);
  }
  forward_request(std::move(message), std::move(outstanding));
}

// A server may report a part of what is watched; not by a way that leads out of it.
bool Session::Impl::is_watched(std::string_view uri) const {
  const bool clear = !policy::is_ambiguous_uri(uri);
  const auto covers = [&](const std::string& watched) {
    return uri == watched ||
           (clear && uri.starts_with(watched) && (watched.ends_with('/') || uri[watched.size()] == '/'));
  };
  return std::ranges::any_of(subscribed_, covers) || std::ranges::any_of(outstanding_, [&](const auto& entry) {
           return std::ranges::any_of(entry.second.watched, covers);
         });
}

}  // namespace cordon::gate
