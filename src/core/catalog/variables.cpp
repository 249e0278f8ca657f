// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/variables.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;
using Places = std::vector<const VariablePlace*>;

json::Document own_document(std::string_view text) {
  auto document = json::read(std::string(text), {.max_bytes = text.size(), .max_depth = 1'024});
  CORDON_ASSERT(document.has_value());
  return std::move(*document);
}

std::string step(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  out += '/';
  for (const char c : key) {
    out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

// Marked strings of one item: pointer → places, in the order of offsets.
std::map<std::string, Places> by_pointer(const std::vector<VariablePlace>& places, std::string_view item,
                                         std::string_view key) {
  std::map<std::string, Places> out;
  for (const VariablePlace& place : places) {
    if (place.item == item && place.key == key) {
      out[place.pointer].push_back(&place);
    }
  }
  return out;
}

// `value` again; `edit` may replace a string, told by its pointer.
template <typename Edit>
void rewrite(json::Writer& w, const Value& value, const std::string& pointer, const Edit& edit) {
  if (value.is(Kind::object)) {
    w.begin_object();
    for (const json::Member member : value.members()) {
      const std::string key = member.key.string();
      w.key(key);
      rewrite(w, member.value, step(pointer, key), edit);
    }
    w.end_object();
  } else if (value.is(Kind::array)) {
    w.begin_array();
    std::size_t index = 0;
    for (const Value element : value.elements()) {
      rewrite(w, element, step(pointer, text::cat(index++)), edit);
    }
    w.end_array();
  } else if (const std::optional<std::string> text = value.is(Kind::string) ? edit(pointer, value) : std::nullopt) {
    w.string(*text);
  } else {
    w.value(value);
  }
}

// Calls `see(pointer, text)` for each string.
template <typename See>
void each_string(const Value& value, const std::string& pointer, const See& see) {
  if (value.is(Kind::object)) {
    for (const json::Member member : value.members()) {
      each_string(member.value, step(pointer, member.key.string()), see);
    }
  } else if (value.is(Kind::array)) {
    std::size_t index = 0;
    for (const Value element : value.elements()) {
      each_string(element, step(pointer, text::cat(index++)), see);
    }
  } else if (value.is(Kind::string)) {
    see(pointer, value.string());
  }
}

std::string replaced(const VariableRules& rules, const Places& places, std::string_view text) {
  std::string out;
  std::size_t done = 0;
  for (const VariablePlace* place : places) {
    const auto rule = rules.find(place->variable);
    if (rule == rules.end() || !rule->second.known) {
      continue;
    }
    out += text.substr(done, place->offset - done);
    out += *rule->second.known;
    done = place->offset + place->length;
  }
  out += text.substr(done);
  return out;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

// The text between two variables is looked for from the left; the last piece must be the end. A value that holds the
// text behind it does not match, and then counts as a change: nothing is guessed.
bool VariableReader::matches(const Places& places, std::string_view pinned, std::string_view live) {
  std::map<std::string, std::string> values = values_;
  std::size_t in_pinned = 0;
  std::size_t in_live = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const VariablePlace& place = *places[i];
    const auto rule = rules_->find(place.variable);
    const std::string_view before = pinned.substr(in_pinned, place.offset - in_pinned);
    if (rule == rules_->end() || live.substr(std::min(in_live, live.size()), before.size()) != before) {
      return false;
    }
    in_live += before.size();
    in_pinned = place.offset + place.length;
    const bool last = i + 1 == places.size();
    const std::string_view behind =
        pinned.substr(in_pinned, last ? std::string_view::npos : places[i + 1]->offset - in_pinned);
    if (behind.empty() && !last) {
      return false;  // where one ends and the next begins could only be guessed
    }
    std::size_t end = last ? (live.size() >= behind.size() ? live.size() - behind.size() : std::string_view::npos)
                           : live.find(behind, in_live);
    if (end == std::string_view::npos || end < in_live || (last && live.substr(end) != behind)) {
      return false;
    }
    const std::string_view value = live.substr(in_live, end - in_live);
    if (value.empty() || value.size() > kMaxVariableBytes || value.find_first_of("\n\r") != std::string_view::npos ||
        !rule->second.fits(rule->second, value)) {
      return false;
    }
    const auto [bound, fresh] = values.emplace(place.variable, value);
    if (!fresh && bound->second != value) {
      return false;
    }
    in_live = end;
  }
  values_ = std::move(values);
  return true;
}

std::string VariableReader::settled(std::string_view item, std::string_view key, std::string_view pinned,
                                    std::string_view live) {
  const std::map<std::string, Places> marked = by_pointer(*places_, item, key);
  if (marked.empty()) {
    return std::string(live);
  }
  std::map<std::string, std::string> reviewed;
  const json::Document pinned_document = own_document(pinned);
  each_string(pinned_document.root(), "", [&](const std::string& pointer, const std::string& text) {
    if (marked.contains(pointer)) {
      reviewed.emplace(pointer, text);
    }
  });
  const json::Document document = own_document(live);
  json::Writer w;
  rewrite(w, document.root(), "", [&](const std::string& pointer, const Value& value) -> std::optional<std::string> {
    const auto text = reviewed.find(pointer);
    if (text == reviewed.end() || !matches(marked.at(pointer), text->second, value.string())) {
      return std::nullopt;
    }
    return shown_ == Shown::reviewed ? text->second : replaced(*rules_, marked.at(pointer), text->second);
  });
  return w.take();
}

std::string VariableReader::settled_text(std::string_view item, std::string_view pinned, std::string_view live) {
  const std::map<std::string, Places> marked = by_pointer(*places_, item, "");
  const auto places = marked.find("");
  if (places == marked.end() || !matches(places->second, pinned, live)) {
    return std::string(live);
  }
  return shown_ == Shown::reviewed ? std::string(pinned) : replaced(*rules_, places->second, pinned);
}

std::string with_known_values(const VariableRules& rules, const std::vector<VariablePlace>& places,
                              std::string_view item, std::string_view key, std::string_view pinned) {
  const std::map<std::string, Places> marked = by_pointer(places, item, key);
  if (marked.empty()) {
    return std::string(pinned);
  }
  const json::Document document = own_document(pinned);
  json::Writer w;
  rewrite(w, document.root(), "", [&](const std::string& pointer, const Value& value) -> std::optional<std::string> {
    const auto found = marked.find(pointer);
    return found == marked.end() ? std::nullopt : std::optional(replaced(rules, found->second, value.string()));
  });
  return w.take();
}

std::string text_with_known_values(const VariableRules& rules, const std::vector<VariablePlace>& places,
                                   std::string_view item, std::string_view text) {
  const std::map<std::string, Places> marked = by_pointer(places, item, "");
  const auto found = marked.find("");
  return found == marked.end() ? std::string(text) : replaced(rules, found->second, text);
}

std::vector<VariablePlace> places_of_known(const VariableRules& rules, const Snapshot& snapshot) {
  std::vector<VariablePlace> found;
  const auto look = [&](std::string_view item, std::string_view key, const std::string& pointer,
                        const std::string& text) {
    std::vector<VariablePlace> here;
    for (const auto& [name, rule] : rules) {
      if (!rule.known || rule.known->size() < 2 || rule.known->size() > kMaxVariableBytes) {
        continue;
      }
      for (std::size_t at = text.find(*rule.known); at != std::string::npos; at = text.find(*rule.known, at + 1)) {
        const std::size_t end = at + rule.known->size();
        const bool whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
        const bool free = std::ranges::none_of(
            here, [&](const VariablePlace& other) { return at < other.offset + other.length && other.offset < end; });
        if (whole && free) {
          here.push_back({std::string(item), std::string(key), pointer, at, rule.known->size(), name});
        }
      }
    }
    std::ranges::move(here, std::back_inserter(found));
  };
  const auto look_into = [&](std::string_view item, const std::string& key, const std::string& definition) {
    const json::Document document = own_document(definition);
    each_string(document.root(), "",
                [&](const std::string& pointer, const std::string& text) { look(item, key, pointer, text); });
  };
  for (const PinnedTool& tool : snapshot.tools) {
    look_into("tool", tool.name, tool.definition);
  }
  for (const ListKind kind : kItemKinds) {
    for (const PinnedItem& item : snapshot.items(kind)) {
      look_into(names(kind).item, item.key, item.definition);
    }
  }
  if (snapshot.instructions) {
    look("instructions", "", "", *snapshot.instructions);
  }
  // What tells items apart is no text.
  std::erase_if(found, [](const VariablePlace& place) {
    const auto kind = list_kind_of_item(place.item);
    return kind && place.pointer == text::cat('/', names(*kind).key);
  });
  std::ranges::sort(found);
  return found;
}

namespace {

// The definition, or the instructions, that a place is about.
std::optional<std::string> whole_of(const Snapshot& snapshot, std::string_view item, std::string_view key) {
  if (item == "instructions") {
    return key.empty() ? snapshot.instructions : std::nullopt;
  }
  const auto kind = list_kind_of_item(item);
  if (kind == ListKind::tools) {
    const PinnedTool* tool = snapshot.find(key);
    return tool == nullptr ? std::nullopt : std::optional(tool->definition);
  }
  const PinnedItem* found = kind ? snapshot.find(*kind, key) : nullptr;
  return found == nullptr ? std::nullopt : std::optional(found->definition);
}

// The string that a place leads to; nothing when there is none.
std::optional<std::string> text_at(const Snapshot& snapshot, const VariablePlace& place) {
  const std::optional<std::string> whole = whole_of(snapshot, place.item, place.key);
  if (!whole || place.item == "instructions") {
    return place.pointer.empty() ? whole : std::nullopt;
  }
  const auto kind = list_kind_of_item(place.item);
  std::optional<std::string> found;
  const json::Document document = own_document(*whole);
  each_string(document.root(), "", [&](const std::string& pointer, const std::string& text) {
    if (pointer == place.pointer && pointer != text::cat('/', names(*kind).key)) {
      found = text;
    }
  });
  return found;
}

bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

}  // namespace

std::vector<VariablePlace> places_that_hold(const Snapshot& snapshot, const std::vector<const Snapshot*>& sources) {
  std::vector<VariablePlace> out;
  std::map<std::pair<std::string, std::string>, const Snapshot*> decided;
  for (const Snapshot* source : sources) {
    for (const VariablePlace& place : source->variables) {
      const std::optional<std::string> whole = whole_of(snapshot, place.item, place.key);
      if (whole && whole == whole_of(*source, place.item, place.key) &&
          decided.emplace(std::pair(place.item, place.key), source).first->second == source) {
        out.push_back(place);
      }
    }
  }
  std::ranges::sort(out);
  return out;
}

Status check_places(const Snapshot& snapshot) {
  const VariablePlace* before = nullptr;
  for (const VariablePlace& place : snapshot.variables) {
    const auto wrong = [&](std::string_view what) {
      return fail(Errc::snapshot_invalid,
                  text::cat("a place of variable '", text::printable(place.variable, 100), "' in ",
                            text::printable(place.item, 40), " '", text::printable(place.key, 100), "' ", what));
    };
    const std::optional<std::string> text = text_at(snapshot, place);
    if (!text) {
      return wrong("leads to no text");
    }
    if (place.length == 0 || place.offset > text->size() || place.length > text->size() - place.offset ||
        inside_character(*text, place.offset) || inside_character(*text, place.offset + place.length)) {
      return wrong("lies outside of its text or inside a character");
    }
    if (before != nullptr) {
      const bool same = before->item == place.item && before->key == place.key && before->pointer == place.pointer;
      if (!(*before < place) || (same && before->offset + before->length > place.offset)) {
        return wrong("is not in order or overlaps the one before");
      }
    }
    before = &place;
  }
  return {};
}

}  // namespace cordon::catalog
