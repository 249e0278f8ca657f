// SPDX-License-Identifier: Apache-2.0
#include "core/gate/handshake.hpp"

#include <array>

#include "base/error.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Member;
using json::Value;
using policy::DriftAction;

void write_meta(json::Writer& w, std::string_view server_info, std::string_view facts) {
  w.key("_meta").begin_object();
  if (!server_info.empty()) {
    w.member_raw(wire::kMetaServerInfo, server_info);
  }
  w.member_raw("dev.mcp-cordon/facts", facts);
  w.end_object();
}

struct Row {
  std::string_view name = {};
  wire::Feature feature = wire::Feature::base;
  std::array<std::string_view, 2> flags = {};  // members that say more, in canonical order
};

// In the order of the names. What is not here does not pass.
constexpr std::array kCapabilities = std::to_array<Row>({
    {"completions", wire::Feature::completions, {}},
    {"extensions", wire::Feature::tasks, {}},
    {"logging", wire::Feature::logging, {}},
    {"prompts", wire::Feature::prompts, {"listChanged"}},
    {"resources", wire::Feature::resources, {"listChanged", "subscribe"}},
    {"tasks", wire::Feature::tasks, {}},
    {"tools", wire::Feature::tools, {"listChanged"}},
});

bool says(const Value& capability, std::string_view flag) {
  const Value value = capability.find(flag);
  return value.is(Kind::boolean) && value.boolean();
}

// Each only when it is live and was reviewed.
class Capabilities {
 public:
  Capabilities(JudgedOpening& opening, const Value& live, const std::optional<Value>& reviewed)
      : opening_(opening), live_(live), reviewed_(reviewed ? *reviewed : live) {}

  std::string served(wire::Era era) {
    json::Writer w;
    w.begin_object();
    for (const Row& row : kCapabilities) {
      const Value capability = live_.find(row.name);
      const Value pinned = reviewed_.find(row.name);
      if (!capability.is(Kind::object) || !pinned.is(Kind::object)) {
        continue;
      }
      if (row.name == "tasks") {
        write_tasks(w, capability, pinned, era);
      } else if (row.name == "extensions") {
        write_extension(w, capability, pinned, era);
      } else {
        write(w, row, capability, pinned);
      }
    }
    w.end_object();
    return w.take();
  }

 private:
  void write(json::Writer& w, const Row& row, const Value& capability, const Value& pinned) {
    opening_.features.insert(row.feature);
    w.key(row.name).begin_object();
    for (const std::string_view flag : row.flags) {
      if (flag.empty() || !says(capability, flag) || !says(pinned, flag)) {
        continue;
      }
      w.member_bool(flag, true);
      if (flag == "listChanged") {
        opening_.list_changed.insert(row.feature);
      } else {
        opening_.subscribe = true;
      }
    }
    w.end_object();
  }

  // Tasks of calls: what can be done with them counts for nothing where no call can become one.
  void write_tasks(json::Writer& w, const Value& capability, const Value& pinned, wire::Era era) {
    const auto of_calls = [](const Value& tasks) {
      return tasks.find("requests").find("tools").find("call").is(Kind::object);
    };
    const auto both = [&](std::string_view key) {
      return capability.find(key).is(Kind::object) && pinned.find(key).is(Kind::object);
    };
    if (era != wire::Era::handshake || !of_calls(capability) || !of_calls(pinned)) {
      return;
    }
    opening_.features.insert(wire::Feature::tasks);
    opening_.task_calls = true;
    opening_.task_cancel = both("cancel");
    opening_.task_list = both("list");
    w.key("tasks").begin_object();
    if (opening_.task_cancel) {
      w.member_raw("cancel", "{}");
    }
    if (opening_.task_list) {
      w.member_raw("list", "{}");
    }
    w.member_raw("requests", R"({"tools":{"call":{}}})").end_object();
  }

