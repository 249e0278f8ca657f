// SPDX-License-Identifier: Apache-2.0
#pragma once
// The variables of a policy in one session: what values fit, and a snapshot that holds those that we know.

#include <map>
#include <set>
#include <string>

#include "core/catalog/catalog.hpp"
#include "core/catalog/variables.hpp"
#include "core/gate/catalog_view.hpp"
#include "core/gate/handshake.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

// `known`: value of each variable whose kind is known at launch. One that lacks its value fits nothing.
catalog::VariableRules variable_rules(const policy::Catalog& policy, const std::map<std::string, std::string>& known);

class Variables {
 public:
  // Puts the known values into the definitions of `snapshot`, from which then is served and compared.
  Variables(const policy::Catalog& policy, const std::map<std::string, std::string>& known,
            catalog::Snapshot& snapshot);

  // Live texts that differ in values only become those of that snapshot.
  void settle(catalog::ListKind kind, LiveList& live);
  void settle(Identity& live);

 private:
  void keep(const catalog::VariableReader& reader);

  catalog::VariableRules rules_;
  catalog::Snapshot reviewed_;
  std::set<std::string> moving_ = {};               // dates and integers: the next list may have another value
  std::map<std::string, std::string> values_ = {};  // of the others, as the first list had them
};

}  // namespace cordon::gate
