// SPDX-License-Identifier: Apache-2.0
#pragma once
// Live prompts, resources and resource templates judged against the pin, as catalog_view.hpp does for tools.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/gate/catalog_view.hpp"
#include "core/gate/list_walk.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

struct ItemView {
  std::string key = {};
  PinState pin = PinState::as_reviewed;
  std::string served = {};           // definition for the client, JSON; empty: not listed
  std::optional<Errc> refusal = {};  // the pin refuses its use: tool_changed, or tool_not_reviewed for hidden ones
  bool flagged = false;              // passes by a `flag` of the pin
  bool dynamic = false;              // data by catalog.dynamic
  policy::Verdict verdict = {};      // of the policy, once the pin lets it pass
};

class ItemListView {
 public:
  // `snapshot` may be null only with catalog.missing: flag.
  static ItemListView judge(catalog::ListKind kind, const policy::Policy& policy, const catalog::Snapshot* snapshot,
                            const LiveList& live);

  const std::vector<ItemView>& items() const { return items_; }
  const ItemView* find(std::string_view key) const;
  const std::vector<DriftNote>& drift() const { return drift_; }

 private:
  ItemListView(catalog::ListKind kind, const policy::Policy& policy, const catalog::Snapshot* snapshot)
      : kind_(kind), policy_(&policy), snapshot_(snapshot) {}
  void add_live(const LiveItem& live, bool bad);
  void add(ItemView view, std::string_view definition, std::string_view mark);
  void note(std::string_view key, std::string_view change, policy::DriftAction action, bool bad,
            std::string_view definition);

  catalog::ListKind kind_;
  const policy::Policy* policy_;
  const catalog::Snapshot* snapshot_;
  std::vector<ItemView> items_ = {};
  std::map<std::string, std::size_t, std::less<>> index_ = {};
  std::vector<DriftNote> drift_ = {};
};

// What is left of a resource that is data: uri, mimeType, size, and a name that is derived from the uri.
std::string data_definition(std::string_view definition, std::string_view uri);

}  // namespace cordon::gate
