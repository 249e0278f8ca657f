// SPDX-License-Identifier: Apache-2.0
#include "core/wire/line_reader.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cordon::wire;

namespace {

// Events as text, so that two ways of feeding can be compared.
std::string feed_in(std::string_view bytes, std::size_t chunk, std::size_t max_bytes) {
  LineReader reader(max_bytes);
  std::string shown;
  for (std::size_t i = 0; i < bytes.size(); i += chunk) {
    for (const LineEvent& event : reader.feed(bytes.substr(i, chunk))) {
      if (const auto* line = std::get_if<Line>(&event)) {
        shown += "line " + line->text + "|";
      } else {
        const auto& over = std::get<OverlongLine>(event);
        shown += "over " + std::to_string(over.bytes) + (over.scanned.id ? " id " + over.scanned.id->json() : "") + "|";
      }
    }
  }
  return shown + "left " + std::to_string(reader.unfinished_bytes());
}

}  // namespace

TEST_CASE("lines end at LF, whatever the chunks") {
  const std::string bytes = "one\n\ntwo\r\nthree";
  CHECK(feed_in(bytes, bytes.size(), 100) == "line one|line |line two\r|left 5");
  for (std::size_t chunk = 1; chunk < bytes.size(); ++chunk) {
    CHECK(feed_in(bytes, chunk, 100) == feed_in(bytes, bytes.size(), 100));
  }
}

TEST_CASE("an over-long line gives its id and is not kept, and the next line is read") {
  const std::string bytes = R"({"result":{"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},"id":7})"
                            "\nok\n";
  for (std::size_t chunk = 1; chunk <= bytes.size(); ++chunk) {
    CHECK(feed_in(bytes, chunk, 20) == "over 64 id 7|line ok|left 0");
  }
  LineReader reader(20);
  CHECK(reader.feed(std::string(1000, 'x')).empty());
  CHECK(reader.unfinished().empty());
  CHECK(reader.unfinished_bytes() == 1000);
}

TEST_CASE("the limit counts the line without CR and LF") {
  CHECK(feed_in("12345\n", 6, 5) == "line 12345|left 0");
  CHECK(feed_in("12345\r\n", 7, 5) == "line 12345\r|left 0");
  CHECK(feed_in("1234567\n", 8, 5) == "over 7|left 0");
}
