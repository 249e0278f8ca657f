// SPDX-License-Identifier: Apache-2.0
#include "core/policy/ceiling.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/path_glob.hpp"

namespace cordon::policy {
namespace {

constexpr std::string_view kRead = "isolation.filesystem.read";
constexpr std::string_view kWrite = "isolation.filesystem.write";
constexpr std::string_view kEffects = "tools.effects.";
constexpr std::string_view kResources = "resources.";

std::string quote(std::string_view text) { return text::cat("'", text::printable(text, 200), "'"); }

// Where `path` is written, or what stands nearest above it: for a default the section that could have said otherwise.
Position place_of(const Places& places, std::string_view path) {
  while (true) {
    if (const auto found = places.find(path); found != places.end()) {
      return found->second;
    }
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) {
      break;
    }
    path = path.substr(0, cut);
  }
  const auto root = places.find("");
  return root == places.end() ? Position{1, 1} : root->second;
}

// 0 for the most permissive word; nothing for one that the key does not know.
std::optional<std::size_t> rank(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = text::split(words, ' ');
  const auto found = std::ranges::find(all, word);
  return found == all.end() ? std::nullopt : std::optional<std::size_t>(found - all.begin());
}

class Comparison {
 public:
  Comparison(const Policy& policy, const Places& places, const Ceiling& ceiling)
      : policy_(policy), places_(places), ceiling_(ceiling) {}

  std::vector<Excess> run() {
    for (const CeilingKey& key : ceiling_keys()) {
      const std::string path = key.path();
      if (const auto limit = ceiling_.limits.find(path); limit != ceiling_.limits.end()) {
        compare_key(key, path, limit->second);
      }
    }
    compare_rules();
    return std::move(found_);
  }

 private:
  void add(std::string_view key, std::string asked, std::string most, Position asked_at, const Limit& limit) {
    if (found_.size() < kMaxExcesses) {
      found_.push_back({std::string(key), std::move(asked), std::move(most), asked_at, limit.position});
    }
  }

  std::string by_default(std::string_view path) const { return places_.contains(path) ? "" : " by default"; }

  void compare_key(const CeilingKey& key, const std::string& path, const Limit& limit) {
    switch (key.kind) {
      case LimitKind::word:
      case LimitKind::flag:
        return compare_word(key, path, limit);
      case LimitKind::size:
      case LimitKind::count:
        return compare_number(key, path, limit);
      case LimitKind::names:
      case LimitKind::paths:
      case LimitKind::choices:
      case LimitKind::hosts:
        return compare_list(key, path, limit);
      case LimitKind::demands:
        return compare_demands(key, path, limit);
      case LimitKind::keys:
        return compare_keys(key, path, limit);
      case LimitKind::network:
        return compare_network(path, limit);
    }
  }

  void compare_word(const CeilingKey& key, const std::string& path, const Limit& limit) {
    const std::string_view word = key.word(policy_);
    const auto asked = rank(key.words, word);
    const auto most = rank(key.words, limit.word);
    // A word without a rank can only be an oversight of ours: it is refused.
    if (!asked || !most || *asked < *most) {
      const std::vector<Asked> elsewhere = key.list == nullptr ? std::vector<Asked>() : key.list(policy_, path);
      const std::string& place = elsewhere.empty() ? path : elsewhere.front().place;
      add(path, text::cat(word, " is asked for", by_default(place)), "accepts no more than " + limit.word,
          place_of(places_, place), limit);
    }
  }

  // A policy that writes no limit asks for none: what a preset sets may be partial.
  void compare_number(const CeilingKey& key, const std::string& path, const Limit& limit) {
    const std::optional<std::uint64_t> asked = key.number(policy_);
    if (!asked || *asked > limit.number) {
      add(path, asked ? text::cat(*asked, " is asked for") : std::string("no limit is written"),
          text::cat("accepts no more than ", limit.number), place_of(places_, path), limit);
    }
  }

  static bool fits(LimitKind kind, const Limit& limit, std::string_view asked) {
    return std::ranges::any_of(limit.items, [&](const Limit::Item& item) {
      switch (kind) {
        case LimitKind::names:
          return glob_match(item.text, asked);
        case LimitKind::paths:
          return path_admitted(item.text, asked);
        case LimitKind::hosts: {
          const HostGrant most = {.host = item.text};
          return host_admitted({&most, 1}, {.host = std::string(asked)});
        }
        default:
          return item.text == asked;
      }
    });
  }

  void compare_list(const CeilingKey& key, const std::string& path, const Limit& limit) {
    Limit most = limit;
    // Write implies read.
    if (const auto write = ceiling_.limits.find(kWrite); path == kRead && write != ceiling_.limits.end()) {
      most.items.insert(most.items.end(), write->second.items.begin(), write->second.items.end());
    }
    for (const Asked& asked : key.list(policy_, path)) {
      if (!fits(key.kind, most, asked.text)) {
        const bool any = key.kind == LimitKind::hosts && asked.text == "*";
        add(path, text::cat(any ? "every host" : quote(asked.text), " is asked for", by_default(asked.place)),
            "accepts no more than " + list_of(most), place_of(places_, asked.place), limit);
      }
    }
  }

