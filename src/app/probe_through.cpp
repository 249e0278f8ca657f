// SPDX-License-Identifier: Apache-2.0
#include "app/probe_through.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/fingerprint.hpp"
#include "app/installation_key.hpp"
#include "app/json_pointer.hpp"
#include "app/launch_record.hpp"
#include "app/paths.hpp"
#include "app/planned_launch.hpp"
#include "app/server_words.hpp"
#include "app/tool_caller.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "run/apart.hpp"
#include "run/engine.hpp"
#include "run/privileges.hpp"
#include "run/proxy.hpp"

namespace cordon::app {
namespace {

namespace boundary = sandbox::boundary;

Result<LoadedSnapshot> reviewed_tool(const ThroughRequest& request) {
  Result<LoadedSnapshot> found = load_snapshot(request.caller, request.loaded);
  if (!found) {
    return found;
  }
  if (const Status admitted = admit_snapshot(request.loaded, *found); !admitted) {
    return std::unexpected(admitted.error());
  }
  if (!found->snapshot || found->snapshot->find(request.tool) == nullptr) {
    return fail(Errc::tool_not_reviewed, text::cat("there is no reviewed tool '", text::printable(request.tool), "'"),
                found->location.path, review_command(request.loaded));
  }
  return found;
}

Result<PlannedLaunch> plan_reviewed(const ThroughRequest& request, const LoadedSnapshot& found) {
  PlanRequest plan{.caller = request.caller, .loaded = request.loaded, .client_command = request.client_command};
  plan.admit = [&](const catalog::LaunchFingerprint& now) -> Status {
    const std::vector<std::string> differences = launch_differences(found.snapshot->launch, now);
    if (differences.empty()) {
      return {};
    }
    return fail(Errc::launch_changed, "this is not the launch that was reviewed: " + text::join(differences, "; "),
                found.location.path, review_command(request.loaded));
  };
  return plan_launch(plan);
}

struct Conversation {
  const ThroughRequest& request;
  const LoadedSnapshot& found;
  const PlannedLaunch& planned;
  const std::vector<std::string>& arguments;
};

// One process of the server.
Result<std::vector<ToolAnswer>> converse(const Conversation& with, gate::Opening opening) {
  const ThroughRequest& request = with.request;
  Result<run::LogConfig> config = log_config(request.caller, request.loaded, with.planned.prepared.secrets);
  if (!config) {
    return std::unexpected(config.error());
  }
  Result<audit::Writer> writer = open_audit({request.caller, request.loaded.policy.server, random_session_id(),
                                             request.version, with.planned.prepared.secrets});
  if (!writer) {
    return std::unexpected(writer.error());
  }
  const std::string record = launch_record({"probe", request.loaded, with.found, with.planned});
  if (const Status recorded = writer->append(record); !recorded) {
    return std::unexpected(recorded.error());
  }
  Result<run::ServerProcess> server = start_server(request.caller, with.planned);
  if (!server) {
    [[maybe_unused]] const Status recorded = writer->append(refused_launch_record(server.error()));
    return std::unexpected(server.error());
  }
  const policy::Policy& policy = request.loaded.policy;
  ToolCaller caller({.tool = request.tool,
                     .arguments = with.arguments,
                     .opening = opening,
                     .version = request.version,
                     .limits = {policy.messages.max_bytes, policy.messages.max_depth}});
  run::Log log(std::move(*config));
  run::EngineOf<ToolCaller> engine(caller);
  run::AuditSink records(*writer);
  run::ProxyConfig proxy;
  const pid_t child = server->pid;
  proxy.before_first_byte = [&with, child] { return confine_for_session(with.planned.plan, child); };
  proxy.egress = egress_config(with.planned.plan, request.loaded.location.path, *server);
  proxy.server = std::move(*server);
  const Result<int> ended = run::run_proxy(std::move(proxy), engine, records, log);
  if (!ended) {
    return std::unexpected(ended.error());
  }
  Result<std::vector<ToolAnswer>> answers = caller.take_answers();
  return answers ? std::move(answers)
                 : std::unexpected(with_next_step(std::move(answers.error()), spelled_name(request.loaded), true));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i + 2 < bytes.size(); i += 3) {
    const auto at = [&](std::size_t place) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[place])); };
    const unsigned group = (at(i) << 16U) | (at(i + 1) << 8U) | at(i + 2);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) {
      out += kLetters[(group >> shift) & 63U];
    }
  }
  return out;
}

