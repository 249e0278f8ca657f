// SPDX-License-Identifier: Apache-2.0
#include "formats/policy_yaml.hpp"

#include <algorithm>
#include <utility>

#include "formats/policy/fields.hpp"
#include "formats/policy/sections.hpp"
#include "formats/yaml.hpp"

namespace cordon::formats {
namespace {

void read_server(const Section& section, policy::Policy& policy) {
  const yaml::Member* server = section.find("server");
  if (server == nullptr) {
    section.fault(section.position(), "server is missing", "write server: NAME");
    return;
  }
  section.text("server", policy.server);
  if (!policy.server.empty() && !is_server_name(policy.server)) {
    section.fault(server->value.position, text::cat("no name for a server: ", quote(policy.server)),
                  "use 1 to 64 letters, digits, '.', '_' and '-', beginning with a letter or digit");
  }
}

void read_sections(Faults& faults, const Section& section, policy::Policy& policy) {
  read_server(section, policy);
  if (const yaml::Member* launch = section.find("launch")) {
    policy.launch = read_launch(faults, *launch);
  } else {
    section.fault(section.position(), "launch is missing",
                  "write launch: with command: [PROGRAM, ARGUMENT, ...] below");
  }
  if (const yaml::Member* isolation = section.find("isolation")) {
    policy.isolation = read_isolation(faults, *isolation);
  }
  section.fixed("instances", "per-session", {"shared", "per-profile", "exclusive"});
  if (const yaml::Member* catalog = section.find("catalog")) {
    policy.catalog = read_catalog(faults, catalog->value);
  }
  if (const yaml::Member* tools = section.find("tools")) {
    policy.tools = read_tools(faults, tools->value);
  }
  if (const yaml::Member* prompts = section.find("prompts")) {
    policy.prompts = read_prompts(faults, prompts->value);
  }
  if (const yaml::Member* resources = section.find("resources")) {
    policy.resources = read_resources(faults, resources->value);
  }
  if (const yaml::Member* requests = section.find("client_requests")) {
    policy.client_requests = read_client_requests(faults, requests->value);
  }
  if (const yaml::Member* messages = section.find("messages")) {
    policy.messages = read_messages(faults, messages->value);
  }
  if (const yaml::Member* results = section.find("results")) {
    policy.results = read_results(faults, results->value);
  }
  if (const yaml::Member* audit = section.find("audit")) {
    policy.audit_arguments = read_audit(faults, audit->value);
  }
  policy.tools.file = policy.file;
}

struct Reading {
  policy::Policy policy = {};
  std::vector<Error> errors = {};
};

Reading read_all(std::string_view text, std::string file) {
  Reading reading;
  auto root = yaml::read(text, file);
  if (!root) {
    reading.errors.push_back(std::move(root.error()));
    return reading;
  }
  Faults faults(file);
  reading.policy.file = std::move(file);
  if (read_version(faults, *root)) {
    const Section section(faults, *root, "",
                          {"version", "server", "launch", "isolation", "instances", "catalog", "tools", "prompts",
                           "resources", "client_requests", "messages", "results", "audit"});
    if (root->kind == yaml::Kind::mapping) {
      read_sections(faults, section, reading.policy);
    }
  }
  reading.errors = faults.take();
  return reading;
}

}  // namespace

Result<policy::Policy> read_policy(std::string_view text, std::string file) {
  Reading reading = read_all(text, std::move(file));
  if (!reading.errors.empty()) {
    return std::unexpected(std::move(reading.errors.front()));
  }
  return std::move(reading.policy);
}

std::vector<Error> check_policy(std::string_view text, std::string file) {
  return read_all(text, std::move(file)).errors;
}

bool is_server_name(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto fits = [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 64 && alphanumeric(name.front()) && std::ranges::all_of(name, fits);
}

}  // namespace cordon::formats
