// SPDX-License-Identifier: Apache-2.0
#pragma once
// doctor: what this machine can enforce, found out by trying: every backend is started with the probe inside.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/boundary.hpp"
#include "app/caller.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/select.hpp"

namespace cordon::app {

// A backend: what its plan says, and what the probe found under it.
struct ExaminedBackend {
  sandbox::Assessment assessment = {};
  std::optional<TriedBoundary> tried = {};
  Error not_tried = {};  // why, when it is usable and was not tried
};

struct Examination {
  std::vector<ExaminedBackend> backends = {};
  std::string machine = {};  // one line about what they all stand on

  // One row per guarantee, one column per backend, then the reasons and what to do. A cell holds when the plan says so
  // and the probe did not come through.
  std::string text(Style style) const;
  std::string json() const;  // docs/formats/probe.md
  // Something got through that the plan of a backend says cannot.
  bool breached() const;
};

// `alter` is for tests, see BoundaryTrial.
Result<Examination> examine(const Caller& caller, const std::function<void(sandbox::Plan&)>& alter = {});

}  // namespace cordon::app
