// SPDX-License-Identifier: Apache-2.0
#include "core/gate/records.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

constexpr std::size_t kMaxText = 256;

std::string_view name(policy::DriftAction action) {
  switch (action) {
    case policy::DriftAction::allow:
      return "allow";
    case policy::DriftAction::flag:
      return "flag";
    case policy::DriftAction::block:
      return "block";
    case policy::DriftAction::hide:
      return "hide";
    case policy::DriftAction::pinned:
      return "pinned";
  }
  CORDON_ASSERT(false);
}

}  // namespace

std::string_view name(Side side) {
  switch (side) {
    case Side::client:
      return "client";
    case Side::server:
      return "server";
  }
  CORDON_ASSERT(false);
}

std::string refused_record(Side from, Errc reason, std::string_view detail, const std::optional<wire::Id>& id,
                           std::string_view method) {
  json::Writer w;
  w.begin_object().member("event", "refused").member("from", name(from)).member("reason", cordon::name(reason));
  w.member("detail", text::printable(detail, kMaxText));
  if (id) {
    w.member("id", text::printable(id->json(), kMaxText));
  }
  if (!method.empty()) {
    w.member("method", text::printable(method, kMaxText));
  }
  w.end_object();
  return w.take();
}

std::string drift_record(const DriftNote& note) {
  json::Writer w;
  w.begin_object().member("event", "drift").member("item", note.item).member("change", note.change);
  w.member("action", name(note.action));
  if (!note.name.empty()) {
    w.member("name", text::printable(note.name, kMaxText));
  }
  if (!note.digest.empty()) {
    w.member("digest", note.digest);
  }
  if (!note.detail.empty()) {
    w.member("detail", note.detail);
  }
  w.end_object();
  return w.take();
}

std::string stray_record(std::string_view line) {
  json::Writer w;
  w.begin_object().member("event", "stray").member_int("bytes", static_cast<std::int64_t>(line.size()));
  w.member("text", text::printable(line, kMaxText)).end_object();
  return w.take();
}

std::string text_record(const std::optional<wire::Id>& id, std::string_view of, std::string_view treatment_json) {
  json::Writer w;
  w.begin_object().member("event", "text").member("from", "server").member("of", text::printable(of, kMaxText));
  if (id) {
    w.member("id", text::printable(id->json(), kMaxText));
  }
  w.member_raw("treatment", treatment_json).end_object();
  return w.take();
}

std::string exit_record(ExitReport report) {
  json::Writer w;
  w.begin_object().member("event", "exit").member_bool("signalled", report.signalled);
  w.member_int("code", report.code).end_object();
  return w.take();
}

std::string respawn_record(std::string_view because) {
  json::Writer w;
  w.begin_object().member("event", "respawn").member("because", because).end_object();
  return w.take();
}

std::string catalog_record(const CatalogView& view) {
  std::int64_t listed = 0;
  for (const ToolView& tool : view.tools()) {
    listed += tool.served.empty() ? 0 : 1;
  }
  json::Writer w;
  w.begin_object().member("event", "catalog");
  w.member_int("tools", static_cast<std::int64_t>(view.tools().size())).member_int("listed", listed).end_object();
  return w.take();
}

std::string list_record(const ItemListView& view, catalog::ListKind kind) {
  std::int64_t listed = 0;
  for (const ItemView& item : view.items()) {
    listed += item.served.empty() ? 0 : 1;
  }
  json::Writer w;
  w.begin_object().member("event", "catalog").member("list", catalog::names(kind).file_member);
  w.member_int("items", static_cast<std::int64_t>(view.items().size())).member_int("listed", listed).end_object();
  return w.take();
}

std::string question_record(const QuestionNote& note, const JudgedQuestion& judged) {
  constexpr std::size_t kMaxTools = 20;
  json::Writer w;
  w.begin_object().member("event", "question").member("id", text::printable(note.id, kMaxText));
  w.member("method", text::printable(note.method, kMaxText));
  if (!note.within.empty()) {
    w.member("within", note.within);
  }
  w.member("decision", note.decision);
  if (note.decision == "block") {
    w.member("reason", name(Errc::client_request_blocked));
  }
  w.member("because", judged.because);
  if (!judged.host.empty()) {
    w.member("host", text::printable(judged.host, kMaxText));
  }
  if (!judged.tools.empty()) {
    w.member_int("tool_count", static_cast<std::int64_t>(judged.tools.size()));
    w.key("tools").begin_array();
    for (std::size_t i = 0; i < std::min(judged.tools.size(), kMaxTools); ++i) {
      w.string(text::printable(judged.tools[i], 64));
    }
    w.end_array();
  }
  w.end_object();
  return w.take();
}

std::string answered_record(const wire::Id& id, std::string_view method, std::string_view answer) {
  json::Writer w;
  w.begin_object().member("event", "question_answered").member("id", text::printable(id.json(), kMaxText));
  w.member("method", method).member("answer", answer).end_object();
  return w.take();
}

std::string task_record(std::string_view id, std::string_view tool, std::string_view task, std::string_view status) {
  json::Writer w;
  w.begin_object().member("event", "task");
  if (!id.empty()) {
    w.member("id", text::printable(id, kMaxText));
  }
  w.member("tool", text::printable(tool, kMaxText)).member("task", text::printable(task, kMaxText));
  w.member("status", status).end_object();
  return w.take();
}

std::string opened_record(std::string_view era, std::string_view version) {
  json::Writer w;
  w.begin_object().member("event", "opened").member("era", era).member("version", text::printable(version, 64));
  w.end_object();
  return w.take();
}

}  // namespace cordon::gate
