// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "core/schema/equality.hpp"
#include "core/schema/node.hpp"
#include "core/schema/resources.hpp"
#include "core/schema/schema.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Member;
using json::Value;

constexpr std::size_t kMaxPatterns = 500;

constexpr std::array<std::pair<std::string_view, unsigned>, 7> kTypes = {{{"null", kNull},
                                                                          {"boolean", kBoolean},
                                                                          {"integer", kInteger},
                                                                          {"number", kNumber | kInteger},
                                                                          {"string", kString},
                                                                          {"array", kArray},
                                                                          {"object", kObject}}};
constexpr std::array kBounds =
    std::to_array<std::string_view>({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
constexpr std::array kCounts = std::to_array<std::string_view>(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"});

template <typename Names>
std::string_view name_in(const Names& names, std::string_view keyword) {
  const auto found = std::ranges::find(names, keyword);
  return found == names.end() ? std::string_view() : *found;
}

class Compiler {
 public:
  Compiler(const Value& root, Dialect dialect) : resources_(root, dialect), dialect_(dialect), root_(root) {}

  std::expected<std::unique_ptr<const Program>, std::string> run() {
    error_ = resources_.error();
    node_of(root_);
    while (!waiting_.empty() && error_.empty()) {
      const auto [id, schema] = waiting_.back();
      waiting_.pop_back();
      Node node;
      fill(node, schema);
      program_->nodes[id] = std::move(node);
      error_ = error_.empty() ? resources_.error() : error_;
    }
    if (!error_.empty()) {
      return std::unexpected(error_);
    }
    return std::move(program_);
  }

 private:
  void unsupported(std::string_view keyword, std::string_view why) {
    if (error_.empty()) {
      error_ = text::cat("`", keyword, "`: ", why);
    }
  }

  NodeId node_of(const Value& schema) {
    if (!schema.is(Kind::object) && !schema.is(Kind::boolean)) {
      unsupported("schema", "neither an object nor true or false");
      return kNone;
    }
    const auto [place, fresh] = ids_.emplace(schema.index(), static_cast<NodeId>(program_->nodes.size()));
    if (fresh) {
      program_->nodes.emplace_back();
      waiting_.emplace_back(place->second, schema);
    }
    return place->second;
  }

  std::vector<NodeId> list_of(std::string_view keyword, const Value& value) {
    std::vector<NodeId> nodes;
    for (const Value element : value.elements()) {
      nodes.push_back(node_of(element));
    }
    if (nodes.empty()) {
      unsupported(keyword, "no list of schemas");
    }
    return nodes;
  }

  std::size_t pattern_of(std::string_view keyword, const std::string& text) {
    const auto known = patterns_.find(text);
    if (known != patterns_.end()) {
      return known->second;
    }
    auto pattern = Pattern::compile(text);
    if (!pattern) {
      unsupported(keyword, text::cat("a pattern that cannot be matched here: ", pattern.error()));
      return 0;
    }
    if (program_->patterns.size() >= kMaxPatterns) {
      unsupported(keyword, "too many patterns");
      return 0;
    }
    program_->patterns.push_back(std::move(*pattern));
    return patterns_.emplace(text, program_->patterns.size() - 1).first->second;
  }

  std::vector<std::string> names_of(std::string_view keyword, const Value& value) {
    std::vector<std::string> names;
    if (!value.is(Kind::array)) {
      unsupported(keyword, "no list of names");
    }
    for (const Value element : value.elements()) {
      if (element.is(Kind::string)) {
        names.push_back(element.string());
      } else {
        unsupported(keyword, "no list of names");
      }
    }
    return names;
  }

  std::uint64_t count_in(std::string_view keyword, const Value& value) {
    const auto count = value.is(Kind::number) ? count_of(decimal(value.number_text())) : std::nullopt;
    if (!count) {
      unsupported(keyword, "no count");
    }
    return count.value_or(0);
  }

  void fill(Node& node, const Value& schema) {
    if (schema.is(Kind::boolean)) {
      node.never = !schema.boolean();
      return;
    }
    node.resource = resources_.resource_of(schema);
    if (const Value reference = schema.find("$ref")) {
      follow(node, schema, reference);
      if (dialect_ == Dialect::draft_07) {
        return;  // what stands beside a reference has no meaning there
      }
    }
    for (const Member member : schema.members()) {
      const std::string keyword = member.key.string();
      if (!value_keyword(node, keyword, member.value) && !object_keyword(node, keyword, member.value) &&
          !array_keyword(node, schema, keyword, member.value)) {
        logic_keyword(node, schema, keyword, member.value);
      }
    }
  }

  void follow(Node& node, const Value& schema, const Value& reference) {
    const Value target = reference.is(Kind::string) ? resources_.resolve(schema, reference.string()) : Value();
    if (!target) {
      unsupported("$ref", "a reference that does not stay inside of the schema");
      return;
    }
    node.all_of.push_back(node_of(target));
  }

  void follow_dynamic(Node& node, const Value& schema, const Value& reference) {
    const std::string text = reference.is(Kind::string) ? reference.string() : std::string();
    const Value target = resources_.resolve(schema, text);
    if (!target) {
      unsupported("$dynamicRef", "a reference that does not stay inside of the schema");
      return;
    }
    Dynamic dynamic{node_of(target), {}};
    const std::string name = text.substr(std::min(text.find('#') + 1, text.size()));
    if (text.find('#') != std::string::npos && resources_.is_dynamic(target, name)) {
      dynamic.name = name;
      for (const auto& anchor : resources_.dynamic_anchors()) {
        if (anchor.name == name) {
          program_->dynamic_anchors.emplace(std::pair(anchor.resource, name), node_of(anchor.schema));
        }
      }
    }
    node.dynamic = std::move(dynamic);
  }

  void read_types(Node& node, const Value& value) {
    std::vector<Value> names;
    if (value.is(Kind::string)) {
      names.push_back(value);
    }
    for (const Value element : value.elements()) {
      names.push_back(element);
    }
    for (const Value& name : names) {
      const auto found = std::ranges::find_if(
          kTypes, [&](const auto& type) { return name.is(Kind::string) && name.string_equals(type.first); });
      if (found == kTypes.end()) {
        unsupported("type", "no type");
        return;
      }
      node.types |= found->second;
    }
    if (node.types == 0) {
      unsupported("type", "no type");
    }
  }

  // What is asked of a value by itself.
  bool value_keyword(Node& node, std::string_view keyword, const Value& value) {
    if (keyword == "type") {
      read_types(node, value);
    } else if (keyword == "const") {
      node.choices.push_back({"const", {key_of(value).text}});
    } else if (keyword == "enum") {
      Choice choice{"enum", {}};
      for (const Value element : value.elements()) {
        choice.keys.push_back(key_of(element).text);
      }
      if (!value.is(Kind::array)) {
        unsupported("enum", "no list");
      }
      std::ranges::sort(choice.keys);
      node.choices.push_back(std::move(choice));
    } else if (keyword == "pattern") {
      if (!value.is(Kind::string)) {
        unsupported("pattern", "no text");
        return true;
      }
      node.patterns.push_back(pattern_of("pattern", value.string()));
    } else if (const std::string_view bound = name_in(kBounds, keyword); !bound.empty()) {
      Bound limit{bound, value.is(Kind::number) ? decimal(value.number_text()) : Decimal{}};
      if (!value.is(Kind::number) || limit.limit.beyond || (bound == "multipleOf" && !is_divisor(limit.limit))) {
        unsupported(bound, "no number that can be compared with");
      }
      node.bounds.push_back(std::move(limit));
    } else if (const std::string_view count = name_in(kCounts, keyword); !count.empty()) {
      node.counts.push_back({count, count_in(count, value)});
    } else {
      return false;
    }
    return true;
  }

  std::vector<std::pair<std::string, Value>> map_of(std::string_view keyword, const Value& value) {
    std::vector<std::pair<std::string, Value>> members;
    if (!value.is(Kind::object)) {
      unsupported(keyword, "no object");
    }
    for (const Member member : value.members()) {
      members.emplace_back(member.key.string(), member.value);
    }
    return members;
  }

  bool object_keyword(Node& node, std::string_view keyword, const Value& value) {
    if (keyword == "properties") {
      for (auto& [name, schema] : map_of(keyword, value)) {
        node.properties.emplace(std::move(name), node_of(schema));
      }
    } else if (keyword == "patternProperties") {
      for (const auto& [pattern, schema] : map_of(keyword, value)) {
        node.pattern_properties.emplace_back(pattern_of("patternProperties", pattern), node_of(schema));
      }
    } else if (keyword == "additionalProperties") {
      node.additional_properties = node_of(value);
    } else if (keyword == "propertyNames") {
      node.property_names = node_of(value);
    } else if (keyword == "required") {
      node.required = names_of(keyword, value);
    } else if (keyword == "dependentRequired" && dialect_ == Dialect::v2020_12) {
      for (auto& [name, needed] : map_of(keyword, value)) {
        node.dependent_required.emplace_back(name, names_of("dependentRequired", needed));
      }
    } else if (keyword == "dependentSchemas" && dialect_ == Dialect::v2020_12) {
      for (auto& [name, schema] : map_of(keyword, value)) {
        node.dependent_schemas.emplace_back(name, node_of(schema));
      }
    } else if (keyword == "dependencies") {
      for (auto& [name, needed] : map_of(keyword, value)) {
        if (needed.is(Kind::array)) {
          node.dependent_required.emplace_back(name, names_of("dependencies", needed));
        } else {
          node.dependent_schemas.emplace_back(name, node_of(needed));
        }
      }
    } else if (keyword == "unevaluatedProperties" && dialect_ == Dialect::v2020_12) {
      node.unevaluated_properties = node_of(value);
      program_->unevaluated = true;
    } else {
      return false;
    }
    return true;
  }

  bool array_keyword(Node& node, const Value& schema, std::string_view keyword, const Value& value) {
    const bool tuple = schema.find("items").is(Kind::array);
    if (keyword == "prefixItems" && dialect_ == Dialect::v2020_12) {
      node.prefix_items = list_of(keyword, value);
    } else if (keyword == "items" && tuple) {
      if (schema.find("prefixItems")) {
        unsupported("items", "a list beside prefixItems");
      }
      // Also without a dialect, where old servers mean what draft-07 says; to leave it out would let more through.
      for (const Value element : value.elements()) {
        node.prefix_items.push_back(node_of(element));
      }
    } else if (keyword == "items") {
      node.items = node_of(value);
    } else if (keyword == "additionalItems") {
      if (tuple) {
        node.items = node_of(value);
      }
    } else if (keyword == "contains") {
      node.contains = node_of(value);
      node.contains_evaluates = dialect_ == Dialect::v2020_12;
    } else if (keyword == "minContains" && dialect_ == Dialect::v2020_12) {
      node.min_contains = count_in(keyword, value);
    } else if (keyword == "maxContains" && dialect_ == Dialect::v2020_12) {
      node.max_contains = count_in(keyword, value);
    } else if (keyword == "uniqueItems") {
      node.unique = value.is(Kind::boolean) && value.boolean();
      if (!value.is(Kind::boolean)) {
        unsupported(keyword, "neither true nor false");
      }
    } else if (keyword == "unevaluatedItems" && dialect_ == Dialect::v2020_12) {
      node.unevaluated_items = node_of(value);
      program_->unevaluated = true;
    } else {
      return false;
    }
    return true;
  }

  void logic_keyword(Node& node, const Value& schema, std::string_view keyword, const Value& value) {
    if (keyword == "allOf") {
      const std::vector<NodeId> all = list_of(keyword, value);
      node.all_of.insert(node.all_of.end(), all.begin(), all.end());
    } else if (keyword == "anyOf") {
      node.any_of = list_of(keyword, value);
    } else if (keyword == "oneOf") {
      node.one_of = list_of(keyword, value);
    } else if (keyword == "not") {
      node.none_of = node_of(value);
    } else if (keyword == "if") {
      node.condition = node_of(value);
    } else if (keyword == "then" && schema.find("if")) {
      node.then_branch = node_of(value);
    } else if (keyword == "else" && schema.find("if")) {
      node.else_branch = node_of(value);
    } else if (keyword == "$dynamicRef" && dialect_ == Dialect::v2020_12) {
      follow_dynamic(node, schema, value);
    } else if (keyword == "$recursiveRef" || keyword == "$recursiveAnchor") {
      unsupported("$recursiveRef", "of another dialect");
    } else if (keyword == "$schema" && schema.index() != root_.index()) {
      unsupported("$schema", "inside of a schema");
    }
  }

  Resources resources_;
  Dialect dialect_;
  Value root_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::map<std::uint32_t, NodeId> ids_ = {};
  std::map<std::string, std::size_t, std::less<>> patterns_ = {};
  std::vector<std::pair<NodeId, Value>> waiting_ = {};
  std::string error_ = {};
};

// Without `$schema` it is the dialect that MCP names.
std::optional<Dialect> dialect_of(const Value& schema) {
  const Value named = schema.find("$schema");
  if (!named) {
    return Dialect::v2020_12;
  }
  std::string uri = named.is(Kind::string) ? named.string() : std::string();
  if (uri.ends_with('#')) {
    uri.pop_back();
  }
  if (uri == "http://json-schema.org/draft-07/schema" || uri == "https://json-schema.org/draft-07/schema") {
    return Dialect::draft_07;
  }
  if (uri == "https://json-schema.org/draft/2020-12/schema" || uri == "http://json-schema.org/draft/2020-12/schema") {
    return Dialect::v2020_12;
  }
  return std::nullopt;
}

}  // namespace

Schema::Schema(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Schema::Schema(Schema&& other) noexcept = default;
Schema& Schema::operator=(Schema&& other) noexcept = default;
Schema::~Schema() = default;

std::expected<Schema, std::string> Schema::compile(const Value& schema) {
  const auto dialect = dialect_of(schema);
  if (!dialect) {
    return std::unexpected("`$schema`: a dialect other than 2020-12 and draft-07");
  }
  auto program = Compiler(schema, *dialect).run();
  if (!program) {
    return std::unexpected(std::move(program.error()));
  }
  return Schema(std::move(*program));
}

}  // namespace cordon::schema
