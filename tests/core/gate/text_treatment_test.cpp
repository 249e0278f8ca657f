// SPDX-License-Identifier: Apache-2.0
#include "core/gate/text_treatment.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/text.hpp"
#include "core/gate/known_secrets.hpp"

using namespace cordon;
using namespace cordon::gate;

namespace {

struct Result {
  std::string text;
  std::size_t found = 0;
  bool operator==(const Result&) const = default;
};

Result escapes(std::string_view text) {
  Result result;
  result.text = without_terminal_escapes(text, result.found);
  return result;
}

Result hidden(std::string_view text) {
  Result result;
  result.text = without_hidden_text(text, result.found);
  return result;
}

std::string redacted(std::string_view text) {
  std::size_t found = 0;
  std::set<std::string> kinds;
  std::string out =
      without_secrets(text, {{"A", "hunter2hunter2"}, {"B", "abcd"}, {"C", "abcd-and-more"}}, found, kinds);
  CHECK((found == 0) == (out == text));
  CHECK(out.size() <= text.size());
  return out;
}

}  // namespace

TEST_CASE("what a terminal would obey is taken out, and no more") {
  CHECK(escapes("plain\n\ttext\r\n\f") == Result{"plain\n\ttext\r\n\f", 0});
  CHECK(escapes("a\x1b[1;31mb\x1b[0m") == Result{"ab", 2});
  CHECK(escapes("a\x1b]0;title\x07z") == Result{"az", 1});
  CHECK(escapes("a\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\") == Result{"al", 2});
  CHECK(escapes("a\x1bPq\xc2\x9cz") == Result{"az", 1});
  CHECK(escapes("a\xc2\x9b"
                "31mz") == Result{"az", 1});
  CHECK(escapes("a\x1b(Bz") == Result{"az", 1});
  CHECK(escapes("a\x1b"
                "cz") == Result{"az", 1});
  CHECK(escapes("abc\b\b\bxyz\x7f\a") == Result{"abcxyz", 5});
  // Without its end nothing but the beginning goes: the rest is text that a model reads.
  CHECK(escapes("a\x1b]0;title") == Result{"a0;title", 1});
  CHECK(escapes("\x1b") == Result{"", 1});
  CHECK(escapes("\x1bä") == Result{"ä", 1});
  CHECK(escapes("\xc2\x85\xc2") == Result{"\xc2\x85\xc2", 0});
  // Long and without an end, in linear time.
  std::string many;
  for (int i = 0; i < 200'000; ++i) {
    many += "\x1b]";
  }
  CHECK(escapes(many).found == 200'000);
}

TEST_CASE("what nobody sees is taken out, and what writing needs is left") {
  CHECK(hidden("a\u200bb\u2060c\ufeffd\u00ad") == Result{"abcd", 4});
  CHECK(hidden("x\u202ey\u202c\u2066z\u2069") == Result{"xyz", 4});
  CHECK(hidden("go\U000E0069\U000E0067") == Result{"go", 2});
  CHECK(hidden("a\ufe0f\ufe01\U000E0100") == Result{"a\ufe0f", 2});
  CHECK(hidden("\ufe0fa") == Result{"a", 1});
  CHECK(hidden("a\u200db") == Result{"ab", 1});
  CHECK(hidden("ig\u200enore") == Result{"ignore", 1});
  CHECK(hidden("\u3164\u115f") == Result{"", 2});
  for (const char* kept :
       {"👨‍👩‍👧‍👦 ❤️ 👍🏽", "می‌خواهم", "क्‍ष", "שלום\u200f!",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "日本語", "é\u0301", "葛\U000E0100", "\xff"}) {
    CAPTURE(kept);
    CHECK(hidden(kept) == Result{kept, 0});
  }
  CHECK(hidden("🏴󠁧󠁢").found == 2);
}

TEST_CASE("a look is taken wherever there may be something") {
  for (const char* text : {"a\u200b", "12345678\u202e", "\\u001b[1m", "aaaaaaa\\u200b", "\x7f", "\xc2\x9b", "\\b",
                           "\\\\\\u001b", "ä\U000E0041"}) {
    CAPTURE(text);
    CHECK(worth_a_look(text));
  }
  for (const char* text : {"", "plain", "\\n\\t\\\"\\\\u001b", "0123456789abcdefghijklmnopqrstuvwxyz\\n\\\\",
                           "\xc3\xa4\xc3\xb6 \xd0\xb0"}) {
    CAPTURE(text);
    CHECK_FALSE(worth_a_look(text));
  }
  // Whatever is found was looked at: no character is found behind a first byte that is passed over.
  for (char32_t point = 0x7F; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) {
      continue;
    }
    std::string text;
    text::append_utf8(text, point);
    if (hidden(text).found > 0 || escapes(text).found > 0) {
      REQUIRE(worth_a_look(text));
    }
  }
}

TEST_CASE("secrets are known by their form and by their value") {
  const std::string letters(40, 'a');
  CHECK(redacted("x ghp_" + letters.substr(4) + ".") == "x [github_token removed].");
  CHECK(redacted("key=AKIAABCDEFGHIJKLMNOP") == "key=[aws_key removed]");
  CHECK(redacted("sk-ant-api03-" + letters) == "[anthropic_key removed]");
  CHECK(redacted("eyJ0eXAi.eyJzdWIi.c2lnbmF0dXJl!") == "[web_token removed]!");
  CHECK(redacted("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nz") ==
        "[private_key removed]\nz");
  CHECK(redacted("-----BEGIN PRIVATE KEY-----\nMII") == "[private_key removed]");
  CHECK(redacted("pass hunter2hunter2, xabcdx") == "pass [secret], x****x");
  CHECK(redacted("abcd-and-more") == "[secret]");
  for (const std::string& kept :
       {std::string("ghp_short"), "xghp_" + letters, std::string("AKIA"), std::string("eyJ.eyJ"),
        std::string("-----BEGIN CERTIFICATE-----"), std::string("hunter2"), std::string()}) {
    CAPTURE(kept);
    CHECK(redacted(kept) == kept);
  }
  std::string many;
  for (int i = 0; i < 200'000; ++i) {
    many += "eyJ-xoxb-";
  }
  CHECK(redacted(many).size() <= many.size());
}
