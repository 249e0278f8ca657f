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

std::string default_hint(const Requirement& requirement) {
  return requirement.because == "isolation.require"
             ? text::cat("use another backend, or take ", guarantee_of(requirement.name), " out of isolation.require")
             : text::cat("use another backend, or take ", requirement.because, " out of the policy");
}

// The first requirement that the plan does not enforce.
std::optional<Refusal> missing(const Plan& plan, const LaunchSpec& spec) {
  for (const Requirement& requirement : requirements(spec)) {
    const Guarantee* guarantee = find_guarantee(plan, requirement.name);
    if (guarantee == nullptr || guarantee->strength != Strength::enforced) {
      return Refusal{
          .backend = plan.backend,
          .requirement = requirement.name,
          .because = requirement.because,
          .reason = guarantee == nullptr ? "not_offered" : guarantee->reason,
          .error_number = guarantee == nullptr ? 0 : guarantee->error_number,
          .hint = guarantee == nullptr || guarantee->hint.empty() ? default_hint(requirement) : guarantee->hint};
    }
  }
  return std::nullopt;
}

Result<Plan> judge(Result<Plan> plan, const LaunchSpec& spec) {
  if (plan) {
    if (const auto refusal = missing(*plan, spec)) {
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
  std::string detail = refusal.requirement.empty() ? std::string("cannot be used here")
                                                   : text::cat("requirement ", refusal.requirement, " is not enforced");
  detail += refusal.because.empty() ? std::string() : text::cat(" (asked for by ", refusal.because, ")");
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
    if (backend == nullptr) {
      return fail(Errc::policy_invalid, "this backend is not supported by this version", "isolation.backend");
    }
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
    asked.from_template = false;  // there is none without a policy
    if (backend->images && asked.image.reference.empty()) {
      asked.image.reference = kEmptyImage;
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
