// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a loaded policy to a started server: prepared, planned for this host, carried out. Shared by run and capture.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/launch_plan.hpp"
#include "app/server_words.hpp"
#include "app/session_context.hpp"
#include "audit/writer.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "run/child.hpp"
#include "run/egress_broker.hpp"
#include "run/log.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

struct PlannedLaunch {
  PreparedLaunch prepared = {};
  sandbox::Plan plan = {};
  std::vector<sandbox::SteeringGap> steering_gaps = {};
  UniqueFd package_hold = {};  // `prune` leaves the package alone while this is there
};

struct PlanRequest {
  const Caller& caller;
  const LoadedPolicy& loaded;
  std::vector<std::string> client_command = {};
  LaunchRequest::Depth depth = LaunchRequest::Depth::start;
  Admit admit = {};
  std::vector<std::string> own_files = {};  // more that no write grant may reach
  std::string expected_facts = {};          // digest of the execution facts; empty: any
  bool trace = false;                       // unsupported_isolation where that cannot be done
  bool judge_later = false;                 // the verdict on a package's files may come while it is started
  bool to_confirm = false;  // a template's guarantees are not known yet, and so cannot be required: to find out
};

// Nothing is started yet. What prepare_launch gives, unsupported_isolation when this host cannot do it, and
// isolation_conflict when the facts are not those expected; both before a secret is fetched.
Result<PlannedLaunch> plan_launch(const PlanRequest& request);

// Starts the plan and waits until the server's program runs. The program that runs is the one that was digested: the
// stage executes the planned file alone, and the file must not have changed since. unsupported_isolation,
// launch_failed, launch_changed, file_untrusted for our helper.
// Where the files of a package are still looked at, the sandbox is set up meanwhile, and nothing is executed in it
// before the verdict. `trace_fd`: for a plan that is traced. `spare`: gets a second launch of the same plan, which
// waits, where one can be had; `planned` must outlive it.
Result<run::ServerProcess> start_server(const Caller& caller, const PlannedLaunch& planned, int trace_fd = -1,
                                        std::optional<run::SpareServer>* spare = nullptr);

// For a launch that goes no further before it was started: what is wrong with the files of its package explains the
// rest.
Status files_verdict(const PlannedLaunch& planned);

// Ends what was started, for a launch that goes no further.
void end_server(run::ServerProcess& server);
// The bare act, for plans whose program is our own choice. `before_exec`: what it refuses with ends the launch before
// the program was executed; where a launch cannot be held that long, it is asked first.
Result<run::ServerProcess> start_plan(const Caller& caller, const sandbox::Plan& plan, int trace_fd = -1,
                                      std::optional<run::SpareServer>* spare = nullptr,
                                      const std::function<Status()>& before_exec = {});

// For run::ProxyConfig::before_first_byte: our own process gives up what it does not need for a session with the server
// that was started as `child`, and the one that waits as `spare` (docs/isolation.md). unsupported_isolation, internal.
Status confine_for_session(const sandbox::Plan& plan, pid_t child, pid_t spare = -1);
// For run::ProxyConfig::egress; takes the sockets out of `server`. Nothing where the plan has no hosts.
std::optional<run::EgressConfig> egress_config(const sandbox::Plan& plan, const std::string& policy_file,
                                               run::ServerProcess& server);
// The same for a session in which nothing was started.
Status confine_without_server();

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

// For everything that explains what was refused, and what would allow it. Borrows the plan.
Surroundings surroundings(const Caller& caller, const sandbox::Plan& plan);

// Listens to the server of this launch and explains on `log` what the sandbox refused it. All are borrowed.
ServerWords server_words(const Caller& caller, const LoadedPolicy& loaded, const PlannedLaunch& planned, run::Log& log);

// Where lines for people go, and those of the server as the policy says.
Result<run::LogConfig> log_config(const Caller& caller, const LoadedPolicy& loaded,
                                  const std::vector<NamedSecret>& secrets);

}  // namespace cordon::app
