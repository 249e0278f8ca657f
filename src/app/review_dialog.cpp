// SPDX-License-Identifier: Apache-2.0
#include "app/review_dialog.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "app/review_text.hpp"
#include "base/text.hpp"
#include "formats/reports/effects.hpp"
#include "formats/reports/paper.hpp"

namespace cordon::app {
namespace {

// Of the keys that mean something here.
struct Keys {
  bool group = false;
  bool classed = false;
  bool conditions = false;
  bool whole = false;
};

std::string help(const Keys& keys) {
  return text::cat(
      "  y        accept: what is shown becomes part of the snapshot\n"
      "  n        reject: what the snapshot says stays\n"
      "  a        accept this and everything after it, seen or not\n"
      "  d        reject this and everything after it\n",
      keys.group ? "  s        split: ask about each of a group by itself\n" : "",
      keys.classed ? "  c CLASS  set the effect class: read, write, destructive, execute, send, unknown\n" : "",
      keys.conditions ? "  t all    take all classes that are proposed for arguments; t worse: only those worse "
                        "than CLASS; t none\n"
                      : "",
      keys.whole ? "  w        show the whole definition, as JSON\n" : "",
      "  q        quit: write nothing\n"
      "  ?        show this\n");
}

constexpr std::size_t kMaxNamed = 20;  // of what was accepted unseen

constexpr std::array<std::string_view, 6> kClasses = {"read", "write", "destructive", "execute", "send", "unknown"};

bool has_conditions(const ReviewItem& item) { return !item.proposal.when.empty() || !item.kept.empty(); }

std::string kind_of(const catalog::ItemChange& change) {
  if (change.item == "effect") {
    return "class of tool";
  }
  std::string out = change.item;
  std::ranges::replace(out, '_', ' ');
  return out;
}

}  // namespace

ReviewDialog::ReviewDialog(Review& review, Style style, std::string word, std::size_t width)
    : review_(review), style_(style), word_(std::move(word)), width_(width) {
  CORDON_ASSERT(!review.items().empty());
}

std::vector<std::size_t> ReviewDialog::shown() const {
  const std::vector<ReviewItem>& items = review_.items();
  std::vector<std::size_t> out = {current_};
  const std::size_t group = items[current_].change.group;
  for (std::size_t i = current_ + 1; group != 0 && !split_.contains(group) && i < items.size(); ++i) {
    if (items[i].change.group == group && items[i].decision == Decision::open) {
      out.push_back(i);
    }
  }
  return out;
}

// The others of a group. What changed is the same to the letter; their classes need not be.
std::string ReviewDialog::group_text(const std::vector<std::size_t>& items) const {
  using formats::Ink;
  if (items.size() < 2) {
    return {};
  }
  formats::Paper paper(style_.colour, width_);
  std::vector<Ink> inks = {Ink::ours(text::cat("and ", items.size() - 1, " more in just the same way: "))};
  for (std::size_t i = 1; i < items.size(); ++i) {
    const ReviewItem& item = review_.items()[items[i]];
    inks.insert(inks.end(), {Ink::ours(i == 1 ? "'" : ", '"), Ink::theirs(item.change.name), Ink::ours("'"),
                             Ink::ours(item.has_effect() ? text::cat(" (", item.effect, ')') : std::string())});
  }
  paper.write("  ", "    ", inks);
  return paper.take();
}

bool ReviewDialog::has_whole() const { return !review_.whole(current_).empty(); }

std::string ReviewDialog::whole_text() const {
  formats::Paper paper(style_.colour, width_);
  write_json(paper, review_.whole(current_), "    ", formats::Tone::plain);
  return paper.take();
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
    write_place(paper, change, place);
  }
  if (change.omitted_places > 0) {
    paper.write("  ", "  ", {Ink::ours(text::cat("and ", change.omitted_places, " more places; all of what is new:"))});
    write_json(paper, item.whole, "  + ", Tone::added);
  }
  return paper.take();
}

std::string ReviewDialog::summary_text() const {
  using formats::Ink;
  std::size_t accepted = 0;
  for (const ReviewItem& item : review_.items()) {
    accepted += item.decision == Decision::accepted ? 1 : 0;
  }
  formats::Paper paper(style_.colour, width_);
  if (!unseen_.empty()) {
    std::vector<Ink> inks = {
        Ink::ours(text::cat(unseen_.size(), " of them accepted without being shown: "), formats::Tone::high)};
    for (std::size_t i = 0; i < std::min(unseen_.size(), kMaxNamed); ++i) {
      inks.insert(inks.end(), {Ink::ours(i == 0 ? "" : ", "), Ink::theirs(unseen_[i])});
    }
    inks.push_back(Ink::ours(unseen_.size() > kMaxNamed ? ", …" : ""));
    paper.write("", "  ", inks);
  }
  return text::cat("\n", accepted, " accepted, ", review_.items().size() - accepted, " rejected.\n", paper.take(),
                   note_, "To write the snapshot, type ", style_.bold(word_), "; n writes nothing: ");
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
  std::string out = text::cat(paper.take(), "effect class: ", style_.yellow(item.effect), '\n');
  formats::Paper taken(style_.colour, width_);
  for (const catalog::EffectCondition& one : item.when()) {
    taken.write("    but ", "      ",
                {Ink::theirs(one.argument), Ink::ours(one.value ? " is " : " is given"),
                 Ink::theirs(one.value.value_or("")), Ink::ours(text::cat(": ", one.effect))});
  }
  return out + taken.take();
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
  const std::vector<std::size_t> together = shown();
  out += show_item_ ? group_text(together) : std::string();
  out += note_;
  if (item.has_effect()) {
    out += class_text(item);
  }
  out += text::cat("Accept ", together.size() > 1 ? "these" : "this", "? [y,n,a,d,", together.size() > 1 ? "s," : "",
                   item.has_effect() ? "c CLASS," : "", has_conditions(item) ? "t WHICH," : "", has_whole() ? "w," : "",
                   "q,?] ");
  return out;
}

