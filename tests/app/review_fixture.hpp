// SPDX-License-Identifier: Apache-2.0
#pragma once
// Candidates and reviewed snapshots of made-up tools, for the tests of reviews.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "app/review.hpp"
#include "core/catalog/compare.hpp"
#include "core/json/write.hpp"

namespace review_test {

using namespace cordon;
using namespace cordon::app;
using catalog::EffectSource;
using catalog::Snapshot;

// Tools by name → description, as a candidate of one launch.
inline Snapshot candidate_of(const std::map<std::string, std::string>& tools, std::string executable = "sha256:1") {
  catalog::Catalog live;
  for (const auto& [name, description] : tools) {
    const std::string definition = "{\"description\":" + json::quoted(description) +
                                   ",\"inputSchema\":{\"type\":\"object\"},\"name\":" + json::quoted(name) + "}";
    live.tools.push_back({name, definition});
  }
  Result<Snapshot> out = catalog::as_candidate("one", live, nullptr);
  REQUIRE(out.has_value());
  out->launch.command = {"server"};
  out->launch.executable = std::move(executable);
  out->reviewed = false;
  return std::move(*out);
}

inline constexpr const char* kTime = "2026-01-31T12:00:00Z";

inline Snapshot reviewed_of(const std::map<std::string, std::string>& tools) {
  Review review(std::nullopt, candidate_of(tools));
  for (std::size_t i = 0; i < review.items().size(); ++i) {
    if (review.items()[i].has_effect()) {
      review.set_effect(i, policy::Effect::read);
    }
    review.accept(i);
  }
  return review.result({"tester", kTime, false});
}

inline std::size_t item_named(const Review& review, std::string_view name) {
  const auto found =
      std::ranges::find_if(review.items(), [&](const ReviewItem& item) { return item.change.name == name; });
  REQUIRE(found != review.items().end());
  return static_cast<std::size_t>(found - review.items().begin());
}

inline bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace review_test
