// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reader of each section of a policy; docs/formats/policy.md is their reference. Each puts its faults into `faults`
// and what could be read into its result.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/policy.hpp"
#include "formats/policy/fields.hpp"
#include "formats/yaml.hpp"

namespace cordon::formats {

policy::Launch read_launch(Faults& faults, const yaml::Member& section);
policy::Isolation read_isolation(Faults& faults, const yaml::Member& section);
policy::Catalog read_catalog(Faults& faults, const yaml::Node& section);
policy::Tools read_tools(Faults& faults, const yaml::Node& section);
// `when` or `arguments` of a rule (conditions.cpp); `name` is for messages.
std::vector<policy::ArgumentCondition> read_conditions(Faults& faults, const yaml::Node& node, const std::string& name);
// tools.confirm (confirm.cpp).
policy::Confirm read_confirm(Faults& faults, const yaml::Node& section);
policy::Prompts read_prompts(Faults& faults, const yaml::Node& section);
policy::Resources read_resources(Faults& faults, const yaml::Node& section);
// A list of globs that are matched against whole URIs.
std::vector<std::string> read_uri_globs(Faults& faults, const yaml::Node& list, std::string_view what,
                                        ListEmptiness empty);
// A public key of SSH as in a .pub file, without its comment (catalog.cpp).
std::optional<std::string> read_public_key(Faults& faults, const yaml::Node& node);
// catalog.variables (variables.cpp).
std::map<std::string, policy::Variable> read_variables(Faults& faults, const yaml::Node& section);
policy::Messages read_messages(Faults& faults, const yaml::Node& section);
// The section `results`; of a tool rule its limits; of `messages` the time for an answer (results.cpp).
policy::Results read_results(Faults& faults, const yaml::Node& section);
void read_limits(Faults& faults, const Section& section, policy::Rule& rule);
void read_answer_timeout(Faults& faults, const Section& section, policy::Messages& messages);
// A name or *.SUFFIX without a port (session.cpp); nothing and a fault else. A ceiling may name more with one entry:
// *.com.
enum class Wildcards : bool { of_owners, of_suffixes_too };
std::optional<std::string> read_host(Faults& faults, const yaml::Node& item, std::string_view key, Wildcards wildcards);
policy::ClientRequests read_client_requests(Faults& faults, const yaml::Node& section);
policy::AuditArguments read_audit(Faults& faults, const yaml::Node& section);

// Launch environment (launch_environment.cpp): `pass`, `set` and `secrets`, and that no name stands in two of them.
void read_environment(Faults& faults, const yaml::Node& section, policy::Launch& launch);

// launch.source (source.cpp), and whether the rest of the section fits it.
std::optional<policy::Source> read_source(Faults& faults, const yaml::Member& member);
void check_source(Faults& faults, const policy::Launch& launch, const yaml::Member& source);

// Grants (grants.cpp). A deny entry is read the same way, save that it is no risk and asks for no reason.
enum class GrantKind : std::uint8_t { read, write, deny, socket };
std::vector<policy::Grant> read_grants(Faults& faults, const yaml::Node& list, std::string_view what, GrantKind kind);
// A string that is an absolute path or ~/…, without `..`; nothing and a fault else.
std::optional<std::string> read_path(Faults& faults, const yaml::Node& node, std::string_view what);
// Two entries of `read` and `write` that would appear at the same path inside.
void check_repeated_grants(Faults& faults, const policy::Isolation& isolation);

// isolation.network (network.cpp). A ceiling may name more with one entry: *.com, or a wildcard of a private zone.
enum class NetworkReader : std::uint8_t { policy, ceiling };
policy::Network read_network(Faults& faults, const yaml::Node& node, NetworkReader reader);

// Rules that can never decide, because earlier ones with an action take every name of theirs, whatever the arguments
// or for a `when` that holds wherever theirs does (unreachable.cpp).
void check_unreachable(Faults& faults, const std::vector<policy::Rule>& rules);
void check_unreachable_uris(Faults& faults, const std::vector<policy::ResourceRule>& rules);

}  // namespace cordon::formats
