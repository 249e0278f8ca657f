// SPDX-License-Identifier: Apache-2.0
#include "app/planned_launch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "app/confirmations.hpp"
#include "app/facts.hpp"
#include "app/package_users.hpp"
#include "app/trace_session.hpp"
#include "base/text.hpp"
#include "core/policy/sensitive.hpp"
#include "run/files.hpp"
#include "sandbox/confine.hpp"
#include "sandbox/container_plan.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"
#include "sandbox/steering.hpp"
#include "sandbox/view.hpp"

namespace cordon::app {
namespace {

// Longer than any start on a busy machine; a client gives up on its own before.
constexpr std::int64_t kStartTimeoutMs = 20'000;
constexpr std::uint64_t kMaxHelperBytes = 256'000'000;

// What the server prints on stderr, for a policy that wants it in a file.
Result<UniqueFd> open_stderr_file(const Caller& caller, const std::string& server) {
  const Result<std::string> folder = run::ensure_private_folder(caller.state_folder() + "/stderr");
  if (!folder) {
    return std::unexpected(folder.error());
  }
  const std::string path = text::cat(*folder, '/', server, ".log");
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("open", errno), path);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Errc::file_untrusted, "is no regular file", path, "move it away");
  }
  return file;
}

std::unexpected<Error> changed_since_then(const std::string& path) {
  return fail(Errc::launch_changed, "changed since the server was started first", text::printable(path));
}

std::unexpected<Error> changed_under_us(const PlannedLaunch& planned) {
  return fail(Errc::launch_changed, "the program changed while it was being started", planned.prepared.spec.executable,
              "try again once its installation is complete");
}

// Closing the lifeline makes the kernel end the tree; the direct child is ours to wait for.
void end(pid_t pid, UniqueFd& lifeline) {
  lifeline.reset();
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Keeps `prune` from the package while it is started and runs.
Result<UniqueFd> hold_for(const PlanRequest& request, const std::optional<formats::PackageRecord>& package) {
  if (!package || request.depth != LaunchRequest::Depth::start) {
    return UniqueFd();
  }
  // A record may have come from another machine, or with its folder from another place.
  [[maybe_unused]] const Status known = add_package_user(
      request.caller, *package, record_path(request.caller, request.loaded), request.loaded.location.path);
  return hold_package(request.caller, *package);
}

}  // namespace

Result<PlannedLaunch> plan_launch(const PlanRequest& request) {
  const policy::Policy& policy = request.loaded.policy;
  std::optional<sandbox::Plan> plan;
  std::vector<sandbox::SteeringGap> gaps;
  catalog::LaunchFingerprint program;  // known before the spec is complete
  const auto admit = [&](const catalog::LaunchFingerprint& now) {
    program = now;
    return request.admit ? request.admit(now) : Status();
  };
  const auto admit_spec = [&](sandbox::LaunchSpec spec) -> Status {
    if (request.to_confirm && spec.from_template) {
      spec.require.clear();
    }
    Result<sandbox::HostFacts> host = sandbox::probe_host(spec, request.caller.home);
    if (!host) {
      return std::unexpected(host.error());
    }
    if (Status known = add_confirmation(request.caller, policy.server, spec, program, *host); !known) {
      return known;
    }
    Result<sandbox::Plan> selected = sandbox::select(spec, *host);
    if (!selected) {
      return std::unexpected(selected.error());
    }
    plan = std::move(*selected);
    gaps = std::move(host->steering_gaps);
    if (sandbox::holds_links(plan->view)) {
      std::erase_if(gaps, [](const sandbox::SteeringGap& gap) { return gap.link; });
    }
    if (request.trace) {
      if (Status admitted = admit_trace(*plan); !admitted) {
        return admitted;
      }
      plan->trace = true;
    }
    const std::string digest = facts_digest(policy.launch, *plan);
    if (!request.expected_facts.empty() && digest != request.expected_facts) {
      return fail(Errc::isolation_conflict,
                  text::cat("the execution facts are not those expected: their digest is ", digest, ", not ",
                            text::printable(request.expected_facts, 100)),
                  request.loaded.location.path,
                  "compare mcp-cordon facts with what was accepted, and decide about it anew");
    }
    return {};
  };
  Result<std::optional<formats::PackageRecord>> package = load_record(request.caller, request.loaded);
  Result<UniqueFd> hold = package ? hold_for(request, *package) : Result<UniqueFd>(std::unexpected(package.error()));
  if (!hold) {
    return std::unexpected(hold.error());
  }
  Result<PreparedLaunch> prepared = prepare_launch(
      {policy, request.caller, request.client_command, own_paths(request.caller, request.loaded, request.own_files),
       trusted_secret_files(), request.depth, admit, admit_spec, std::move(*package),
       text::cat("mcp-cordon install ", spelled_name(request.loaded)), request.judge_later});
  if (!prepared) {
    return std::unexpected(prepared.error());
  }
  // The names were the same; now the values of secrets stand there too.
  sandbox::set_environment(*plan, prepared->spec);
  return PlannedLaunch{std::move(*prepared), std::move(*plan), std::move(gaps), std::move(*hold)};
}

