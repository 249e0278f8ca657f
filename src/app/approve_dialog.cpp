// SPDX-License-Identifier: Apache-2.0
#include "app/approve_dialog.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxLine = 400'000;  // whole: what is not shown cannot be judged

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// As `run` writes them: printable ASCII and letters.
bool is_printable(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const text::CodePoint point = text::decode_utf8(line, at);
    if (point.length == 0 || !((point.value >= ' ' && point.value <= '~') || text::is_visible_letter(point.value))) {
      return false;
    }
    at += point.length;
  }
  return true;
}

// A line that is not was not written by `run`.
std::string shown(std::string_view lines) {
  std::string out;
  for (const std::string_view line : text::split(lines, '\n')) {
    out += text::cat(is_printable(line) ? std::string(line) : text::printable(line, kMaxLine), '\n');
  }
  return out;
}

}  // namespace

std::string ApproveDialog::text(Instant now) const {
  if (outcome_ != Outcome::open) {
    return {};
  }
  const std::string prompt =
      text::cat("To allow this one call, type ", style_.bold(word_), "; n refuses it, s leaves it waiting, q quits: ");
  if (asked_) {
    return text::cat("That is not the word.\n", prompt);
  }
  const std::int64_t left = std::max<std::int64_t>((call_.until - now + 999) / 1000, 0);
  return text::cat('\n',
                   style_.bold(text::cat('[', place_.number, '/', place_.count, "] ", text::printable(call_.id, 64))),
                   ", ", left, " s left\n", shown(call_.text), prompt);
}

void ApproveDialog::answer(std::string_view line) {
  line = trimmed(line);
  if (line == word_) {
    outcome_ = Outcome::allow;
  } else if (line == "n" || line == "no") {
    outcome_ = Outcome::refuse;
  } else if (line == "s") {
    outcome_ = Outcome::leave;
  } else if (line == "q" || line == "quit") {
    outcome_ = Outcome::quit;
  } else {
    asked_ = true;
  }
}

}  // namespace cordon::app
