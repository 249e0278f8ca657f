// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a launch needs and what a backend gives, in the same words. A policy requires guarantees; each consists of
// details, one per thing that could be crossed, and a launch needs all those that it depends on. A backend says for
// each detail whether it holds on this host; what it is silent about does not hold.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::json {
class Writer;
}

namespace cordon::sandbox {

struct LaunchSpec;

enum class Strength : std::uint8_t { enforced, partial, no };
std::string_view name(Strength strength);

// What isolation can promise; `require` of a policy takes these names.
inline constexpr std::array<std::string_view, 9> kGuarantees = {
    "filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices", "limits"};

struct Guarantee {
  std::string name = {};  // one of kGuarantees, or "guarantee.detail" below one
  Strength strength = Strength::no;
  std::string reason = {};  // enforced: by what; else a reason code of docs/isolation.md
  int error_number = 0;     // what the kernel said, 0: nothing
  std::string hint = {};    // what a person can do about it
};

// One thing that could be crossed.
struct Detail {
  std::string_view name = {};  // "guarantee.detail"
  std::string_view means = {};
  bool (*needed)(const LaunchSpec& spec) = nullptr;  // does this launch depend on it?
};
std::span<const Detail> details();
// The guarantee that a detail belongs to: what stands before the dot.
std::string_view guarantee_of(std::string_view detail);

// Something that must be enforced, and the place in the policy that says so.
struct Requirement {
  std::string name = {};     // a detail
  std::string because = {};  // "isolation.require", "isolation.limits.memory"
};
// All of a launch, in the order of details(). Pure.
std::vector<Requirement> requirements(const LaunchSpec& spec);

// A backend's statements, put together.
class Statements {
 public:
  Statements& enforced(std::string_view detail, std::string by);
  Statements& lacks(std::string_view detail, Strength strength, std::string reason, std::string hint = {},
                    int error_number = 0);
  // Takes the place of what was said of the same detail before.
  Statements& say(Guarantee statement);
  // In the order of details(), each guarantee before its details with the weakest of their strengths. A detail that
  // nobody spoke of is `no`, `not_offered`, when this launch needs it, else left out.
  std::vector<Guarantee> complete(const LaunchSpec& spec) const;

 private:
  std::vector<Guarantee> said_;
};

// {"filesystem":{"strength":"enforced","reason":"…"},…}: the same in plans, facts and audit.
void write_guarantees(json::Writer& out, std::span<const Guarantee> guarantees);

}  // namespace cordon::sandbox
