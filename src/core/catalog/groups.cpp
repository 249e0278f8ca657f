// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/groups.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::catalog {

namespace {

// Hashes are of a kind that a server cannot make collide: else it could hide a change among others.
void add_text(Sha256& hash, std::string_view text) {
  hash.update(text::cat(text.size(), ':'));
  hash.update(text);
}

void add_place(Sha256& hash, const Place& place) {
  add_text(hash, place.pointer);
  add_text(hash, place.before);
  add_text(hash, place.after);
  add_text(hash, name(place.what));
  add_text(hash, name(place.severity));
  hash.update(place.element ? "1" : "0");
}

Digest digest_of(const Place& place) {
  Sha256 hash;
  add_place(hash, place);
  return hash.finish();
}

// What an added or removed item is stands in one place that holds its name.
bool one_sided(const ItemChange& change) {
  return change.kind == ChangeKind::added || change.kind == ChangeKind::removed;
}

std::string heading(const ItemChange& change) { return text::cat(change.item, ' ', name(change.kind)); }

Digest key_of(const ItemChange& change, const std::vector<Digest>& places) {
  Sha256 hash;
  add_text(hash, heading(change));
  // Of places that were left out nobody knows whether they are the same: such a change stands by itself.
  const bool alone = change.kind == ChangeKind::renamed || change.omitted_places != 0;
  add_text(hash, alone ? change.name : std::string());
  for (const Digest& place : places) {
    hash.update({reinterpret_cast<const char*>(place.data()), place.size()});
  }
  hash.update(text::cat(change.omitted_places));
  return hash.finish();
}

class Grouping {
 public:
  explicit Grouping(const Diff& diff) : diff_(diff) {}

  std::vector<Group> run() {
    digests_.resize(diff_.changes.size());
    for (std::size_t i = 0; i < diff_.changes.size(); ++i) {
      count(i);
    }
    for (std::size_t i = 0; i < diff_.changes.size(); ++i) {
      place(i);
    }
    merge_shared();
    std::ranges::stable_sort(groups_, std::greater<>(), &Group::severity);
    return std::move(groups_);
  }

 private:
  struct Shared {
    std::vector<std::size_t> items = {};
    const Place* place = nullptr;
  };

  void count(std::size_t item) {
    const ItemChange& change = diff_.changes[item];
    if (one_sided(change)) {
      return;
    }
    for (const Place& place : change.places) {
      digests_[item].push_back(digest_of(place));
      // Only items of one heading share.
      Shared& shared = shared_[{heading(change), digests_[item].back()}];
      if (shared.items.empty() || shared.items.back() != item) {
        shared.items.push_back(item);
      }
      shared.place = &place;
    }
  }

  bool is_shared(const ItemChange& change, const Digest& digest) const {
    const auto found = shared_.find({heading(change), digest});
    return found != shared_.end() && found->second.items.size() >= kShared;
  }

  void place(std::size_t item) {
    const ItemChange& change = diff_.changes[item];
    std::vector<const Place*> own;
    std::vector<Digest> own_digests;
    Severity severity = Severity::info;
    if (change.kind == ChangeKind::added) {
      Sha256 hash;
      add_text(hash, change.name);
      own_digests.push_back(hash.finish());  // each definition is shown
    }
    for (std::size_t i = 0; i < change.places.size(); ++i) {
      if (!one_sided(change) && is_shared(change, digests_[item][i])) {
        continue;
      }
      own.push_back(&change.places[i]);
      severity = std::max(severity, change.places[i].severity);
      if (!one_sided(change)) {
        own_digests.push_back(digests_[item][i]);
      }
    }
    if (own.empty() && change.omitted_places == 0) {
      return;
    }
    severity = change.omitted_places != 0 || own.empty() ? std::max(severity, change.severity) : severity;
    const auto [found, is_new] = by_key_.try_emplace({severity, key_of(change, own_digests)}, groups_.size());
    if (is_new) {
      groups_.push_back({{}, std::move(own), change.omitted_places, severity});
    }
    groups_[found->second].items.push_back(&change);
  }

  // Places that the same items share are one group.
  void merge_shared() {
    std::map<std::vector<std::size_t>, std::size_t> by_items;
    for (const auto& [key, shared] : shared_) {
      if (shared.items.size() < kShared) {
        continue;
      }
      const auto [found, is_new] = by_items.try_emplace(shared.items, groups_.size());
      if (is_new) {
        groups_.push_back({});
        for (const std::size_t item : shared.items) {
          groups_.back().items.push_back(&diff_.changes[item]);
        }
      }
      Group& group = groups_[found->second];
      group.places.push_back(shared.place);
      group.severity = std::max(group.severity, shared.place->severity);
    }
    for (const auto& [items, index] : by_items) {
      std::ranges::sort(groups_[index].places, [](const Place* a, const Place* b) {
        return std::tie(b->severity, a->pointer) < std::tie(a->severity, b->pointer);
      });
    }
  }

  const Diff& diff_;
  std::vector<std::vector<Digest>> digests_ = {};
  std::map<std::pair<std::string, Digest>, Shared> shared_ = {};
  std::map<std::pair<Severity, Digest>, std::size_t> by_key_ = {};
  std::vector<Group> groups_ = {};
};

}  // namespace

std::vector<Group> groups_of(const Diff& diff) { return Grouping(diff).run(); }

void number_groups(Diff& diff) {
  std::map<Digest, std::size_t> counts;
  std::vector<std::optional<Digest>> keys;
  for (const ItemChange& change : diff.changes) {
    keys.emplace_back();
    if (!one_sided(change) && change.item == "tool") {
      std::vector<Digest> places;
      for (const Place& place : change.places) {
        places.push_back(digest_of(place));
      }
      keys.back() = key_of(change, places);
      ++counts[*keys.back()];
    }
  }
  std::map<Digest, std::size_t> numbers;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] && counts[*keys[i]] > 1) {
      diff.changes[i].group = numbers.try_emplace(*keys[i], numbers.size() + 1).first->second;
    }
  }
}

}  // namespace cordon::catalog
