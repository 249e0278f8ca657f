// SPDX-License-Identifier: Apache-2.0
#pragma once
// The conversation of `review` as a pure state machine: text() is what to show, answer() takes one line typed. Its
// answers are those of `git add -p`.
// Everything that a server wrote passes through escaping before it becomes part of text().

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/review.hpp"
#include "app/style.hpp"

namespace cordon::app {

class ReviewDialog {
 public:
  // `review` must outlive the dialog and have at least one item.
  // `width`: columns of the terminal. Every line is broken by us, with our mark in front, so that a server's text
  // cannot begin one and pose as ours.
  // `word`: has to be typed at the end. Whoever cannot see the terminal does not know it.
  ReviewDialog(Review& review, Style style, std::string word, std::size_t width = 80);

  // What to show now, ending in a prompt without a line end. Empty once the dialog is over.
  std::string text() const;
  void answer(std::string_view line);
  // The terminal is gone: as if the person had quit.
  void end() { state_ = State::quit; }

  bool over() const { return state_ == State::write || state_ == State::quit; }
  bool wants_write() const { return state_ == State::write; }

 private:
  enum class State : std::uint8_t { item, confirm, write, quit };
  bool answer_item(std::string_view word);
  void choose_class(std::string_view name);
  void choose_conditions(std::string_view which);
  void decide(std::size_t item, Decision decision);
  void decide_shown(Decision decision);
  void accept_the_rest();
  void advance();
  void ask_for_the_word();
  // Those that are asked about together: one item, or those that changed in just the same way.
  std::vector<std::size_t> shown() const;
  std::string item_text() const;
  std::string group_text(const std::vector<std::size_t>& items) const;
  std::string whole_text() const;
  bool has_whole() const;
  std::string class_text(const ReviewItem& item) const;
  std::string summary_text() const;

  Review& review_;
  Style style_;
  std::string word_;
  std::size_t width_;
  State state_ = State::item;
  std::size_t current_ = 0;
  bool show_item_ = true;                 // false after an answer that leaves the item on the screen
  std::string note_ = {};                 // about the last answer
  std::set<std::size_t> split_ = {};      // groups that are asked about one by one
  std::vector<std::string> unseen_ = {};  // names of what was accepted without having been shown
};

}  // namespace cordon::app
