// SPDX-License-Identifier: Apache-2.0
#include "app/capture.hpp"

#include <utility>

#include "app/exposure.hpp"
#include "app/installation_key.hpp"
#include "app/known_values.hpp"
#include "app/launch_record.hpp"
#include "app/planned_launch.hpp"
#include "app/server_words.hpp"
#include "base/text.hpp"
#include "core/catalog/diff.hpp"
#include "core/catalog/variables.hpp"
#include "core/gate/collector.hpp"
#include "core/gate/variable_view.hpp"
#include "formats/snapshot.hpp"
#include "run/apart.hpp"
#include "run/engine.hpp"
#include "run/privileges.hpp"
#include "run/proxy.hpp"

namespace cordon::app {
namespace {

// One process of the server, from its start to its catalog.
Result<catalog::Catalog> collect(const CaptureRequest& request, const PlannedLaunch& planned, gate::Opening opening) {
  Result<run::LogConfig> config = log_config(request.caller, request.loaded, planned.prepared.secrets);
  if (!config) {
    return std::unexpected(config.error());
  }
  Result<audit::Writer> writer = open_audit(
      {request.caller, request.loaded.policy.server, random_session_id(), request.version, planned.prepared.secrets});
  if (!writer) {
    return std::unexpected(writer.error());
  }
  if (const Status recorded = writer->append(launch_record({"capture", request.loaded, {}, planned})); !recorded) {
    return std::unexpected(recorded.error());
  }
  Result<run::ServerProcess> server = start_server(request.caller, planned);
  if (!server) {
    [[maybe_unused]] const Status recorded = writer->append(refused_launch_record(server.error()));
    return std::unexpected(server.error());
  }
  run::Log log(std::move(*config));
  for (const std::string& notice : exposure_notices(planned.plan, planned.steering_gaps)) {
    log.notice(notice, run::monotonic_now());
  }
  gate::CollectorConfig collector_config;
  collector_config.policy = request.loaded.policy;
  collector_config.opening = opening;
  collector_config.version = request.version;
  gate::Collector collector(std::move(collector_config));
  run::EngineOf<gate::Collector> engine(collector);
  run::AuditSink records(*writer);
  run::ProxyConfig proxy;
  const pid_t child = server->pid;
  proxy.before_first_byte = [&planned, child] { return confine_for_session(planned.plan, child); };
  proxy.egress = egress_config(planned.plan, request.loaded.location.path, *server);
  proxy.server = std::move(*server);
  ServerWords words = server_words(request.caller, request.loaded, planned, log);
  log.listen([&words](std::string_view line) { words.heard(line); });
  proxy.server_exited = [&words](gate::ExitReport report) { words.exited(report); };
  const Result<int> ended = run::run_proxy(std::move(proxy), engine, records, log);
  if (!ended) {
    return std::unexpected(ended.error());
  }
  Result<catalog::Catalog> live = collector.take_result();
  words.ended(!live);
  if (const Status recorded = writer->append(captured_record(live)); !recorded) {
    return std::unexpected(recorded.error());
  }
  return live ? std::move(live)
              : std::unexpected(
                    with_next_step(std::move(live.error()), spelled_name(request.loaded), request.reviewed != nullptr));
}

// Texts that differ from the reviewed ones in values of variables only are the reviewed ones.
void settle(const catalog::VariableRules& rules, const catalog::Snapshot& reviewed, catalog::Catalog& live) {
  catalog::VariableReader reader(rules, reviewed.variables, catalog::Shown::reviewed);
  for (catalog::Tool& tool : live.tools) {
    if (const catalog::PinnedTool* pinned = reviewed.find(tool.name)) {
      tool.definition = reader.settled("tool", tool.name, pinned->definition, tool.definition);
    }
  }
  for (const catalog::ListKind kind : catalog::kItemKinds) {
    for (catalog::Item& item : live.items(kind)) {
      if (const catalog::PinnedItem* pinned = reviewed.find(kind, item.key)) {
        item.definition = reader.settled(catalog::names(kind).item, item.key, pinned->definition, item.definition);
      }
    }
  }
  if (live.instructions && reviewed.instructions) {
    live.instructions = reader.settled_text("instructions", *reviewed.instructions, *live.instructions);
  }
}

// The same as the file of a candidate.
Result<std::string> candidate_text(const CaptureRequest& request, const PlannedLaunch& planned, gate::Opening opening) {
  Result<catalog::Catalog> live = collect(request, planned, opening);
  if (!live) {
    return std::unexpected(live.error());
  }
  const catalog::VariableRules rules =
      gate::variable_rules(request.loaded.policy.catalog, known_values(request.loaded.policy, planned.prepared));
  if (request.reviewed != nullptr) {
    settle(rules, *request.reviewed, *live);
  }
  Result<catalog::Snapshot> candidate = catalog::as_candidate(request.loaded.policy.server, *live, request.reviewed);
  if (!candidate) {
    return std::unexpected(candidate.error());
  }
  candidate->reviewed = false;
  candidate->launch = planned.prepared.fingerprint;
  catalog::Snapshot marked = *candidate;
  marked.variables = catalog::places_of_known(rules, *candidate);
  std::vector<const catalog::Snapshot*> sources = {&marked};
  if (request.reviewed != nullptr) {
    sources.insert(sources.begin(), request.reviewed);
  }
  candidate->variables = catalog::places_that_hold(*candidate, sources);
  catalog::seal(*candidate);
  return formats::write_snapshot(*candidate);
}

}  // namespace

Result<catalog::Snapshot> capture_candidate(const CaptureRequest& request) {
  if (const Status hidden = run::protect_memory(); !hidden) {
    return std::unexpected(hidden.error());
  }
  const Result<PlannedLaunch> planned = plan_launch({.caller = request.caller,
                                                     .loaded = request.loaded,
                                                     .client_command = request.client_command,
                                                     .own_files = request.own_files});
  if (!planned) {
    return std::unexpected(planned.error());
  }
  const auto collected = [&](gate::Opening opening) {
    return run::apart([&] { return candidate_text(request, *planned, opening); },
                      formats::kCatalogFileLimits.max_bytes);
  };
  Result<std::string> text = collected(gate::Opening::initialize);
  // Some servers know only the stateless era; a process that refused one opening may refuse the other too.
  if (!text && text.error().code == Errc::method_not_allowed) {
    text = collected(gate::Opening::discover);
  }
  if (!text) {
    return std::unexpected(text.error());
  }
  return formats::read_snapshot(*text, "the live catalog");
}

}  // namespace cordon::app