void ReviewDialog::decide(std::size_t item, Decision decision) {
  if (decision == Decision::accepted) {
    review_.accept(item);
  } else {
    review_.reject(item);
  }
}

void ReviewDialog::decide_shown(Decision decision) {
  for (const std::size_t item : shown()) {
    decide(item, decision);
  }
  advance();
}

void ReviewDialog::accept_the_rest() {
  const std::vector<std::size_t> seen = shown();
  for (std::size_t i = current_; i < review_.items().size(); ++i) {
    const ReviewItem& item = review_.items()[i];
    if (item.decision != Decision::open) {
      continue;
    }
    if (std::ranges::find(seen, i) == seen.end()) {
      unseen_.push_back(item.change.name.empty() ? kind_of(item.change) : item.change.name);
    }
    decide(i, Decision::accepted);
  }
  ask_for_the_word();
}

// Where nothing was accepted, a snapshot written anew would differ in its time alone, and lose its signature.
void ReviewDialog::ask_for_the_word() {
  const bool accepted =
      std::ranges::any_of(review_.items(), [](const ReviewItem& item) { return item.decision == Decision::accepted; });
  state_ = accepted || !review_.builds_on_review() || review_.places_changed() ? State::confirm : State::quit;
}

void ReviewDialog::advance() {
  show_item_ = true;
  while (current_ < review_.items().size() && review_.items()[current_].decision != Decision::open) {
    ++current_;
  }
  if (current_ == review_.items().size()) {
    ask_for_the_word();
  }
}

void ReviewDialog::choose_class(std::string_view class_name) {
  if (!review_.items()[current_].has_effect()) {
    note_ = "This item has no effect class.\n";
    return;
  }
  if (const std::optional<policy::Effect> effect = policy::effect_from_name(class_name)) {
    for (const std::size_t item : shown()) {
      review_.set_effect(item, *effect);
    }
    return;
  }
  const std::optional<std::string_view> meant = text::nearest(class_name, kClasses);
  note_ = text::cat("'", text::printable(class_name, 64), "' is no effect class",
                    meant ? text::cat(" (did you mean '", *meant, "'?)") : std::string(), ".\n");
}

void ReviewDialog::choose_conditions(std::string_view which) {
  using Conditions = ReviewItem::Conditions;
  const std::optional<Conditions> chosen = which == "all"     ? std::optional(Conditions::all)
                                           : which == "worse" ? std::optional(Conditions::worse)
                                           : which == "none"  ? std::optional(Conditions::none)
                                                              : std::nullopt;
  if (!chosen || !has_conditions(review_.items()[current_])) {
    note_ = chosen ? "No class is proposed for its arguments.\n" : "Say t all, t worse or t none.\n";
    return;
  }
  for (const std::size_t item : shown()) {
    review_.set_conditions(item, *chosen);
  }
}

// False: that is none.
bool ReviewDialog::answer_item(std::string_view word) {
  if (word == "y" || word == "yes") {
    decide_shown(Decision::accepted);
  } else if (word == "n" || word == "no") {
    decide_shown(Decision::rejected);
  } else if (word == "a") {
    accept_the_rest();
  } else if (word == "d") {
    ask_for_the_word();  // what is open counts as rejected
  } else if (word == "s" && shown().size() > 1) {
    split_.insert(review_.items()[current_].change.group);
    show_item_ = true;
  } else if (word == "w" && has_whole()) {
    note_ = whole_text();
  } else if (word == "q" || word == "quit") {
    state_ = State::quit;
  } else if (word == "?" || word == "h" || word == "help") {
    const ReviewItem& item = review_.items()[current_];
    note_ = help({shown().size() > 1, item.has_effect(), has_conditions(item), has_whole()});
  } else {
    return word.empty();
  }
  return true;
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
    show_item_ = false;
    if (word == "c" || word == "class") {
      choose_class(rest);
    } else if (word == "t") {
      choose_conditions(rest);
    } else if (!rest.empty() || !answer_item(word)) {
      note_ = text::cat("'", text::printable(line, 64), "' is no answer here; ? shows them all.\n");
    }
  } else if (state_ == State::confirm) {
    if (line == word_) {
      state_ = State::write;
    } else if (word == "n" || word == "no" || word == "q" || word == "quit") {
      state_ = State::quit;
    } else {
      note_ = "That is not the word.\n";
    }
  }
}

}  // namespace cordon::app
