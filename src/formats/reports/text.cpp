// SPDX-License-Identifier: Apache-2.0
// The diff for a person at a terminal. Only our own headlines begin in column 0; what the server wrote stands behind
// a bar. Tools that changed in the same way are one group, and each is named in full.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/catalog/groups.hpp"
#include "core/json/read.hpp"
#include "formats/reports/paper.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/word_diff.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;
using catalog::Severity;

constexpr std::string_view kBar = "    | ";
constexpr std::string_view kBarRest = "    |   ";
constexpr std::size_t kMaxValueBytes = 2'000;  // of one value or changed run of words
constexpr std::size_t kMaxDataBytes = 600;     // of one that is an object or array; `review` shows all of it
constexpr std::size_t kMaxPartBytes = 200;     // of one parameter of a tool that is new
constexpr std::size_t kMarkWidth = 10;         // "CRITICAL" and two spaces
constexpr std::size_t kContextBytes = 48;      // of equal words around a change

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::info:
      return Tone::dim;
    case Severity::low:
      return Tone::low;
    case Severity::medium:
      return Tone::medium;
    case Severity::high:
      return Tone::high;
    case Severity::critical:
      return Tone::critical;
  }
  return Tone::plain;
}

// Quoted when it could be taken for more than one name.
Ink shown_name(const std::string& name) {
  const bool simple = std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-./:").find(c) != std::string_view::npos;
  });
  const Ink shown = Ink::theirs(name, Tone::strong);
  if (simple && !name.empty()) {
    return shown;
  }
  std::string quoted = "'";
  for (const char c : shown.text()) {
    quoted += c == '\'' ? "\\'" : std::string(1, c);
  }
  return Ink::ours(quoted + "'", Tone::strong);
}

void add_all(std::vector<Ink>& inks, std::vector<Ink> more) { std::ranges::move(more, std::back_inserter(inks)); }

enum class Keep : std::uint8_t { head, tail, both };

// Where a text can be cut near `at`: at a space, when one is close behind, and never inside a code point.
std::size_t cut_after(std::string_view text, std::size_t at) {
  std::size_t end = std::min(text.find(' ', at), text.size());
  if (end == text.size() || end > at + kContextBytes) {
    end = at;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      ++end;
    }
  }
  return end;
}

// Equal words, with those far from any change left out.
void add_context(std::vector<Ink>& inks, std::string_view text, Keep keep) {
  const std::size_t kept = keep == Keep::both ? 2 : 1;
  if (text.size() <= (kept + 1) * kContextBytes) {
    inks.push_back(Ink::their_words(text));
    return;
  }
  if (keep != Keep::tail) {
    inks.push_back(Ink::their_words(text.substr(0, cut_after(text, kContextBytes))));
  }
  inks.push_back(Ink::ours(" …", Tone::dim));
  if (keep != Keep::head) {
    inks.push_back(Ink::their_words(text.substr(cut_after(text, text.size() - kContextBytes))));
  }
}

std::vector<Ink> word_line(const std::string& before, const std::string& after) {
  const std::vector<WordPiece> pieces = word_diff(before, after);
  std::vector<Ink> inks;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const WordPiece& piece = pieces[i];
    if (piece.kind == WordPiece::Kind::same) {
      add_context(inks, piece.text, i == 0 ? Keep::tail : i + 1 == pieces.size() ? Keep::head : Keep::both);
      continue;
    }
    const bool removed = piece.kind == WordPiece::Kind::removed;
    const Tone tone = removed ? Tone::removed : Tone::added;
    inks.push_back(Ink::ours(removed ? "[-" : "{+", tone));
    add_all(inks, shortened(Ink::their_words(piece.text, tone), kMaxValueBytes));
    inks.push_back(Ink::ours(removed ? "-]" : "+}", tone));
  }
  return inks;
}

class Body {
 public:
  Body(Paper& paper, const catalog::Group& group) : paper_(paper), group_(group) {}

  void write() {
    const ItemChange& change = *group_.items.front();
    const bool tool = change.item == "tool";
    if (!change.name.empty() && change.kind == ChangeKind::removed) {
      return;
    }
    if (change.kind == ChangeKind::cosmetic) {
      write_pointers();
    } else if (tool && change.kind == ChangeKind::added) {
      const Place& place = *group_.places.front();
      write_cues(place, kBar);
      write_definition(place.after);
    } else {
      for (const Place* place : group_.places) {
        write_place(*place);
      }
    }
    if (group_.omitted_places != 0) {
      paper_.write(kBar, kBarRest, {Ink::ours(text::cat("… and ", group_.omitted_places, " more places"), Tone::dim)});
    }
  }

 private:
  void write_pointers() {
    std::vector<Ink> inks;
    for (const Place* place : group_.places) {
      inks.push_back(Ink::ours(inks.empty() ? "" : ", "));
      inks.push_back(Ink::theirs(readable_pointer(place->pointer), Tone::dim));
    }
    paper_.write(kBar, kBarRest, inks);
  }

  void write_cues(const Place& place, std::string_view first) {
    for (const catalog::Cue& cue : place.cues) {
      const Tone tone = tone_of(cue.least);
      std::vector<Ink> inks = {Ink::ours("! ", tone), Ink::ours(catalog::cue_phrase(cue.name), tone)};
      if (!cue.excerpt.empty()) {
        inks.push_back(Ink::ours(": "));
        inks.push_back(Ink::theirs(cue.excerpt));
      }
      if (cue.count > 1) {
        inks.push_back(Ink::ours(text::cat("  (", cue.count, " times)"), Tone::dim));
      }
      paper_.write(first, kBarRest, inks);
    }
  }

