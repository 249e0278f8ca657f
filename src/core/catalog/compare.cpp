// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/compare.hpp"

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "core/catalog/schema.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

enum class Form : std::uint8_t { comparison, cosmetic };

// Definitions were read once under the limits of the message or file that brought them; this bounds our recursion.
constexpr std::size_t kMaxDepth = 512;

class FormWriter {
 public:
  explicit FormWriter(Form form) : form_(form) {}

  // Members arrive sorted (the text is canonical), so that leaving some out keeps the output canonical.
  void write(const Value& value, Position position) {
    if (position == Position::schema_root) {
      facts_ = schema_facts(value);
    }
    if (position == Position::data) {
      out_ += value.raw();
    } else if (value.is(Kind::object)) {
      write_object(value, position);
    } else {
      write_list(value, position);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void write_object(const Value& value, Position position) {
    char before = '{';
    for (const json::Member member : value.members()) {
      const std::string key = member.key.string();
      if (form_ == Form::cosmetic && omissible(position, key, member.value, facts_)) {
        continue;
      }
      out_ += before;
      before = ',';
      out_ += member.key.raw();
      out_ += ':';
      if (order_free(position, key, member.value, facts_)) {
        write_sorted(member.value);
      } else {
        write(member.value, member_position(position, key, member.value));
      }
    }
    out_ += before == '{' ? "{}" : "}";
  }

  void write_list(const Value& value, Position position) {
    char before = '[';
    for (const Value element : value.elements()) {
      out_ += before;
      before = ',';
      write(element, element_position(position, element));
    }
    out_ += before == '[' ? "[]" : "]";
  }

  void write_sorted(const Value& value) {
    std::vector<std::string_view> elements;
    for (const Value element : value.elements()) {
      elements.push_back(element.raw());
    }
    std::ranges::sort(elements);
    char before = '[';
    for (const std::string_view element : elements) {
      out_ += before;
      before = ',';
      out_ += element;
    }
    out_ += before == '[' ? "[]" : "]";
  }

  Form form_;
  SchemaFacts facts_ = {};
  std::string out_ = {};
};

// What is no JSON object of a sane depth is its own form: it then equals only what has the same bytes.
std::string form_of(std::string_view definition, Form form) {
  const Result<json::Document> read = json::read(std::string(definition), {definition.size(), kMaxDepth});
  if (!read || !read->root().is(Kind::object)) {
    return std::string(definition);
  }
  FormWriter writer(form);
  writer.write(read->root(), Position::tool);
  return writer.take();
}

// Left out when there are none, as in the file.
void write_items(json::Writer& writer, const Snapshot& snapshot, ListKind kind) {
  const std::vector<PinnedItem>& items = snapshot.items(kind);
  if (items.empty()) {
    return;
  }
  writer.key(names(kind).file_member).begin_array();
  for (const PinnedItem& item : items) {
    writer.begin_object().member("digest", item.digest).member(names(kind).file_key, item.key).end_object();
  }
  writer.end_array();
}

}  // namespace

std::string variables_json(const std::vector<VariablePlace>& places) {
  json::Writer writer;
  writer.begin_array();
  for (const VariablePlace& place : places) {
    writer.begin_object().member("item", place.item).member("key", place.key);
    writer.member_int("length", static_cast<std::int64_t>(place.length));
    writer.member_int("offset", static_cast<std::int64_t>(place.offset)).member("pointer", place.pointer);
    writer.member("variable", place.variable).end_object();
  }
  writer.end_array();
  return writer.take();
}

std::string comparison_form(std::string_view definition) { return form_of(definition, Form::comparison); }

std::string cosmetic_form(std::string_view definition) { return form_of(definition, Form::cosmetic); }

std::string tool_digest(std::string_view definition) { return sha256_text(comparison_form(definition)); }

std::string when_json(const std::vector<EffectCondition>& when) {
  json::Writer writer;
  writer.begin_array();
  for (const EffectCondition& condition : when) {
    writer.begin_object().member("argument", condition.argument).member("effect", condition.effect);
    if (condition.value) {
      writer.member("value", *condition.value);
    }
    writer.end_object();
  }
  writer.end_array();
  return writer.take();
}

// Written member by member in the order of the canonical form; docs/formats/snapshot.md has the same list.
std::string snapshot_digest(const Snapshot& snapshot) {
  std::vector<std::string> versions = snapshot.protocol_versions;
  std::ranges::sort(versions);
  json::Writer writer;
  writer.begin_object();
  writer.member_raw("capabilities", snapshot.capabilities);
  writer.key("instructions");
  if (snapshot.instructions) {
    writer.string(*snapshot.instructions);
  } else {
    writer.null();
  }
  write_items(writer, snapshot, ListKind::prompts);
  writer.key("protocol_versions").begin_array();
  for (const std::string& version : versions) {
    writer.string(version);
  }
  writer.end_array();
  write_items(writer, snapshot, ListKind::templates);
  write_items(writer, snapshot, ListKind::resources);
  writer.member_raw("server_info", snapshot.server_info);
  writer.key("tools").begin_array();
  for (const PinnedTool& tool : snapshot.tools) {
    writer.begin_object();
    writer.member("digest", tool.digest);
    writer.member("effect", tool.effect);
    writer.member("effect_source", name(tool.effect_source));
    if (!tool.interface.empty()) {
      writer.member("interface", tool.interface);
    }
    if (!tool.interface_facts.empty()) {
      writer.member_raw("interface_facts", tool.interface_facts);
    }
    writer.member("name", tool.name);
    if (!tool.when.empty()) {
      writer.member_raw("when", when_json(tool.when));
    }
    writer.end_object();
  }
  writer.end_array();
  if (!snapshot.variables.empty()) {
    writer.member_raw("variables", variables_json(snapshot.variables));
  }
  writer.end_object();
  return sha256_text(writer.take());
}

void seal(Snapshot& snapshot) {
  std::ranges::sort(snapshot.tools, {}, &PinnedTool::name);
  for (PinnedTool& tool : snapshot.tools) {
    tool.digest = tool_digest(tool.definition);
  }
  for (const ListKind kind : kItemKinds) {
    std::ranges::sort(snapshot.items(kind), {}, &PinnedItem::key);
    for (PinnedItem& item : snapshot.items(kind)) {
      item.digest = item_digest(item.definition);
    }
  }
  snapshot.digest = snapshot_digest(snapshot);
}

Relation relate(std::string_view pinned_definition, std::string_view live_definition) {
  if (pinned_definition == live_definition) {
    return Relation::equal;
  }
  if (comparison_form(pinned_definition) == comparison_form(live_definition)) {
    return Relation::equal;
  }
  return cosmetic_form(pinned_definition) == cosmetic_form(live_definition) ? Relation::cosmetic : Relation::changed;
}

}  // namespace cordon::catalog