// As it is, or as servers hand out bytes; whatever stands around it.
bool holds_secret(const std::string& text, const std::string& secret) {
  if (text.find(secret) != std::string::npos) {
    return true;
  }
  for (std::size_t shift = 0; shift < 3; ++shift) {
    if (text.find(base64(std::string_view(secret).substr(shift))) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// What crosses from the process that talks to the server: one letter per call for the answer, one for the key in it.
struct Verdicts {
  std::vector<ToolAnswer::Kind> answers = {};
  bool key = false;
};

constexpr std::string_view kLettersOfKinds = "nre";
constexpr std::size_t kMostWordBytes = 64;

std::string encoded(const std::vector<ToolAnswer>& answers, const std::string& secret) {
  std::string out;
  bool key = false;
  for (const ToolAnswer& answer : answers) {
    out += kLettersOfKinds[static_cast<std::size_t>(answer.kind)];
    key = key || holds_secret(answer.json, secret);
  }
  return out + (key ? 'K' : '-');
}

Result<Verdicts> decoded(std::string_view word, std::size_t calls) {
  Verdicts out;
  if (word.size() != calls + 1) {
    return fail(Errc::internal, "it ended without a result", "own process for the server");
  }
  for (const char letter : word.substr(0, calls)) {
    const std::size_t kind = kLettersOfKinds.find(letter);
    if (kind == std::string_view::npos) {
      return fail(Errc::internal, "it gave no result", "own process for the server");
    }
    out.answers.push_back(static_cast<ToolAnswer::Kind>(kind));
  }
  out.key = word.back() == 'K';
  return out;
}

// In a process of its own, which gives its privileges up before it reads what the server says.
Result<Verdicts> ask_apart(const Conversation& with, const std::string& secret, gate::Opening opening) {
  const Result<std::string> word = run::apart(
      [&]() -> Result<std::string> {
        const Result<std::vector<ToolAnswer>> answers = converse(with, opening);
        if (!answers) {
          return std::unexpected(answers.error());
        }
        return encoded(*answers, secret);
      },
      kMostWordBytes);
  if (!word) {
    return std::unexpected(word.error());
  }
  return decoded(*word, with.arguments.size());
}

std::string_view said(ToolAnswer::Kind kind) {
  switch (kind) {
    case ToolAnswer::Kind::none:
      return "no answer";
    case ToolAnswer::Kind::result:
      return "answered";
    case ToolAnswer::Kind::error:
      return "answered with an error";
  }
  return "no answer";
}

struct Attempt {
  std::string_view id;
  std::string_view guarantee;
  std::string_view attempt;
  std::string_view crossed;  // what it looks like when it worked
};

// A call without an answer proves nothing, unless the canary itself tells.
boundary::Finding finding_of(const Attempt& attempt, ToolAnswer::Kind answer, bool crossed) {
  boundary::Finding out{.id = std::string(attempt.id),
                        .guarantee = std::string(attempt.guarantee),
                        .verdict = crossed ? boundary::Verdict::breached : boundary::Verdict::held,
                        .expected = "denied",
                        .got = std::string(crossed ? attempt.crossed : said(answer)),
                        .mechanism = text::cat("through the server: ", said(answer)),
                        .attempt = std::string(attempt.attempt),
                        .attempts = 1};
  if (!crossed && answer == ToolAnswer::Kind::none) {
    out.verdict = boundary::Verdict::not_applicable;
    out.reason = "the tool did not answer";
  }
  return out;
}

std::vector<boundary::Finding> findings_of(const boundary::Canaries& canaries, const Verdicts& verdicts) {
  struct stat status = {};
  const bool written = ::lstat(canaries.unwritten_path().c_str(), &status) == 0;
  const std::vector<ToolAnswer::Kind>& answers = verdicts.answers;
  return {finding_of({"through.key", "filesystem.read", "read a key", "its content came back"}, answers.at(0),
                     verdicts.key),
          finding_of({"through.write", "filesystem.write", "write outside", "the file came into being"}, answers.at(1),
                     written),
          finding_of({"through.host", "network.outside", "reach an unlisted host", "the listener was contacted"},
                     answers.at(2), canaries.contacted())};
}

// A policy that grants the folder above ours lets the server in, and then nothing is shown by it.
bool granted(const sandbox::Plan& plan, const std::string& path) {
  return std::ranges::any_of(plan.view, [&](const sandbox::ViewEntry& entry) {
    return entry.kind == sandbox::EntryKind::bind && is_within(path, entry.source);
  });
}

Result<std::vector<std::string>> arguments_for(const ThroughRequest& request, const boundary::Canaries& canaries) {
  std::vector<std::string> out;
  for (const std::string& value : {canaries.key_path(), canaries.unwritten_path(), canaries.url()}) {
    Result<std::string> one =
        with_value_at(request.arguments.empty() ? "{}" : request.arguments, request.pointer, json::quoted(value));
    if (!one) {
      return std::unexpected(one.error());
    }
    out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace

Result<ProbeReport> probe_through(const ThroughRequest& request) {
  // Before secrets are read.
  if (const Status hidden = run::protect_memory(); !hidden) {
    return std::unexpected(hidden.error());
  }
  const Result<LoadedSnapshot> found = reviewed_tool(request);
  if (!found) {
    return std::unexpected(found.error());
  }
  Result<PlannedLaunch> planned = plan_reviewed(request, *found);
  if (!planned) {
    return std::unexpected(planned.error());
  }
  const auto canaries =
      plant_canaries(request.caller, planned->plan.own_namespaces ? CanaryPlace::state_folder : CanaryPlace::reachable,
                     boundary::Parts::outside);
  if (!canaries) {
    return std::unexpected(canaries.error());
  }
  if (granted(planned->plan, (*canaries)->key_path())) {
    return fail(Errc::policy_invalid, "the policy grants the folder that would hold the key",
                request.caller.state_folder(), "grant less, or set XDG_STATE_HOME to another place");
  }
  const Result<std::vector<std::string>> arguments = arguments_for(request, **canaries);
  if (!arguments) {
    return std::unexpected(arguments.error());
  }
  for (const std::string& one : *arguments) {
    request.tell(
        text::cat("mcp-cordon: calling ", text::printable(request.tool), " with ", text::printable(one, 2000), '\n'));
  }
  const Conversation with{request, *found, *planned, *arguments};
  Result<Verdicts> answers = ask_apart(with, (*canaries)->secret(), gate::Opening::initialize);
  if (!answers && answers.error().code == Errc::method_not_allowed) {
    answers = ask_apart(with, (*canaries)->secret(), gate::Opening::discover);
  }
  if (!answers) {
    return std::unexpected(answers.error());
  }
  TriedBoundary tried{std::move(planned->plan), findings_of(**canaries, *answers)};
  boundary::judge(tried.findings, tried.plan);
  return ProbeReport{request.loaded.policy.server,
                     text::cat("tried by the server itself, through its tool ", text::printable(request.tool)),
                     std::move(tried)};
}

}  // namespace cordon::app
