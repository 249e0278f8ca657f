// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/paper.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

std::string_view colour_code(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::critical:
      return "\x1b[1;7;31m";
    case Tone::high:
      return "\x1b[1;31m";
    case Tone::medium:
      return "\x1b[33m";
    case Tone::low:
      return "\x1b[36m";
    case Tone::removed:
      return "\x1b[31m";
    case Tone::added:
      return "\x1b[32m";
  }
  return "";
}

// Bytes up to the end of the code point at `offset`; a stray byte counts as one.
std::size_t point_length(std::string_view text, std::size_t offset) {
  return std::max<std::size_t>(1, text::decode_utf8(text, offset).length);
}

}  // namespace

Ink Ink::theirs(std::string_view untrusted, Tone tone) { return {printable_whole(untrusted), tone}; }

Ink Ink::their_json(std::string_view json, Tone tone) { return {printable_json(json), tone}; }

Ink Ink::their_words(std::string_view untrusted, Tone tone) {
  const std::string shown = printable_whole(untrusted);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string_view pair = std::string_view(shown).substr(i, 2);
    if (pair == "[-" || pair == "-]" || pair == "{+" || pair == "+}") {
      out += '\\';
    }
    out += shown[i];
  }
  return {std::move(out), tone};
}

std::vector<Ink> shortened(const Ink& ink, std::size_t max_bytes) {
  const std::string& text = ink.text();
  if (text.size() <= max_bytes) {
    return {ink};
  }
  std::size_t end = 0;
  while (end + point_length(text, end) <= max_bytes) {
    end += point_length(text, end);
  }
  return {Ink::ours(std::string_view(text).substr(0, end), ink.tone()),
          Ink::ours(text::cat(" … ", text.size() - end, " more bytes"), Tone::dim)};
}

void Paper::emit(const std::vector<Cell>& cells, std::size_t begin, std::size_t end) {
  Tone tone = Tone::plain;
  const auto change = [&](Tone to) {
    if (colour_ && tone != to) {
      out_ += tone == Tone::plain ? "" : "\x1b[0m";
      out_ += colour_code(to);
      tone = to;
    }
  };
  for (std::size_t i = begin; i < end; ++i) {
    change(cells[i].tone);
    out_ += cells[i].bytes;
  }
  change(Tone::plain);
  out_ += '\n';
}

void Paper::write(std::string_view first, std::string_view rest, const std::vector<Ink>& inks) {
  std::vector<Cell> cells;
  for (const Ink& ink : inks) {
    for (std::size_t i = 0; i < ink.text().size();) {
      const std::size_t length = point_length(ink.text(), i);
      // Wide letters take two columns; marks take none. Two for all beyond ASCII never runs over the edge.
      cells.push_back({std::string_view(ink.text()).substr(i, length), length == 1 ? 1U : 2U, ink.tone()});
      i += length;
    }
  }
  std::size_t begin = 0;
  do {
    const std::string_view prefix = begin == 0 ? first : rest;
    const std::size_t room = width_ - std::min(width_ - 2, prefix.size());
    std::size_t end = begin;
    std::size_t used = 0;
    while (end < cells.size() && used + cells[end].columns <= room) {
      used += cells[end++].columns;
    }
    std::size_t next = end;
    if (end < cells.size()) {
      // At the last space that leaves the line half full, which then goes with the line's end; else anywhere.
      for (std::size_t i = end; i > begin + (end - begin) / 2; --i) {
        if (cells[i].bytes == " ") {
          end = i;
          next = i + 1;
          break;
        }
      }
    }
    out_ += prefix;
    emit(cells, begin, end);
    begin = next;
  } while (begin < cells.size());
}

}  // namespace cordon::formats
