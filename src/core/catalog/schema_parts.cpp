// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/schema_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/catalog/schema_words.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

struct Wrapping {
  struct Text {
    std::string key = {};
    Value plain = {};
    Value wide = {};
    bool inside = false;  // in the alternative rather than around it
  };
  std::string_view keyword = {};     // "anyOf" or "oneOf"
  std::size_t kept = 0;              // which alternative it is
  std::vector<Value> branches = {};  // all of them
  std::vector<Text> texts = {};      // what differs in texts, titles and defaults
};

bool same(const Value& a, const Value& b) { return a && b && a.raw() == b.raw(); }

bool says_nothing(std::string_view key) {
  const Keyword keyword = keyword_of(key);
  return keyword == Keyword::text || keyword == Keyword::title || keyword == Keyword::initial;
}

// Is `branch`, in the schema `wide`, what `plain` was? What `wide` says around its alternatives counts for each.
bool stands_for(const Value& plain, const Value& wide, const Value& branch, std::string_view keyword) {
  for (const json::Member member : branch.members()) {
    if (const std::string key = member.key.string(); !says_nothing(key) && !same(plain.find(key), member.value)) {
      return false;
    }
  }
  for (const json::Member member : wide.members()) {
    if (const std::string key = member.key.string();
        key != keyword && !says_nothing(key) && !same(plain.find(key), member.value)) {
      return false;
    }
  }
  for (const json::Member member : plain.members()) {
    const std::string key = member.key.string();
    if (!says_nothing(key) && !branch.find(key) && !wide.find(key)) {
      return false;
    }
  }
  return true;
}

std::vector<Wrapping::Text> texts_of(const Value& plain, const Value& wide, const Value& branch) {
  std::vector<std::string> keys;
  for (const Value& schema : {plain, wide, branch}) {
    for (const json::Member member : schema.members()) {
      if (std::string key = member.key.string(); says_nothing(key)) {
        keys.push_back(std::move(key));
      }
    }
  }
  std::ranges::sort(keys);
  const auto twice = std::ranges::unique(keys);
  keys.erase(twice.begin(), twice.end());
  std::vector<Wrapping::Text> out;
  for (std::string& key : keys) {
    const Value was = plain.find(key);
    const Value around = wide.find(key);
    const Value within = branch.find(key);
    if ((around || !within) && !same(was, around)) {
      out.push_back({key, was, around, false});
    }
    if (within && !same(was, within)) {
      out.push_back({key, around ? Value() : was, within, true});
    }
  }
  return out;
}

std::optional<Wrapping> wrapping(const Value& plain, const Value& wide) {
  constexpr std::array<std::string_view, 2> kKeywords = {"anyOf", "oneOf"};
  // Each alternative is held against each keyword. What has more of them is compared keyword by keyword.
  constexpr std::size_t kMost = 64;
  if (plain.size() > kMost || wide.size() > kMost) {
    return std::nullopt;
  }
  for (const std::string_view keyword : kKeywords) {
    const Value list = wide.find(keyword);
    if (!list.is(Kind::array) || list.size() > kMost || plain.find(keyword)) {
      continue;
    }
    std::vector<Value> branches = elements_of(list);
    const auto kept = std::ranges::find_if(branches, [&](const Value& branch) {
      return branch.is(Kind::object) && stands_for(plain, wide, branch, keyword);
    });
    if (kept != branches.end()) {
      Wrapping out{keyword, static_cast<std::size_t>(kept - branches.begin()), {}, texts_of(plain, wide, *kept)};
      out.branches = std::move(branches);
      return out;
    }
  }
  return std::nullopt;
}

What text_word(std::string_view key) {
  const Keyword keyword = keyword_of(key);
  return keyword == Keyword::title     ? What::title_changed
         : keyword == Keyword::initial ? What::default_changed
                                       : What::parameter_text_changed;
}

}  // namespace

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> list;
  for (const Value element : array.elements()) {
    list.push_back(element);
  }
  return list;
}

std::vector<std::string> names_of(const Value& object) {
  std::vector<std::string> list;
  for (const json::Member member : object.members()) {
    list.push_back(member.key.string());
  }
  std::ranges::sort(list);
  return list;
}

std::vector<std::string> strings_of(const Value& array) {
  std::vector<std::string> list;
  for (const Value element : array.elements()) {
    if (element.is(Kind::string)) {
      list.push_back(element.string());
    }
  }
  std::ranges::sort(list);
  return list;
}

void for_differences(const Sides& sorted, const std::function<void(const Sides&)>& report) {
  const std::vector<Value> before = elements_of(sorted.before);
  const std::vector<Value> after = elements_of(sorted.after);
  std::size_t b = 0;
  std::size_t a = 0;
  while (b < before.size() || a < after.size()) {
    if (b < before.size() && a < after.size() && before[b].raw() == after[a].raw()) {
      ++b;
      ++a;
    } else if (a >= after.size() || (b < before.size() && before[b].raw() < after[a].raw())) {
      report(Sides{before[b++], {}});
    } else {
      report(Sides{{}, after[a++]});
    }
  }
}

std::vector<std::size_t> unmatched(const std::vector<Value>& list, const std::vector<Value>& other) {
  std::map<std::string_view, std::size_t> pool;
  for (const Value& value : other) {
    ++pool[value.raw()];
  }
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t& count = pool[list[i].raw()];
    if (count == 0) {
      left.push_back(i);
    } else {
      --count;
    }
  }
  return left;
}

// Under `oneOf` what fits two of them is refused, so neither side need take in the other.
bool tell_wrapping(const Sides& schemas, Sense sense, ChangeList& list) {
  const std::optional<Wrapping> wider = wrapping(schemas.before, schemas.after);
  const std::optional<Wrapping> found = wider ? wider : wrapping(schemas.after, schemas.before);
  if (!found) {
    return false;
  }
  const auto sides = [&](const Value& plain, const Value& wide) {
    return wider ? Sides{plain, wide} : Sides{wide, plain};
  };
  const std::size_t so_far = list.total();
  const auto tell_texts = [&](bool inside) {
    for (const Wrapping::Text& text : found->texts) {
      if (text.inside == inside) {
        const ChangeList::Step step(list, text.key);
        list.add(text_word(text.key), sides(text.plain, text.wide));
      }
    }
  };
  tell_texts(false);
  const What what = found->keyword == "oneOf"                      ? What::type_changed
                    : wider.has_value() == (sense == Sense::plain) ? What::type_widened
                                                                   : What::type_narrowed;
  const ChangeList::Step step(list, found->keyword);
  for (std::size_t i = 0; i < found->branches.size(); ++i) {
    const ChangeList::Step branch(list, std::to_string(i));
    if (i == found->kept) {
      tell_texts(true);
    } else {
      list.add(what, sides({}, found->branches[i]));
    }
  }
  if (list.total() == so_far) {
    list.add(What::schema_changed, sides({}, found->branches[found->kept]));
  }
  return true;
}

}  // namespace cordon::catalog
