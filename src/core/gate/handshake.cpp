// SPDX-License-Identifier: Apache-2.0
#include "core/gate/handshake.hpp"

#include <array>

#include "base/error.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

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
    {"logging", wire::Feature::logging, {}},
    {"prompts", wire::Feature::prompts, {"listChanged"}},
    {"resources", wire::Feature::resources, {"listChanged", "subscribe"}},
    {"tools", wire::Feature::tools, {"listChanged"}},
});

bool says(const Value& capability, std::string_view flag) {
  const Value value = capability.find(flag);
  return value.is(Kind::boolean) && value.boolean();
}

// Each only when it is live and was reviewed.
void judge_capabilities(JudgedOpening& opening, const Value& live, const std::optional<Value>& reviewed) {
  json::Writer w;
  w.begin_object();
  for (const Row& row : kCapabilities) {
    const Value capability = live.find(row.name);
    const Value pinned = reviewed ? reviewed->find(row.name) : capability;
    if (!capability.is(Kind::object) || !pinned.is(Kind::object)) {
      continue;
    }
    opening.features.insert(row.feature);
    w.key(row.name).begin_object();
    for (const std::string_view flag : row.flags) {
      if (flag.empty() || !says(capability, flag) || !says(pinned, flag)) {
        continue;
      }
      w.member_bool(flag, true);
      if (flag == "listChanged") {
        opening.list_changed.insert(row.feature);
      } else {
        opening.subscribe = true;
      }
    }
    w.end_object();
  }
  w.end_object();
  opening.capabilities = w.take();
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
  w.member_raw("capabilities", opening.capabilities);
  if (opening.instructions) {
    w.member("instructions", *opening.instructions);
  }
  w.member("resultType", "complete").member_int("ttlMs", 0).member("cacheScope", "private");
  write_meta(w, opening.server_info, facts);
  w.end_object();
  return w.take();
}

}  // namespace cordon::gate
