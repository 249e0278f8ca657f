// SPDX-License-Identifier: Apache-2.0
// The diff for a person at a terminal. Only our own headlines begin in column 0; what the server wrote stands behind
// a bar. Tools that changed in the same way are one group, and each is named in full.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "formats/reports/paper.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/word_diff.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;
using catalog::Severity;

constexpr std::string_view kBar = "    | ";
constexpr std::string_view kBarRest = "    |   ";
constexpr std::size_t kMaxValueBytes = 2'000;  // of one value or changed run of words
constexpr std::size_t kMaxWholeBytes = 120;
constexpr std::size_t kContextBytes = 48;  // of equal words around a change

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
  }
  return Tone::plain;
}

std::string_view label_of(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "INFO    ";
    case Severity::low:
      return "LOW     ";
    case Severity::medium:
      return "MEDIUM  ";
    case Severity::high:
      return "HIGH    ";
  }
  return "";
}

std::string_view noun_of(std::string_view item) {
  return item == "effect"              ? "effect class"
         : item == "server_info"       ? "server identity"
         : item == "protocol_versions" ? "protocol versions"
         : item == "resource_template" ? "resource template"
         : item == "interface"         ? "interface of tool"
                                       : item;
}

std::string_view verb_of(const ItemChange& change) {
  return change.kind == ChangeKind::cosmetic ? "differs in form only" : catalog::name(change.kind);
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

// The decoded string, when `json` is one.
std::optional<std::string> string_in(const std::string& json) {
  if (!json.starts_with('"')) {
    return std::nullopt;
  }
  const Result<json::Document> document = json::read(json, {.max_bytes = json.size()});
  return document ? std::optional(document->root().string()) : std::nullopt;
}

void add_all(std::vector<Ink>& inks, std::vector<Ink> more) { std::ranges::move(more, std::back_inserter(inks)); }

// Worth a comparison word by word; a single word or address is better read whole.
bool is_prose(std::string_view text) {
  return text.size() > kMaxWholeBytes || text.find(' ') != std::string_view::npos;
}

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
  explicit Body(const RenderOptions& options) : paper_(options.colour, options.width) {}

  std::string of(const ItemChange& change) {
    if (change.kind == ChangeKind::removed && change.item == "tool") {
      return {};
    }
    if (change.kind == ChangeKind::cosmetic) {
      write_pointers(change);
    } else if (change.kind == ChangeKind::added && change.item == "tool") {
      write_definition(change.places.front().after);
    } else {
      for (const Place& place : change.places) {
        write_place(place);
      }
    }
    if (change.omitted_places != 0) {
      paper_.write(kBar, kBarRest, {Ink::ours(text::cat("… and ", change.omitted_places, " more places"), Tone::dim)});
    }
    return paper_.take();
  }

 private:
  void write_pointers(const ItemChange& change) {
    std::vector<Ink> inks;
    for (const Place& place : change.places) {
      inks.push_back(Ink::ours(inks.empty() ? "" : ", "));
      inks.push_back(Ink::theirs(place.pointer, Tone::dim));
    }
    paper_.write(kBar, kBarRest, inks);
  }

  void write_definition(const std::string& definition) {
    const Result<json::Document> document = json::read(definition, {.max_bytes = definition.size(), .max_depth = 1024});
    if (!document) {
      write_value("+ ", definition, Tone::added);
      return;
    }
    for (const json::Member member : document->root().members()) {
      if (!member.key.string_equals("name")) {
        std::vector<Ink> inks = {Ink::ours("+ ", Tone::added), Ink::their_json(member.key.raw(), Tone::added),
                                 Ink::ours(": ", Tone::added)};
        add_all(inks, shortened(Ink::their_json(member.value.raw(), Tone::added), kMaxValueBytes));
        paper_.write(kBar, kBarRest, inks);
      }
    }
  }

  void write_place(const Place& place) {
    if (!place.pointer.empty() && place.pointer != last_pointer_) {
      const bool form = place.severity == Severity::info;
      paper_.write(kBar, kBarRest,
                   {Ink::theirs(place.pointer, Tone::strong), Ink::ours(form ? "  (form only)" : "", Tone::dim)});
      last_pointer_ = place.pointer;
    }
    const std::optional<std::string> before = string_in(place.before);
    const std::optional<std::string> after = string_in(place.after);
    if (before && after && !place.element && (is_prose(*before) || is_prose(*after))) {
      paper_.write(kBarRest, kBarRest, word_line(*before, *after));
      return;
    }
    write_value("- ", place.before, Tone::removed);
    write_value("+ ", place.after, Tone::added);
  }

  void write_value(std::string_view sign, const std::string& json, Tone tone) {
    if (!json.empty()) {
      std::vector<Ink> inks = {Ink::ours(sign, tone)};
      add_all(inks, shortened(Ink::their_json(json, tone), kMaxValueBytes));
      paper_.write(kBarRest, kBarRest, inks);
    }
  }

  Paper paper_;
  std::string last_pointer_ = {};
};

