// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person decides about a candidate, item by item, and the snapshot that comes of it. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/catalog/diff.hpp"
#include "core/catalog/effects.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

enum class Decision : std::uint8_t { open, accepted, rejected };

struct ReviewItem {
  catalog::ItemChange change = {};  // of a diff; item "effect": a pinned tool that only wants a class
  std::string effect = {};          // tools that are added, changed or unclassified: the class that accepting sets
  catalog::EffectProposal proposal = {};            // for these: what is proposed, and why
  std::vector<catalog::EffectCondition> kept = {};  // reviewed before: what of the class hangs on an argument
  // Of those proposed: `worse` than the class that is set, so that a mild class does not hide them.
  enum class Conditions : std::uint8_t { worse, all, none };
  Conditions conditions = Conditions::worse;
  std::vector<catalog::EffectCondition> when() const;  // what accepting sets
  std::string whole = {};                              // the new value as JSON, when the diff leaves places out
  Decision decision = Decision::open;
  bool has_effect() const { return !effect.empty(); }
};

// How much is asked. Cosmetic differences are never items: they are served as pinned.
enum class ReviewScope : std::uint8_t {
  differences,  // and pinned tools whose class nobody has set
  everything,   // every tool, to set classes anew
};

class Review {
 public:
  // `pinned`: the snapshot that counts today. One that no person reviewed is no ground to build on: then every item is
  // new.
  Review(std::optional<catalog::Snapshot> pinned, catalog::Snapshot candidate,
         ReviewScope scope = ReviewScope::differences);

  const std::vector<ReviewItem>& items() const { return items_; }
  // Are there other places of variables in what is reviewed already?
  bool places_changed() const;
  // Is there a snapshot of a person's review underneath?
  bool builds_on_review() const { return base_.reviewed; }

  void accept(std::size_t item) { items_.at(item).decision = Decision::accepted; }
  void reject(std::size_t item) { items_.at(item).decision = Decision::rejected; }
  void set_effect(std::size_t item, policy::Effect effect);
  void set_conditions(std::size_t item, ReviewItem::Conditions conditions) { items_.at(item).conditions = conditions; }
  // The whole definition that accepting would set, as JSON; of what is removed, the old one. Empty: there is none.
  std::string whole(std::size_t item) const;

  // Accepts everything that is open, with class `unknown` from nobody for each tool that is not pinned as it is.
  void accept_all_unattended();

  struct Signature {
    std::string reviewer = {};
    std::string time = {};  // RFC 3339, UTC
    bool unattended = false;
  };
  // The snapshot; items that are open count as rejected. Rejected means: what the base says stays.
  catalog::Snapshot result(const Signature& signature) const;

 private:
  void collect(ReviewScope scope);
  void add_unchanged_tools(ReviewScope scope);
  void apply(const ReviewItem& item, catalog::Snapshot& out) const;
  std::string whole_of(const catalog::ItemChange& change) const;
  void apply_item(catalog::ListKind list, const std::string& key, catalog::Snapshot& out) const;
  void apply_tool(const ReviewItem& item, catalog::Snapshot& out) const;
  void offer_class(ReviewItem& item) const;

  catalog::Snapshot base_;
  catalog::Snapshot candidate_;
  std::vector<ReviewItem> items_ = {};
  bool unattended_ = false;
};

// "2026-01-31T12:00:00Z" of seconds since 1970.
std::string rfc3339(std::int64_t unix_seconds);

}  // namespace cordon::app
