// SPDX-License-Identifier: Apache-2.0
#include "formats/yaml.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using cordon::Errc;
using cordon::yaml::Kind;
using cordon::yaml::Limits;
using cordon::yaml::Node;
using cordon::yaml::Position;
using cordon::yaml::read;

namespace {

// One line per node: kind, place, text; children indented. Keys stand before their values.
void print(std::string& out, const Node& node, const std::string& indent) {
  constexpr std::string_view kNames[] = {"null", "plain", "quoted", "sequence", "mapping"};
  out += std::string(kNames[static_cast<std::size_t>(node.kind)]) + " " + std::to_string(node.position.line) + ":" +
         std::to_string(node.position.column);
  out += node.text.empty() ? "\n" : " [" + node.text + "]\n";
  for (const Node& item : node.items) {
    out += indent + "- ";
    print(out, item, indent + "  ");
  }
  for (const auto& member : node.members) {
    out += indent + member.key + " " + std::to_string(member.position.line) + ":" +
           std::to_string(member.position.column) + ": ";
    print(out, member.value, indent + "  ");
  }
}

std::string tree(std::string_view text) {
  const auto node = read(text, "t.yaml");
  if (!node) {
    return node.error().to_string();
  }
  std::string out;
  print(out, *node, "");
  return out;
}

// "line:column: detail" of the refusal, or what was read.
std::string refusal(std::string_view text, const Limits& limits = {}) {
  const auto node = read(text, "t", limits);
  if (node) {
    return "accepted: " + tree(text);
  }
  CHECK(node.error().code == Errc::policy_invalid);
  CHECK_FALSE(node.error().remedy.empty());
  CHECK(node.error().where.starts_with("t:"));
  return node.error().where.substr(2) + ": " + node.error().detail;
}

std::string repeat(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    out += piece;
  }
  return out;
}

}  // namespace

TEST_CASE("keys and values carry their places") {
  CHECK(tree("a: b\nlist:\n  - x\n  - {k: 'q'}\nempty:\n") ==
        "mapping 1:1\n"
        "a 1:1: plain 1:4 [b]\n"
        "list 2:1: sequence 3:3\n"
        "  - plain 3:5 [x]\n"
        "  - mapping 4:5\n"
        "    k 4:6: quoted 4:9 [q]\n"
        "empty 5:1: null 5:1\n");
}

TEST_CASE("columns count characters") {
  CHECK(tree("{ü: é, b: 😀x, c: d}") ==
        "mapping 1:1\nü 1:2: plain 1:5 [é]\nb 1:8: plain 1:11 [😀x]\nc 1:15: plain 1:18 [d]\n");
}

TEST_CASE("CR LF counts as one line end") {
  CHECK(tree("a: b\r\nc: d\r\n") == "mapping 1:1\na 1:1: plain 1:4 [b]\nc 2:1: plain 2:4 [d]\n");
  CHECK(tree("a: |\r\n  x\r\n") == "mapping 1:1\na 1:1: quoted 1:4 [x\n]\n");
}

TEST_CASE("null is nothing, a tilde or the word") {
  CHECK(tree("a: ~\nb: null\nc:\nd: \"null\"\n") ==
        "mapping 1:1\na 1:1: null 1:4\nb 2:1: null 2:4\nc 3:1: null 3:1\nd 4:1: quoted 4:4 [null]\n");
}

TEST_CASE("quoted and block scalars are marked as such") {
  CHECK(tree("a: \"1\"\nb: '2'\nc: |\n  3\nd: 4\n") ==
        "mapping 1:1\na 1:1: quoted 1:4 [1]\nb 2:1: quoted 2:4 [2]\nc 3:1: quoted 3:4 [3\n]\nd 5:1: plain 5:4 [4]\n");
}

TEST_CASE("an empty text, comments and document marks are no error") {
  CHECK(tree("") == "null 1:1\n");
  CHECK(tree("# nothing\n") == "null 1:1\n");
  CHECK(tree("---\na: b\n...\n") == "mapping 2:1\na 2:1: plain 2:4 [b]\n");
}

