// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a server was seen to use, the least of its grants that would have let it do the same. Pure. It only narrows
// what the policy grants: what was denied is for a person to decide about, line by line.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/plan.hpp"
#include "sandbox/trace.hpp"

namespace cordon::app {

enum class Use : std::uint8_t { none, read, write };
std::string_view name(Use use);

struct GrantUse {
  std::string outside = {};
  std::string inside = {};
  bool writable = false;
  Use use = Use::none;
};

struct ProposedGrant {
  std::string outside = {};
  std::string inside = {};
  bool operator==(const ProposedGrant&) const = default;
};
struct TraceProposal {
  std::vector<GrantUse> grants = {};  // of the policy, in its order
  std::vector<ProposedGrant> read = {};
  std::vector<ProposedGrant> write = {};
  std::vector<std::string> deny = {};  // masks of the policy that lie in what is proposed
  // Items of the two lists that were refused in this run; said behind them, and never among them.
  std::vector<std::string> denied_read = {};
  std::vector<std::string> denied_write = {};
  std::vector<std::string> withheld = {};  // used, but never proposed: sensitive, or no name that can stand in a line
};

struct ProposalInput {
  const sandbox::Plan& plan;
  std::span<const sandbox::TraceFinding> findings = {};
  std::function<bool(std::string_view)> is_sensitive = {};
};
TraceProposal propose(const ProposalInput& input);

// The section `isolation.filesystem`, as lines of a policy.
std::vector<std::string> policy_lines(const TraceProposal& proposal, const std::vector<std::string>& runtime);

// The entry of the view that shows a path of the inside, or hides it; null: nothing does.
const sandbox::ViewEntry* shown_by(const sandbox::Plan& plan, std::string_view path);

}  // namespace cordon::app
