// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <vector>

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

}  // namespace

void check_unreachable(Faults& faults, const std::vector<policy::Rule>& rules) {
  Earlier earlier;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const policy::Rule& rule = rules[i];
    std::size_t last_cover = 0;
    // One without an action decides nothing: its limits hold wherever it stands.
    const bool shadowed =
        rule.action && !rule.tools.empty() && std::ranges::all_of(rule.tools, [&](const std::string& glob) {
          const std::size_t cover = earlier.find(glob);
          last_cover = std::max(last_cover, cover);
          return cover != 0;
        });
    if (earlier.exhausted()) {
      faults.add(rule.position, "the rules from here on are too many to be checked against the earlier ones",
                 "use fewer rules, or globs that begin with plain text");
      return;
    }
    if (shadowed) {
      faults.add(rule.position,
                 text::cat("this rule can never decide: rule ", last_cover, " (line ",
                           rules[last_cover - 1].position.line, ") and those before it take all its tools"),
                 "put it before that rule, or remove it");
    }
    if (rule.action) {
      earlier.add(rule, i + 1);
    }
  }
}

}  // namespace cordon::formats
