// SPDX-License-Identifier: Apache-2.0
#pragma once
// Canaries in a folder of the test's own, and what the probe finds by a plan.

#include <functional>
#include <memory>
#include <string>

#include "sandbox/boundary/canaries.hpp"
#include "sandbox/boundary/look.hpp"
#include "sandboxed.hpp"

namespace cordon::test {

class Planted {
 public:
  Planted();

  // A plan for the probe with one read and one write grant, masks in both and limits; `edit` may change the spec.
  sandbox::Plan plan(sandbox::BackendChoice backend, const std::function<void(sandbox::LaunchSpec&)>& edit = {}) const;
  const sandbox::boundary::Canaries& canaries() const { return *canaries_; }
  std::string operator/(const std::string& name) const { return canaries_->folder() + "/" + name; }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_ = {};
  std::unique_ptr<sandbox::boundary::Canaries> canaries_ = {};
};

struct Look {
  std::vector<sandbox::boundary::Finding> findings = {};
  std::string error = {};  // why there are none
  int attempts = 0;
};
Look look(const sandbox::Plan& plan, const Planted& planted, int trace_fd = -1);

// What did not hold, one line each; empty: the boundary held and nothing that a server may do was denied.
std::string wrong_in(const Look& look);

}  // namespace cordon::test
