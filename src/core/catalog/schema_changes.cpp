// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/schema_changes.hpp"

#include <algorithm>
#include <optional>

#include "core/catalog/schema.hpp"
#include "core/catalog/schema_parts.hpp"
#include "core/catalog/schema_words.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr int kMaxResolutions = 16;  // of references, for each pair of schemas

bool has(const std::vector<std::string>& sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

bool lone_reference(const Value& schema) {
  return schema.is(Kind::object) && schema.size() == 1 && schema.find("$ref").is(Kind::string);
}

class SchemaWalker {
 public:
  SchemaWalker(const Sides& roots, ChangeList& list)
      : roots_(roots), list_(list), before_(schema_facts(roots.before)), after_(schema_facts(roots.after)) {}

  void run() { walk(roots_, Position::schema_root, Sense::plain); }

 private:
  // Two objects that are schemas and differ.
  void walk(const Sides& schemas, Position position, Sense sense) {
    if (list_.too_deep()) {
      list_.add(What::schema_changed, schemas);
      return;
    }
    if (tell_wrapping(schemas, sense, list_) || follow_reference(schemas, sense)) {
      return;
    }
    const std::size_t so_far = list_.total();
    for (const MemberPair& member : differing_members(schemas)) {
      const ChangeList::Step step(list_, member.key);
      keyword(member, schemas, position, sense);
    }
    if (list_.total() == so_far) {
      list_.add(What::schema_changed, schemas);
    }
  }

  void keyword(const MemberPair& member, const Sides& schemas, Position position, Sense sense) {
    const Sides& sides = member.sides;
    const auto gone = [&](const Value& value, const SchemaFacts& facts) {
      return !value || omissible(position, member.key, value, facts);
    };
    if (gone(sides.before, before_) && gone(sides.after, after_)) {
      list_.add(What::form_changed, sides);
      return;
    }
    switch (keyword_of(member.key)) {
      case Keyword::text:
        return list_.add(What::parameter_text_changed, sides);
      case Keyword::title:
        return list_.add(What::title_changed, sides);
      case Keyword::initial:
        return list_.add(What::default_changed, sides);
      case Keyword::dialect:
        return list_.add(What::dialect_changed, sides);
      case Keyword::reference:
        return list_.add(What::reference_changed, sides);
      case Keyword::constraint:
        return one_constraint(sides, sense);
      case Keyword::floor:
        return bound(sides, sense, true);
      case Keyword::ceiling:
        return bound(sides, sense, false);
      case Keyword::unique:
        return list_.add(directed(is_true(sides.after), sense), sides);
      case Keyword::type:
        return type(sides, sense);
      case Keyword::choice:
        return choice(sides, sense);
      case Keyword::required:
        return required(sides, schemas);
      case Keyword::properties:
        return named(sides, schemas, Keyword::properties, sense);
      case Keyword::definitions:
        return named(sides, schemas, Keyword::definitions, sense);
      case Keyword::schemas_by_name:
        return named(sides, schemas, Keyword::schemas_by_name, sense);
      case Keyword::openness:
        return openness(sides, sense);
      case Keyword::schema:
        return sub_schema(sides, member.key == "not" ? flipped(sense) : sense);
      case Keyword::alternatives:
      case Keyword::conjunction:
        return branches(sides, keyword_of(member.key), sense);
      case Keyword::sequence:
        return sequence(sides, sense);
      case Keyword::data:
        return list_.add(What::schema_changed, sides);
    }
  }

  static Sense flipped(Sense sense) { return sense == Sense::plain ? Sense::negated : Sense::plain; }
  static bool is_true(const Value& value) { return value.is(Kind::boolean) && value.boolean(); }
  static What directed(bool tighter, Sense sense) {
    return tighter == (sense == Sense::plain) ? What::constraint_tightened : What::constraint_loosened;
  }

  void one_constraint(const Sides& sides, Sense sense) {
    if (sides.before && sides.after) {
      list_.add(What::constraint_changed, sides);
    } else {
      list_.add(directed(bool(sides.after), sense), sides);
    }
  }

  // `floor`: a greater number lets less through.
  void bound(const Sides& sides, Sense sense, bool floor) {
    const std::optional<double> before = number_of(sides.before);
    const std::optional<double> after = number_of(sides.after);
    if (before && after && *before != *after) {
      list_.add(directed((*after > *before) == floor, sense), sides);
    } else {
      one_constraint(sides, sense);
    }
  }

  void type(const Sides& sides, Sense sense) {
    const std::optional<unsigned> before = types_of(sides.before);
    const std::optional<unsigned> after = types_of(sides.after);
    What what = What::type_changed;
    if (before && after && *before != *after) {
      const bool more = (*before & *after) == *before;
      const bool less = (*before & *after) == *after;
      what = more || less ? (more == (sense == Sense::plain) ? What::type_widened : What::type_narrowed) : what;
    }
    list_.add(what, sides);
  }

  // `enum` and `const`. In the comparison form the elements are sorted, unless a reference could lead into them.
  void choice(const Sides& sides, Sense sense) {
    if (!sides.both(Kind::array) || before_.references_listed || after_.references_listed) {
      if (sides.before && sides.after) {
        list_.add(What::constraint_changed, sides);
      } else {
        list_.add(directed(bool(sides.after), sense), sides);
      }
      return;
    }
    const bool plain = sense == Sense::plain;
    for_differences(sides, [&](const Sides& element) {
      list_.add(bool(element.after) == plain ? What::enum_extended : What::enum_reduced, element, {.element = true});
    });
  }

  // Parameters that came or went are told as such, with whether they are required.
  void required(const Sides& sides, const Sides& schemas) {
    const bool free = !before_.references_listed && !after_.references_listed;
    const auto list = [](const Value& value) { return !value || value.is(Kind::array); };
    if (!free || !list(sides.before) || !list(sides.after)) {
      list_.add(What::constraint_changed, sides);
      return;
    }
    const std::vector<std::string> before = names_of(schemas.before.find("properties"));
    const std::vector<std::string> after = names_of(schemas.after.find("properties"));
    for_differences(sides, [&](const Sides& element) {
      const Value& named = element.after ? element.after : element.before;
      const std::string name = named.is(Kind::string) ? named.string() : std::string();
      const bool was = has(before, name);
      const bool is = has(after, name);
      if (was != is && is == bool(element.after)) {
        return;
      }
      const bool known = was && is;
      list_.add(element.after ? (known ? What::parameter_became_required : What::constraint_tightened)
                              : (known ? What::parameter_became_optional : What::constraint_loosened),
                element, {.element = true});
    });
  }

  void named(const Sides& sides, const Sides& schemas, Keyword keyword, Sense sense) {
    const auto map = [](const Value& value) { return !value || value.is(Kind::object); };
    if (!map(sides.before) || !map(sides.after)) {
      list_.add(What::schema_changed, sides);
      return;
    }
    const std::vector<std::string> required =
        keyword == Keyword::properties ? strings_of(schemas.after.find("required")) : std::vector<std::string>();
    const std::size_t so_far = list_.total();
    for (const MemberPair& member : differing_members(sides)) {
      const ChangeList::Step step(list_, member.key);
      if (member.sides.both(Kind::object)) {
        walk(member.sides, Position::schema, sense);
      } else if (member.sides.before && member.sides.after) {
        list_.add(What::schema_changed, member.sides);
      } else {
        list_.add(one_sided(keyword, member, required), member.sides);
      }
    }
    if (list_.total() == so_far) {
      list_.add(What::schema_changed, sides);  // an empty map came or went
    }
  }

  static What one_sided(Keyword keyword, const MemberPair& member, const std::vector<std::string>& required) {
    const bool added = bool(member.sides.after);
    if (keyword == Keyword::properties) {
      return !added                      ? What::parameter_removed
             : has(required, member.key) ? What::required_parameter_added
                                         : What::parameter_added;
    }
    if (keyword == Keyword::definitions) {
      return added ? What::definition_added : What::definition_removed;
    }
    return What::constraint_changed;
  }

  // A schema or a boolean; absent is `true`.
  void openness(const Sides& sides, Sense sense) {
    const auto open = [](const Value& value) { return !value || is_true(value); };
    const auto closed = [](const Value& value) { return value.is(Kind::boolean) && !value.boolean(); };
    if (sides.both(Kind::object)) {
      walk(sides, Position::schema, sense);
    } else if ((open(sides.before) && !open(sides.after)) || (closed(sides.after) && !closed(sides.before))) {
      list_.add(directed(true, sense), sides);
    } else if ((open(sides.after) && !open(sides.before)) || (closed(sides.before) && !closed(sides.after))) {
      list_.add(directed(false, sense), sides);
    } else {
      list_.add(What::constraint_changed, sides);
    }
  }

  void sub_schema(const Sides& sides, Sense sense) {
    if (sides.both(Kind::object)) {
      walk(sides, Position::schema, sense);
    } else if (sides.both(Kind::array)) {
      sequence(sides, sense);
    } else if (!sides.before || !sides.after) {
      list_.add(directed(bool(sides.after), sense), sides);
    } else {
      list_.add(What::constraint_changed, sides);
    }
  }

  // Equal branches are the same wherever they stand; of the others the first old one is compared with the first new
  // one, and so on.
  void branches(const Sides& sides, Keyword keyword, Sense sense) {
    if (!sides.both(Kind::array)) {
      const bool absent = !sides.before || !sides.after;
      list_.add(absent ? directed(bool(sides.after), sense) : What::schema_changed, sides);
      return;
    }
    const std::vector<Value> before = elements_of(sides.before);
    const std::vector<Value> after = elements_of(sides.after);
    std::vector<std::size_t> old_left = unmatched(before, after);
    std::vector<std::size_t> new_left = unmatched(after, before);
    if (old_left.empty() && new_left.empty()) {
      list_.add(What::order_changed, sides);
      return;
    }
    const bool widens = (keyword == Keyword::alternatives) == (sense == Sense::plain);
    for (std::size_t i = 0; i < std::max(old_left.size(), new_left.size()); ++i) {
      const Sides branch = {i < old_left.size() ? before[old_left[i]] : Value(),
                            i < new_left.size() ? after[new_left[i]] : Value()};
      const ChangeList::Step step(list_, std::to_string(i < new_left.size() ? new_left[i] : old_left[i]));
      if (branch.both(Kind::object)) {
        walk(branch, Position::schema, sense);
      } else if (branch.before && branch.after) {
        list_.add(What::schema_changed, branch);
      } else if (keyword == Keyword::alternatives) {
        list_.add(bool(branch.after) == widens ? What::type_widened : What::type_narrowed, branch);
      } else {
        list_.add(directed(bool(branch.after), sense), branch);
      }
    }
  }

  void sequence(const Sides& sides, Sense sense) {
    if (!sides.both(Kind::array)) {
      const bool absent = !sides.before || !sides.after;
      list_.add(absent ? directed(bool(sides.after), sense) : What::schema_changed, sides);
      return;
    }
    const std::vector<Value> before = elements_of(sides.before);
    const std::vector<Value> after = elements_of(sides.after);
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      const Sides element = {i < before.size() ? before[i] : Value(), i < after.size() ? after[i] : Value()};
      const ChangeList::Step step(list_, std::to_string(i));
      if (element.equal()) {
        continue;
      }
      if (element.both(Kind::object)) {
        walk(element, Position::schema, sense);
      } else {
        list_.add(What::constraint_changed, element);
      }
    }
  }

  // A schema that is only a reference on one side, or refers elsewhere than before: what it leads to is compared.
  bool follow_reference(const Sides& schemas, Sense sense) {
    const Sides references = {schemas.before.find("$ref"), schemas.after.find("$ref")};
    const bool moved = (lone_reference(schemas.before) || lone_reference(schemas.after)) && !references.equal();
    const bool siblings =
        (references.before && !lone_reference(schemas.before)) || (references.after && !lone_reference(schemas.after));
    if (!moved || siblings || resolutions_ >= kMaxResolutions) {
      return false;
    }
    ++resolutions_;
    const auto target = [](const Value& schema, const Value& reference, const Value& root) {
      return reference ? resolved(root, reference.string()) : schema;
    };
    const Sides targets = {target(schemas.before, references.before, roots_.before),
                           target(schemas.after, references.after, roots_.after)};
    {
      const ChangeList::Step step(list_, "$ref");
      list_.add(What::reference_changed, references);
    }
    if (!targets.both(Kind::object)) {
      if (!targets.equal()) {
        list_.add(What::schema_changed, schemas);
      }
    } else if (!targets.equal()) {
      walk(targets, Position::schema, sense);
    }
    return true;
  }

  const Sides roots_;
  ChangeList& list_;
  SchemaFacts before_;
  SchemaFacts after_;
  int resolutions_ = 0;
};

}  // namespace

void schema_changes(const Sides& roots, ChangeList& list) { SchemaWalker(roots, list).run(); }

}  // namespace cordon::catalog
