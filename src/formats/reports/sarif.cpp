// SPDX-License-Identifier: Apache-2.0
// The diff as SARIF 2.1.0, one result for each place that differs. Results are about the file that a team reviews.
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/write.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/sarif_words.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ItemChange;
using catalog::Place;
using catalog::Severity;

std::string_view level(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "none";
    case Severity::low:
      return "note";
    case Severity::medium:
      return "warning";
    case Severity::high:
    case Severity::critical:
      return "error";
  }
  return "none";
}

std::string message(const ItemChange& change, const Place& place) {
  std::string out = catalog::name(change.kind) == "renamed" && place.what == catalog::What::name_changed
                        ? text::cat("tool '", sarif_text(change.old_name), "' is now '", sarif_text(change.name), "'")
                        : text::cat(noun(change.item, 1), change.name.empty() ? "" : " '", sarif_text(change.name),
                                    change.name.empty() ? "" : "'", ": ", catalog::facts(place.what).phrase);
  if (!place.pointer.empty()) {
    out += text::cat(" at ", sarif_text(place.pointer));
  }
  for (const catalog::Cue& cue : place.cues) {
    out += text::cat("; ", catalog::cue_phrase(cue.name), cue.excerpt.empty() ? "" : ": " + sarif_text(cue.excerpt));
  }
  return out;
}

void write_result(json::Writer& writer, const ItemChange& change, const Place& place, const std::string& artifact) {
  writer.begin_object();
  writer.member("ruleId", catalog::name(place.what));
  writer.member_int("ruleIndex", static_cast<std::int64_t>(place.what));
  writer.member("level", level(place.severity));
  writer.member("kind", place.severity == Severity::info ? "informational" : "fail");
  writer.key("message").begin_object().member("text", message(change, place)).end_object();
  writer.key("locations").begin_array().begin_object();
  writer.key("physicalLocation").begin_object();
  writer.key("artifactLocation").begin_object().member("uri", sarif_uri(artifact)).end_object();
  writer.key("region").begin_object().member_int("startLine", 1).end_object();
  writer.end_object();
  writer.key("logicalLocations").begin_array().begin_object();
  writer.member("fullyQualifiedName", text::printable(text::cat(change.item, '/', change.name, place.pointer), 2'000));
  writer.member("kind", "member");
  writer.end_object().end_array();
  writer.end_object().end_array();
  const std::string identity = text::cat(change.item, '\n', change.name, '\n', place.pointer, '\n',
                                         catalog::name(place.what), '\n', place.before, '\n', place.after);
  writer.key("partialFingerprints").begin_object().member("change/v1", hex(sha256(identity))).end_object();
  writer.key("properties").begin_object();
  writer.member("severity", catalog::name(place.severity));
  writer.end_object();
  writer.end_object();
}

void write_rules(json::Writer& writer) {
  writer.key("rules").begin_array();
  for (const catalog::WhatFacts& row : catalog::what_table()) {
    writer.begin_object();
    writer.member("id", row.name);
    writer.key("shortDescription").begin_object().member("text", row.phrase).end_object();
    writer.key("defaultConfiguration").begin_object().member("level", level(row.severity)).end_object();
    writer.end_object();
  }
  writer.end_array();
}

std::string render(const catalog::Diff& diff, const RenderOptions& options) {
  json::Writer writer;
  writer.begin_object();
  writer.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  writer.member("version", "2.1.0");
  writer.key("runs").begin_array().begin_object();
  writer.key("tool").begin_object().key("driver").begin_object();
  writer.member("name", "mcp-cordon");
  write_rules(writer);
  writer.end_object().end_object();
  writer.key("results").begin_array();
  for (const ItemChange& change : diff.changes) {
    for (const Place& place : change.places) {
      write_result(writer, change, place, options.artifact);
    }
    if (change.omitted_places != 0) {
      Place rest = {.severity = change.severity, .what = catalog::What::member_changed};
      rest.pointer = text::cat("/… and ", change.omitted_places, " more places");
      write_result(writer, change, rest, options.artifact);
    }
  }
  writer.end_array();
  writer.end_object().end_array();
  writer.end_object();
  return reviewable_json(writer.take());
}

}  // namespace

extern const Report sarif_report;
constinit const Report sarif_report = {.name = "sarif", .render = render};

}  // namespace cordon::formats
