// SPDX-License-Identifier: Apache-2.0
// Any bytes as a ceiling file. Oracle: read_ceiling and check_ceiling agree; what is accepted, printed as a ceiling,
// reads as the same ceiling; and a policy made of it, which asks for all that it accepts, never asks for more.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/ceiling_yaml.hpp"

namespace {

using namespace cordon::policy;
namespace text = cordon::text;

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return out + '"';
}

std::string network_value(const Network& network) {
  std::string out;
  for (const HostGrant& grant : network.allow) {
    std::string ports;
    for (const std::uint16_t port : grant.ports) {
      ports += text::cat(ports.empty() ? "" : ", ", port);
    }
    out += text::cat(out.empty() ? "" : ", ", "{host: ", quoted(grant.host), ", ports: [", ports,
                     "], private: ", grant.private_addresses ? "true" : "false", "}");
  }
  return out.empty() ? "none"
                     : text::cat("{allow: [", out, "], sni: ", name(network.sni), ", mode: ", name(network.mode), "}");
}

std::string value_of(const CeilingKey& key, const Limit& limit) {
  switch (key.kind) {
    case LimitKind::word:
    case LimitKind::flag:
      return limit.word;
    case LimitKind::size:
    case LimitKind::count:
      return std::to_string(limit.number);
    case LimitKind::network:
      return network_value(limit.network);
    case LimitKind::keys:
    case LimitKind::names:
    case LimitKind::hosts:
    case LimitKind::paths:
    case LimitKind::choices:
    case LimitKind::demands:
      break;
  }
  std::string out;
  for (const Limit::Item& item : limit.items) {
    out += (out.empty() ? "[" : ", ") + quoted(item.text);
  }
  return out.empty() ? "[]" : out + "]";
}

bool is_section(const Ceiling& ceiling, std::string_view section) {
  return std::ranges::any_of(ceiling_keys(), [&](const CeilingKey& key) {
    return (key.section == section || key.section.starts_with(text::cat(section, "."))) &&
           ceiling.limits.contains(key.path());
  });
}

// The keys of `section` and the sections below it, as one flow mapping.
std::string print_section(const Ceiling& ceiling, std::string_view section) {
  std::string out;
  std::string_view last;
  const auto add = [&out](std::string_view name, const std::string& value) {
    out += text::cat(out.empty() ? "" : ", ", name, ": ", value);
  };
  for (const CeilingKey& key : ceiling_keys()) {
    const auto limit = ceiling.limits.find(key.path());
    if (key.section == section && limit != ceiling.limits.end()) {
      add(key.key, value_of(key, limit->second));
    }
    const std::string prefix = section.empty() ? "" : text::cat(section, ".");
    if (key.section == section || !key.section.starts_with(prefix)) {
      continue;
    }
    const std::string_view name =
        key.section.substr(prefix.size(), key.section.find('.', prefix.size()) - prefix.size());
    if (name != last && is_section(ceiling, key.section.substr(0, prefix.size() + name.size()))) {
      add(name, print_section(ceiling, key.section.substr(0, prefix.size() + name.size())));
      last = name;
    }
  }
  return "{" + out + "}";
}

// What a ceiling says, without where it says it.
Ceiling without_places(Ceiling ceiling) {
  for (auto& [path, limit] : ceiling.limits) {
    limit.position = {};
    limit.written = true;
    for (Limit::Item& item : limit.items) {
      item.position = {};
    }
    for (HostGrant& grant : limit.network.allow) {
      grant.line = 0;
      grant.column = 0;
      grant.reason.clear();
    }
  }
  return ceiling;
}

void check_printing(const Ceiling& ceiling) {
  std::string printed = print_section(ceiling, "");
  printed.insert(1, printed == "{}" ? "version: 1" : "version: 1, ");
  const auto again = cordon::formats::read_ceiling(printed, ceiling.file);
  CORDON_ASSERT(again.has_value());
  CORDON_ASSERT(without_places(*again) == without_places(ceiling));
}

template <typename T>
void choose(const Ceiling& ceiling, std::string_view key, T& out,
            std::initializer_list<std::pair<std::string_view, T>> words, T strictest) {
  if (const auto limit = ceiling.limits.find(key); limit != ceiling.limits.end()) {
    const auto word = std::ranges::find(words, limit->second.word, &std::pair<std::string_view, T>::first);
    out = word == words.end() ? strictest : word->second;
  }
}

template <typename Take>
void each_item(const Ceiling& ceiling, std::string_view key, const Take& take) {
  if (const auto limit = ceiling.limits.find(key); limit != ceiling.limits.end()) {
    for (const Limit::Item& item : limit->second.items) {
      take(item.text);
    }
  }
}

