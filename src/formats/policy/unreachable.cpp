// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/evaluate.hpp"
#include "core/policy/match.hpp"
#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

// Steps of comparing globs, so that a file made of thousands of them cannot take minutes.
constexpr std::size_t kMaxWork = 200'000'000;

bool has_wildcard(std::string_view glob) { return glob.find_first_of("*?") != std::string_view::npos; }

// The globs of the rules so far that have an action.
class Earlier {
 public:
  void add(const std::vector<std::string>& globs, std::size_t number) {
    for (const std::string& glob : globs) {
      exact_.emplace(glob, number);
      if (has_wildcard(glob)) {
        const std::string prefix = glob.substr(0, glob.find_first_of("*?"));
        wild_.push_back({glob, prefix, number});
      }
    }
  }

  // Number of the first rule found that takes all of `glob`, else 0.
  std::size_t find(std::string_view glob) {
    if (const auto same = exact_.find(glob); same != exact_.end()) {
      return same->second;
    }
    for (const Wild& wild : wild_) {
      ++work_;
      if (!glob.starts_with(wild.prefix)) {
        continue;
      }
      work_ += wild.glob.size() * glob.size();
      if (work_ > kMaxWork) {
        return 0;
      }
      if (policy::glob_covers(wild.glob, glob)) {
        return wild.rule;
      }
    }
    return 0;
  }

  bool exhausted() const { return work_ > kMaxWork; }

 private:
  struct Wild {
    std::string glob = {};
    std::string prefix = {};
    std::size_t rule = 0;
  };
  std::map<std::string, std::size_t, std::less<>> exact_ = {};
  std::vector<Wild> wild_ = {};
  std::size_t work_ = 0;
};

// Each of `inner` stands in `outer`.
template <typename T>
bool among(const std::vector<T>& inner, const std::vector<T>& outer) {
  return std::ranges::all_of(inner, [&](const T& one) { return std::ranges::find(outer, one) != outer.end(); });
}

// One of a list has to be met: by `inner` only what meets `outer` as well. An empty list asks for nothing.
bool within(const std::vector<std::string>& inner, const std::vector<std::string>& outer) {
  return outer.empty() || (!inner.empty() && among(inner, outer));
}

template <typename T, typename Order>
bool bound_within(const std::optional<T>& inner, const std::optional<T>& outer, Order order) {
  return !outer || (inner && order(*inner, *outer));
}

// Whatever meets `inner` meets `outer`. Conservative: false when it cannot tell.
bool implies(const policy::ArgumentCondition& inner, const policy::ArgumentCondition& outer) {
  if (inner.pointer != outer.pointer || (inner.optional && !outer.optional) || (outer.forbid && !inner.forbid)) {
    return false;
  }
  if (inner.forbid) {
    return outer.forbid || outer.optional;
  }
  return within(inner.within, outer.within) && within(inner.matches, outer.matches) &&
         within(inner.one_of, outer.one_of) && within(inner.hosts, outer.hosts) &&
         among(outer.not_matches, inner.not_matches) &&
         bound_within(inner.max_length, outer.max_length, std::less_equal<>()) &&
         bound_within(inner.max_items, outer.max_items, std::less_equal<>()) &&
         bound_within(inner.maximum, outer.maximum, std::less_equal<>()) &&
         bound_within(inner.minimum, outer.minimum, std::greater_equal<>());
}

// Rules with an action and a `when`, by that.
class Conditional {
 public:
  void add(const policy::Rule& rule, std::size_t number) {
    const auto same = std::ranges::find_if(
        lists_, [&](const List& list) { return takes(list.when, rule.when) && takes(rule.when, list.when); });
    List& list = same == lists_.end() ? lists_.emplace_back(rule.when) : *same;
    list.earlier.add(rule.tools, number);
  }

  // Those that take every call which `when` selects.
  std::vector<Earlier*> of(const std::vector<policy::ArgumentCondition>& when) {
    std::vector<Earlier*> out;
    for (List& list : lists_) {
      if (takes(list.when, when)) {
        out.push_back(&list.earlier);
      }
    }
    return out;
  }

 private:
  struct List {
    std::vector<policy::ArgumentCondition> when = {};
    Earlier earlier = {};
  };

  static bool takes(const std::vector<policy::ArgumentCondition>& outer,
                    const std::vector<policy::ArgumentCondition>& inner) {
    return std::ranges::all_of(outer, [&](const policy::ArgumentCondition& asked) {
      return std::ranges::any_of(inner, [&](const policy::ArgumentCondition& met) { return implies(met, asked); });
    });
  }

  std::vector<List> lists_ = {};
};

}  // namespace

void check_unreachable(Faults& faults, const std::vector<policy::Rule>& rules) {
  Earlier earlier;
  Conditional conditional;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const policy::Rule& rule = rules[i];
    std::size_t last_cover = 0;
    std::vector<Earlier*> lists = conditional.of(rule.when);
    lists.insert(lists.begin(), &earlier);
    const auto covered = [&](const std::string& glob) {
      return std::ranges::any_of(lists, [&](Earlier* list) {
        const std::size_t cover = list->find(glob);
        last_cover = std::max(last_cover, cover);
        return cover != 0;
      });
    };
    // The limits of one without an action hold wherever it stands.
    const bool decides = rule.action || !policy::has_limit(rule);
    const bool shadowed = decides && !rule.tools.empty() && std::ranges::all_of(rule.tools, covered);
    if (std::ranges::any_of(lists, &Earlier::exhausted)) {
      faults.add(rule.position, "the rules from here on are too many to be checked against the earlier ones",
                 "use fewer rules, or globs that begin with plain text");
      return;
    }
    if (shadowed) {
      faults.add(rule.position,
                 text::cat("this rule can never ", rule.action ? "decide" : "apply", ": rule ", last_cover, " (line ",
                           rules[last_cover - 1].position.line, ") and those before it take all its ",
                           rule.when.empty() ? "tools" : "calls"),
                 "put it before that rule, or remove it");
    }
    // A rule without an action lets matching go on, and one with `when` takes some calls only.
    if (rule.action && rule.when.empty()) {
      earlier.add(rule.tools, i + 1);
    } else if (rule.action) {
      conditional.add(rule, i + 1);
    }
  }
}

void check_unreachable_uris(Faults& faults, const std::vector<policy::ResourceRule>& rules) {
  Earlier earlier;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const policy::ResourceRule& rule = rules[i];
    const bool shadowed = !rule.uris.empty() && std::ranges::all_of(rule.uris, [&](const std::string& glob) {
      return earlier.find(glob) != 0;
    });
    if (earlier.exhausted()) {
      faults.add(rule.position, "the rules from here on are too many to be checked against the earlier ones",
                 "use fewer rules, or globs that begin with plain text");
      return;
    }
    if (shadowed) {
      faults.add(rule.position, "the rule can never decide: earlier rules take all its URIs",
                 "put it first, or leave it out");
    }
    earlier.add(rule.uris, i + 1);
  }
}

}  // namespace cordon::formats
