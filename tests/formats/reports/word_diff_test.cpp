// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/word_diff.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace cordon::formats {
namespace {

using Kind = WordPiece::Kind;

std::string marked(std::string_view before, std::string_view after) {
  std::string out;
  for (const WordPiece& piece : word_diff(before, after)) {
    out += piece.kind == Kind::same      ? piece.text
           : piece.kind == Kind::removed ? "[-" + piece.text + "-]"
                                         : "{+" + piece.text + "+}";
  }
  return out;
}

void check_rebuilds(std::string_view before, std::string_view after) {
  std::string old_text;
  std::string new_text;
  for (const WordPiece& piece : word_diff(before, after)) {
    old_text += piece.kind == Kind::added ? "" : piece.text;
    new_text += piece.kind == Kind::removed ? "" : piece.text;
  }
  CHECK(old_text == before);
  CHECK(new_text == after);
}

TEST_CASE("changed words are told apart from those that stayed") {
  CHECK(marked("Reads a file from disk.", "Reads a file from the network.") ==
        "Reads a file from [-disk-]{+the network+}.");
  CHECK(marked("a b c d", "a x y d") == "a [-b c-]{+x y+} d");
  CHECK(marked("a b c", "a c") == "a [-b -]c");
  CHECK(marked("read only", "read") == "read[- only-]");
  CHECK(marked("", "new") == "{+new+}");
  CHECK(marked("old", "") == "[-old-]");
  CHECK(marked("same", "same") == "same");
  CHECK(marked("", "").empty());
  CHECK(marked("a\xE2\x80\x8B"
               "b",
               "ab") ==
        "[-a\xE2\x80\x8B"
        "b-]{+ab+}");
}

TEST_CASE("the pieces give both texts back") {
  std::uint32_t seed = 7;
  const auto random = [&](std::uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % below;
  };
  for (int round = 0; round < 300; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      for (std::uint32_t words = random(30); words > 0; --words) {
        text += std::string("abc .,\n\xC3\xA9").substr(random(6), 1 + random(2));
      }
    }
    CAPTURE(texts[0]);
    CAPTURE(texts[1]);
    check_rebuilds(texts[0], texts[1]);
  }
}

TEST_CASE("texts with nothing in common are one change, however long") {
  std::string before = "start ";
  std::string after = "start ";
  for (int i = 0; i < 20'000; ++i) {
    before += "a" + std::to_string(i) + " ";
    after += "b" + std::to_string(i) + " ";
  }
  const std::vector<WordPiece> pieces = word_diff(before + "end", after + "end");
  CHECK(pieces.size() == 4);
  check_rebuilds(before + "end", after + "end");
}

}  // namespace
}  // namespace cordon::formats
