// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/change_list.hpp"

#include <algorithm>

#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

constexpr std::size_t kMaxPointerBytes = 4'096;

std::string raw_or_empty(const json::Value& value) { return std::string(value ? value.raw() : std::string_view()); }

}  // namespace

std::vector<MemberPair> differing_members(const Sides& objects) {
  std::vector<json::Member> before;
  std::vector<json::Member> after;
  const auto collect = [](const json::Value& object, std::vector<json::Member>& list) {
    if (object.is(json::Kind::object)) {
      for (const json::Member member : object.members()) {
        list.push_back(member);
      }
    }
  };
  collect(objects.before, before);
  collect(objects.after, after);
  std::vector<MemberPair> out;
  std::size_t b = 0;
  std::size_t a = 0;
  while (b < before.size() || a < after.size()) {
    const std::string before_key = b < before.size() ? before[b].key.string() : std::string();
    const std::string after_key = a < after.size() ? after[a].key.string() : std::string();
    const bool has_before = b < before.size() && (a >= after.size() || before_key <= after_key);
    const bool has_after = a < after.size() && (b >= before.size() || after_key <= before_key);
    MemberPair pair = {has_before ? before_key : after_key, {}};
    pair.sides.before = has_before ? before[b++].value : json::Value();
    pair.sides.after = has_after ? after[a++].value : json::Value();
    if (!pair.sides.equal()) {
      out.push_back(std::move(pair));
    }
  }
  return out;
}

ChangeList::Step::Step(ChangeList& list, std::string_view token) : list_(list), length_(list.pointer_.size()) {
  list_.pointer_ += '/';
  for (const char c : token) {
    list_.pointer_ += c == '~' ? "~0" : c == '/' ? "~1" : std::string_view(&c, 1);
  }
}

void ChangeList::add(What what, const Sides& sides, Options options) {
  Severity severity = std::min(facts(what).severity, most_);
  std::vector<Cue> cues;
  if (sides.after && what != What::form_changed) {
    Findings after;
    find_cues(sides.after, names_, after);
    if (!after.empty()) {
      Findings before;
      if (sides.before) {
        find_cues(sides.before, names_, before);
      }
      cues = new_cues(before, after);
    }
  }
  // The name of a member that is new is text that is new.
  if (!sides.before && sides.after && !pointer_.empty()) {
    Findings found;
    find_cues(std::string_view(pointer_).substr(pointer_.rfind('/') + 1), names_, found);
    for (Cue& cue : new_cues({}, found)) {
      cues.push_back(std::move(cue));
    }
    std::ranges::stable_sort(cues, std::greater<>(), &Cue::least);
  }
  for (const Cue& cue : cues) {
    severity = std::max(severity, cue.least);
  }
  ++total_;
  worst_ = std::max(worst_, severity);
  std::vector<Place>& bucket = buckets_[static_cast<std::size_t>(severity)];
  if (bucket.size() < kMaxPlaces) {
    bucket.push_back({.pointer = pointer_,
                      .before = raw_or_empty(sides.before),
                      .after = raw_or_empty(sides.after),
                      .severity = severity,
                      .element = options.element,
                      .what = what,
                      .cues = std::move(cues)});
  }
}

void ChangeList::add_below(What what, Place place) {
  const auto read = [](const std::string& json) {
    return json::read(json, {.max_bytes = json.size(), .max_depth = 512});
  };
  const Result<json::Document> before = read(place.before);
  const Result<json::Document> after = read(place.after);
  const std::size_t length = pointer_.size();
  pointer_ += place.pointer;
  add(what, {before ? before->root() : json::Value(), after ? after->root() : json::Value()}, {place.element});
  pointer_.resize(length);
}

bool ChangeList::too_deep() const { return pointer_.size() > kMaxPointerBytes; }

Places ChangeList::finish() {
  Places places;
  for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
    for (Place& place : *bucket) {
      if (places.list.size() < kMaxPlaces) {
        places.list.push_back(std::move(place));
      }
    }
  }
  places.omitted = total_ - places.list.size();
  places.worst = worst_;
  return places;
}

}  // namespace cordon::catalog