void ask_for_isolation(const Ceiling& ceiling, Isolation& out) {
  // The last of the list that a policy of this version can name.
  each_item(ceiling, "isolation.backend", [&](const std::string& name) {
    if (name == "native" || name == "bubblewrap" || name == "none") {
      out.backend = name == "native" ? Backend::native : name == "none" ? Backend::none : Backend::bubblewrap;
    }
  });
  out.require.clear();
  each_item(ceiling, "isolation.require", [&](const std::string& name) { out.require.push_back(name); });
  each_item(ceiling, "isolation.filesystem.read",
            [&](const std::string& path) { out.read.push_back({path, {}, {}, {}}); });
  each_item(ceiling, "isolation.filesystem.write",
            [&](const std::string& path) { out.write.push_back({path, {}, {}, {}}); });
  out.read.insert(out.read.end(), out.write.begin(), out.write.end());
  if (ceiling.limits.contains("isolation.filesystem.runtime")) {
    out.runtime.clear();
    each_item(ceiling, "isolation.filesystem.runtime", [&](const std::string& name) { out.runtime.push_back(name); });
  }
  each_item(ceiling, "isolation.user", [&](const std::string& name) { out.user = name; });
  const auto number = [&](std::string_view key, std::optional<std::uint64_t>& value) {
    if (const auto limit = ceiling.limits.find(key); limit != ceiling.limits.end()) {
      value = limit->second.number;
    }
  };
  number("isolation.limits.memory", out.limits.memory_bytes);
  number("isolation.limits.processes", out.limits.processes);
  number("isolation.limits.open_files", out.limits.open_files);
  number("isolation.limits.file_size", out.limits.file_size_bytes);
  number("isolation.limits.cpu_seconds", out.limits.cpu_seconds);
  if (const auto limit = ceiling.limits.find("isolation.network"); limit != ceiling.limits.end()) {
    out.network = limit->second.network;
  }
  choose<Proc>(ceiling, "isolation.proc", out.proc, {{"masked", Proc::masked}}, Proc::minimal);
}

void ask_for_catalog(const Ceiling& ceiling, Catalog& out) {
  using D = DriftAction;
  choose<Missing>(ceiling, "catalog.missing", out.missing, {{"flag", Missing::flag}}, Missing::block);
  choose<bool>(ceiling, "catalog.accept_unattended", out.accept_unattended, {{"true", true}}, false);
  Drift& drift = out.drift;
  choose<D>(ceiling, "catalog.drift.added", drift.added, {{"flag", D::flag}}, D::hide);
  choose<D>(ceiling, "catalog.drift.changed", drift.changed,
            {{"flag", D::flag}, {"pinned", D::pinned}, {"block", D::block}}, D::hide);
  choose<D>(ceiling, "catalog.drift.removed", drift.removed, {{"allow", D::allow}}, D::flag);
  choose<D>(ceiling, "catalog.drift.cosmetic", drift.cosmetic, {{"allow", D::allow}}, D::block);
  choose<D>(ceiling, "catalog.drift.instructions", drift.instructions, {{"flag", D::flag}, {"pinned", D::pinned}},
            D::block);
  choose<D>(ceiling, "catalog.drift.identity", drift.identity, {{"flag", D::flag}, {"pinned", D::pinned}}, D::block);
  choose<D>(ceiling, "catalog.drift.capabilities", drift.capabilities, {{"hide", D::hide}}, D::block);
  choose<D>(ceiling, "catalog.drift.launch", drift.launch, {{"flag", D::flag}}, D::block);
}

void ask_for_launch(const Ceiling& ceiling, Launch& out) {
  choose<bool>(ceiling, "launch.command_from_client", out.command_from_client, {{"true", true}}, false);
  each_item(ceiling, "launch.environment.pass", [&](const std::string& name) { out.pass.push_back(name); });
  each_item(ceiling, "launch.environment.set", [&](const std::string& name) { out.set[name] = "x"; });
  each_item(ceiling, "launch.environment.from_env",
            [&](const std::string& name) { out.secrets["E" + name] = {Secret::Source::env, name, {}}; });
  each_item(ceiling, "launch.environment.from_file",
            [&](const std::string& path) { out.secrets["F" + path] = {Secret::Source::file, path, {}}; });
  out.source.emplace();
  each_item(ceiling, "launch.source.scripts",
            [&](const std::string& name) { out.source->script_packages.push_back(name); });
  choose<bool>(ceiling, "launch.source.allow_unpinned", out.source->allow_unpinned, {{"true", true}}, false);
  const auto command = ceiling.limits.find("launch.environment.from_command");
  if (command != ceiling.limits.end() && command->second.word == "true") {
    out.secrets["C"] = {Secret::Source::command, {}, {"x"}};
  }
}

