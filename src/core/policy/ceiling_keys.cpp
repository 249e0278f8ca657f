// SPDX-License-Identifier: Apache-2.0
// The one table of what a ceiling can limit, and the order of strictness of every word in it.
#include <array>

#include "base/text.hpp"
#include "core/policy/ceiling.hpp"

namespace cordon::policy {
namespace {

std::string_view word_of(bool value) { return value ? "true" : "false"; }

std::string_view word_of(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::native:
      return "native";
    case Backend::bubblewrap:
      return "bubblewrap";
    case Backend::landlock:
      return "landlock";
    case Backend::podman:
      return "podman";
    case Backend::docker:
      return "docker";
    case Backend::firejail:
      return "firejail";
    case Backend::srt:
      return "srt";
    case Backend::seatbelt:
      return "seatbelt";
    case Backend::command:
      return "command";
    case Backend::none:
      return "none";
  }
  return "";
}

std::string_view word_of(Syscalls syscalls) {
  switch (syscalls) {
    case Syscalls::standard:
      return "default";
    case Syscalls::strict:
      return "strict";
    case Syscalls::off:
      return "off";
  }
  return "";
}

std::string_view word_of(Missing missing) {
  switch (missing) {
    case Missing::block:
      return "block";
    case Missing::flag:
      return "flag";
  }
  return "";
}

std::string_view word_of(DriftAction action) {
  switch (action) {
    case DriftAction::allow:
      return "allow";
    case DriftAction::flag:
      return "flag";
    case DriftAction::block:
      return "block";
    case DriftAction::hide:
      return "hide";
    case DriftAction::pinned:
      return "pinned";
  }
  return "";
}

// The more permissive of what is done where text alone differs and where a schema does.
std::string_view changed_word(const Drift& drift) {
  constexpr std::array kOrder = {DriftAction::flag, DriftAction::pinned, DriftAction::block, DriftAction::hide};
  const DriftAction other = drift.changed_schema.value_or(drift.changed);
  return word_of(*std::ranges::find_if(kOrder, [&](DriftAction one) { return one == drift.changed || one == other; }));
}

std::string_view word_of(ClientRequests::Roots roots) {
  using Roots = ClientRequests::Roots;
  switch (roots) {
    case Roots::policy:
      return "policy";
    case Roots::allow:
      return "allow";
    case Roots::flag:
      return "flag";
    case Roots::block:
      return "block";
  }
  return "";
}

std::string_view word_of(AuditArguments arguments) {
  switch (arguments) {
    case AuditArguments::digest:
      return "digest";
    case AuditArguments::full:
      return "full";
    case AuditArguments::none:
      return "none";
  }
  return "";
}

std::string_view word_of(Annotations annotations) { return annotations == Annotations::server ? "server" : "reviewed"; }

std::string_view word_of(SchemaCheck check) { return check == SchemaCheck::enforce ? "enforce" : "off"; }

std::string_view word_of(Confirm::Remember remember) {
  using Remember = Confirm::Remember;
  switch (remember) {
    case Remember::never:
      return "never";
    case Remember::same_arguments:
      return "same_arguments";
    case Remember::session:
      return "session";
  }
  return "";
}

std::string_view word_of(Results::Treatment treatment) {
  using Treatment = Results::Treatment;
  switch (treatment) {
    case Treatment::off:
      return "off";
    case Treatment::flag:
      return "flag";
    case Treatment::strip:
      return "strip";
  }
  return "";
}

std::string_view word_of(Results::Secrets secrets) {
  using Secrets = Results::Secrets;
  switch (secrets) {
    case Secrets::off:
      return "off";
    case Secrets::flag:
      return "flag";
    case Secrets::redact:
      return "redact";
  }
  return "";
}

// What a policy that no reader of ours made does not say is refused: the word is in no table.
template <Effect effect>
std::string_view action_of(const Policy& policy) {
  const auto action = policy.tools.effects.find(effect);
  return action == policy.tools.effects.end() ? "" : name(action->second);
}

std::vector<Asked> texts(const std::vector<std::string>& values, std::string_view path) {
  std::vector<Asked> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.push_back({values[i], text::cat(path, "[", i, "]")});
  }
  return out;
}