  void write_extension(json::Writer& w, const Value& capability, const Value& pinned, wire::Era era) {
    const bool tasks =
        capability.find(wire::kTasksExtension).is(Kind::object) && pinned.find(wire::kTasksExtension).is(Kind::object);
    if (era == wire::Era::stateless && tasks) {
      opening_.features.insert(wire::Feature::tasks);
      opening_.task_extension = true;
      w.key("extensions").begin_object().member_raw(wire::kTasksExtension, "{}").end_object();
    }
  }

  JudgedOpening& opening_;
  Value live_;
  Value reviewed_;
};

void judge_capabilities(JudgedOpening& opening, const Value& live, const std::optional<Value>& reviewed) {
  Capabilities capabilities(opening, live, reviewed);
  opening.capabilities = capabilities.served(wire::Era::handshake);
  opening.stateless_capabilities = capabilities.served(wire::Era::stateless);
}

}  // namespace

Identity read_identity(const Value& result, const Value& server_info) {
  Identity identity;
  if (const Value text = result.find("instructions"); text.is(Kind::string)) {
    identity.instructions = text.string();
  }
  if (server_info.is(Kind::object)) {
    identity.server_info = json::canonical(server_info);
  }
  if (const Value capabilities = result.find("capabilities"); capabilities.is(Kind::object)) {
    identity.capabilities = json::canonical(capabilities);
  }
  return identity;
}

JudgedOpening judge_opening(const policy::Policy& policy, const catalog::Snapshot* snapshot, const Identity& live) {
  JudgedOpening opening;
  const json::Document live_capabilities = parse_own(live.capabilities);
  if (snapshot == nullptr) {
    opening.server_info = live.server_info;
    opening.instructions = live.instructions;
    judge_capabilities(opening, live_capabilities.root(), std::nullopt);
    return opening;
  }
  const json::Document reviewed_capabilities = parse_own(snapshot->capabilities);
  judge_capabilities(opening, live_capabilities.root(), reviewed_capabilities.root());
  const policy::Drift& rules = policy.catalog.drift;
  const auto differs = [&](std::string item, DriftAction action) {
    opening.drift.push_back({std::move(item), "", "changed", action, "", ""});
    opening.blocked = opening.blocked || action == DriftAction::block;
    return action == DriftAction::flag || action == DriftAction::allow;
  };
  opening.server_info = snapshot->server_info;
  if (live.server_info != snapshot->server_info && differs("server_info", rules.identity)) {
    opening.server_info = live.server_info;
  }
  opening.instructions = snapshot->instructions;
  if (live.instructions != snapshot->instructions && differs("instructions", rules.instructions)) {
    opening.instructions = live.instructions;
  }
  if (live.capabilities != snapshot->capabilities) {
    differs("capabilities", rules.capabilities);
  }
  if (!parse_own(opening.server_info).root().find("name")) {
    // Clients demand a name and a version; a server that gave none is shown under the name that the policy gives it.
    opening.server_info =
        json::Writer().begin_object().member("name", policy.server).member("version", "0").end_object().take();
  }
  return opening;
}

bool has_task_extension(const Value& capabilities) {
  return capabilities.find("extensions").find(wire::kTasksExtension).is(Kind::object);
}

std::string initialize_result(std::string_view protocol_version, const JudgedOpening& opening, std::string_view facts) {
  json::Writer w;
  w.begin_object().member("protocolVersion", protocol_version).member_raw("capabilities", opening.capabilities);
  w.member_raw("serverInfo", opening.server_info);
  if (opening.instructions) {
    w.member("instructions", *opening.instructions);
  }
  write_meta(w, {}, facts);
  w.end_object();
  return w.take();
}

std::string discover_result(const JudgedOpening& opening, std::string_view facts) {
  json::Writer w;
  w.begin_object().key("supportedVersions").begin_array();
  w.string(wire::name(wire::Revision::v2026_07_28)).end_array();
  w.member_raw("capabilities", opening.stateless_capabilities);
  if (opening.instructions) {
    w.member("instructions", *opening.instructions);
  }
  w.member("resultType", "complete").member_int("ttlMs", 0).member("cacheScope", "private");
  write_meta(w, opening.server_info, facts);
  w.end_object();
  return w.take();
}

}  // namespace cordon::gate
