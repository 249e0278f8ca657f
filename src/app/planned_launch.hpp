// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a loaded policy to a started server: prepared, planned for this host, carried out. Shared by run and capture.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/launch_plan.hpp"
#include "app/session_context.hpp"
#include "audit/writer.hpp"
#include "base/error.hpp"
#include "run/child.hpp"
#include "run/log.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

struct PlannedLaunch {
  PreparedLaunch prepared = {};
  sandbox::Plan plan = {};
  std::vector<sandbox::SteeringGap> steering_gaps = {};
};

// Nothing is started yet. `own_files`: more that no write grant may reach. What prepare_launch gives, and
// unsupported_isolation when this host cannot do it.
Result<PlannedLaunch> plan_launch(const Caller& caller, const LoadedPolicy& loaded,
                                  const std::vector<std::string>& client_command, const Admit& admit = {},
                                  const std::vector<std::string>& own_files = {});

// Starts the plan and waits until the server's program runs. The program that runs is the one that was digested: the
// stage executes the planned file alone, and the file must not have changed since. unsupported_isolation,
// launch_failed, launch_changed, file_untrusted for our helper.
Result<run::ServerProcess> start_server(const Caller& caller, const PlannedLaunch& planned);

// Can this plan be carried out? Starts it and ends it at once.
Status try_plan(const Caller& caller, const sandbox::Plan& plan);

// The log of one launch. audit_unavailable.
struct AuditRequest {
  const Caller& caller;
  std::string server = {};
  std::string session_id = {};
  std::string version = {};
  std::vector<NamedSecret> secrets = {};
};
Result<audit::Writer> open_audit(const AuditRequest& request);

// Where lines for people go, and those of the server as the policy says.
Result<run::LogConfig> log_config(const Caller& caller, const LoadedPolicy& loaded,
                                  const std::vector<NamedSecret>& secrets);

}  // namespace cordon::app