std::vector<Asked> grants(const std::vector<Grant>& values, std::string_view path) {
  std::vector<Asked> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.push_back({values[i].path, text::cat(path, "[", i, "]")});
  }
  return out;
}

std::vector<Asked> set_names(const Policy& policy, std::string_view path) {
  std::vector<Asked> out;
  for (const auto& [name, value] : policy.launch.set) {
    out.push_back({name, text::cat(path, ".", name)});
  }
  return out;
}

// Where secrets come from; what they are called inside weakens nothing.
std::vector<Asked> secrets(const Policy& policy, Secret::Source source) {
  std::vector<Asked> out;
  for (const auto& [name, secret] : policy.launch.secrets) {
    if (secret.source == source) {
      out.push_back({secret.from, text::cat("launch.environment.secrets.", name)});
    }
  }
  return out;
}

// `auto` may come out as either, so it asks for both.
std::vector<Asked> backends(const Policy& policy, std::string_view path) {
  if (policy.isolation.backend == Backend::automatic) {
    return {{"native", std::string(path)}, {"bubblewrap", std::string(path)}};
  }
  return {{std::string(word_of(policy.isolation.backend)), std::string(path)}};
}

std::vector<Asked> presets(const Policy& policy, std::string_view path) {
  std::vector<Asked> out = texts(policy.isolation.runtime, path);
  std::erase_if(out, [](const Asked& preset) { return preset.text == "none"; });
  return out;
}

std::vector<Asked> account(const Policy& policy, std::string_view path) {
  return policy.isolation.user ? std::vector<Asked>{{*policy.isolation.user, std::string(path)}} : std::vector<Asked>();
}

// Without a list every host may be named, where addresses pass at all.
std::vector<Asked> elicitation_hosts(const Policy& policy, std::string_view path) {
  const ClientRequests& requests = policy.client_requests;
  if (requests.elicitation == Action::block) {
    return {};
  }
  return requests.elicitation_hosts.empty() ? std::vector<Asked>{{"*", std::string(path)}}
                                            : texts(requests.elicitation_hosts, path);
}

// Of which packages code runs while they are installed.
std::vector<Asked> script_packages(const Policy& policy, std::string_view path) {
  return policy.launch.source ? texts(policy.launch.source->script_packages, text::cat(path, ".allow"))
                              : std::vector<Asked>();
}

bool stays_open(const Policy& policy) { return policy.launch.source && policy.launch.source->allow_unpinned; }

constexpr std::string_view kActions = "allow flag confirm block hide";
constexpr std::string_view kUses = "allow flag block hide";
constexpr std::string_view kServed = "flag pinned block";
constexpr std::string_view kTreatments = "off flag strip";
constexpr std::string_view kRequests = "allow flag block";
constexpr std::string_view kGuarantees =
    "filesystem network processes ipc syscalls environment descriptors devices limits";
constexpr std::string_view kBackends = "native bubblewrap landlock podman docker firejail srt seatbelt command none";
constexpr std::string_view kRequired = "filesystem network processes ipc syscalls environment descriptors devices";
constexpr std::string_view kEnvironment = "launch.environment";
constexpr std::string_view kSource = "launch.source";
constexpr std::string_view kFilesystem = "isolation.filesystem";
constexpr std::string_view kLimits = "isolation.limits";
constexpr std::string_view kDrift = "catalog.drift";
constexpr std::string_view kEffects = "tools.effects";

using P = const Policy&;
using S = std::string_view;
using K = LimitKind;
constexpr std::nullopt_t kAny = std::nullopt;

