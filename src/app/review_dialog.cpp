// SPDX-License-Identifier: Apache-2.0
#include "app/review_dialog.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/reports/effects.hpp"
#include "formats/reports/paper.hpp"
#include "formats/reports/words.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kHelp =
    "  a  accept        what is shown becomes part of the snapshot\n"
    "  r  reject        what the snapshot says stays\n"
    "  c CLASS          set the effect class: read, write, destructive, execute, send, unknown\n"
    "  d  done          reject this and everything after it, then write\n"
    "  q  quit          write nothing\n";

constexpr std::array<std::string_view, 6> kClasses = {"read", "write", "destructive", "execute", "send", "unknown"};

// JSON as indented lines, each with `mark` in front. Nothing is cut: what is not shown cannot be reviewed.
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

void write_place(formats::Paper& paper, const catalog::Place& place) {
  using formats::Ink;
  if (!place.pointer.empty()) {
    paper.write(
        "  at ", "     ",
        {Ink::theirs(place.pointer, formats::Tone::dim), Ink::ours(text::cat("  (", formats::phrase(place), ')'))});
  }
  for (const catalog::Cue& cue : place.cues) {
    paper.write("  ! ", "    ",
                {Ink::ours(catalog::cue_phrase(cue.name), formats::Tone::high),
                 Ink::ours(cue.excerpt.empty() ? "" : ": "), Ink::theirs(cue.excerpt)});
  }
  if (place.before == place.after) {
    write_json(paper, place.after, "    ", formats::Tone::plain);
    return;
  }
  if (!place.before.empty()) {
    write_json(paper, place.before, "  - ", formats::Tone::removed);
  }
  if (!place.after.empty()) {
    write_json(paper, place.after, "  + ", formats::Tone::added);
  }
}

std::string kind_of(const catalog::ItemChange& change) {
  if (change.item == "effect") {
    return "class of tool";
  }
  std::string out = change.item;
  std::ranges::replace(out, '_', ' ');
  return out;
}

}  // namespace

ReviewDialog::ReviewDialog(Review& review, Style style, std::size_t width)
    : review_(review), style_(style), width_(width) {
  CORDON_ASSERT(!review.items().empty());
}

std::string ReviewDialog::item_text() const {
  using formats::Ink;
  using formats::Tone;
  const ReviewItem& item = review_.items()[current_];
  const catalog::ItemChange& change = item.change;
  formats::Paper paper(style_.colour, width_);
  paper.blank_line();
  std::vector<Ink> head = {
      Ink::ours(text::cat('[', current_ + 1, '/', review_.items().size(), "] ", kind_of(change)), Tone::strong)};
  if (!change.name.empty()) {
    head.insert(head.end(), {Ink::ours(" '"), Ink::theirs(change.name, Tone::strong), Ink::ours("'")});
    if (change.kind == catalog::ChangeKind::renamed) {
      head.insert(head.end(), {Ink::ours(", so far '"), Ink::theirs(change.old_name, Tone::strong), Ink::ours("'")});
    }
  }
  if (change.item != "effect") {
    head.push_back(Ink::ours(text::cat(": ", catalog::name(change.kind), " (", catalog::name(change.severity), ")")));
  }
  paper.write("", "  ", head);
  for (const catalog::Place& place : change.places) {
    write_place(paper, place);
  }
  if (change.omitted_places > 0) {
    paper.write("  ", "  ", {Ink::ours(text::cat("and ", change.omitted_places, " more places; all of what is new:"))});
    write_json(paper, item.whole, "  + ", Tone::added);
  }
  return paper.take();
}

std::string ReviewDialog::summary_text() const {
  std::size_t accepted = 0;
  for (const ReviewItem& item : review_.items()) {
    accepted += item.decision == Decision::accepted ? 1 : 0;
  }
  return text::cat("\n", accepted, " accepted, ", review_.items().size() - accepted, " rejected.\n", note_,
                   "Write the snapshot? [y/n] ");
}

// The class that accepting sets, and what is proposed with the reasons, which quote the server.
std::string ReviewDialog::class_text(const ReviewItem& item) const {
  using formats::Ink;
  using formats::Tone;
  formats::Paper paper(style_.colour, width_);
  if (!item.proposal.reasons.empty()) {
    std::vector<Ink> inks = {Ink::ours(text::cat("proposed: ", item.proposal.effect, " (")),
                             Ink::theirs(text::join(item.proposal.reasons, "; ")), Ink::ours(")")};
    paper.write("  ", "    ", inks);
    for (const catalog::ConditionalEffect& when : item.proposal.when) {
      paper.write("    when ", "      ", {Ink::theirs(formats::condition_line(when), Tone::dim)});
    }
  }
  return text::cat(paper.take(), "effect class: ", style_.yellow(item.effect), '\n');
}

std::string ReviewDialog::text() const {
  if (over()) {
    return {};
  }
  if (state_ == State::confirm) {
    return summary_text();
  }
  const ReviewItem& item = review_.items()[current_];
  std::string out = show_item_ ? item_text() : std::string();
  out += note_;
  if (item.has_effect()) {
    out += class_text(item);
  }
  out += item.has_effect() ? "[a]ccept, [r]eject, [c]lass CLASS, [d]one, [q]uit, [?] "
                           : "[a]ccept, [r]eject, [d]one, [q]uit, [?] ";
  return out;
}

void ReviewDialog::advance() {
  show_item_ = true;
  ++current_;
  if (current_ == review_.items().size()) {
    state_ = State::confirm;
  }
}

void ReviewDialog::choose_class(std::string_view class_name) {
  if (!review_.items()[current_].has_effect()) {
    note_ = "This item has no effect class.\n";
    return;
  }
  if (const std::optional<policy::Effect> effect = policy::effect_from_name(class_name)) {
    review_.set_effect(current_, *effect);
    return;
  }
  const std::optional<std::string_view> meant = text::nearest(class_name, kClasses);
  note_ = text::cat("'", text::printable(class_name, 64), "' is no effect class",
                    meant ? text::cat(" (did you mean '", *meant, "'?)") : std::string(), ".\n");
}

void ReviewDialog::answer_item(std::string_view word, std::string_view rest) {
  show_item_ = false;
  if ((word == "a" || word == "accept") && rest.empty()) {
    review_.accept(current_);
    advance();
  } else if ((word == "r" || word == "reject") && rest.empty()) {
    review_.reject(current_);
    advance();
  } else if (word == "c" || word == "class") {
    choose_class(rest);
  } else if ((word == "d" || word == "done") && rest.empty()) {
    state_ = State::confirm;  // what is open counts as rejected
  } else if ((word == "q" || word == "quit") && rest.empty()) {
    state_ = State::quit;
  } else if (word == "?" || word == "h" || word == "help") {
    note_ = kHelp;
  } else if (!word.empty()) {
    note_ = text::cat("'", text::printable(word, 64), "' is no answer here; ? shows them all.\n");
  }
}

void ReviewDialog::answer(std::string_view line) {
  note_.clear();
  const auto trim = [](std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) {
      text.remove_prefix(1);
    }
    while (!text.empty() && blank(text.back())) {
      text.remove_suffix(1);
    }
    return text;
  };
  line = trim(line);
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view() : trim(line.substr(space));
  if (state_ == State::item) {
    answer_item(word, rest);
  } else if (state_ == State::confirm) {
    if (word == "y" || word == "yes") {
      state_ = State::write;
    } else if (word == "n" || word == "no" || word == "q" || word == "quit") {
      state_ = State::quit;
    } else {
      note_ = "Answer y or n.\n";
    }
  }
}

}  // namespace cordon::app
