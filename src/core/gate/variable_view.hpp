// SPDX-License-Identifier: Apache-2.0
#pragma once
// The variables of a policy in one session: what values fit, and a snapshot that holds those that we know.

#include <map>
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
  void settle(catalog::ListKind kind, LiveList& live) const;
  void settle(Identity& live) const;

 private:
  catalog::VariableRules rules_;
  catalog::Snapshot reviewed_;
};

}  // namespace cordon::gate
