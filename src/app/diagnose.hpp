// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why the sandbox refused what a server complains about, and the line of the policy that would allow it. What a server
// says is its own: a line is proposed only for what exists, and never for what is_sensitive names.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/complaint.hpp"
#include "core/gate/action.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

struct Surroundings {
  const sandbox::Plan& plan;
  std::string home = {};  // the caller's
  // Of a path outside. A path that leads through a symlink is one.
  std::function<sandbox::PathKind(const std::string&)> outside = {};
  std::function<bool(std::string_view)> is_sensitive = {};
  std::string packages = {};  // where installed packages lie; empty: nowhere
};

// Both are printable.
struct Finding {
  std::string what = {};      // which rule refused what
  std::string proposal = {};  // a line of the policy; empty: nothing to propose
};

// Of a proposal that grants a path: "read" or "write", and the item of that list. Nothing for any other.
struct ProposedItem {
  std::string_view list = {};
  std::string_view item = {};
};
std::optional<ProposedItem> proposed_item(std::string_view proposal);

// Nothing when the sandbox is not the cause, or nothing can be said.
std::optional<Finding> diagnose(const Complaint& complaint, const Surroundings& around);
// How it ended, when a limit or the list of system calls ended it.
std::optional<Finding> diagnose_exit(const gate::ExitReport& report, const sandbox::Plan& plan);

// Surroundings::outside of this machine, by lstat alone.
sandbox::PathKind kind_outside(const std::string& path);

}  // namespace cordon::app
