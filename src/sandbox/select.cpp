// SPDX-License-Identifier: Apache-2.0
#include "sandbox/select.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/backend.hpp"

namespace cordon::sandbox {
namespace {

Status check_required_names(const LaunchSpec& spec) {
  for (const std::string& required : spec.require) {
    if (std::find(kGuarantees.begin(), kGuarantees.end(), required) == kGuarantees.end()) {
      const auto near = text::nearest(required, kGuarantees);
      return fail(Errc::policy_invalid, text::cat("unknown guarantee '", text::printable(required), "'"),
                  "isolation.require", near ? text::cat("did you mean '", *near, "'?") : std::string());
    }
  }
  return {};
}

// Listed sockets are the only ones that can be reached: part of what `ipc` requires.
std::optional<Refusal> reaches_sockets(const Plan& plan, const std::string& wanted) {
  const Guarantee* sockets = wanted == "ipc" ? find_guarantee(plan, "ipc.unix_sockets") : nullptr;
  if (sockets == nullptr || sockets->strength == Strength::enforced) {
    return std::nullopt;
  }
  return Refusal{.backend = plan.backend,
                 .guarantee = sockets->name,
                 .reason = sockets->reason,
                 .hint =
                     "grant files instead of folders, write unix_sockets: none with syscalls: default, or take ipc out "
                     "of isolation.require: then every socket in a granted folder can be reached"};
}

// The first required guarantee that the plan does not enforce.
std::optional<Refusal> missing(const Plan& plan, const std::vector<std::string>& required) {
  for (const std::string& wanted : required) {
    const Guarantee* guarantee = find_guarantee(plan, wanted);
    if (guarantee == nullptr || guarantee->strength != Strength::enforced) {
      return Refusal{.backend = plan.backend,
                     .guarantee = wanted,
                     .reason = guarantee == nullptr ? "not_offered" : guarantee->reason,
                     .hint = "use another backend, or take it out of isolation.require"};
    }
    if (auto refusal = reaches_sockets(plan, wanted)) {
      return refusal;
    }
  }
  return std::nullopt;
}

Result<Plan> judge(Result<Plan> plan, const LaunchSpec& spec) {
  if (plan) {
    if (const auto refusal = missing(*plan, spec.require)) {
      return std::unexpected(to_error(*refusal));
    }
  }
  return plan;
}

// Both refusals in one, so that a person sees why neither will do.
Error joined(const Error& first, const Error& second) {
  Error error = first;
  error.where = text::cat(first.where, ", ", second.where);
  error.detail = text::cat(first.where, ": ", first.detail, "; ", second.where, ": ", second.detail);
  if (error.remedy.empty()) {
    error.remedy = second.remedy;
  }
  return error;
}

}  // namespace

Error to_error(const Refusal& refusal) {
  std::string detail = refusal.guarantee.empty() ? std::string("cannot be used here")
                                                 : text::cat("guarantee ", refusal.guarantee, " is not enforced");
  detail += text::cat(": reason ", refusal.reason);
  if (refusal.error_number != 0) {
    detail += text::cat(" (errno ", refusal.error_number, ", ", std::strerror(refusal.error_number), ")");
  }
  return {.code = Errc::unsupported_isolation,
          .detail = std::move(detail),
          .where = refusal.backend,
          .remedy = refusal.hint};
}

Result<Plan> select(const LaunchSpec& spec, const HostFacts& facts) {
  if (auto status = check_required_names(spec); !status) {
    return std::unexpected(status.error());
  }
  if (spec.backend != BackendChoice::automatic) {
    const Backend* backend = find_backend(spec.backend);
    CORDON_ASSERT(backend != nullptr);
    return judge(backend->plan(spec, facts), spec);
  }
  std::optional<Error> refusal;
  for (const Backend* backend : backends()) {
    if (!backend->automatic) {
      continue;
    }
    Result<Plan> plan = judge(backend->plan(spec, facts), spec);
    // Only what this machine lacks lets the next one try; a fault of the spec is the same for all.
    if (plan || plan.error().code != Errc::unsupported_isolation) {
      return plan;
    }
    refusal = refusal ? joined(*refusal, plan.error()) : plan.error();
  }
  CORDON_ASSERT(refusal.has_value());
  return std::unexpected(*refusal);
}

std::vector<Assessment> assess(const LaunchSpec& spec, const HostFacts& facts) {
  std::vector<Assessment> all;
  for (const Backend* backend : backends()) {
    LaunchSpec asked = spec;
    asked.backend = backend->choice;
    if (asked.none_reason.empty()) {
      asked.none_reason = "assessment";
    }
    const Result<Plan> plan = backend->plan(asked, facts);
    Assessment assessment{.backend = std::string(backend->name)};
    if (plan) {
      assessment.usable = true;
      assessment.guarantees = plan->guarantees;
    } else {
      assessment.error = plan.error();
    }
    all.push_back(std::move(assessment));
  }
  return all;
}

}  // namespace cordon::sandbox
