// SPDX-License-Identifier: Apache-2.0
// The diff as one JSON object (docs/formats/diff.md), for programs. Escaped like files that people review.
#include <array>

#include "core/json/write.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;

void write_summary(json::Writer& writer, const catalog::Diff& diff) {
  constexpr std::array kKinds = {ChangeKind::added, ChangeKind::changed, ChangeKind::cosmetic, ChangeKind::removed,
                                 ChangeKind::renamed};
  writer.key("summary").begin_object();
  for (const ChangeKind kind : kKinds) {
    std::int64_t count = 0;
    for (const ItemChange& change : diff.changes) {
      count += change.kind == kind ? 1 : 0;
    }
    writer.member_int(catalog::name(kind), count);
  }
  writer.end_object();
}

void write_place(json::Writer& writer, const Place& place) {
  writer.begin_object();
  if (!place.after.empty()) {
    writer.member_raw("after", place.after);
  }
  if (!place.before.empty()) {
    writer.member_raw("before", place.before);
  }
  writer.key("cues").begin_array();
  for (const catalog::Cue& cue : place.cues) {
    writer.begin_object();
    writer.member_int("count", static_cast<std::int64_t>(cue.count));
    writer.member("excerpt", cue.excerpt);
    writer.member("name", cue.name);
    writer.end_object();
  }
  writer.end_array();
  writer.member_bool("element", place.element);
  writer.member("pointer", place.pointer);
  writer.member("severity", catalog::name(place.severity));
  writer.member("what", catalog::name(place.what));
  writer.end_object();
}

void write_change(json::Writer& writer, const ItemChange& change) {
  writer.begin_object();
  writer.member_int("group", static_cast<std::int64_t>(change.group));
  writer.member("item", change.item);
  writer.member("kind", catalog::name(change.kind));
  writer.member("name", change.name);
  writer.member("old_name", change.old_name);
  writer.member_int("omitted_places", static_cast<std::int64_t>(change.omitted_places));
  writer.key("places").begin_array();
  for (const Place& place : change.places) {
    write_place(writer, place);
  }
  writer.end_array();
  writer.member("severity", catalog::name(change.severity));
  writer.end_object();
}

std::string render(const catalog::Diff& diff, const RenderOptions&) {
  json::Writer writer;
  writer.begin_object();
  writer.key("changes").begin_array();
  for (const ItemChange& change : diff.changes) {
    write_change(writer, change);
  }
  writer.end_array();
  writer.member_bool("drifted", diff.drifted());
  writer.member("format", "mcp-cordon.diff");
  write_summary(writer, diff);
  writer.member_int("version", 1);
  writer.end_object();
  return reviewable_json(writer.take());
}

}  // namespace

extern const Report json_report;
constinit const Report json_report = {.name = "json", .render = render};

}  // namespace cordon::formats
