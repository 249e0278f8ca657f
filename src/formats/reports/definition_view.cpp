// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/definition_view.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxDepth = 12;  // what lies deeper is shown as JSON

// "string", "string or null"; empty when it cannot be said so.
std::string type_words(const Value& type) {
  if (type.is(Kind::string)) {
    return type.string();
  }
  std::string out;
  for (const Value one : type.elements()) {
    if (!one.is(Kind::string)) {
      return {};
    }
    out += text::cat(out.empty() ? "" : " or ", one.string());
  }
  return out;
}

bool is_long(std::string_view text) { return text.size() > 50 || text.contains('\n'); }

enum class Need : std::uint8_t { none, optional, required };

class View {
 public:
  View(Paper& paper, std::string_view mark, Tone tone) : paper_(paper), mark_(mark), tone_(tone) {}

  void write(const Value& definition) {
    for (const json::Member member : definition.members()) {
      const std::string key = member.key.string();
      if (key == "inputSchema" && member.value.is(Kind::object)) {
        write_schema("parameters", {}, member.value, Need::none, 0);
      } else if (key == "outputSchema" && member.value.is(Kind::object)) {
        write_schema("results", {}, member.value, Need::none, 0);
      } else if (member.value.is(Kind::string) && is_long(member.value.string())) {
        line(0, {Ink::theirs(key, tone_), Ink::ours(":", tone_)});
        write_text(member.value.string(), 1);
      } else if (key != "name") {
        line(0, {Ink::theirs(key, tone_), Ink::ours(": ", tone_), Ink::their_json(member.value.raw(), tone_)});
      }
    }
  }

 private:
  void line(std::size_t depth, const std::vector<Ink>& inks) {
    const std::string first = text::cat(mark_, std::string(2 * depth, ' '));
    paper_.write(first, first + "  ", inks);
  }

  // Their lines stand behind a bar, so that none can pose as a parameter.
  void write_text(const std::string& text, std::size_t depth) {
    const std::string bar = text::cat(mark_, std::string(2 * depth, ' '), "| ");
    for (const std::string_view one : text::split(text, '\n')) {
      paper_.write(bar, bar, {Ink::theirs(one, tone_)});
    }
  }

  // `ours`: a word of ours for what it is; `theirs`: the name of a parameter.
  void write_schema(std::string_view ours, std::string_view theirs, const Value& schema, Need need, std::size_t depth) {
    std::vector<Ink> inks = {Ink::ours(ours, tone_)};
    if (!theirs.empty() || ours.empty()) {
      inks.push_back(Ink::theirs(readable_token(theirs), Tone::strong));
    }
    inks.push_back(Ink::ours(": ", tone_));
    if (!schema.is(Kind::object) || depth > kMaxDepth) {
      inks.push_back(Ink::their_json(schema.raw(), tone_));
      line(depth, inks);
      return;
    }
    const std::string type = type_words(schema.find("type"));
    const bool root = depth == 0 && type == "object";
    std::vector<Ink> facts;
    const auto add = [&](std::vector<Ink> more) {
      if (!facts.empty()) {
        facts.push_back(Ink::ours(", ", tone_));
      }
      std::ranges::move(more, std::back_inserter(facts));
    };
    if (!type.empty() && !root) {
      add({Ink::theirs(type, tone_)});
    }
    if (need != Need::none) {
      add({Ink::ours(need == Need::required ? "required" : "optional", need == Need::required ? Tone::strong : tone_)});
    }
    for (const json::Member member : schema.members()) {
      const std::string key = member.key.string();
      if (!(key == "type" && !type.empty()) && !told_below(key, member.value, schema)) {
        add({Ink::theirs(key, tone_), Ink::ours(" ", tone_), Ink::their_json(member.value.raw(), tone_)});
      }
    }
    if (facts.empty()) {
      facts.push_back(Ink::ours(schema.find("properties").size() == 0 ? (root ? "none" : "anything") : "", tone_));
    }
    std::ranges::move(facts, std::back_inserter(inks));
    line(depth, inks);
    write_below(schema, depth + 1);
  }

  // The strings of an array; nothing when it is none, or has anything else in it.
  static std::optional<std::vector<std::string>> all_strings(const Value& value) {
    std::vector<std::string> out;
    for (const Value one : value.elements()) {
      if (!one.is(Kind::string)) {
        return std::nullopt;
      }
      out.push_back(one.string());
    }
    return value.is(Kind::array) ? std::optional(std::move(out)) : std::nullopt;
  }

  // Members that get lines of their own, or that each parameter says for itself.
  static bool told_below(std::string_view key, const Value& value, const Value& schema) {
    if (key == "description") {
      return value.is(Kind::string);
    }
    if (key == "properties" || key == "$defs" || key == "definitions" || key == "items") {
      return value.is(Kind::object);
    }
    if (key == "anyOf" || key == "oneOf" || key == "allOf") {
      return value.is(Kind::array);
    }
    if (const auto names = key == "required" ? all_strings(value) : std::nullopt) {
      const Value properties = schema.find("properties");
      return std::ranges::all_of(
          *names, [&](const std::string& name) { return properties.is(Kind::object) && bool(properties.find(name)); });
    }
    return false;
  }

  static bool is_required(const Value& schema, std::string_view name) {
    for (const Value one : schema.find("required").elements()) {
      if (one.is(Kind::string) && one.string() == name) {
        return true;
      }
    }
    return false;
  }

  void write_below(const Value& schema, std::size_t depth) {
    if (const Value text = schema.find("description"); text.is(Kind::string)) {
      write_text(text.string(), depth);
    }
    if (const Value properties = schema.find("properties"); properties.is(Kind::object)) {
      for (const json::Member member : properties.members()) {
        const std::string name = member.key.string();
        const Need need = is_required(schema, name) ? Need::required : Need::optional;
        write_schema("", name, member.value, need, depth);
      }
    }
    if (const Value items = schema.find("items"); items.is(Kind::object)) {
      write_schema("each element", {}, items, Need::none, depth);
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLists = {
        {{"anyOf", "any of"}, {"oneOf", "one of"}, {"allOf", "all of"}}};
    for (const auto& [key, words] : kLists) {
      std::size_t count = 0;
      for (const Value branch : schema.find(key).elements()) {
        write_schema(text::cat(words, " (", ++count, ")"), {}, branch, Need::none, depth);
      }
    }
    for (const std::string_view key : {"$defs", "definitions"}) {
      for (const json::Member member : schema.find(key).members()) {
        write_schema(text::cat("#/", key, "/"), member.key.string(), member.value, Need::none, depth);
      }
    }
  }

  Paper& paper_;
  std::string_view mark_;
  Tone tone_;
};

}  // namespace

bool write_definition(Paper& paper, std::string_view definition, std::string_view mark, Tone tone) {
  const Result<json::Document> document =
      json::read(std::string(definition), {.max_bytes = definition.size(), .max_depth = 1024});
  if (!document || !document->root().is(Kind::object)) {
    return false;
  }
  View(paper, mark, tone).write(document->root());
  return true;
}

}  // namespace cordon::formats
