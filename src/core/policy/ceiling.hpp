// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ceiling: the most that a host or an organisation accepts. A policy that asks for more is refused; nothing is ever
// narrowed or widened. The keys that can be limited stand in one table (ceiling_keys.cpp), which reader and comparison
// share, so that a new key is one line. docs/formats/ceiling.md is the reference.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/policy.hpp"

namespace cordon::policy {

enum class LimitKind : std::uint8_t {
  word,     // one word; `words` from the most permissive to the strictest
  flag,     // true or false, true being more
  size,     // bytes, at most
  count,    // at most
  names,    // globs; each name that a policy asks for must match one
  paths,    // path globs, likewise
  choices,  // words; each that a policy asks for must be among them
  demands,  // words; a policy must ask for each of them
  hosts,    // names and *.SUFFIX; each host that a policy asks for must be below one
  keys,     // public keys; a policy must name some, and each of them must be among these
  network,  // hosts, and how they are reached
};

// One thing that a policy asks for.
struct Asked {
  std::string text = {};
  std::string place = {};  // where it would be written: "launch.environment.pass[0]"
};

// One key of a ceiling, with what a policy says about it: `word`, `number` or `list`, as its kind needs.
struct CeilingKey {
  std::string_view section = {};  // "isolation.filesystem"
  std::string_view key = {};
  LimitKind kind = LimitKind::word;
  std::string_view words = {};  // separated by spaces
  // The most that is accepted when its section is there and the key is not: what a policy has by default, so that a
  // section that is there is exact. Nothing: then the key limits nothing.
  std::optional<std::string_view> standard = {};
  std::string_view (*word)(const Policy& policy) = nullptr;                // word, flag
  std::optional<std::uint64_t> (*number)(const Policy& policy) = nullptr;  // size, count
  // The others; gets the path of the key. For a word that stands elsewhere in a policy: where.
  std::vector<Asked> (*list)(const Policy& policy, std::string_view path) = nullptr;

  std::string path() const;  // "isolation.filesystem.read"
};

std::span<const CeilingKey> ceiling_keys();

// What a ceiling says about one key.
struct Limit {
  struct Item {
    std::string text = {};
    Position position = {};
    bool operator==(const Item&) const = default;
  };
  std::string word = {};         // word, flag
  std::uint64_t number = 0;      // size, count
  std::vector<Item> items = {};  // names, paths, choices, demands
  Network network = {};          // network
  Position position = {};        // of the key; of its section when it is not written
  bool written = false;
  bool operator==(const Limit&) const = default;
};

struct Ceiling {
  std::string file = {};  // path, for messages
  // By the path of the key; only keys whose section is there.
  std::map<std::string, Limit, std::less<>> limits = {};
  bool operator==(const Ceiling&) const = default;
};

// Where the keys and items of a policy are written, by their paths. The nearest one above a default stands for it.
using Places = std::map<std::string, Position, std::less<>>;

// One way in which a policy asks for more than a ceiling accepts.
struct Excess {
  std::string key = {};
  std::string asked = {};  // for a person: "'/etc' is asked for"
  std::string most = {};   // "accepts no more than /srv/**"
  Position asked_at = {};  // in the policy
  Position most_at = {};   // in the ceiling
  bool operator==(const Excess&) const = default;
};

inline constexpr std::size_t kMaxExcesses = 100;

// Every excess, in the order of the table, at most kMaxExcesses. Paths of both are compared as they stand: whoever
// calls has resolved them.
std::vector<Excess> compare(const Policy& policy, const Places& places, const Ceiling& ceiling);

}  // namespace cordon::policy
