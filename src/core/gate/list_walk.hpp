// SPDX-License-Identifier: Apache-2.0
#pragma once
// One complete walk over a list: all pages, with caps on pages, items and bytes, and no cursor twice.

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "core/gate/catalog_view.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

class ListWalk {
 public:
  ListWalk(catalog::ListKind kind, const policy::Catalog& caps) : kind_(kind), caps_(&caps) {}

  // Params for the next page: `meta_json` (an object or empty) as `_meta`, and the cursor when there is one.
  std::string params(std::string_view meta_json) const;
  // True when this page was the last. catalog_invalid when the answer is no page, a cap is reached or a cursor repeats.
  Result<bool> add_page(const json::Value& result);
  LiveList take() { return std::move(live_); }

 private:
  void add(const json::Value& element);

  catalog::ListKind kind_;
  const policy::Catalog* caps_;
  LiveList live_;
  std::optional<std::string> cursor_;  // as JSON, unchanged
  std::set<std::string> seen_;         // decoded cursors
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cordon::gate
