// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/definition_changes.hpp"

#include <algorithm>
#include <array>

#include "core/catalog/change_list.hpp"
#include "core/catalog/schema.hpp"
#include "core/catalog/schema_changes.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxDepth = 512;  // bounds our recursion, see compare.cpp

Result<json::Document> read(std::string_view text) {
  return json::read(std::string(text), {.max_bytes = text.size(), .max_depth = kMaxDepth});
}

// The value of a hint through the defaults of the protocol.
bool hint(const Value& value, bool standard) { return value.is(Kind::boolean) ? value.boolean() : standard; }
bool plain_hint(const Value& value) { return !value || value.is(Kind::boolean); }

// Keys of _meta that make a client show something else, run something or treat the tool in another way.
bool steers_clients(std::string_view key) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "ui", "openai/", "anthropic/", "mcp-ui", "claudeai/", "vscode/", "goose/", "io.modelcontextprotocol/"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return key.starts_with(prefix); });
}

class DefinitionWalker {
 public:
  explicit DefinitionWalker(const CueNames& names) : list_(names) {}

  Places run(const Sides& definitions) {
    for (const MemberPair& member : differing_members(definitions)) {
      const ChangeList::Step step(list_, member.key);
      if (list_.too_deep()) {
        list_.add(What::member_changed, member.sides);
      } else {
        tool_member(member);
      }
    }
    if (list_.total() == 0) {
      list_.add(What::member_changed, definitions);
    }
    return list_.finish();
  }

 private:
  void tool_member(const MemberPair& member) {
    const std::string& key = member.key;
    const Sides& sides = member.sides;
    if (key == "name") {
      list_.add(What::name_changed, sides);
    } else if (key == "description") {
      list_.add(What::description_changed, sides);
    } else if (key == "title") {
      list_.add(What::title_changed, sides);
    } else if (key == "inputSchema") {
      schema(sides);
    } else if (key == "outputSchema") {
      list_.cap(Severity::low);
      output_schema(sides);
      list_.cap(Severity::critical);
    } else if (key == "annotations") {
      annotations(sides);
    } else if (key == "_meta") {
      meta(sides);
    } else if (key == "execution") {
      const auto gone = [](const Value& value) { return !value || omissible(Position::tool, "execution", value, {}); };
      below(gone(sides.before) && gone(sides.after) ? What::form_changed : What::execution_changed, sides);
    } else {
      below(key == "icons" ? What::icons_changed : What::member_changed, sides);
    }
  }

  void schema(const Sides& sides) {
    if (sides.both(Kind::object)) {
      schema_changes(sides, list_);
    } else {
      list_.add(What::schema_changed, sides);
    }
  }

  void output_schema(const Sides& sides) {
    if (sides.before && sides.after) {
      schema(sides);
    } else {
      list_.add(sides.after ? What::output_schema_added : What::output_schema_removed, sides);
    }
  }

  void annotations(const Sides& sides) {
    const auto hints = [](const Value& value) { return !value || value.is(Kind::object); };
    const std::size_t so_far = list_.total();
    for (const MemberPair& member : differing_members(sides)) {
      const ChangeList::Step step(list_, member.key);
      one_hint(member.key, member.sides);
    }
    if (!hints(sides.before) || !hints(sides.after)) {
      list_.add(What::hint_changed, sides);
    } else if (list_.total() == so_far) {
      list_.add(What::form_changed, sides);  // an empty object came or went
    }
  }

  void one_hint(std::string_view key, const Sides& sides) {
    if (key == "title") {
      list_.add(What::title_changed, sides);
      return;
    }
    const bool on_by_default = key == "destructiveHint" || key == "openWorldHint";
    const bool known = on_by_default || key == "readOnlyHint" || key == "idempotentHint";
    const bool before = hint(sides.before, on_by_default);
    const bool after = hint(sides.after, on_by_default);
    if (key == "readOnlyHint" && before != after) {
      list_.add(after ? What::read_only_hint_gained : What::read_only_hint_lost, sides);
    } else if (!known || !plain_hint(sides.before) || !plain_hint(sides.after)) {
      list_.add(What::hint_changed, sides);
    } else if (before == after) {
      list_.add(What::form_changed, sides);
    } else if (key == "destructiveHint") {
      list_.add(after ? What::destructive_hint_gained : What::destructive_hint_lost, sides);
    } else {
      list_.add(What::hint_changed, sides);
    }
  }

  void meta(const Sides& sides) {
    const auto object = [](const Value& value) { return !value || value.is(Kind::object); };
    if (!object(sides.before) || !object(sides.after)) {
      list_.add(What::meta_changed, sides);
      return;
    }
    const std::vector<MemberPair> members = differing_members(sides);
    for (const MemberPair& member : members) {
      const ChangeList::Step step(list_, member.key);
      below(steers_clients(member.key) ? What::client_behaviour_changed : What::meta_changed, member.sides);
    }
    if (members.empty()) {
      list_.add(What::meta_changed, sides);
    }
  }

  // Data of no known shape: its smallest differing values.
  void below(What what, const Sides& sides) {
    if (!sides.before || !sides.after) {
      list_.add(what, sides);
      return;
    }
    Places places = data_places(sides.before.raw(), sides.after.raw(), [](std::string_view) { return Severity::low; });
    for (Place& place : places.list) {
      list_.add_below(what, std::move(place));
    }
    if (places.omitted != 0) {
      list_.add(what, sides);
    }
  }

  ChangeList list_;
};

Places unreadable(std::string_view before, std::string_view after, What what) {
  return {
      .list = {{.before = std::string(before), .after = std::string(after), .severity = Severity::high, .what = what}},
      .worst = Severity::high};
}

}  // namespace

Places definition_changes(std::string_view before, std::string_view after, const CueNames& names) {
  if (before == after) {
    return {};
  }
  const Result<json::Document> old_doc = read(before);
  const Result<json::Document> new_doc = read(after);
  if (!old_doc || !new_doc || !old_doc->root().is(Kind::object) || !new_doc->root().is(Kind::object)) {
    return unreadable(before, after, What::member_changed);
  }
  return DefinitionWalker(names).run({old_doc->root(), new_doc->root()});
}

Places whole_change(std::string_view before, std::string_view after, What what, const CueNames& names) {
  const Result<json::Document> old_doc = read(before);
  const Result<json::Document> new_doc = read(after);
  if (!old_doc && !new_doc) {
    return unreadable(before, after, what);
  }
  ChangeList list(names);
  list.add(what, {old_doc ? old_doc->root() : Value(), new_doc ? new_doc->root() : Value()});
  return list.finish();
}

Places data_changes(std::string_view before, std::string_view after, What (*of_member)(std::string_view key),
                    const CueNames& names) {
  if (before == after) {
    return {};
  }
  ChangeList list(names);
  // Places know where; the first token of the pointer knows what.
  Places found = data_places(before, after, [](std::string_view) { return Severity::low; });
  for (Place& place : found.list) {
    const std::string pointer = place.pointer;
    const std::string key = pointer.empty() ? std::string() : pointer.substr(1, pointer.find('/', 1) - 1);
    list.add_below(of_member(key), std::move(place));
  }
  Places places = list.finish();
  places.omitted += found.omitted;
  return places;
}

}  // namespace cordon::catalog