namespace {

run::ServerProcess process_of(sandbox::Launched& launched) {
  return {launched.pid,
          std::move(launched.server_in),
          std::move(launched.server_out),
          std::move(launched.server_err),
          std::move(launched.lifeline),
          std::move(launched.notes),
          {}};
}

// `agreed`: null where nothing has to be asked; else the server is held until it says yes. It is asked in any case,
// since what it finds explains a launch that failed.
Result<sandbox::Launched> launch_held(const sandbox::Plan& plan, sandbox::LaunchOptions options,
                                      const std::function<Status()>& agreed) {
  options.held = static_cast<bool>(agreed);
  Result<sandbox::Launched> launched = sandbox::launch(plan, options);
  if (!options.held) {
    return launched;
  }
  Status go = agreed();
  if (go && launched) {
    go = sandbox::release(launched->go);
    if (const Status told = go ? go : run::wait_until_started(launched->status.get(), kStartTimeoutMs); !told) {
      go = std::unexpected(sandbox::error_from_status(told.error().detail, plan.backend));  // over what it has ended
    }
  }
  if (go) {
    return launched;
  }
  if (launched) {
    end(launched->pid, launched->lifeline);
  }
  return std::unexpected(std::move(go.error()));
}

// Nothing when the machine has no room for it: the session can do without.
std::optional<run::SpareServer> start_spare(const sandbox::Plan& plan, sandbox::LaunchOptions options) {
  options.spare = true;
  Result<sandbox::Launched> launched = sandbox::launch(plan, options);
  if (!launched) {
    return std::nullopt;
  }
  run::SpareServer spare;
  spare.process = process_of(*launched);
  spare.status = std::move(launched->status);
  spare.handover = std::move(launched->handover);
  spare.running = [&plan](const UniqueFd& handover) { return sandbox::receive_sockets(plan, handover); };
  return spare;
}

// A spare that is told to start does so with what was checked when the first one was.
Status same_files(const PlannedLaunch& planned) {
  const PreparedLaunch& prepared = planned.prepared;
  if (prepared.executable != FileWitness{} && witness(prepared.spec.executable) != prepared.executable) {
    return changed_since_then(prepared.spec.executable);
  }
  for (const WitnessedFile& file : prepared.files) {
    if (witness(file.path) != file.as) {
      return changed_since_then(file.path);
    }
  }
  return {};
}

}  // namespace

Result<run::ServerProcess> start_plan(const Caller& caller, const sandbox::Plan& plan, int trace_fd,
                                      std::optional<run::SpareServer>* spare,
                                      const std::function<Status()>& before_exec) {
  const std::string helper = caller.stage_path();
  // It decides what the server is held by, so it is judged like a policy.
  if (const Result<run::OpenedFile> trusted = run::open_trusted(helper, {.max_bytes = kMaxHelperBytes}); !trusted) {
    return std::unexpected(trusted.error());
  }
  const bool held = before_exec && sandbox::can_be_held(plan);
  if (before_exec && !held) {
    if (const Status agreed = before_exec(); !agreed) {
      return std::unexpected(agreed.error());
    }
  }
  const sandbox::LaunchOptions options = {.trace_fd = trace_fd, .stage_path = helper};
  Result<sandbox::Launched> launched = launch_held(plan, options, held ? before_exec : nullptr);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  run::ServerProcess server = process_of(*launched);
  // A trace is of one launch.
  if (spare != nullptr && !plan.trace) {
    *spare = start_spare(plan, options);  // while the first one is busy with its steps
  }
  if (const Status started = run::wait_until_started(launched->status.get(), kStartTimeoutMs); !started) {
    end(server.pid, server.lifeline);
    return std::unexpected(sandbox::error_from_status(started.error().detail, plan.backend));
  }
  Result<egress::Sockets> sockets = sandbox::receive_sockets(plan, launched->handover);
  if (!sockets) {
    end(server.pid, server.lifeline);
    return std::unexpected(sockets.error());
  }
  server.sockets = std::move(*sockets);
  return server;
}

