// SPDX-License-Identifier: Apache-2.0
#include "core/gate/text_treatment.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/text.hpp"
#include "core/gate/own_name.hpp"
#include "core/gate/secret_finder.hpp"

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
  const SecretFinder finder(
      {{"A", "hunter2hunter2"}, {"B", "abcd"}, {"C", "abcd-and-more"}, {"D", "first line\nsecond \"line\""}});
  std::size_t found = 0;
  std::set<std::string> kinds;
  std::string out = finder.without_secrets(text, SecretFinder::Look::closely, found, kinds).value_or(std::string(text));
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
    if (hidden(text).found > 0 || escapes(text).found > 0 || !seen_text(text, Drop::characters).cuts.empty()) {
      REQUIRE(worth_a_look(text));
    }
  }
}

TEST_CASE("letters in another spelling are told, and a backslash that stands for itself is none") {
  for (const char* raw : {"\\u0067hp_", "aaaaaaaaaaaaaaaa\\/", "\\\\\\u00e9"}) {
    CAPTURE(raw);
    CHECK(glance_at(raw).spelled);
  }
  for (const char* raw : {"", "\\n\\t\\\"", "\\\\u0067", "aaaaaaaaaaaaaaa\\\\/", "a/u"}) {
    CAPTURE(raw);
    CHECK_FALSE(glance_at(raw).spelled);
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

TEST_CASE("a secret is found however it is broken up, as far as nobody sees the break") {
  const std::string token = "ghp_" + std::string(36, 'a');
  for (const char* hidden : {"\u200b", "\u2060", "\ufeff", "\u00ad", "\u200d", "\ufe0f", "\u202e", "\u2028",
                             "\U000E0041", "\U000E0100", "\x1b[0m", "\x1b]0;x\x07", "\b", "\x7f",
                             "\xc2\x9b"
                             "1m"}) {
    CAPTURE(text::printable(hidden));
    for (const std::size_t at : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{20}, token.size() - 1}) {
      CHECK(redacted("x " + token.substr(0, at) + hidden + token.substr(at) + "!") == "x [github_token removed]!");
    }
    CHECK(redacted("hunter2" + std::string(hidden) + "hunter2") == "[secret]");
    CHECK(redacted("a" + std::string(hidden) + token) == "a" + std::string(hidden) + "[github_token removed]");
  }
  // Inside of what a terminal would not show.
  CHECK(redacted("\x1b]0;" + token + "\x07") == "\x1b]0;[github_token removed]\x07");
  // A string inside of a string, an address.
  CHECK(redacted("{\\\"a\\\":\\n" + token + "\\n}") == "{\\\"a\\\":\\n[github_token removed]\\n}");
  CHECK(redacted("?a%3D" + token) == "?a%3D[github_token removed]");
  // Behind a colour of which only the text is there.
  CHECK(redacted("\\u001b[31m" + token + "\\u001b[0m") == "\\u001b[31m[github_token removed]\\u001b[0m");
  CHECK(redacted("\\x1b[1;38:5:9m" + token) == "\\x1b[1;38:5:9m[github_token removed]");
  CHECK(redacted("[m" + token) == "[m[github_token removed]");
  CHECK(redacted("[xm" + token) == "[xm" + token);
  CHECK(redacted("second \"line\"") == "[secret]");
  CHECK(redacted("first line\\nsecond \\\"line\\\"") == "[secret]");
  // What is seen separates.
  CHECK(redacted("hunter2 hunter2") == "hunter2 hunter2");
  CHECK(redacted("hunter2\nhunter2") == "hunter2\nhunter2");
}

TEST_CASE("forms of tokens stay linear") {
  for (const char* part : {"SG.", "sk-ant-", "eyJ.", "eyJa.eyJ", "-----BEGIN ", "ghp_", "-", "\\n", "\u200beyJ",
                           "\u200beyJ.", "\x1b[0meyJ", "\u200bghp_"}) {
    std::string many;
    while (many.size() < 1'000'000) {
      many += part;
    }
    const SecretFinder finder;
    finder.find(many, SecretFinder::Reach::token);
    std::size_t found = 0;
    std::set<std::string> kinds;
    CHECK(finder.without_secrets(many, SecretFinder::Look::closely, found, kinds).value_or("").size() <= many.size());
  }
}

TEST_CASE("lines that begin with our name are counted") {
  for (const char* ours : {"mcp-cordon: all is well", "  [MCP Cordon] x", "** mcp\u200b-cordon",
                           "\xd0\xbc\xd1\x81\xd1\x80-cordon:", "x\nmcp_cordon", "x\r\n> mcp-c0rd0n",
                           "a\xe2\x80\xa8mcp-cordon", "\U0001F17C\U0001F172\U0001F17F-cordon",
                           "\U0001F1F2\U0001F1E8\U0001F1F5-cordon", "\U0001F15C\U0001F152\U0001F15F-cordon",
                           "\u1D50\u1D9C\u1D56-cordon", "\u0271cp-cordon", "mcp-\u2102o\u211D\u2146o\u2115"}) {
    CAPTURE(ours);
    CHECK(lines_as_us(ours) == 1);
  }
  for (const char* other : {"", "see mcp-cordon", "mcp-servers", "mcp", "1. mcp-cordon", "\xe6\x97\xa5 mcp-cordon"}) {
    CAPTURE(other);
    CHECK(lines_as_us(other) == 0);
  }
  CHECK(lines_as_us("mcp-cordon:\n\nmcp-cordon:\nno\nmcp-cordon") == 3);
  // Once each, and lines of nothing are not gone through again and again.
  CHECK(lines_as_us("\u0085\u0085mcp-cordon\u2028\u2029 mcp-cordon") == 2);
  CHECK(lines_as_us("a\f\u00a0mcp-cordon\v\u0085\u00a0mcp-cordon") == 2);
  for (const char* raw : {"mcp-cordon", "x\\nmcp-cordon", "x\\r\\n \\t mcp-cordon", "\\u006dcp-cordon",
                          "m\\u0063p-cordon", "{\"a\":\"mcp-cordon\"", "aaaaaaaaaaaaaa\\nmcp\\/cordon"}) {
    CAPTURE(raw);
    CHECK(worth_a_look(raw));
  }
  CHECK_FALSE(worth_a_look("aaaaaaaaaaaaa\\nsee mcp-cordon\\n\\u00e9 \\ud83d\\ude00"));
}
