// SPDX-License-Identifier: Apache-2.0
#pragma once
// approve: one call that waits, and a person at a terminal. Pure: texts out, answers in.

#include <cstddef>
#include <string>
#include <string_view>

#include "app/approvals.hpp"
#include "app/style.hpp"

namespace cordon::app {

class ApproveDialog {
 public:
  // `number` of `count`, from 1. `word` has to be typed to allow the call: nobody sees it but on this terminal.
  struct Place {
    std::size_t number = 1;
    std::size_t count = 1;
  };
  ApproveDialog(const WaitingCall& call, Place place, Style style, std::string word)
      : call_(call), place_(place), style_(style), word_(std::move(word)) {}

  // What to show now, ending in a prompt without a line end.
  std::string text(Instant now) const;
  void answer(std::string_view line);
  void end() { outcome_ = Outcome::quit; }  // the terminal is gone

  enum class Outcome : std::uint8_t { open, allow, refuse, leave, quit };
  Outcome outcome() const { return outcome_; }

 private:
  const WaitingCall& call_;
  Place place_;
  Style style_;
  std::string word_;
  Outcome outcome_ = Outcome::open;
  bool asked_ = false;
};

}  // namespace cordon::app