Result<run::ServerProcess> start_server(const Caller& caller, const PlannedLaunch& planned, int trace_fd,
                                        std::optional<run::SpareServer>* spare) {
  const FileWitness& digested = planned.prepared.executable;
  if (sandbox::FileIdentity{digested.device, digested.inode} != planned.plan.executable_identity) {
    return changed_under_us(planned);
  }
  PackageStart* const unjudged = planned.prepared.unjudged.get();
  Result<run::ServerProcess> server = start_plan(
      caller, planned.plan, trace_fd, spare,
      unjudged == nullptr ? std::function<Status()>() : [unjudged] { return unjudged->wait(); });
  if (server && witness(planned.prepared.spec.executable) != digested) {
    end(server->pid, server->lifeline);
    return changed_under_us(planned);
  }
  if (server && spare != nullptr && *spare) {
    (*spare)->admit = [&planned] { return same_files(planned); };
    (*spare)->running = [&planned](const UniqueFd& handover) -> Result<egress::Sockets> {
      // Once more, as after the first start: what runs is what was digested.
      if (Status same = same_files(planned); !same) {
        return std::unexpected(same.error());
      }
      return sandbox::receive_sockets(planned.plan, handover);
    };
  }
  return server;
}

Status files_verdict(const PlannedLaunch& planned) {
  return planned.prepared.unjudged ? planned.prepared.unjudged->wait() : Status();
}

void end_server(run::ServerProcess& server) {
  end(server.pid, server.lifeline);
  server = {};
}

Status confine_for_session(const sandbox::Plan& plan, pid_t child, pid_t spare) {
  sandbox::OwnNeeds needs;
  // Where neither the kernel nor two guards end what the server leaves behind, we have to.
  needs.signals = plan.own_namespaces || plan.shared_host ? sandbox::Signals::child : sandbox::Signals::anybody;
  needs.child = child;
  needs.spare = spare;
  if (plan.switch_user) {
    needs.become = sandbox::Identity{plan.uid, plan.gid};
  }
  needs.hosts = plan.network.hosts();
  const Result<sandbox::OwnLimits> confined = sandbox::confine_self(needs);
  return confined ? Status() : std::unexpected(confined.error());
}

std::optional<run::EgressConfig> egress_config(const sandbox::Plan& plan, const std::string& policy_file,
                                               run::ServerProcess& server) {
  if (!plan.network.hosts()) {
    return std::nullopt;
  }
  run::EgressConfig out;
  out.rules = plan.network.rules;
  out.doors = plan.network.doors;
  out.sockets = std::move(server.sockets);
  out.policy_file = text::printable(policy_file, 1000);
  return out;
}

Status confine_without_server() {
  const Result<sandbox::OwnLimits> confined = sandbox::confine_self({});
  return confined ? Status() : std::unexpected(confined.error());
}

Status try_plan(const Caller& caller, const sandbox::Plan& plan) {
  Result<run::ServerProcess> server = start_plan(caller, plan);
  if (!server) {
    return std::unexpected(server.error());
  }
  end(server->pid, server->lifeline);
  return {};
}

Result<audit::Writer> open_audit(const AuditRequest& request) {
  audit::WriterConfig config;
  config.state_dir = request.caller.state_folder();
  config.server = request.server;
  config.session_id = request.session_id;
  config.version = request.version;
  config.masker = Masker(request.secrets);
  return audit::Writer::open(std::move(config));
}

Surroundings surroundings(const Caller& caller, const sandbox::Plan& plan) {
  return {.plan = plan,
          .home = caller.home,
          .outside = kind_outside,
          .is_sensitive =
              [home = caller.home](std::string_view path) {
                return never_proposed(path) || policy::is_sensitive(path, home) || sandbox::is_steering(path);
              },
          .packages = caller.packages_folder()};
}

ServerWords server_words(const Caller& caller, const LoadedPolicy& loaded, const PlannedLaunch& planned,
                         run::Log& log) {
  ServerWords::Setting setting{.around = surroundings(caller, planned.plan)};
  setting.policy_path = loaded.location.path;
  setting.relayed = loaded.policy.launch.stderr_mode == policy::StderrMode::relay;
  setting.say = [&log](std::string_view line) { log.notice(line, run::monotonic_now()); };
  return ServerWords(std::move(setting));
}

Result<run::LogConfig> log_config(const Caller& caller, const LoadedPolicy& loaded,
                                  const std::vector<NamedSecret>& secrets) {
  run::LogConfig out;
  out.server = loaded.policy.server;
  out.masker = Masker(secrets);
  switch (loaded.policy.launch.stderr_mode) {
    case policy::StderrMode::relay:
      out.server_lines = run::ServerLines::relay;
      break;
    case policy::StderrMode::drop:
      out.server_lines = run::ServerLines::drop;
      break;
    case policy::StderrMode::file: {
      out.server_lines = run::ServerLines::file;
      Result<UniqueFd> file = open_stderr_file(caller, loaded.policy.server);
      if (!file) {
        return std::unexpected(file.error());
      }
      out.server_file = std::move(*file);
      break;
    }
  }
  return out;
}

}  // namespace cordon::app
