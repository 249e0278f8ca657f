// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of audit records that the gate writes (docs/formats/audit.md). Text of a peer is cut and escaped.

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/gate/action.hpp"
#include "core/gate/catalog_view.hpp"
#include "core/gate/item_view.hpp"
#include "core/gate/questions.hpp"
#include "core/wire/id.hpp"

namespace cordon::gate {

std::string_view name(Side side);

// {"event":"refused","from":…,"reason":…,"detail":…,"id":…,"method":…}: a message that was not passed on.
std::string refused_record(Side from, Errc reason, std::string_view detail, const std::optional<wire::Id>& id,
                           std::string_view method);
// {"event":"drift",…}
std::string drift_record(const DriftNote& note);
// {"event":"stray","bytes":N,"text":…}
std::string stray_record(std::string_view line);
// {"event":"text","from":"server","of":…,"id":…,"treatment":{…}}: hidden text, terminal escapes or secrets in what the
// server wrote
std::string text_record(const std::optional<wire::Id>& id, std::string_view of, std::string_view treatment_json);
// {"event":"exit","signalled":…,"code":…}
std::string exit_record(ExitReport report);
// {"event":"respawn","because":…}: the server is started a second time, under the same plan
std::string respawn_record(std::string_view because);
// {"event":"catalog","tools":N,"listed":N}
std::string catalog_record(const CatalogView& view);
// {"event":"catalog","list":…,"items":N,"listed":N}: of a list of another kind
std::string list_record(const ItemListView& view, catalog::ListKind kind);
// {"event":"question","id":…,"method":…,"within":…,"decision":…,"because":…}: what the server asked of the client.
struct QuestionNote {
  std::string_view id = {};  // JSON of the server's id, or the key in a result
  std::string_view method = {};
  std::string_view within = {};
  std::string_view decision = {};
};
std::string question_record(const QuestionNote& note, const JudgedQuestion& judged);
// {"event":"question_answered","id":…,"method":…,"answer":…}: what the client said to it.
std::string answered_record(const wire::Id& id, std::string_view method, std::string_view answer);
// {"event":"task","id":…,"tool":…,"task":…,"status":…}: a call that became a task (with the id of the call), and its
// end.
std::string task_record(std::string_view id, std::string_view tool, std::string_view task, std::string_view status);
// {"event":"opened","era":…,"version":…}
std::string opened_record(std::string_view era, std::string_view version);

}  // namespace cordon::gate
