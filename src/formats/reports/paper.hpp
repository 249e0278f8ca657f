// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines for a terminal. Text of strangers enters only through Ink::theirs, and no line is longer than the terminal is
// wide: were the terminal to wrap it, a stranger's text could begin a line and pose as ours.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::formats {

enum class Tone : std::uint8_t { plain, strong, dim, critical, high, medium, low, removed, added };

// A run of text that is safe to print, in one tone.
class Ink {
 public:
  static Ink ours(std::string_view text, Tone tone = Tone::plain) { return {std::string(text), tone}; }
  static Ink theirs(std::string_view untrusted, Tone tone = Tone::plain);
  // JSON text: as `theirs`, but its own backslash escapes stay as they are.
  static Ink their_json(std::string_view json, Tone tone = Tone::plain);
  // Part of a text in which [-…-] and {+…+} are ours: theirs get a backslash in front.
  static Ink their_words(std::string_view untrusted, Tone tone = Tone::plain);

  const std::string& text() const { return text_; }
  Tone tone() const { return tone_; }

 private:
  Ink(std::string text, Tone tone) : text_(std::move(text)), tone_(tone) {}
  std::string text_;
  Tone tone_;
};

class Paper {
 public:
  Paper(bool colour, std::size_t width) : colour_(colour), width_(width < 40 ? 40 : width) {}

  // One paragraph, wrapped; `first` and `rest` (ours, ASCII) begin its first and its other lines.
  void write(std::string_view first, std::string_view rest, const std::vector<Ink>& inks);
  void blank_line() { out_ += '\n'; }
  std::string take() { return std::move(out_); }

 private:
  struct Cell {
    std::string_view bytes;
    std::size_t columns;
    Tone tone;
  };
  void emit(const std::vector<Cell>& cells, std::size_t begin, std::size_t end);
  bool colour_;
  std::size_t width_;
  std::string out_ = {};
};

// At most `max_bytes`, cut between code points; what is left out is counted in a note of ours.
std::vector<Ink> shortened(const Ink& ink, std::size_t max_bytes);

}  // namespace cordon::formats
