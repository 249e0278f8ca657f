// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "base/plain.hpp"

using namespace cordon::text;

TEST_CASE("untrusted text is shown without control, direction or invisible characters") {
  CHECK(printable("plain é 漢字 Ж") == "plain é 漢字 Ж");
  CHECK(printable("\x1b[31mred\x07\r\n\t") == "\\x1b[31mred\\x07\\x0d\\n\\t");
  CHECK(printable("a\u202Eb\u200Bc\u00ADd") == "a\\u{202e}b\\u{200b}c\\u{00ad}d");
  CHECK(printable("\U000E0041\u009b") == "\\u{e0041}\\u{009b}");
  CHECK(printable("bad \xFF\xC3 end\\") == "bad \\xff\\xc3 end\\\\");
  CHECK(printable(std::string(100, 'a'), 10) == "aaaaaaaaaa…");
}

TEST_CASE("plain text ends at the first byte that is none, wherever that stands") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool plain = byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
    for (std::size_t before = 0; before < 40; ++before) {
      const std::string text = std::string(before, 'a') + c + std::string(20, 'b');
      REQUIRE(plain_run(text) == (plain ? text.size() : before));
    }
  }
}

TEST_CASE("what is shown is cut at its limit, whatever stands there") {
  for (std::size_t limit = 0; limit < 40; ++limit) {
    CHECK(printable(std::string(40, '"'), limit) == std::string(limit, '"') + "…");
    CHECK(printable(std::string(limit, 'a'), limit) == std::string(limit, 'a'));
    CHECK(printable(std::string(limit, 'a') + "\n", limit) == std::string(limit, 'a') + "…");
    CHECK(printable(std::string(limit, 'a') + "\"\n", limit + 1) == std::string(limit, 'a') + "\"…");
  }
}

TEST_CASE("folding finds the letters that fold to ASCII") {
  CHECK(fold_to_ascii("Method") == "method");
  CHECK(fold_to_ascii("re\u017Fult") == "result");
  CHECK(fold_to_ascii("to\u212Aen") == "token");
  CHECK(fold_to_ascii("É") == "É");
}

TEST_CASE("the nearest spelling is offered only when it is near") {
  const std::array<std::string_view, 3> words = {"allow", "block", "confirm"};
  CHECK(nearest("alow", words) == "allow");
  CHECK(nearest("blokc", words) == std::nullopt);
  CHECK(nearest("bloc", words) == "block");
  CHECK(!nearest("zebra", words));
}

TEST_CASE("UTF-8 is decoded strictly") {
  CHECK(decode_utf8("\xE2\x82\xAC", 0).value == 0x20AC);
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    CHECK(decode_utf8(bad, 0).length == 0);
    CHECK(!valid_utf8(bad));
  }
  std::string all;
  for (const char32_t point : {char32_t{'a'}, char32_t{0xE9}, char32_t{0x20AC}, char32_t{0x1F600}}) {
    append_utf8(all, point);
  }
  CHECK(all == "aé€😀");
  CHECK(valid_utf8(all));
}

TEST_CASE("splitting and joining") {
  CHECK(split("a,b,,c", ',').size() == 4);
  CHECK(join(std::array<std::string, 2>{"a", "b"}, ", ") == "a, b");
}
