// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/word_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace cordon::formats {

namespace {

using Tokens = std::vector<std::string_view>;
using Kind = WordPiece::Kind;

constexpr std::ptrdiff_t kMaxEdits = 300;  // memory grows with its square

enum class Class : std::uint8_t { word, space, other };

Class class_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
    return Class::space;
  }
  const bool word =
      byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return word ? Class::word : Class::other;
}

// Runs of word characters, runs of white space, and every other character alone.
Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    const Class first = class_of(text[begin]);
    std::size_t end = begin + 1;
    while (first != Class::other && end < text.size() && class_of(text[end]) == first) {
      ++end;
    }
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

void append(std::vector<WordPiece>& pieces, Kind kind, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!pieces.empty() && pieces.back().kind == kind) {
    pieces.back().text += text;
  } else {
    pieces.push_back({kind, std::string(text)});
  }
}

void append_all(std::vector<WordPiece>& pieces, Kind kind, std::span<const std::string_view> tokens) {
  for (const std::string_view token : tokens) {
    append(pieces, kind, token);
  }
}

struct Step {
  Kind kind = Kind::same;
  std::string_view text = {};
};

// The greedy algorithm of Myers: row d holds, per diagonal, how far d edits reach.
class Edits {
 public:
  Edits(std::span<const std::string_view> before, std::span<const std::string_view> after)
      : before_(before), after_(after) {}

  // False when more than kMaxEdits would be needed.
  bool find() {
    const auto n = std::ssize(before_);
    const auto m = std::ssize(after_);
    std::vector<std::ptrdiff_t> reach(static_cast<std::size_t>(2 * kMaxEdits + 3), 0);
    for (std::ptrdiff_t d = 0; d <= std::min(kMaxEdits, n + m); ++d) {
      rows_.push_back(slice(reach, d));
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        std::ptrdiff_t x = down(reach, d, k) ? at(reach, k + 1) : at(reach, k - 1) + 1;
        while (x < n && x - k < m && before_[index(x)] == after_[index(x - k)]) {
          ++x;
        }
        reach[index(k + kMaxEdits + 1)] = x;
        if (x >= n && x - k >= m) {
          return true;
        }
      }
    }
    return false;
  }

  std::vector<Step> steps() const {
    std::vector<Step> reversed;
    std::ptrdiff_t x = std::ssize(before_);
    std::ptrdiff_t y = std::ssize(after_);
    for (std::ptrdiff_t d = std::ssize(rows_) - 1; d >= 0; --d) {
      const std::vector<std::ptrdiff_t>& row = rows_[index(d)];
      const auto value = [&](std::ptrdiff_t k) { return row[index(k + d + 1)]; };
      const std::ptrdiff_t k = x - y;
      const bool insert = k == -d || (k != d && value(k - 1) < value(k + 1));
      const std::ptrdiff_t from_k = insert ? k + 1 : k - 1;
      const std::ptrdiff_t from_x = d == 0 ? 0 : value(from_k);
      const std::ptrdiff_t from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        --x;
        --y;
        reversed.push_back({Kind::same, before_[index(x)]});
      }
      if (d > 0) {
        reversed.push_back(insert ? Step{Kind::added, after_[index(from_y)]}
                                  : Step{Kind::removed, before_[index(from_x)]});
        x = from_x;
        y = from_y;
      }
    }
    return {reversed.rbegin(), reversed.rend()};
  }

 private:
  static std::size_t index(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }
  static std::ptrdiff_t at(const std::vector<std::ptrdiff_t>& reach, std::ptrdiff_t k) {
    return reach[index(k + kMaxEdits + 1)];
  }
  static bool down(const std::vector<std::ptrdiff_t>& reach, std::ptrdiff_t d, std::ptrdiff_t k) {
    return k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1));
  }
  // The diagonals -d-1 … d+1 as they are before round d.
  static std::vector<std::ptrdiff_t> slice(const std::vector<std::ptrdiff_t>& reach, std::ptrdiff_t d) {
    const auto begin = reach.begin() + (kMaxEdits - d);
    return {begin, begin + (2 * d + 3)};
  }

  std::span<const std::string_view> before_;
  std::span<const std::string_view> after_;
  std::vector<std::vector<std::ptrdiff_t>> rows_ = {};
};

bool blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return class_of(c) == Class::space; });
}

// A change is told as what went, then what came; white space alone between two changes joins them.
std::vector<WordPiece> tidy(const std::vector<Step>& steps) {
  std::vector<WordPiece> pieces;
  std::string removed;
  std::string added;
  std::string between;
  const auto flush = [&] {
    append(pieces, Kind::removed, removed);
    append(pieces, Kind::added, added);
    append(pieces, Kind::same, between);
    removed.clear();
    added.clear();
    between.clear();
  };
  for (const Step& step : steps) {
    if (step.kind == Kind::same) {
      between += step.text;
      continue;
    }
    if (!between.empty()) {
      if (blank(between) && !(removed.empty() && added.empty())) {
        removed += between;
        added += between;
        between.clear();
      } else {
        flush();
      }
    }
    (step.kind == Kind::removed ? removed : added) += step.text;
  }
  flush();
  return pieces;
}

}  // namespace

std::vector<WordPiece> word_diff(std::string_view before, std::string_view after) {
  const Tokens old_tokens = tokens_of(before);
  const Tokens new_tokens = tokens_of(after);
  const auto [old_start, new_start] = std::ranges::mismatch(old_tokens, new_tokens);
  const auto head = static_cast<std::size_t>(old_start - old_tokens.begin());
  std::size_t tail = 0;
  while (tail < std::min(old_tokens.size(), new_tokens.size()) - head &&
         old_tokens[old_tokens.size() - 1 - tail] == new_tokens[new_tokens.size() - 1 - tail]) {
    ++tail;
  }
  const std::span<const std::string_view> old_all(old_tokens);
  const std::span<const std::string_view> new_all(new_tokens);
  const auto old_middle = old_all.subspan(head, old_all.size() - head - tail);
  const auto new_middle = new_all.subspan(head, new_all.size() - head - tail);

  std::vector<WordPiece> pieces;
  append_all(pieces, Kind::same, old_all.first(head));
  Edits edits(old_middle, new_middle);
  if (edits.find()) {
    for (const WordPiece& piece : tidy(edits.steps())) {
      append(pieces, piece.kind, piece.text);
    }
  } else {
    append_all(pieces, Kind::removed, old_middle);
    append_all(pieces, Kind::added, new_middle);
  }
  append_all(pieces, Kind::same, old_all.last(tail));
  return pieces;
}

}  // namespace cordon::formats
