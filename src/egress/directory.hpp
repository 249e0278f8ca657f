// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which name has which address inside, and which rule lets a connection out. An address stands for one name as long as
// the server lives.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/plan.hpp"

namespace cordon::egress {

// More distinct names below wildcards than these are refused: each is a word that the server can say to somebody who
// watches where the connections of this machine go.
inline constexpr std::size_t kMaxWildcardNames = 64;

// The rule that lets `name` out at `port`: exact ones before wildcards, else in the order of the policy.
const Rule* find_rule(const Rules& rules, std::string_view name, std::uint16_t port);
// The ports of a name, over all its rules; ascending.
std::vector<std::uint16_t> ports_of(const Rules& rules, std::string_view name);

class Directory {
 public:
  // `rules` is borrowed.
  Directory(const Rules& rules, const Doors& doors);

  // Of an exact name, or of one below a wildcard that was asked for before.
  std::optional<Ipv4> address_of(std::string_view name) const;
  // A new name below a wildcard gets an address. Nothing: it is not allowed, or there are too many.
  std::optional<Ipv4> assign(std::string_view name);
  bool is_below_wildcard(std::string_view name) const;
  bool is_full() const { return wildcard_names_ >= kMaxWildcardNames; }

  struct Target {
    std::string host = {};       // the name, or an address as text
    bool is_address = false;     // nobody has to name it
    const Rule* rule = nullptr;  // null: nothing lets this out
  };
  // Who is meant by a connection to this door.
  Target target_of(Door door) const;

 private:
  const Rules& rules_;
  std::map<std::string, Ipv4, std::less<>> addresses_ = {};
  std::map<Ipv4, std::string> names_ = {};
  Ipv4 next_ = kFirstWildcard;
  std::size_t wildcard_names_ = 0;
};

}  // namespace cordon::egress
