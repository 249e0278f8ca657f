// SPDX-License-Identifier: Apache-2.0
// The diff as one page that needs nothing else: no script, no request, and a policy that lets none in. What a stranger
// wrote is made printable first and escaped for markup second.
#include <array>

#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/reports/html_style.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/word_diff.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;
using catalog::Severity;

constexpr std::array kSeverities = {Severity::critical, Severity::high, Severity::medium, Severity::low,
                                    Severity::info};

std::string one_line(std::string_view untrusted) { return escaped_markup(printable_whole(untrusted)); }

// Line ends stay; all else that cannot be seen is spelled out.
std::string lines(std::string_view untrusted) {
  std::string out;
  for (const std::string_view line : text::split(untrusted, '\n')) {
    out += (out.empty() && line.data() == untrusted.data() ? "" : "\n") + one_line(line);
  }
  return out;
}

std::string json_lines(const std::string& json) {
  const Result<json::Document> document = json::read(json, {.max_bytes = json.size(), .max_depth = 1024});
  const std::string shown = document ? json::pretty(document->root(), json::Escaping::reviewable) : json;
  std::string out;
  for (const std::string_view line : text::split(shown, '\n')) {
    out += (out.empty() ? "" : "\n") + escaped_markup(printable_json(line));
  }
  return out;
}

// `whole`: all of it went or came, so that underlining every word would say nothing.
enum class Extent : std::uint8_t { words, whole };

std::string side(std::string_view title, const std::string& content) {
  return text::cat("<div><h4>", title, "</h4><pre>", content, "</pre></div>\n");
}

std::string sides(const std::string& before, const std::string& after, Extent extent) {
  return text::cat("<div class=\"sides", extent == Extent::whole ? " whole" : "", "\">\n", side("before", before),
                   side("after", after), "</div>\n");
}

std::string word_sides(const Texts& texts) {
  std::string before;
  std::string after;
  for (const WordPiece& piece : word_diff(texts.before, texts.after)) {
    const std::string shown = lines(piece.text);
    if (piece.kind == WordPiece::Kind::same) {
      before += shown;
      after += shown;
    } else if (piece.kind == WordPiece::Kind::removed) {
      before += "<del>" + shown + "</del>";
    } else {
      after += "<ins>" + shown + "</ins>";
    }
  }
  return sides(before, after, Extent::words);
}

std::string cue_list(const Place& place) {
  if (place.cues.empty()) {
    return {};
  }
  std::string out = "<ul class=\"cues\">\n";
  for (const catalog::Cue& cue : place.cues) {
    out += text::cat("<li class=\"", catalog::name(cue.least), "\"><span class=\"sev\">", catalog::cue_phrase(cue.name),
                     "</span>", cue.excerpt.empty() ? "" : text::cat(" <code>", one_line(cue.excerpt), "</code>"),
                     cue.count > 1 ? text::cat(" ", cue.count, " times") : "", "</li>\n");
  }
  return out + "</ul>\n";
}

std::string place_text(const Place& place, ChangeKind kind) {
  std::string out;
  if (!place.pointer.empty()) {
    out += text::cat("<h3>", phrase(place), " <code>", one_line(readable_pointer(place.pointer)), "</code></h3>\n");
  }
  out += cue_list(place);
  if (kind == ChangeKind::cosmetic) {
    return out;
  }
  if (const std::optional<Texts> texts = prose_of(place)) {
    return out + word_sides(*texts);
  }
  if (place.before.empty() || place.after.empty()) {
    const bool added = place.before.empty();
    const std::string_view tag = added ? "ins" : "del";
    return text::cat(out, "<pre class=\"whole\"><", tag, '>', json_lines(added ? place.after : place.before), "</", tag,
                     "></pre>\n");
  }
  return out + sides("<del>" + json_lines(place.before) + "</del>", "<ins>" + json_lines(place.after) + "</ins>",
                     Extent::whole);
}

std::string article(const catalog::Group& group) {
  const ItemChange& change = *group.items.front();
  std::string out = text::cat("<article class=\"", catalog::name(group.severity), "\">\n<h2><span class=\"sev\">",
                              label(group.severity), "</span> ", headline(group), "</h2>\n");
  if (!change.name.empty()) {
    out += "<ul class=\"names\">\n";
    for (const ItemChange* item : group.items) {
      const std::string was = item->kind == ChangeKind::renamed
                                  ? text::cat("<code>", one_line(item->old_name), "</code> is now ")
                                  : std::string();
      out += text::cat("<li>", was, "<code>", one_line(item->name), "</code></li>\n");
    }
    out += "</ul>\n";
  }
  const bool several = group.items.size() > 1 && change.kind == ChangeKind::removed;
  for (const Place* place : group.places) {
    out += several ? std::string() : place_text(*place, change.kind);
  }
  if (group.omitted_places != 0) {
    out += text::cat("<p>… and ", group.omitted_places, " more places</p>\n");
  }
  return out + "</article>\n";
}

std::string filters(const std::vector<catalog::Group>& groups) {
  std::array<std::size_t, kSeverities.size()> counts = {};
  for (const catalog::Group& group : groups) {
    ++counts[static_cast<std::size_t>(group.severity)];
  }
  std::string boxes;
  std::string labels;
  for (const Severity severity : kSeverities) {
    const std::string_view word = catalog::name(severity);
    const std::size_t count = counts[static_cast<std::size_t>(severity)];
    if (count != 0) {
      boxes += text::cat("<input class=\"f\" type=\"checkbox\" id=\"f-", word, "\" checked>\n");
      labels += text::cat("<label for=\"f-", word, "\">", word, " (", count, ")</label>\n");
    }
  }
  return labels.empty() ? std::string()
                        : text::cat(boxes, "<div class=\"filters\" role=\"group\" aria-label=\"Show\">Show:\n", labels,
                                    "</div>\n");
}

std::string render(const catalog::Diff& diff, const RenderOptions&) {
  const std::vector<catalog::Group> groups = catalog::groups_of(diff);
  std::string out = text::cat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src ",
      style_source(html_style()),
      "; base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta "
      "name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>Server catalog</title>\n<style>",
      html_style(), "</style>\n</head>\n<body>\n<h1>Server catalog</h1>\n<p>", summary(diff), "</p>\n", filters(groups),
      "<main>\n");
  for (const catalog::Group& group : groups) {
    out += article(group);
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace

extern const Report html_report;
constinit const Report html_report = {.name = "html", .render = render};

}  // namespace cordon::formats