  void compare_demands(const CeilingKey& key, const std::string& path, const Limit& limit) {
    const std::vector<Asked> asked = key.list(policy_, path);
    for (const Limit::Item& item : limit.items) {
      if (std::ranges::find(asked, item.text, &Asked::text) == asked.end()) {
        add(path, text::cat(quote(item.text), " is not demanded"), "demands " + list_of(limit), place_of(places_, path),
            limit);
      }
    }
  }

  // Without any key a policy asks for no signature.
  void compare_keys(const CeilingKey& key, const std::string& path, const Limit& limit) {
    if (key.list(policy_, path).empty()) {
      add(path, text::cat("no signature is asked for", by_default(path)), "demands keys among " + list_of(limit),
          place_of(places_, path), limit);
    }
    compare_list(key, path, limit);
  }

  // Without a host nothing else of a network matters.
  void compare_network(const std::string& path, const Limit& limit) {
    const Network& asked = policy_.isolation.network;
    const Network& most = limit.network;
    for (std::size_t i = 0; i < asked.allow.size(); ++i) {
      if (!host_admitted(most.allow, asked.allow[i])) {
        add(path, text::cat(quote(to_text(asked.allow[i])), " is asked for"), "accepts no more than " + hosts_of(most),
            place_of(places_, text::cat(path, ".allow[", i, "]")), limit);
      }
    }
    const auto weaker = [&](std::string_view key, std::string_view word, std::string_view accepted) {
      const std::string place = text::cat(path, ".", key);
      add(path, text::cat(key, ": ", word, " is asked for", by_default(place)),
          text::cat("accepts no less than ", key, ": ", accepted), place_of(places_, place), limit);
    };
    if (!asked.allow.empty() && asked.sni < most.sni) {
      weaker("sni", name(asked.sni), name(most.sni));
    }
    if (!asked.allow.empty() && asked.mode < most.mode) {
      weaker("mode", name(asked.mode), name(most.mode));
    }
  }

  static std::string hosts_of(const Network& network) {
    constexpr std::size_t kShown = 10;
    std::string out;
    for (std::size_t i = 0; i < std::min(kShown, network.allow.size()); ++i) {
      out += text::cat(i == 0 ? "" : ", ", text::printable(to_text(network.allow[i]), 200));
    }
    if (network.allow.size() > kShown) {
      out += text::cat(" and ", network.allow.size() - kShown, " more");
    }
    return out.empty() ? "none" : out;
  }

  static std::string list_of(const Limit& limit) {
    constexpr std::size_t kShown = 10;
    std::string out;
    for (std::size_t i = 0; i < std::min(kShown, limit.items.size()); ++i) {
      out += text::cat(i == 0 ? "" : ", ", text::printable(limit.items[i].text, 200));
    }
    if (limit.items.size() > kShown) {
      out += text::cat(" and ", limit.items.size() - kShown, " more");
    }
    return out.empty() ? "nothing" : out;
  }

  // A rule goes before the effects and may meet a tool of any class, so it is held to the strictest of them: judging
  // by the lesser of both at each call would be narrowing.
  void compare_rules() {
    const Limit* of_effects = strictest(kEffects);
    for (std::size_t i = 0; i < policy_.tools.rules.size(); ++i) {
      if (const std::optional<Action> action = policy_.tools.rules[i].action) {
        compare_rule(text::cat("tools.rules[", i, "].action"), *action, "for tools of any effect class", of_effects);
      }
    }
    const Limit* of_resources = strictest(kResources);
    for (std::size_t i = 0; i < policy_.resources.rules.size(); ++i) {
      compare_rule(text::cat("resources.rules[", i, "].action"), policy_.resources.rules[i].action,
                   "for resources, listed or not", of_resources);
    }
  }

  const Limit* strictest(std::string_view prefix) const {
    const Limit* found = nullptr;
    for (auto limit = ceiling_.limits.lower_bound(prefix);
         limit != ceiling_.limits.end() && limit->first.starts_with(prefix); ++limit) {
      if (found == nullptr || action_from_name(limit->second.word) > action_from_name(found->word)) {
        found = &limit->second;
      }
    }
    return found;
  }

  void compare_rule(const std::string& path, Action action, std::string_view of, const Limit* most) {
    if (most != nullptr && action < action_from_name(most->word)) {
      add(path, text::cat(name(action), " is asked for, ", of),
          text::cat("accepts no more than ", most->word, " for one of them"), place_of(places_, path), *most);
    }
  }

  const Policy& policy_;
  const Places& places_;
  const Ceiling& ceiling_;
  std::vector<Excess> found_ = {};
};

}  // namespace

std::vector<Excess> compare(const Policy& policy, const Places& places, const Ceiling& ceiling) {
  return Comparison(policy, places, ceiling).run();
}

}  // namespace cordon::policy
