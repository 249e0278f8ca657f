// SPDX-License-Identifier: Apache-2.0
#include "sandbox/plan.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::sandbox {

const Guarantee* find_guarantee(const Plan& plan, std::string_view wanted) {
  for (const Guarantee& guarantee : plan.guarantees) {
    if (guarantee.name == wanted) {
      return &guarantee;
    }
  }
  return nullptr;
}

std::string digest(const Plan& plan) { return sha256_text(to_json(plan)); }

namespace {

std::string entry_line(const ViewEntry& entry) {
  std::string line = text::cat("  ", name(entry.kind), " ", text::printable(entry.target));
  if (!entry.source.empty() && entry.source != entry.target) {
    line += text::cat(" from ", text::printable(entry.source));
  }
  if (entry.kind == EntryKind::symlink) {
    line += text::cat(" to ", text::printable(entry.text));
  }
  if (entry.kind == EntryKind::bind || entry.kind == EntryKind::tmpfs) {
    line += entry.writable ? " read-write" : " read-only";
    line += entry.executable ? "" : " no-exec";
  }
  if (entry.size_bytes != 0) {
    line += text::cat(" ", entry.size_bytes, " bytes");
  }
  line += entry.grant ? " (granted)" : "";
  line += entry.held ? " (made for the time of the launch)" : "";
  return line + "\n";
}

void append_steps(std::string& out, std::string_view where, const std::vector<Step>& steps) {
  if (steps.empty()) {
    return;
  }
  out += text::cat("  ", where, ":");
  for (const Step step : steps) {
    out += text::cat(" ", name(step));
  }
  out += '\n';
}

void append_limit(std::string& out, std::string_view what, const std::optional<std::uint64_t>& value) {
  if (value) {
    out += text::cat("  ", what, " ", *value, "\n");
  }
}

void append_network(std::string& out, const PlanNetwork& network) {
  if (!network.hosts()) {
    out += "network: none\n";
    return;
  }
  out += text::cat("network: ", egress::name(network.rules.mode), ", sni ", egress::name(network.rules.sni), "\n");
  for (const egress::Rule& rule : network.rules.allow) {
    out += text::cat("  ", text::printable(egress::canonical(rule)));
    const auto known = std::ranges::find(network.doors.names, rule.host, &egress::NameAddress::name);
    if (rule.kind == egress::HostKind::name && known != network.doors.names.end()) {
      out += text::cat(" at ", egress::to_string(known->address));
    }
    out += "\n";
  }
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::string out = text::cat("backend: ", plan.backend, "\nguarantees:\n");
  for (const Guarantee& guarantee : plan.guarantees) {
    out += text::cat("  ", guarantee.name, ": ", name(guarantee.strength));
    out += guarantee.reason.empty() ? "\n" : text::cat(" (", text::printable(guarantee.reason), ")\n");
  }
  out += text::cat("runs as: ", plan.uid, ":", plan.gid, plan.switch_user ? " (switched from root)\n" : "\n");
  out += text::cat("executable: ", text::printable(plan.executable), "\narguments:\n");
  for (const std::string& argument : plan.argv) {
    out += text::cat("  ", text::printable(argument), "\n");
  }
  out += "environment:\n";
  for (const std::string& variable : plan.environment) {
    out += text::cat("  ", text::printable(std::string_view(variable).substr(0, variable.find('='))), "\n");
  }
  out += text::cat("working directory: ", text::printable(plan.working_directory), "\nview:\n");
  for (const ViewEntry& entry : plan.view) {
    out += entry_line(entry);
  }
  append_network(out, plan.network);
  out += "limits:\n";
  append_limit(out, "memory_bytes", plan.limits.memory_bytes);
  append_limit(out, "processes", plan.limits.processes);
  append_limit(out, "open_files", plan.limits.open_files);
  append_limit(out, "file_size_bytes", plan.limits.file_size_bytes);
  append_limit(out, "cpu_seconds", plan.limits.cpu_seconds);
  for (const ControlGroup& group : plan.groups) {
    out += text::cat("  control group below ", text::printable(group.folder), ":");
    for (const GroupFile& file : group.files) {
      out += text::cat(" ", file.name, "=", file.value);
    }
    out += "\n";
  }
  out += "steps:\n";
  append_steps(out, "outside", plan.steps.outer);
  append_steps(out, "pid 1", plan.steps.init);
  append_steps(out, "server", plan.steps.server);
  if (!plan.tool.empty()) {
    out += text::cat("tool: ", text::printable(plan.tool), "\n");
  }
  if (plan.in_container()) {
    out += text::cat("image: ", text::printable(plan.container.image), "\n");
  }
  if (!plan.none_reason.empty()) {
    out += text::cat("not isolated because: ", text::printable(plan.none_reason), "\n");
  }
  return out;
}

}  // namespace cordon::sandbox