void ask_for_the_rest(const Ceiling& ceiling, Policy& out) {
  using Roots = ClientRequests::Roots;
  const auto action = [&](std::string_view key, Action& into) {
    if (const auto limit = ceiling.limits.find(key); limit != ceiling.limits.end()) {
      into = action_from_name(limit->second.word).value();
    }
  };
  action("prompts.default", out.prompts.standard);
  action("resources.default", out.resources.standard);
  action("resources.templates", out.resources.templates);
  action("client_requests.sampling", out.client_requests.sampling);
  action("client_requests.elicitation", out.client_requests.elicitation);
  choose<Roots>(ceiling, "client_requests.roots", out.client_requests.roots,
                {{"allow", Roots::allow}, {"flag", Roots::flag}, {"policy", Roots::policy}}, Roots::block);
  // Without a list a policy asks for every host.
  each_item(ceiling, "client_requests.elicitation_hosts",
            [&](const std::string& host) { out.client_requests.elicitation_hosts.push_back(host); });
  if (out.client_requests.elicitation_hosts.empty() && ceiling.limits.contains("client_requests.elicitation_hosts")) {
    out.client_requests.elicitation = Action::block;
  }
  using Treatment = Results::Treatment;
  using Secrets = Results::Secrets;
  using Remember = Confirm::Remember;
  choose<Annotations>(ceiling, "tools.annotations", out.tools.annotations, {{"server", Annotations::server}},
                      Annotations::reviewed);
  choose<SchemaCheck>(ceiling, "tools.schema", out.tools.schema, {{"off", SchemaCheck::off}}, SchemaCheck::enforce);
  choose<Remember>(ceiling, "tools.confirm.remember", out.tools.confirm.remember,
                   {{"session", Remember::session}, {"same_arguments", Remember::same_arguments}}, Remember::never);
  choose<Treatment>(ceiling, "results.hidden_text", out.results.hidden_text,
                    {{"off", Treatment::off}, {"flag", Treatment::flag}}, Treatment::strip);
  choose<Treatment>(ceiling, "results.terminal_escapes", out.results.terminal_escapes,
                    {{"off", Treatment::off}, {"flag", Treatment::flag}}, Treatment::strip);
  choose<Secrets>(ceiling, "results.secrets", out.results.secrets, {{"off", Secrets::off}, {"flag", Secrets::flag}},
                  Secrets::redact);
  choose<SchemaCheck>(ceiling, "results.schema", out.results.structured, {{"off", SchemaCheck::off}},
                      SchemaCheck::enforce);
  each_item(ceiling, "catalog.trusted_keys", [&](const std::string& key) { out.catalog.trusted_keys.push_back(key); });
}

// Asks for all that the ceiling accepts.
Policy policy_of(const Ceiling& ceiling) {
  Policy out;
  ask_for_launch(ceiling, out.launch);
  ask_for_isolation(ceiling, out.isolation);
  ask_for_catalog(ceiling, out.catalog);
  Action strictest = Action::allow;
  for (auto& [effect, action] : out.tools.effects) {
    if (const auto limit = ceiling.limits.find(text::cat("tools.effects.", name(effect)));
        limit != ceiling.limits.end()) {
      action = action_from_name(limit->second.word).value();
      strictest = std::max(strictest, action);
    }
  }
  out.tools.rules.push_back({.tools = {"*"}, .action = strictest});
  ask_for_the_rest(ceiling, out);
  choose<AuditArguments>(ceiling, "audit.arguments", out.audit_arguments,
                         {{"none", AuditArguments::none}, {"digest", AuditArguments::digest}}, AuditArguments::full);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const auto ceiling = cordon::formats::read_ceiling(input, "fuzz.yaml");
  const auto errors = cordon::formats::check_ceiling(input, "fuzz.yaml");
  CORDON_ASSERT(ceiling.has_value() == errors.empty());
  if (!ceiling) {
    CORDON_ASSERT(ceiling.error() == errors.front());
    return 0;
  }
  check_printing(*ceiling);
  for (const Excess& excess : compare(policy_of(*ceiling), {}, *ceiling)) {
    // Values that no policy of this version can have: `strict`, and lists of backends that are not built.
    const Limit& limit = ceiling->limits.at(excess.key);
    const auto buildable = [](const Limit::Item& item) {
      return item.text == "native" || item.text == "bubblewrap" || item.text == "none";
    };
    CORDON_ASSERT((excess.key == "isolation.syscalls" && limit.word == "strict") ||
                  (excess.key == "isolation.backend" && std::ranges::none_of(limit.items, buildable)));
  }
  return 0;
}
