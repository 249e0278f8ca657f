// SPDX-License-Identifier: Apache-2.0
#include "app/run_server.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "app/approvals.hpp"
#include "app/exposure.hpp"
#include "app/facts.hpp"
#include "app/fingerprint.hpp"
#include "app/installation_key.hpp"
#include "app/known_values.hpp"
#include "app/launch_record.hpp"
#include "app/planned_launch.hpp"
#include "app/server_view.hpp"
#include "app/server_words.hpp"
#include "app/session_context.hpp"
#include "app/told_launches.hpp"
#include "app/trace_session.hpp"
#include "audit/writer.hpp"
#include "base/text.hpp"
#include "core/gate/session.hpp"
#include "core/policy/judge_call.hpp"
#include "run/engine.hpp"
#include "run/privileges.hpp"
#include "run/proxy.hpp"

namespace cordon::app {
namespace {

// How long the end waits for the summary of a trace: clients kill two seconds after the end of their input.
constexpr std::int64_t kTraceWaitMs = 200;

// For a session in which nothing was started and nothing passes, and whose log could not be opened.
class NoRecords final : public run::RecordSink {
 public:
  Status append(std::string_view) override { return {}; }
  Status flush() override { return {}; }
  std::optional<Instant> next_deadline() const override { return std::nullopt; }
};

class RunCase {
 public:
  explicit RunCase(const RunRequest& request) : request_(request), session_id_(random_session_id()) {}

  int run() {
    // Before secrets are read.
    Status done = run::protect_memory();
    if (done) {
      done = prepare();
    }
    if (done) {
      done = start();
    }
    if (!done && planned_) {
      if (Status whole = files_verdict(*planned_); !whole) {
        done = std::move(whole);
      }
    }
    return converse(done ? std::optional<Error>() : std::move(done.error()));
  }

 private:
  Status prepare();
  Status check_launch(const catalog::LaunchFingerprint& now);
  Status begin_audit();
  Status begin_trace(const std::string& name);
  Status start();
  void let_spare_look();
  void record_refusal(const Error& error);
  gate::SessionConfig session_config(const std::optional<Error>& failure);
  void notices(run::Log& log);
  Result<int> talk(const std::optional<Error>& failure, run::Log& log);
  int converse(std::optional<Error> failure);

