// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/renames.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "core/catalog/compare.hpp"
#include "core/catalog/effects.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

using json::Value;
using Words = std::vector<std::size_t>;  // hashes, sorted, each once

constexpr std::size_t kMaxWords = 400;
constexpr std::size_t kMinWords = 6;  // with less, two tools are alike by chance
constexpr double kAlike = 0.6;

void add_words(Words& words, std::string_view text) {
  std::string word;
  const auto flush = [&] {
    if (!word.empty() && words.size() < kMaxWords) {
      words.push_back(std::hash<std::string>()(word));
    }
    word.clear();
  };
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) {
      word += upper ? static_cast<char>(c + ('a' - 'A')) : c;
    } else {
      flush();
    }
  }
  flush();
}

void finish(Words& words) {
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
}

struct Sketch {
  Words name = {};
  Words text = {};
  Words parameters = {};
  std::string rest = {};  // the comparison form without the name
};

Sketch sketch_of(const PinnedTool& tool) {
  Sketch sketch;
  for (const std::string& word : words_of_name(tool.name)) {
    sketch.name.push_back(std::hash<std::string>()(word));
  }
  finish(sketch.name);
  const std::string form = comparison_form(tool.definition);
  const Result<json::Document> document = json::read(form, {.max_bytes = form.size(), .max_depth = 512});
  if (!document) {
    return sketch;
  }
  for (const json::Member member : document->root().members()) {
    if (!member.key.string_equals("name")) {
      sketch.rest.append(member.key.raw()).append(member.value.raw());
    }
  }
  const Value description = document->root().find("description");
  if (description.is(json::Kind::string)) {
    add_words(sketch.text, description.string());
  }
  for (const json::Member member : document->root().find("inputSchema").find("properties").members()) {
    add_words(sketch.parameters, member.key.string());
  }
  finish(sketch.text);
  finish(sketch.parameters);
  return sketch;
}

double alike(const Words& a, const Words& b) {
  std::size_t common = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) {
      ++common;
      ++x;
      ++y;
    } else {
      ++(*x < *y ? x : y);
    }
  }
  const std::size_t all = a.size() + b.size() - common;
  return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
}

// Between 0 and 1; what neither side has does not count.
double score(const Sketch& a, const Sketch& b) {
  if (a.name.size() > 1 && a.name == b.name) {
    return 1;  // another spelling of the same words
  }
  const std::size_t words = std::min(a.text.size() + a.parameters.size(), b.text.size() + b.parameters.size());
  if (words < kMinWords) {
    return 0;
  }
  double sum = 0;
  double weights = 0;
  const auto add = [&](double weight, const Words& x, const Words& y) {
    if (!x.empty() || !y.empty()) {
      sum += weight * alike(x, y);
      weights += weight;
    }
  };
  add(0.5, a.text, b.text);
  add(0.3, a.parameters, b.parameters);
  add(0.2, a.name, b.name);
  return sum / weights;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs equal_but_for_the_name(const std::vector<Sketch>& removed, const std::vector<Sketch>& added) {
  std::map<std::string_view, std::vector<std::size_t>> by_rest;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    by_rest[removed[i].rest].push_back(i);
  }
  std::map<std::string_view, std::size_t> new_ones;
  for (const Sketch& sketch : added) {
    ++new_ones[sketch.rest];
  }
  Pairs pairs;
  for (std::size_t j = 0; j < added.size(); ++j) {
    const auto found = by_rest.find(added[j].rest);
    // Which of several equal ones it was, nobody can tell.
    const bool enough = added[j].text.size() + added[j].parameters.size() >= kMinWords;
    if (enough && found != by_rest.end() && found->second.size() == 1 && new_ones[added[j].rest] == 1) {
      pairs.emplace_back(found->second.front(), j);
    }
  }
  return pairs;
}

}  // namespace

Pairs find_renames(const std::vector<const PinnedTool*>& removed, const std::vector<const PinnedTool*>& added) {
  if (removed.empty() || added.empty()) {
    return {};
  }
  const auto sketches = [](const std::vector<const PinnedTool*>& tools) {
    std::vector<Sketch> list;
    list.reserve(tools.size());
    for (const PinnedTool* tool : tools) {
      list.push_back(sketch_of(*tool));
    }
    return list;
  };
  const std::vector<Sketch> old_ones = sketches(removed);
  const std::vector<Sketch> new_ones = sketches(added);
  if (removed.size() > kMaxRenamePairs / added.size()) {
    return equal_but_for_the_name(old_ones, new_ones);
  }
  std::vector<std::tuple<double, std::size_t, std::size_t>> scored;
  for (std::size_t i = 0; i < old_ones.size(); ++i) {
    for (std::size_t j = 0; j < new_ones.size(); ++j) {
      if (const double likeness = score(old_ones[i], new_ones[j]); likeness >= kAlike) {
        scored.emplace_back(-likeness, i, j);
      }
    }
  }
  std::ranges::sort(scored);
  std::vector<bool> old_used(removed.size(), false);
  std::vector<bool> new_used(added.size(), false);
  Pairs pairs;
  for (const auto& [likeness, i, j] : scored) {
    if (!old_used[i] && !new_used[j]) {
      old_used[i] = true;
      new_used[j] = true;
      pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

}  // namespace cordon::catalog
