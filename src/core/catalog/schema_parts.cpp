// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/schema_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/catalog/schema_words.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

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

}  // namespace

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> list;
  for (const Value element : array.elements()) {
    list.push_back(element);
  }
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

std::optional<Wrapping> wrapping(const Value& plain, const Value& wide) {
  constexpr std::array<std::string_view, 2> kKeywords = {"anyOf", "oneOf"};
  for (const std::string_view keyword : kKeywords) {
    const Value list = wide.find(keyword);
    if (!list.is(Kind::array) || plain.find(keyword)) {
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

}  // namespace cordon::catalog