  const RunRequest& request_;
  std::string session_id_;
  std::optional<LoadedPolicy> loaded_ = {};
  LoadedSnapshot snapshot_ = {};
  std::optional<PlannedLaunch> planned_ = {};
  std::vector<std::string> differences_ = {};  // of the launch, let through by the policy
  std::optional<audit::Writer> audit_ = {};
  MacKey key_ = {};
  run::LogConfig log_config_ = {};
  std::optional<run::ApprovalDesk> approvals_ = {};
  std::optional<TraceSession> trace_ = {};
  run::ServerProcess server_ = {};
  std::optional<run::SpareServer> spare_ = {};  // for one that ends when it is probed
  std::optional<run::ServerFiles> files_ = {};  // for rules that judge paths
  bool unconfined_ = false;                     // our own process could not be confined, so that the server was ended
};

// Policy, snapshot, plan: everything that can refuse before anything of the server is touched.
Status RunCase::prepare() {
  Result<LoadedPolicy> loaded = read_policy_file(request_.caller, request_.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  // Kept before it is compared: what is refused for a ceiling stands in the log of its server.
  loaded_ = std::move(*loaded);
  if (Status admitted = apply_ceilings(request_.caller, request_.choice, *loaded_); !admitted) {
    return admitted;
  }
  Result<LoadedSnapshot> found = load_snapshot(request_.caller, *loaded_);
  if (!found) {
    return std::unexpected(found.error());
  }
  snapshot_ = std::move(*found);
  if (Status admitted = admit_snapshot(*loaded_, snapshot_); !admitted) {
    return admitted;
  }
  Result<PlannedLaunch> planned =
      plan_launch({.caller = request_.caller,
                   .loaded = *loaded_,
                   .client_command = request_.client_command,
                   .admit = [this](const catalog::LaunchFingerprint& now) { return check_launch(now); },
                   .expected_facts = request_.expected_facts,
                   .trace = request_.trace,
                   .judge_later = true});
  if (!planned) {
    return std::unexpected(planned.error());
  }
  planned_ = std::move(*planned);
  return admit_path_rules(loaded_->policy, planned_->plan);
}

// Is this the program that the catalog was reviewed with?
Status RunCase::check_launch(const catalog::LaunchFingerprint& now) {
  if (!snapshot_.snapshot) {
    return {};
  }
  std::vector<std::string> differences = launch_differences(snapshot_.snapshot->launch, now);
  if (differences.empty()) {
    return {};
  }
  if (loaded_->policy.catalog.drift.launch == policy::DriftAction::flag) {
    differences_ = std::move(differences);
    return {};
  }
  return other_launch(*loaded_, snapshot_, differences);
}

Status RunCase::begin_audit() {
  Result<audit::Writer> writer = open_audit({request_.caller, loaded_->policy.server, session_id_, request_.version,
                                             planned_ ? planned_->prepared.secrets : std::vector<NamedSecret>()});
  if (!writer) {
    return std::unexpected(writer.error());
  }
  audit_ = std::move(*writer);
  return {};
}

// While our own process may still make files and processes.
Status RunCase::begin_trace(const std::string& name) {
  if (!request_.trace) {
    return {};
  }
  const std::string folder = trace_folder(request_.caller.state_folder(), loaded_->policy.server);
  Result<TraceSession> trace = TraceSession::start({.server = loaded_->policy.server,
                                                    .session = session_id_,
                                                    .began = name.substr(0, name.find('-')),
                                                    .policy_path = loaded_->location.path,
                                                    .runtime = loaded_->policy.isolation.runtime,
                                                    .around = surroundings(request_.caller, planned_->plan),
                                                    .masker = Masker(planned_->prepared.secrets)},
                                                   text::cat(folder, '/', name), log_config_.fd);
  if (!trace) {
    return std::unexpected(trace.error());
  }
  trace_ = std::move(*trace);
  return {};
}

Status RunCase::start() {
  Result<MacKey> key = installation_key(request_.caller);
  if (!key) {
    return std::unexpected(key.error());
  }
  key_ = *key;
  Result<run::LogConfig> log = log_config(request_.caller, *loaded_, planned_->prepared.secrets);
  if (!log) {
    return std::unexpected(log.error());
  }
  log_config_ = std::move(*log);
  if (Status opened = begin_audit(); !opened) {
    return opened;
  }
  // Made while our own process may still make files.
  if (may_wait_for_approval(loaded_->policy.tools)) {
    Result<run::ApprovalDesk> desk = open_approval_desk(request_.caller, session_id_);
    if (!desk) {
      return std::unexpected(desk.error());
    }
    approvals_ = std::move(*desk);
  }
  // The record of what is about to be started comes before it is started.
  const std::string trace_name = request_.trace ? trace_file_name(audit_->path()) : std::string();
  const std::string record = launch_record({"run", *loaded_, snapshot_, *planned_, differences_,
                                            request_.read_only || loaded_->policy.tools.read_only, trace_name});
  if (Status recorded = audit_->append(record); !recorded) {
    return recorded;
  }
  if (Status listening = begin_trace(trace_name); !listening) {
    return listening;
  }
  Result<run::ServerProcess> server = start_server(request_.caller, *planned_, trace_ ? trace_->pipe() : -1, &spare_);
  if (!server) {
    if (trace_) {
      trace_->abandon();
      trace_.reset();
    }
    return std::unexpected(server.error());
  }
  if (trace_) {
    trace_->let_go();
  }
  server_ = std::move(*server);
  Result<std::optional<run::ServerFiles>> files =
      look_into(loaded_->policy, request_.caller, planned_->plan, server_.pid, spare_ ? spare_->process.pid : -1);
  if (!files) {
    end_server(server_);
    return std::unexpected(files.error());
  }
  files_ = std::move(*files);
  let_spare_look();
  return {};
}

// Who judges paths for the second server looks at that one's.
void RunCase::let_spare_look() {
  if (spare_ && files_) {
    spare_->running = [this,
                       sockets = std::move(spare_->running)](const UniqueFd& handover) -> Result<egress::Sockets> {
      if (Status looks = files_->look_again(); !looks) {
        return std::unexpected(looks.error());
      }
      return sockets(handover);
    };
    spare_->dropped = [this] { files_->settle(); };
  }
}

// Best effort: the client is told in any case, and nothing was started.
void RunCase::record_refusal(const Error& error) {
  if (!audit_ && loaded_ && error.code != Errc::audit_unavailable && !begin_audit()) {
    return;
  }
  if (audit_) {
    [[maybe_unused]] const Status recorded = audit_->append(refused_launch_record(error));
  }
}

gate::SessionConfig RunCase::session_config(const std::optional<Error>& failure) {
  gate::SessionConfig config;
  config.session_id = session_id_;
  config.version = request_.version;
  config.argument_key = key_;
  config.read_only = request_.read_only;
  config.confirm_key = random_key();
  config.can_approve = approvals_.has_value();
  if (loaded_) {
    config.policy = loaded_->policy;
    config.spelled = text::printable(spelled_name(*loaded_));
  }
  if (failure) {
    config.launch_failure = failure;
  } else {
    config.can_respawn = spare_.has_value();
    config.snapshot = std::move(snapshot_.snapshot);
    config.secrets = planned_->prepared.secrets;
    config.known_values = known_values(loaded_->policy, planned_->prepared);
    config.view = server_view(planned_->plan, files_ ? &*files_ : nullptr);
    config.secrets = planned_->prepared.secrets;
    config.roots = granted_folders(planned_->prepared);
    config.facts = facts_summary(loaded_->policy, planned_->plan);
  }
  return config;
}

void RunCase::notices(run::Log& log) {
  const Instant now = run::monotonic_now();
  if (!differences_.empty() && planned_ &&
      first_told(request_.caller, loaded_->location.path, snapshot_.digest, planned_->prepared.fingerprint)) {
    log.notice(
        text::cat("this launch is not the reviewed one, which catalog.drift.launch: flag lets pass (said once for "
                  "each launch; what the server says of itself is compared all the same): ",
                  text::join(differences_, "; "), "; to bind the review to it: ", review_command(*loaded_)),
        now);
  }
  if (loaded_ && snapshot_.snapshot) {
    for (const std::string& place : policy::idle_rules(loaded_->policy.tools, *snapshot_.snapshot)) {
      log.notice(text::printable(place, 2000) + " names no tool of the snapshot, so it does nothing", now);
    }
  }
  if (server_.pid >= 0) {
    for (const std::string& notice : exposure_notices(planned_->plan, planned_->steering_gaps)) {
      log.notice(notice, now);
    }
  }
  if (audit_) {
    for (const std::string& problem : audit_->problems()) {
      log.notice(text::printable(problem, 2000), now);
    }
  }
}

// A session with the server, or one that tells the client why there is none.
Result<int> RunCase::talk(const std::optional<Error>& failure, run::Log& log) {
  if (failure) {
    record_refusal(*failure);
    log.notice(text::printable(text::cat(name(failure->code), ": ", failure->to_string()), 8192), run::monotonic_now());
    server_ = {};
    spare_.reset();
  }
  gate::Session session(session_config(failure));
  run::EngineOf<gate::Session> engine(session);
  NoRecords nothing;
  std::optional<run::AuditSink> records;
  if (audit_) {
    records.emplace(*audit_);
  }
  run::ProxyConfig proxy;
  proxy.client_in = request_.client_in;
  proxy.client_out = request_.client_out;
  proxy.approvals = approvals_ && !failure ? &*approvals_ : nullptr;
  const pid_t child = server_.pid;
  const pid_t spare = spare_ ? spare_->process.pid : -1;
  proxy.before_first_byte = [&]() -> Status {
    if (failure) {
      // Nothing of a server is read, and what was tried already may stand in the way of trying it again.
      [[maybe_unused]] const Status best_effort = confine_without_server();
      return {};
    }
    const Status confined = confine_for_session(planned_->plan, child, spare);
    unconfined_ = !confined;
    return confined;
  };
  if (!failure) {
    proxy.egress = egress_config(planned_->plan, loaded_->location.path, server_);
  }
  proxy.server = std::move(server_);
  proxy.spare = std::exchange(spare_, std::nullopt);
  std::optional<ServerWords> words;
  if (!failure) {
    words.emplace(server_words(request_.caller, *loaded_, *planned_, log));
    log.listen([&words](std::string_view line) { words->heard(line); },
               [&words](std::string_view line) { words->overheard(line); });
    proxy.server_exited = [&words](gate::ExitReport report) { words->exited(report); };
  }
  Result<int> status =
      run::run_proxy(std::move(proxy), engine, records ? static_cast<run::RecordSink&>(*records) : nothing, log);
  if (trace_) {
    // The server is gone; the rest is a line or two.
    log.flush(run::monotonic_now());
    trace_->wait(kTraceWaitMs);
  }
  if (words) {
    words->ended(status && *status == exit_status(Errc::server_exited));
    for (const Errc code : {Errc::server_exited, Errc::timed_out}) {
      if (status && *status == exit_status(code)) {
        log.notice(text::cat(name(code), ": ", next_step(code, spelled_name(*loaded_), true)), run::monotonic_now());
      }
    }
    log.listen({});
  }
  return status;
}

int RunCase::converse(std::optional<Error> failure) {
  if (loaded_) {
    log_config_.server = loaded_->policy.server;
  }
  run::Log log(std::move(log_config_));
  notices(log);
  Result<int> status = talk(failure, log);
  if (!status && unconfined_ && !failure) {
    // The server is gone, and nothing was read from the client yet, so it can still be told.
    status = talk(status.error(), log);
  }
  if (!status) {
    log.notice(text::printable(status.error().to_string(), 2000), run::monotonic_now());
    log.flush(run::monotonic_now());
    return exit_status(status.error().code);
  }
  return *status;
}

}  // namespace

int run_server(const RunRequest& request) { return RunCase(request).run(); }

}  // namespace cordon::app