// Changes that look the same but for the name.
struct Group {
  const ItemChange* first = nullptr;
  std::vector<const std::string*> names = {};
  std::string body = {};
};

std::vector<Group> grouped(const catalog::Diff& diff, const RenderOptions& options) {
  std::vector<Group> groups;
  std::map<Digest, std::size_t> index;
  for (const ItemChange& change : diff.changes) {
    std::string body = Body(options).of(change);
    const std::string like =
        text::cat(change.item, ' ', catalog::name(change.kind), ' ', catalog::name(change.severity), '\n', body);
    const auto [found, is_new] = index.try_emplace(sha256(like), groups.size());
    if (is_new) {
      groups.push_back({.first = &change, .body = std::move(body)});
    }
    groups[found->second].names.push_back(&change.name);
  }
  return groups;
}

void write_group(Paper& paper, const Group& group) {
  const ItemChange& change = *group.first;
  const std::size_t count = group.names.size();
  std::vector<Ink> inks = {Ink::ours(label_of(change.severity), tone_of(change.severity))};
  const std::string_view noun = noun_of(change.item);
  const bool class_lowered = change.item == "effect" && change.severity == Severity::high;
  const std::string_view verb = class_lowered ? "lowered" : verb_of(change);
  if (change.name.empty() && change.item != "tool") {
    inks.push_back(Ink::ours(text::cat(noun, ' ', verb)));
  } else if (count == 1) {
    inks.push_back(Ink::ours(text::cat(noun, ' ', verb, ": ")));
  } else {
    const std::string plural = change.item == "effect" ? "effect classes" : text::cat(noun, 's');
    const bool cosmetic = change.kind == ChangeKind::cosmetic;
    inks.push_back(Ink::ours(text::cat(count, ' ', plural, ' ', cosmetic ? "differ in form only" : verb,
                                       change.kind == ChangeKind::changed ? " in the same way: " : ": ")));
  }
  for (std::size_t i = 0; i < count && !group.names[i]->empty(); ++i) {
    inks.push_back(Ink::ours(i == 0 ? "" : ", "));
    inks.push_back(shown_name(*group.names[i]));
  }
  paper.write("", "        ", inks);
}

void write_summary(Paper& paper, const catalog::Diff& diff) {
  std::array<std::size_t, 4> tools = {};
  std::size_t others = 0;
  for (const ItemChange& change : diff.changes) {
    if (change.item == "tool") {
      ++tools[static_cast<std::size_t>(change.kind)];
    } else {
      ++others;
    }
  }
  if (diff.changes.empty()) {
    paper.write("", "", {Ink::ours("No difference.")});
    return;
  }
  std::string line = diff.drifted() ? "Drift" : "No drift";
  const char* separator = ": ";
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count != 0) {
      line += text::cat(std::exchange(separator, ", "), count, ' ', what);
    }
  };
  constexpr std::array kWords = {"added", "removed", "changed", "different in form"};
  for (std::size_t i = 0; i < tools.size(); ++i) {
    add(tools[i], text::cat(tools[i] == 1 ? "tool " : "tools ", kWords[i]));
  }
  add(others, others == 1 ? "other change" : "other changes");
  paper.write("", "        ", {Ink::ours(line + ".", Tone::strong)});
}

std::string render(const catalog::Diff& diff, const RenderOptions& options) {
  Paper summary(options.colour, options.width);
  write_summary(summary, diff);
  std::string out = summary.take();
  for (const Group& group : grouped(diff, options)) {
    Paper paper(options.colour, options.width);
    paper.blank_line();
    write_group(paper, group);
    out += paper.take() + group.body;
  }
  return out;
}

}  // namespace

extern const Report text_report;
constinit const Report text_report = {.name = "text", .render = render};

}  // namespace cordon::formats