TEST_CASE("what makes YAML ambiguous or explosive is refused at its place") {
  CHECK(refusal("a: 1\nb: 2\na: 3\n") == "3:1: duplicate key 'a' (first in line 1)");
  CHECK(refusal("x: {a: 1, \"a\": 2}") == "1:11: duplicate key 'a' (first in line 1)");
  CHECK(refusal("a: &x 1\n") == "1:4: an anchor (&name)");
  CHECK(refusal("&x a: 1\n") == "1:1: an anchor (&name)");
  CHECK(refusal("a: &x\n  b: 1\n") == "1:4: an anchor (&name)");
  CHECK(refusal("a: *x\n").ends_with("the referenced anchor is not defined"));
  CHECK(refusal("a: !!str 1\n") == "1:4: a tag (!name)");
  CHECK(refusal("a: ! 1\n") == "1:4: a tag (!name)");
  CHECK(refusal("a: !x [1]\n") == "1:4: a tag (!name)");
  CHECK(refusal("!x\na: 1\n") == "1:1: a tag (!name)");
  CHECK(refusal("! a: 1\n") == "1:1: a tag (!name)");
  CHECK(refusal("<<: {a: b}\n") == "1:1: a merge key (<<)");
  CHECK(refusal("a: 1\n---\nb: 2\n") == "2:1: text after the end of the document, or a second document");
  CHECK(refusal("- a\nb: c\n") == "2:1: text after the end of the document, or a second document");
  CHECK(refusal("{a: 1} x") == "1:8: text after the end of the document, or a second document");
  CHECK(refusal("%YAML 1.2\n---\na: 1\n") == "1:1: a line that begins with % would be a YAML directive");
  CHECK(refusal("a: 1\n%x\nb: 2\n") == "2:1: a line that begins with % would be a YAML directive");
  CHECK(refusal("[a]: b\n") == "1:1: a key that is no plain word, or a bracket that is never closed");
  CHECK(refusal("{}: b\n") == "1:1: a key that is no plain word, or a bracket that is never closed");
  CHECK(refusal("~: b\n") == "1:1: a key that is no plain word, or a bracket that is never closed");
  CHECK(refusal("a: b\n  c\n") == "1:4: a value without quotes goes on in the next line");
  CHECK(refusal("a: none\n  b: c\n") == "1:4: a value without quotes goes on in the next line");
}

TEST_CASE("what readers of YAML disagree about is refused at its place") {
  CHECK(refusal("a: \"b\n\n c\"\n") == "1:4: a quoted string that does not end on its line");
  CHECK(refusal("a: \"b\\\n  c\"\n") == "1:4: an escape that YAML does not know");
  CHECK(refusal("a: \"b\\'c\"\n") == "1:4: an escape that YAML does not know");
  CHECK(refusal("a: >#\n  b\n") == "1:4: text right behind | or >");
  CHECK(refusal("a: [b,, c]\n") == "1:7: an empty item just before here");
  CHECK(refusal("a:\n  -\n  - b\n") == "3:3: an empty item just before here");
  CHECK(refusal("a: {b, c: d}\n") == "1:5: a key without a colon behind it, or a bracket that is never closed");
  CHECK(refusal("a: b\nisolation\n") == "2:1: a key without a colon behind it, or a bracket that is never closed");
  CHECK(refusal("? a\n: b\n") == "1:3: a key without a colon behind it, or a bracket that is never closed");
  CHECK(refusal("a:\nb\n") == "2:1: a key without a colon behind it, or a bracket that is never closed");
  CHECK(refusal("a:\n\"b\"\n") == "2:1: a value that is not indented further than its key");
  CHECK(refusal("x:\n  a:\n  [b]\n") == "3:3: a value that is not indented further than its key");
  CHECK(refusal("a: [:b]\n") == "1:5: a value without quotes that begins with a colon");
  CHECK(tree("a:\n- b\n") == "mapping 1:1\na 1:1: sequence 2:1\n  - plain 2:3 [b]\n");
  CHECK(tree("a: {b:\nc}\n") == "mapping 1:1\na 1:1: mapping 1:4\n  b 1:5: plain 2:1 [c]\n");
  CHECK(tree("a: >-\n  p\n  ") == "mapping 1:1\na 1:1: quoted 1:4 [p]\n");
  CHECK(tree("a: |+ # c\n  p\n") == "mapping 1:1\na 1:1: quoted 1:4 [p\n]\n");
  CHECK(tree("'a' : 'it''s'\n") == "mapping 1:1\na 1:1: quoted 1:7 [it's]\n");
}

TEST_CASE("bad syntax names its place") {
  CHECK(refusal("a: [b\n") == "1:5: a key without a colon behind it, or a bracket that is never closed");
  CHECK(refusal("a: [b,\n").starts_with("2:1: no valid YAML: "));
  CHECK(refusal("a: \"b\n") == "1:4: a quoted string that does not end on its line");
  CHECK(refusal("a: \"b\\\"\n") == "1:4: a quoted string that does not end on its line");
  CHECK(refusal("a: 'b''\nc: d\n") == "1:4: a quoted string that does not end on its line");
  CHECK(refusal("'a\n") == "1:1: a quoted string that does not end on its line");
  CHECK(refusal("a: [b,").starts_with("2:1: no valid YAML: "));
  CHECK(refusal("a: b: c\n").starts_with("1:5: no valid YAML: "));
  CHECK(refusal("a: 'x' y\n").starts_with("1:8: no valid YAML: "));
  CHECK(refusal("a: @x\n").starts_with("1:4: no valid YAML: "));
  CHECK(refusal("a: \"\\ud800\"\n").starts_with("1:11: no valid YAML: "));
}