// clang-format off
// section, key, kind, words from the most permissive on, the most when not written, word | number | list.
constexpr std::array kKeys = std::to_array<CeilingKey>({
    {.section = "launch", .key = "command_from_client", .kind = K::flag, .words = "true false", .standard = "false", .word = [](P p) { return word_of(p.launch.command_from_client); }},
    {.section = kEnvironment, .key = "pass", .kind = K::names, .standard = "", .list = [](P p, S at) { return texts(p.launch.pass, at); }},
    {.section = kEnvironment, .key = "set", .kind = K::names, .standard = "", .list = set_names},
    {.section = kEnvironment, .key = "from_env", .kind = K::names, .standard = "", .list = [](P p, S) { return secrets(p, Secret::Source::env); }},
    {.section = kEnvironment, .key = "from_file", .kind = K::paths, .standard = "", .list = [](P p, S) { return secrets(p, Secret::Source::file); }},
    {.section = kEnvironment, .key = "from_command", .kind = K::flag, .words = "true false", .standard = "false", .word = [](P p) { return word_of(!secrets(p, Secret::Source::command).empty()); }, .list = [](P p, S) { return secrets(p, Secret::Source::command); }},
    {.section = kSource, .key = "scripts", .kind = K::names, .standard = "", .list = script_packages},
    {.section = kSource, .key = "allow_unpinned", .kind = K::flag, .words = "true false", .standard = "false", .word = [](P p) { return word_of(stays_open(p)); }},
    {.section = "isolation", .key = "backend", .kind = K::choices, .words = kBackends, .standard = "native bubblewrap", .list = backends},
    {.section = "isolation", .key = "require", .kind = K::demands, .words = kGuarantees, .standard = kRequired, .list = [](P p, S at) { return texts(p.isolation.require, at); }},
    {.section = "isolation", .key = "network", .kind = K::network, .standard = "none"},
    {.section = "isolation", .key = "unix_sockets", .kind = K::paths, .standard = "", .list = [](P p, S at) { return grants(p.isolation.unix_sockets, at); }},
    {.section = "isolation", .key = "proc", .kind = K::word, .words = "masked minimal", .standard = "masked", .word = [](P p) { return S(p.isolation.proc == Proc::minimal ? "minimal" : "masked"); }},
    {.section = "isolation", .key = "nested_userns", .kind = K::flag, .words = "true false", .standard = "false", .word = [](P p) { return word_of(allows_nested_userns(p.isolation)); }},
    {.section = "isolation", .key = "user", .kind = K::names, .standard = "", .list = account},
    {.section = "isolation", .key = "syscalls", .kind = K::word, .words = "off default strict", .standard = "default", .word = [](P p) { return word_of(p.isolation.syscalls); }},
    {.section = kFilesystem, .key = "runtime", .kind = K::choices, .words = "system node python java browser", .standard = kAny, .list = presets},
    {.section = kFilesystem, .key = "read", .kind = K::paths, .standard = "", .list = [](P p, S at) { return grants(p.isolation.read, at); }},
    {.section = kFilesystem, .key = "write", .kind = K::paths, .standard = "", .list = [](P p, S at) { return grants(p.isolation.write, at); }},
    {.section = kLimits, .key = "memory", .kind = K::size, .standard = kAny, .number = [](P p) { return p.isolation.limits.memory_bytes; }},
    {.section = kLimits, .key = "processes", .kind = K::count, .standard = kAny, .number = [](P p) { return p.isolation.limits.processes; }},
    {.section = kLimits, .key = "open_files", .kind = K::count, .standard = kAny, .number = [](P p) { return p.isolation.limits.open_files; }},
    {.section = kLimits, .key = "file_size", .kind = K::size, .standard = kAny, .number = [](P p) { return p.isolation.limits.file_size_bytes; }},
    {.section = kLimits, .key = "cpu_seconds", .kind = K::count, .standard = kAny, .number = [](P p) { return p.isolation.limits.cpu_seconds; }},
    {.section = "catalog", .key = "missing", .kind = K::word, .words = "flag trust-first-use block", .standard = "block", .word = [](P p) { return word_of(p.catalog.missing); }},
    {.section = "catalog", .key = "accept_unattended", .kind = K::flag, .words = "true false", .standard = "false", .word = [](P p) { return word_of(p.catalog.accept_unattended); }},
    {.section = "catalog", .key = "trusted_keys", .kind = K::keys, .standard = kAny, .list = [](P p, S at) { return texts(p.catalog.trusted_keys, at); }},
    {.section = kDrift, .key = "added", .words = "flag hide", .standard = "hide", .word = [](P p) { return word_of(p.catalog.drift.added); }},
    {.section = kDrift, .key = "changed", .words = "flag pinned block hide", .standard = "block", .word = [](P p) { return changed_word(p.catalog.drift); }},
    {.section = kDrift, .key = "removed", .words = "allow flag", .standard = "flag", .word = [](P p) { return word_of(p.catalog.drift.removed); }},
    {.section = kDrift, .key = "cosmetic", .words = "allow block", .standard = "allow", .word = [](P p) { return word_of(p.catalog.drift.cosmetic); }},
    {.section = kDrift, .key = "instructions", .words = kServed, .standard = "pinned", .word = [](P p) { return word_of(p.catalog.drift.instructions); }},
    {.section = kDrift, .key = "identity", .words = kServed, .standard = "pinned", .word = [](P p) { return word_of(p.catalog.drift.identity); }},
    {.section = kDrift, .key = "capabilities", .words = "hide block", .standard = "hide", .word = [](P p) { return word_of(p.catalog.drift.capabilities); }},
    {.section = kDrift, .key = "launch", .words = "flag block", .standard = "block", .word = [](P p) { return word_of(p.catalog.drift.launch); }},
    {.section = "tools", .key = "annotations", .words = "server reviewed", .standard = "reviewed", .word = [](P p) { return word_of(p.tools.annotations); }},
    {.section = "tools", .key = "schema", .words = "off enforce", .standard = "off", .word = [](P p) { return word_of(p.tools.schema); }},
    {.section = "tools.confirm", .key = "remember", .words = "session same_arguments never", .standard = "never", .word = [](P p) { return word_of(p.tools.confirm.remember); }},
    {.section = kEffects, .key = "read", .words = kActions, .standard = "allow", .word = action_of<Effect::read>},
    {.section = kEffects, .key = "write", .words = kActions, .standard = "confirm", .word = action_of<Effect::write>},
    {.section = kEffects, .key = "destructive", .words = kActions, .standard = "block", .word = action_of<Effect::destructive>},
    {.section = kEffects, .key = "execute", .words = kActions, .standard = "block", .word = action_of<Effect::execute>},
    {.section = kEffects, .key = "send", .words = kActions, .standard = "confirm", .word = action_of<Effect::send>},
    {.section = kEffects, .key = "unknown", .words = kActions, .standard = "block", .word = action_of<Effect::unknown>},
    {.section = "prompts", .key = "default", .words = kUses, .standard = "allow", .word = [](P p) { return name(p.prompts.standard); }},
    {.section = "resources", .key = "default", .words = kUses, .standard = "allow", .word = [](P p) { return name(p.resources.standard); }},
    {.section = "resources", .key = "templates", .words = kUses, .standard = "block", .word = [](P p) { return name(p.resources.templates); }},
    {.section = "client_requests", .key = "sampling", .words = kRequests, .standard = "block", .word = [](P p) { return name(p.client_requests.sampling); }},
    {.section = "client_requests", .key = "elicitation", .words = kRequests, .standard = "flag", .word = [](P p) { return name(p.client_requests.elicitation); }},
    {.section = "client_requests", .key = "elicitation_hosts", .kind = K::hosts, .standard = kAny, .list = elicitation_hosts},
    {.section = "client_requests", .key = "roots", .words = "allow flag policy block", .standard = "policy", .word = [](P p) { return word_of(p.client_requests.roots); }},
    {.section = "results", .key = "hidden_text", .words = kTreatments, .standard = "flag", .word = [](P p) { return word_of(p.results.hidden_text); }},
    {.section = "results", .key = "terminal_escapes", .words = kTreatments, .standard = "strip", .word = [](P p) { return word_of(p.results.terminal_escapes); }},
    {.section = "results", .key = "secrets", .words = "off flag redact", .standard = "off", .word = [](P p) { return word_of(p.results.secrets); }},
    {.section = "results", .key = "schema", .words = "off enforce", .standard = "off", .word = [](P p) { return word_of(p.results.structured); }},
    {.section = "audit", .key = "arguments", .words = "none digest full", .standard = "digest", .word = [](P p) { return word_of(p.audit_arguments); }},
});
// clang-format on

}  // namespace

std::string CeilingKey::path() const { return text::cat(section, ".", key); }

std::span<const CeilingKey> ceiling_keys() { return kKeys; }

}  // namespace cordon::policy
