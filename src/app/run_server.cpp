// SPDX-License-Identifier: Apache-2.0
#include "app/run_server.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "app/exposure.hpp"
#include "app/facts.hpp"
#include "app/fingerprint.hpp"
#include "app/installation_key.hpp"
#include "app/launch_record.hpp"
#include "app/planned_launch.hpp"
#include "app/session_context.hpp"
#include "audit/writer.hpp"
#include "base/text.hpp"
#include "core/gate/session.hpp"
#include "run/engine.hpp"
#include "run/privileges.hpp"
#include "run/proxy.hpp"

namespace cordon::app {
namespace {

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
    return converse(done ? std::optional<Error>() : std::move(done.error()));
  }

 private:
  Status prepare();
  Status check_launch(const catalog::LaunchFingerprint& now);
  Status begin_audit();
  Status start();
  void record_refusal(const Error& error);
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
  run::ServerProcess server_ = {};
};

// Policy, snapshot, plan: everything that can refuse before anything of the server is touched.
Status RunCase::prepare() {
  Result<LoadedPolicy> loaded = load_policy(request_.caller, request_.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  loaded_ = std::move(*loaded);
  Result<LoadedSnapshot> found = load_snapshot(request_.caller, *loaded_);
  if (!found) {
    return std::unexpected(found.error());
  }
  snapshot_ = std::move(*found);
  if (Status admitted = admit_snapshot(*loaded_, snapshot_); !admitted) {
    return admitted;
  }
  Result<PlannedLaunch> planned =
      plan_launch(request_.caller, *loaded_, request_.client_command,
                  [this](const catalog::LaunchFingerprint& now) { return check_launch(now); });
  if (!planned) {
    return std::unexpected(planned.error());
  }
  planned_ = std::move(*planned);
  return {};
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
  return fail(Errc::launch_changed, "this is not the launch that was reviewed: " + text::join(differences, "; "),
              snapshot_.location.path, review_command(*loaded_));
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
  // The record of what is about to be started comes before it is started.
  const std::string record = launch_record({"run", *loaded_, snapshot_, *planned_, differences_, request_.read_only});
  if (Status recorded = audit_->append(record); !recorded) {
    return recorded;
  }
  Result<run::ServerProcess> server = start_server(request_.caller, *planned_);
  if (!server) {
    return std::unexpected(server.error());
  }
  server_ = std::move(*server);
  return run::lock_privileges();
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

int RunCase::converse(std::optional<Error> failure) {
  gate::SessionConfig config;
  config.session_id = session_id_;
  config.version = request_.version;
  config.argument_key = key_;
  config.read_only = request_.read_only;
  if (loaded_) {
    config.policy = loaded_->policy;
    log_config_.server = loaded_->policy.server;
  }
  if (failure) {
    record_refusal(*failure);
    server_ = {};
    config.launch_failure = failure;
  } else {
    config.snapshot = std::move(snapshot_.snapshot);
    config.facts = facts_summary(loaded_->policy.server, planned_->plan);
  }
  run::Log log(std::move(log_config_));
  const Instant now = run::monotonic_now();
  if (failure) {
    log.notice(text::printable(text::cat(name(failure->code), ": ", failure->to_string()), 8192), now);
  }
  for (const std::string& difference : differences_) {
    log.notice("the launch is not the reviewed one: " + difference, now);
  }
  if (!failure) {
    for (const std::string& notice : exposure_notices(planned_->plan, planned_->steering_gaps)) {
      log.notice(notice, now);
    }
  }
  if (audit_) {
    for (const std::string& problem : audit_->problems()) {
      log.notice(text::printable(problem, 2000), now);
    }
  }
  gate::Session session(std::move(config));
  run::EngineOf<gate::Session> engine(session);
  NoRecords nothing;
  std::optional<run::AuditSink> records;
  if (audit_) {
    records.emplace(*audit_);
  }
  run::ProxyConfig proxy;
  proxy.client_in = request_.client_in;
  proxy.client_out = request_.client_out;
  proxy.server = std::move(server_);
  run::RecordSink& sink = records ? static_cast<run::RecordSink&>(*records) : nothing;
  const Result<int> status = run::run_proxy(std::move(proxy), engine, sink, log);
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
