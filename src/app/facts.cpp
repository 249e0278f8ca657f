// SPDX-License-Identifier: Apache-2.0
#include "app/facts.hpp"

#include "app/launch_plan.hpp"
#include "app/session_context.hpp"
#include "core/json/write.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"

namespace cordon::app {

std::string facts_json(const std::string& server, const sandbox::Plan& plan) {
  json::Writer out;
  out.begin_object();
  out.member("format", "mcp-cordon.facts");
  out.member_int("version", 1);
  out.member("server", server);
  out.member("digest", sandbox::digest(plan));
  out.member_raw("plan", sandbox::to_json(plan));
  out.member_raw("covers", sandbox::covers_json(plan));
  out.end_object();
  return out.take();
}

std::string facts_summary(const std::string& server, const sandbox::Plan& plan) {
  json::Writer out;
  out.begin_object();
  out.member("format", "mcp-cordon.facts").member_int("version", 1).member("server", server);
  out.member("digest", sandbox::digest(plan)).member("backend", plan.backend);
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
  const Result<PreparedLaunch> prepared = prepare_launch({loaded->policy,
                                                          request.caller,
                                                          request.client_command,
                                                          own_paths(request.caller, *loaded),
                                                          {},
                                                          LaunchRequest::Depth::show});
  if (!prepared) {
    return std::unexpected(prepared.error());
  }
  const Result<sandbox::HostFacts> host = sandbox::probe_host(prepared->spec, request.caller.home);
  if (!host) {
    return std::unexpected(host.error());
  }
  const Result<sandbox::Plan> plan = sandbox::select(prepared->spec, *host);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  return facts_json(loaded->policy.server, *plan);
}

}  // namespace cordon::app
