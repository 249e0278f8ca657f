// SPDX-License-Identifier: Apache-2.0
#include "app/review_text.hpp"

#include <optional>
#include <vector>

#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/reports/definition_view.hpp"
#include "formats/reports/word_diff.hpp"
#include "formats/reports/words.hpp"

namespace cordon::app {
namespace {

// Both texts in one, nothing cut: [-what went-] and {+what came+}.
bool write_words(formats::Paper& paper, const catalog::Place& place) {
  using formats::Ink;
  using Kind = formats::WordPiece::Kind;
  const std::optional<formats::Texts> texts = formats::prose_of(place);
  if (!texts) {
    return false;
  }
  std::vector<Ink> inks;
  for (const formats::WordPiece& piece : formats::word_diff(texts->before, texts->after)) {
    const formats::Tone tone = piece.kind == Kind::removed ? formats::Tone::removed
                               : piece.kind == Kind::added ? formats::Tone::added
                                                           : formats::Tone::plain;
    inks.push_back(Ink::ours(piece.kind == Kind::removed ? "[-" : piece.kind == Kind::added ? "{+" : "", tone));
    inks.push_back(Ink::their_words(piece.text, tone));
    inks.push_back(Ink::ours(piece.kind == Kind::removed ? "-]" : piece.kind == Kind::added ? "+}" : "", tone));
  }
  paper.write("  ~ ", "    ", inks);
  return true;
}

// A whole definition reads better as a list; `w` shows it as it is.
bool write_whole(formats::Paper& paper, const catalog::ItemChange& change, const catalog::Place& place) {
  const bool tool = change.item == "effect" || (change.item == "tool" && change.kind == catalog::ChangeKind::added);
  const bool added = change.item == "tool";
  return tool && place.pointer.empty() &&
         formats::write_definition(paper, place.after, added ? "  + " : "    ",
                                   added ? formats::Tone::added : formats::Tone::plain);
}

}  // namespace

void write_json(formats::Paper& paper, const std::string& json_text, std::string_view mark, formats::Tone tone) {
  std::string shown = json_text;
  if (const Result<json::Document> document = json::read(json_text, {.max_bytes = json_text.size(), .max_depth = 1024});
      document) {
    shown = json::pretty(document->root(), json::Escaping::reviewable);
  }
  for (const std::string_view line : text::split(shown, '\n')) {
    if (!line.empty()) {
      paper.write(mark, mark, {formats::Ink::their_json(line, tone)});
    }
  }
}

void write_place(formats::Paper& paper, const catalog::ItemChange& change, const catalog::Place& place) {
  using formats::Ink;
  if (!place.pointer.empty()) {
    paper.write("  at ", "     ",
                {Ink::theirs(formats::readable_pointer(place.pointer), formats::Tone::dim),
                 Ink::ours(text::cat("  (", formats::phrase(place), ')'))});
  }
  for (const catalog::Cue& cue : place.cues) {
    paper.write("  ! ", "    ",
                {Ink::ours(catalog::cue_phrase(cue.name), formats::Tone::high),
                 Ink::ours(cue.excerpt.empty() ? "" : ": "), Ink::theirs(cue.excerpt)});
  }
  if (write_whole(paper, change, place)) {
    return;
  }
  if (place.before == place.after) {
    write_json(paper, place.after, "    ", formats::Tone::plain);
    return;
  }
  if (write_words(paper, place)) {
    return;
  }
  if (!place.before.empty()) {
    write_json(paper, place.before, "  - ", formats::Tone::removed);
  }
  if (!place.after.empty()) {
    write_json(paper, place.after, "  + ", formats::Tone::added);
  }
}

}  // namespace cordon::app
