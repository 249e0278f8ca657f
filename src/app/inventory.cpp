// SPDX-License-Identifier: Apache-2.0
#include "app/inventory.hpp"

#include <algorithm>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "app/wrap_names.hpp"
#include "base/mask.hpp"
#include "base/text.hpp"
#include "clients/secrets.hpp"

namespace cordon::app {
namespace {

using clients::Entry;
using clients::Finding;
using enum clients::FindingKind;

void add_wrapping(const Caller& caller, const Entry& entry, std::vector<Finding>& out) {
  const clients::Wrapping& wrapping = *entry.wrapping;
  if (!is_our_program(caller, wrapping.program)) {
    out.push_back({foreign_wrapper, text::printable(wrapping.program, 500)});
    return;
  }
  if (wrapping.by_file) {
    return;
  }
  const std::vector<std::string> command = clients::real_command(entry);
  const PolicyMatch match = match_policy(caller, wrapping.policy, command);
  switch (match.fit) {
    case PolicyFit::none:
      out.push_back({policy_missing, text::cat("there is none named '", text::printable(wrapping.policy, 100), '\'')});
      return;
    case PolicyFit::broken:
      out.push_back({policy_missing, text::printable(match.detail, 1000)});
      return;
    case PolicyFit::other:
      // Whatever the policy takes from clients is its own affair, and without "--" it says the command itself.
      if (!command.empty() && match.detail == "is for another command") {
        out.push_back({other_command, text::printable(wrapping.policy, 100)});
      }
      return;
    case PolicyFit::same:
      if (match.fetches_once) {
        std::erase_if(out, [](const Finding& finding) { return finding.kind == unpinned_package; });
      }
      return;
  }
}

formats::InventoryServer describe(const Caller& caller, const ConfigFile& file, const Entry& entry) {
  std::vector<NamedSecret> secrets;
  for (const clients::Secret& secret : clients::secrets_in(entry)) {
    secrets.push_back({"in clear", secret.value});
  }
  const Masker masker(secrets);
  formats::InventoryServer out;
  out.name = entry.name;
  out.client = file.client;
  out.file = file.path;
  out.place = clients::place(file.text, entry.offset);
  out.transport = entry.transport == clients::Transport::stdio    ? "stdio"
                  : entry.transport == clients::Transport::remote ? "remote"
                                                                  : "unknown";
  for (const std::string& word : clients::real_command(entry)) {
    out.command.push_back(masker.mask(word));
  }
  out.url = masker.mask(entry.url);
  for (const clients::Variable& variable : entry.environment) {
    out.environment.push_back(variable.name);
  }
  out.environment.insert(out.environment.end(), entry.environment_names.begin(), entry.environment_names.end());
  out.findings = clients::findings(entry);
  if (entry.wrapping) {
    out.policy = entry.wrapping->policy;
    add_wrapping(caller, entry, out.findings);
    out.wrapped = std::ranges::find(out.findings, foreign_wrapper, &Finding::kind) == out.findings.end();
  }
  return out;
}

// Servers of one command, and servers of one name that are not.
void compare(std::vector<formats::InventoryServer>& servers) {
  for (formats::InventoryServer& one : servers) {
    for (const formats::InventoryServer& other : servers) {
      if (&one == &other || one.transport != "stdio" || other.transport != "stdio" || one.command.empty()) {
        continue;
      }
      if (one.command == other.command) {
        if (std::ranges::find(one.also_in, other.file) == one.also_in.end() && other.file != one.file) {
          one.also_in.push_back(other.file);
        }
      } else if (one.name == other.name && !other.command.empty()) {
        const Finding finding{same_name, text::printable(other.file, 1000)};
        if (std::ranges::find(one.findings, finding) == one.findings.end()) {
          one.findings.push_back(finding);
        }
      }
    }
  }
}

}  // namespace

bool is_our_program(const Caller& caller, const std::string& program) {
  if (program == caller.executable) {
    return true;
  }
  const Result<Program> found = find_program(program, caller);
  return found && found->real == resolved(caller.executable);
}

formats::Inventory take_inventory(const Caller& caller, const std::vector<ConfigFile>& files) {
  formats::Inventory out;
  for (const ConfigFile& file : files) {
    formats::InventoryFile shown{file.client,
                                 file.title,
                                 std::string(clients::name(file.scope)),
                                 file.path,
                                 file.real == file.path ? std::string() : file.real,
                                 {}};
    if (!file.fault.empty()) {
      shown.findings.push_back({unreadable, text::printable(file.fault, 1000)});
    }
    if (file.syntax == clients::FileSyntax::named) {
      shown.findings.push_back({not_read, {}});
    }
    out.files.push_back(std::move(shown));
    for (const Entry& entry : file.entries) {
      out.servers.push_back(describe(caller, file, entry));
    }
  }
  compare(out.servers);
  return out;
}

}  // namespace cordon::app
