// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
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
  void add(const policy::Rule& rule, std::size_t number) {
    for (const std::string& glob : rule.tools) {
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

// Rules with an action that are chosen by the very same conditions.
class Twins {
 public:
  Earlier* of(const std::vector<policy::ArgumentCondition>& when) {
    const auto found = std::ranges::find_if(lists_, [&](const List& list) { return same(list.when, when); });
    return found == lists_.end() ? nullptr : &found->earlier;
  }

  void add(const policy::Rule& rule, std::size_t number) {
    if (of(rule.when) == nullptr) {
      lists_.push_back({rule.when, {}});
    }
    of(rule.when)->add(rule, number);
  }

 private:
  struct List {
    std::vector<policy::ArgumentCondition> when = {};
    Earlier earlier = {};
  };

  // In any order, wherever they stand.
  static bool same(const std::vector<policy::ArgumentCondition>& left,
                   const std::vector<policy::ArgumentCondition>& right) {
    return left.size() == right.size() && std::ranges::all_of(left, [&](policy::ArgumentCondition one) {
             return std::ranges::any_of(right, [&](const policy::ArgumentCondition& other) {
               one.position = other.position;
               return one == other;
             });
           });
  }

  std::vector<List> lists_ = {};
};

}  // namespace

void check_unreachable(Faults& faults, const std::vector<policy::Rule>& rules) {
  Earlier earlier;
  Twins twins;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const policy::Rule& rule = rules[i];
    std::size_t last_cover = 0;
    Earlier* const twin = rule.when.empty() ? nullptr : twins.of(rule.when);
    // The limits of one without an action hold wherever it stands.
    const bool decides = rule.action || !policy::has_limit(rule);
    const bool shadowed =
        decides && !rule.tools.empty() && std::ranges::all_of(rule.tools, [&](const std::string& glob) {
          std::size_t cover = earlier.find(glob);
          if (cover == 0 && twin != nullptr) {
            cover = twin->find(glob);
          }
          last_cover = std::max(last_cover, cover);
          return cover != 0;
        });
    if (earlier.exhausted() || (twin != nullptr && twin->exhausted())) {
      faults.add(rule.position, "the rules from here on are too many to be checked against the earlier ones",
                 "use fewer rules, or globs that begin with plain text");
      return;
    }
    if (shadowed) {
      faults.add(rule.position,
                 text::cat("this rule can never ", rule.action ? "decide" : "apply", ": rule ", last_cover, " (line ",
                           rules[last_cover - 1].position.line, ") and those before it take all its tools"),
                 "put it before that rule, or remove it");
    }
    // A rule without an action lets matching go on, and one with `when` takes some calls only.
    if (rule.action && rule.when.empty()) {
      earlier.add(rule, i + 1);
    } else if (rule.action) {
      twins.add(rule, i + 1);
    }
  }
}

}  // namespace cordon::formats