  void write_definition(const std::string& definition) {
    const Result<json::Document> document = json::read(definition, {.max_bytes = definition.size(), .max_depth = 1024});
    if (!document) {
      write_value("+ ", definition, Tone::added);
      return;
    }
    for (const json::Member member : document->root().members()) {
      if (member.key.string_equals("inputSchema") && member.value.find("properties").is(json::Kind::object)) {
        write_parameters(member.value);
      } else if (!member.key.string_equals("name")) {
        const bool text = member.value.is(json::Kind::string);
        write_member("", member, text ? kMaxValueBytes : kMaxPartBytes);
      }
    }
  }

  void write_member(std::string_view what, const json::Member& member, std::size_t max_bytes) {
    std::vector<Ink> inks = {Ink::ours(text::cat("+ ", what), Tone::added),
                             Ink::their_json(member.key.raw(), Tone::added), Ink::ours(": ", Tone::added)};
    add_all(inks, shortened(Ink::their_json(member.value.raw(), Tone::added), max_bytes));
    paper_.write(kBar, kBarRest, inks);
  }

  // One line or two for each; what is left out has been looked through for cues.
  void write_parameters(const json::Value& schema) {
    std::vector<std::string> required;
    for (const json::Value element : schema.find("required").elements()) {
      required.push_back(element.is(json::Kind::string) ? element.string() : std::string());
    }
    std::ranges::sort(required);
    for (const json::Member parameter : schema.find("properties").members()) {
      const bool is_required = std::ranges::binary_search(required, parameter.key.string());
      write_member(is_required ? "required parameter " : "parameter ", parameter, kMaxPartBytes);
    }
    std::vector<Ink> rest;
    for (const json::Member member : schema.members()) {
      const std::string key = member.key.string();
      if (key == "properties" || key == "required" || key == "$schema" ||
          (key == "type" && member.value.is(json::Kind::string) && member.value.string_equals("object"))) {
        continue;
      }
      rest.push_back(Ink::ours(rest.empty() ? "+ schema " : ", ", Tone::added));
      rest.push_back(Ink::their_json(member.key.raw(), Tone::added));
      rest.push_back(Ink::ours(": ", Tone::added));
      add_all(rest, shortened(Ink::their_json(member.value.raw(), Tone::added), kMaxPartBytes));
    }
    if (!rest.empty()) {
      paper_.write(kBar, kBarRest, rest);
    }
  }

  void write_place(const Place& place) {
    const std::string_view what = phrase(place);
    if (!place.pointer.empty() && (place.pointer != last_pointer_ || what != last_phrase_)) {
      paper_.write(kBar, kBarRest,
                   {Ink::theirs(readable_pointer(place.pointer), Tone::strong),
                    Ink::ours(text::cat("  (", what, ')'), Tone::dim)});
    }
    last_pointer_ = place.pointer;
    last_phrase_ = what;
    write_cues(place, kBarRest);
    if (const std::optional<Texts> texts = prose_of(place)) {
      paper_.write(kBarRest, kBarRest, word_line(texts->before, texts->after));
      return;
    }
    write_value("- ", place.before, Tone::removed);
    write_value("+ ", place.after, Tone::added);
  }

  void write_value(std::string_view sign, const std::string& json, Tone tone) {
    if (!json.empty()) {
      std::vector<Ink> inks = {Ink::ours(sign, tone)};
      const bool data = json.starts_with('{') || json.starts_with('[');
      add_all(inks, shortened(Ink::their_json(json, tone), data ? kMaxDataBytes : kMaxValueBytes));
      paper_.write(kBarRest, kBarRest, inks);
    }
  }

  Paper& paper_;
  const catalog::Group& group_;
  std::string last_pointer_ = {};
  std::string_view last_phrase_ = {};
};

void write_group(Paper& paper, const catalog::Group& group) {
  std::string mark(label(group.severity));
  mark.resize(kMarkWidth, ' ');
  std::vector<Ink> inks = {Ink::ours(mark, tone_of(group.severity)), Ink::ours(headline(group))};
  const char* separator = ": ";
  for (const ItemChange* change : group.items) {
    if (change->name.empty()) {
      continue;
    }
    inks.push_back(Ink::ours(std::exchange(separator, ", ")));
    if (change->kind == ChangeKind::renamed) {
      inks.push_back(shown_name(change->old_name));
      inks.push_back(Ink::ours(" is now "));
    }
    inks.push_back(shown_name(change->name));
  }
  paper.write("", "          ", inks);
  Body(paper, group).write();
}

std::string render(const catalog::Diff& diff, const RenderOptions& options) {
  Paper paper(options.colour, options.width);
  paper.write("", "          ", {Ink::ours(summary(diff), Tone::strong)});
  for (const catalog::Group& group : catalog::groups_of(diff)) {
    paper.blank_line();
    write_group(paper, group);
  }
  return paper.take();
}

}  // namespace

extern const Report text_report;
constinit const Report text_report = {.name = "text", .render = render};

}  // namespace cordon::formats
