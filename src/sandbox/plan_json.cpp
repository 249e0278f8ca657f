// SPDX-License-Identifier: Apache-2.0
// The JSON form of a plan: what facts and audit carry, and what the plan's digest is taken of. No environment values.
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {
namespace {

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

void write_view(json::Writer& out, const Plan& plan) {
  out.key("view").begin_array();
  for (const ViewEntry& entry : plan.view) {
    if (entry.steering) {
      continue;
    }
    out.begin_object().member("kind", name(entry.kind)).member("target", entry.target);
    if (!entry.source.empty()) {
      out.member("source", entry.source);
    }
    if (!entry.text.empty()) {
      out.member("text", entry.text);
    }
    if (entry.kind == EntryKind::bind || entry.kind == EntryKind::tmpfs) {
      out.member_bool("writable", entry.writable).member_bool("executable", entry.executable);
    }
    if (entry.grant) {
      out.member_bool("granted", true);
    }
    if (entry.socket) {
      out.member_bool("socket", true);
    }
    if (entry.owners != Owners::as_outside) {
      out.member("owners", name(entry.owners));
    }
    if (entry.size_bytes != 0) {
      out.member_int("size_bytes", number(entry.size_bytes));
    }
    out.end_object();
  }
  out.end_array();
}

void write_limits(json::Writer& out, const Limits& limits) {
  const auto member = [&out](std::string_view key, const std::optional<std::uint64_t>& value) {
    if (value) {
      out.member_int(key, number(*value));
    }
  };
  out.key("limits").begin_object();
  member("memory_bytes", limits.memory_bytes);
  member("processes", limits.processes);
  member("open_files", limits.open_files);
  member("file_size_bytes", limits.file_size_bytes);
  member("cpu_seconds", limits.cpu_seconds);
  out.end_object();
}

void write_network(json::Writer& out, const PlanNetwork& network) {
  out.key("network").begin_object().member("mode", egress::name(network.rules.mode));
  out.member("sni", egress::name(network.rules.sni)).key("allow").begin_array();
  for (const egress::Rule& rule : network.rules.allow) {
    out.string(egress::canonical(rule));
  }
  out.end_array().key("names").begin_object();
  for (const egress::NameAddress& item : network.doors.names) {
    out.member(item.name, egress::to_string(item.address));
  }
  out.end_object().key("listen").begin_array();
  for (const egress::Door& door : network.doors.listen) {
    out.string(text::cat(egress::to_string(door.address), ':', door.port));
  }
  out.end_array().member_bool("agent", network.doors.agent).end_object();
}

void write_groups(json::Writer& out, const Plan& plan) {
  out.key("control_groups").begin_array();
  for (const ControlGroup& group : plan.groups) {
    out.begin_object().member("below", group.folder).member_int("version", group.unified ? 2 : 1);
    out.member_bool("leaf", group.leaf).key("files").begin_object();
    for (const GroupFile& file : group.files) {
      out.member(file.name, file.value);
    }
    out.end_object().end_object();
  }
  out.end_array();
}

void write_steps(json::Writer& out, std::string_view key, const std::vector<Step>& steps) {
  out.key(key).begin_array();
  for (const Step step : steps) {
    out.string(name(step));
  }
  out.end_array();
}

void write_tool(json::Writer& out, const Plan& plan) {
  out.key("tool").begin_object().member("path", plan.tool).key("arguments").begin_array();
  for (const ToolArgument& argument : plan.tool_arguments) {
    if (argument.kind != ToolArgumentKind::literal && plan.view.at(argument.entry).steering) {
      continue;  // as in the view
    }
    switch (argument.kind) {
      case ToolArgumentKind::literal:
        out.string(argument.text);
        break;
      case ToolArgumentKind::source:
        out.begin_object().member("source", plan.view.at(argument.entry).source).end_object();
        break;
      case ToolArgumentKind::content:
        out.begin_object().member("content", plan.view.at(argument.entry).target).end_object();
        break;
      case ToolArgumentKind::freeze:
        out.begin_object().member("freeze", plan.view.at(argument.entry).target).end_object();
        break;
      case ToolArgumentKind::cover:
        out.begin_object().member("cover", plan.view.at(argument.entry).target).end_object();
        break;
      case ToolArgumentKind::bind:
        out.begin_object().member("bind", plan.view.at(argument.entry).target).end_object();
        break;
      case ToolArgumentKind::stage:
        out.begin_object().member_bool("stage", true).end_object();
        break;
      case ToolArgumentKind::mount:
        out.begin_object().member("mount", plan.view.at(argument.entry).target).end_object();
        break;
      case ToolArgumentKind::launch:
        out.begin_object().member("launch", argument.text).end_object();
        break;
      case ToolArgumentKind::memory:
        out.begin_object().member("file", argument.text).end_object();
        break;
    }
  }
  out.end_array();
  if (!plan.tool_environment.empty()) {
    out.key("environment").begin_array();
    for (const std::string& variable : plan.tool_environment) {
      out.string(variable);
    }
    out.end_array();
  }
  out.end_object();
}

}  // namespace

std::string to_json(const Plan& plan) {
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon-plan").member_int("version", 1).member("backend", plan.backend);
  out.key("guarantees");
  write_guarantees(out, plan.guarantees);
  out.member("executable", plan.executable).key("argv").begin_array();
  for (const std::string& argument : plan.argv) {
    out.string(argument);
  }
  out.end_array().key("environment").begin_array();
  for (const std::string& variable : plan.environment) {
    out.string(std::string_view(variable).substr(0, variable.find('=')));
  }
  out.end_array().member("working_directory", plan.working_directory).member("hostname", plan.hostname);
  out.member_bool("switch_user", plan.switch_user).member_int("uid", plan.uid).member_int("gid", plan.gid);
  out.member_int("landlock_abi", plan.landlock_abi).member_bool("own_namespaces", plan.own_namespaces);
  if (plan.shared_host) {
    out.member_bool("shared_host", true);
  }
  out.member_bool("syscall_filter", plan.syscall_filter).member("unix_socket_calls", name(plan.unix_sockets));
  if (plan.filter.strict) {
    out.member_bool("strict_syscalls", true);
  }
  if (plan.filter.nested_userns) {
    out.member_bool("nested_user_namespaces", true);
  }
  if (plan.network.hosts()) {
    write_network(out, plan.network);
  }
  write_view(out, plan);
  write_limits(out, plan.limits);
  if (!plan.groups.empty()) {
    write_groups(out, plan);
  }
  out.key("steps").begin_object();
  write_steps(out, "outside", plan.steps.outer);
  write_steps(out, "init", plan.steps.init);
  write_steps(out, "server", plan.steps.server);
  out.end_object();
  if (!plan.tool.empty()) {
    write_tool(out, plan);
  }
  if (plan.in_container()) {
    out.member("image", plan.container.image).member_bool("map_owners", plan.container.map_owners);
  }
  if (!plan.none_reason.empty()) {
    out.member("none_reason", plan.none_reason);
  }
  out.end_object();
  return out.take();
}

std::string covers_json(const Plan& plan) {
  json::Writer out;
  out.begin_array();
  for (const ViewEntry& entry : plan.view) {
    // The others are folders above them, held in place.
    if (entry.steering && !entry.writable) {
      out.begin_object().member("path", entry.target);
      if (entry.held) {
        out.member_bool("made", true);
      }
      out.end_object();
    }
  }
  out.end_array();
  return out.take();
}

}  // namespace cordon::sandbox