TEST_CASE("what a reviewer could not see is refused at its place") {
  using namespace std::string_view_literals;
  CHECK(refusal("a: b\xFF\n") == "1:5: the text is not valid UTF-8 here");
  CHECK(refusal("a: \xED\xA0\x80\n") == "1:4: the text is not valid UTF-8 here");
  CHECK(refusal("a: \xC0\x80\n") == "1:4: the text is not valid UTF-8 here");
  CHECK(refusal("a: b\0\n"sv) == "1:5: a control character (\\x00)");
  CHECK(refusal("# \x1b[31m\n") == "1:3: a control character (\\x1b)");
  CHECK(refusal("a: \x7f\n") == "1:4: a control character (\\x7f)");
  CHECK(refusal("a: é\xC2\x85") == "1:5: a control character (\\u{0085})");
  CHECK(refusal("a:\n\tb: c\n") == "2:1: a tab");
  CHECK(refusal("a: b\rc: d\n") == "1:5: a control character (\\x0d)");
  CHECK(refusal("\xEF\xBB\xBF"
                "a: b\n") == "1:1: a byte order mark (\\u{feff})");
  CHECK(refusal("a: \xE2\x80\xAE\n") == "1:4: a character that reorders text (\\u{202e})");
  CHECK(refusal("a: x\xE2\x80\x8B\n") == "1:5: an invisible character (\\u{200b})");
  CHECK(refusal("a: x\xE2\x80\xA8\n") == "1:5: a line separator (\\u{2028})");
}

TEST_CASE("an escape cannot bring in what the text may not hold") {
  CHECK(refusal("a: \"\\x00\"\n") == "1:4: the value holds a control character");
  CHECK(refusal("a: \"\\e[1m\"\n") == "1:4: the value holds a control character");
  CHECK(refusal("a: \"\\u202e\"\n") == "1:4: the value holds a character that reorders text");
  CHECK(refusal("\"\\u200b\": 1\n") == "1:1: the value holds an invisible character");
  CHECK(refusal("\"\\x61\": 1\na: 2\n") == "2:1: duplicate key 'a' (first in line 1)");
  CHECK(tree("a: \"x\\ny\\tz\"\n") == "mapping 1:1\na 1:1: quoted 1:4 [x\ny\tz]\n");
}

TEST_CASE("depth, size and number of values are bounded") {
  CHECK(tree(repeat("[", 64) + repeat("]", 64)).starts_with("sequence 1:1\n"));
  CHECK(refusal(repeat("[", 65) + repeat("]", 65)) == "1:65: nested more than 64 deep");
  CHECK(refusal(repeat("- ", 65) + "x") == "1:129: nested more than 64 deep");
  CHECK(refusal("[a, b, c]", {.max_nodes = 3}) == "1:8: more than 3 values");
  CHECK(refusal(std::string(1024 * 1024 + 1, '#')) == "1:1: the file has more than 1048576 bytes");
  CHECK(tree(std::string(1024 * 1024, '#')) == "null 1:1\n");
}

TEST_CASE("a text that doubles at each line by aliases is refused at its first anchor") {
  std::string laughs = "a: &a [x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    laughs += std::string{c} + ": &" + c + " [*" + static_cast<char>(c - 1) + ", *" + static_cast<char>(c - 1) + "]\n";
  }
  CHECK(refusal(laughs) == "1:4: an anchor (&name)");
}

TEST_CASE("texts made to be slow are answered all the same") {
  // Each would take minutes or gigabytes if the work grew faster than the text.
  for (const std::string_view piece :
       {"[",    "{",  "{a: ", "[a, ", "- ",  "? ", "? ? : ", "a: ", "\"",    "'",  "a\n", "a:\n ", "#",  "[]",
        "{}: ", "\\", "&a ",  "*a ",  "!a ", "!<", "| ",     "> ",  "- |\n", "[?", ",",   ":",     "\n", " "}) {
    CAPTURE(piece);
    const std::string text = repeat(piece, 300'000 / piece.size());
    const auto node = read(text, "t");
    CHECK((node.has_value() || !node.error().detail.empty()));
  }
}
