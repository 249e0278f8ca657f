// SPDX-License-Identifier: Apache-2.0
#include "core/gate/beginnings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/token_forms.hpp"

using cordon::gate::Beginnings;

namespace {

std::set<std::size_t> all(const Beginnings& beginnings, std::string_view text) {
  std::set<std::size_t> places;
  for (std::size_t at = beginnings.next(text, 0); at < text.size(); at = beginnings.next(text, at + 1)) {
    places.insert(at);
  }
  return places;
}

std::set<std::size_t> all_by_byte(const Beginnings& beginnings, std::string_view text) {
  std::set<std::size_t> places;
  for (std::size_t at = beginnings.next_by_byte(text, 0); at < text.size();
       at = beginnings.next_by_byte(text, at + 1)) {
    places.insert(at);
  }
  return places;
}

}  // namespace

TEST_CASE("a beginning is found wherever it stands") {
  Beginnings beginnings;
  for (const cordon::TokenForm& form : cordon::token_forms()) {
    beginnings.add(form.prefix);
  }
  for (const cordon::TokenForm& form : cordon::token_forms()) {
    for (std::size_t before = 0; before < 70; ++before) {
      for (const std::size_t after : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{40}}) {
        const std::string text = std::string(before, '.') + std::string(form.prefix) + std::string(after, '.');
        CAPTURE(text);
        REQUIRE(beginnings.next(text, 0) == before);
      }
    }
  }
  CHECK(beginnings.next("", 0) == 0);
  CHECK(beginnings.next("gh", 0) == 2);
}

TEST_CASE("by the block and by the byte each place of a beginning is found") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    // Few different bytes, so that there are many hits; of all halves, also beyond ASCII.
    std::string letters;
    for (int i = 0; i < 6; ++i) {
      letters += static_cast<char>(random() % 256);
    }
    const auto some = [&](std::size_t size) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) {
        text += letters[random() % letters.size()];
      }
      return text;
    };
    Beginnings beginnings;
    std::vector<std::string> added;
    for (std::size_t count = 1 + random() % 10; count > 0; --count) {
      beginnings.add(added.emplace_back(some(3 + random() % 4)));
    }
    const std::string text = some(random() % 300);
    const std::set<std::size_t> by_block = all(beginnings, text);
    const std::set<std::size_t> by_byte = all_by_byte(beginnings, text);
    REQUIRE(std::ranges::includes(by_byte, by_block));
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto stands = [&](const std::string& one) { return text.substr(at).starts_with(one); };
      REQUIRE((!std::ranges::any_of(added, stands) || by_block.contains(at)));
    }
  }
}

TEST_CASE("words that begin as a beginning does are passed over") {
  Beginnings beginnings;
  for (const cordon::TokenForm& form : cordon::token_forms()) {
    beginnings.add(form.prefix);
  }
  const std::string text = "a line of skills, gherkins and lingering figs, then a bit of packing";
  CHECK(all(beginnings, text).empty());
  CHECK(all(beginnings, text + " lin_") == std::set<std::size_t>{text.size() + 1});
}
