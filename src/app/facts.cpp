// SPDX-License-Identifier: Apache-2.0
#include "app/facts.hpp"

#include <set>

#include "app/planned_launch.hpp"
#include "app/session_context.hpp"
#include "core/json/write.hpp"

namespace cordon::app {

sandbox::Plan facts_plan(const policy::Launch& launch, sandbox::Plan plan) {
  std::set<std::string> names;
  for (const std::string& variable : plan.environment) {
    names.insert(variable.substr(0, variable.find('=')));
  }
  names.insert(launch.pass.begin(), launch.pass.end());
  plan.environment.clear();
  for (const std::string& name : names) {
    plan.environment.push_back(name + '=');
  }
  return plan;
}

std::string facts_digest(const policy::Launch& launch, const sandbox::Plan& plan) {
  return sandbox::digest(facts_plan(launch, plan));
}

std::string facts_json(const policy::Policy& policy, const sandbox::Plan& plan) {
  const sandbox::Plan facts = facts_plan(policy.launch, plan);
  json::Writer out;
  out.begin_object();
  out.member("format", "mcp-cordon.facts");
  out.member_int("version", 1);
  out.member("server", policy.server);
  out.member("digest", sandbox::digest(facts));
  out.member_raw("plan", sandbox::to_json(facts));
  out.member_raw("covers", sandbox::covers_json(plan));
  out.end_object();
  return out.take();
}

std::string facts_summary(const policy::Policy& policy, const sandbox::Plan& plan) {
  json::Writer out;
  out.begin_object();
  out.member("format", "mcp-cordon.facts").member_int("version", 1).member("server", policy.server);
  out.member("digest", facts_digest(policy.launch, plan)).member("backend", plan.backend);
  out.key("guarantees").begin_object();
  for (const sandbox::Guarantee& guarantee : plan.guarantees) {
    out.member(guarantee.name, sandbox::name(guarantee.strength));
  }
  out.end_object().end_object();
  return out.take();
}

Result<std::string> facts_of(const FactsRequest& request) {
  const Result<LoadedPolicy> loaded = load_policy(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Result<PlannedLaunch> planned =
      plan_launch({request.caller, *loaded, request.client_command, LaunchRequest::Depth::show});
  if (!planned) {
    return std::unexpected(planned.error());
  }
  return facts_json(loaded->policy, planned->plan);
}

}  // namespace cordon::app
