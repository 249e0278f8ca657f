// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

// {text: …, schema: …}: of tools whose prose alone differs, and of all others.
void read_changed(Faults& faults, const yaml::Node& node, policy::Drift& drift) {
  using policy::DriftAction;
  // From the weakest on.
  static constexpr std::array kOrder = {DriftAction::flag, DriftAction::pinned, DriftAction::block, DriftAction::hide};
  const Section parts(faults, node, "catalog.drift.changed", {"text", "schema"});
  if (parts.find("text") == nullptr || parts.find("schema") == nullptr) {
    faults.add(node.position, "catalog.drift.changed must be a word, or have both text and schema",
               "write block, hide, pinned or flag, or {text: pinned, schema: block}");
    return;
  }
  DriftAction schema = drift.changed;
  const std::initializer_list<Choice<DriftAction>> words = {{"block", DriftAction::block},
                                                            {"hide", DriftAction::hide},
                                                            {"pinned", DriftAction::pinned},
                                                            {"flag", DriftAction::flag}};
  parts.choice<DriftAction>("text", drift.changed, words);
  parts.choice<DriftAction>("schema", schema, words);
  drift.changed_schema = schema;
  if (std::ranges::find(kOrder, schema) < std::ranges::find(kOrder, drift.changed)) {
    faults.add(parts.find("schema")->value.position,
               "a change of the schema must not be taken lighter than one of text",
               "write for schema what stands at text, or something stricter");
  }
}

policy::Drift read_drift(Faults& faults, const yaml::Node& node) {
  using policy::DriftAction;
  constexpr Choice<DriftAction> kAllow = {"allow", DriftAction::allow};
  constexpr Choice<DriftAction> kFlag = {"flag", DriftAction::flag};
  constexpr Choice<DriftAction> kBlock = {"block", DriftAction::block};
  constexpr Choice<DriftAction> kHide = {"hide", DriftAction::hide};
  constexpr Choice<DriftAction> kPinned = {"pinned", DriftAction::pinned};
  policy::Drift drift;
  const Section section(
      faults, node, "catalog.drift",
      {"added", "changed", "removed", "cosmetic", "instructions", "identity", "capabilities", "launch"});
  section.choice<DriftAction>("added", drift.added, {kHide, kFlag});
  if (const yaml::Member* changed = section.find("changed"); changed && changed->value.kind == yaml::Kind::mapping) {
    read_changed(faults, changed->value, drift);
  } else {
    section.choice<DriftAction>("changed", drift.changed, {kBlock, kHide, kPinned, kFlag});
  }
  section.choice<DriftAction>("removed", drift.removed, {kFlag, kAllow});
  section.choice<DriftAction>("cosmetic", drift.cosmetic, {kAllow, kBlock});
  section.choice<DriftAction>("instructions", drift.instructions, {kPinned, kFlag, kBlock});
  section.choice<DriftAction>("identity", drift.identity, {kPinned, kFlag, kBlock});
  section.choice<DriftAction>("capabilities", drift.capabilities, {kHide, kBlock});
  section.choice<DriftAction>("launch", drift.launch, {kBlock, kFlag});
  return drift;
}

std::vector<std::string> read_keys(Faults& faults, const yaml::Node& node) {
  std::vector<std::string> keys;
  const auto* items = read_list(faults, node, "catalog.trusted_keys", ListEmptiness::allowed);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if (auto key = read_public_key(faults, (*items)[i])) {
      keys.push_back(std::move(*key));
    }
  }
  return keys;
}

}  // namespace

// As they stand in a .pub file; a comment at the end is dropped. Nothing else may reach the file that ssh-keygen reads.
std::optional<std::string> read_public_key(Faults& faults, const yaml::Node& node) {
  constexpr std::array<std::string_view, 7> kTypes = {"ssh-ed25519",
                                                      "sk-ssh-ed25519@openssh.com",
                                                      "ecdsa-sha2-nistp256",
                                                      "ecdsa-sha2-nistp384",
                                                      "ecdsa-sha2-nistp521",
                                                      "sk-ecdsa-sha2-nistp256@openssh.com",
                                                      "ssh-rsa"};
  const auto line = read_text(faults, node, "an item of catalog.trusted_keys");
  if (!line) {
    return std::nullopt;
  }
  const auto words = text::split(*line, ' ');
  const auto is_base64 = [](std::string_view word) {
    return word.size() >= 40 && std::ranges::all_of(word, [](char c) {
             return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
                    c == '/' || c == '=';
           });
  };
  if (words.size() < 2 || std::ranges::find(kTypes, words[0]) == kTypes.end() || !is_base64(words[1])) {
    faults.add(node.position, text::cat("no public key of SSH: ", quote(*line)),
               "write it as it stands in a .pub file: \"ssh-ed25519 AAAA...\"");
    return std::nullopt;
  }
  return text::cat(words[0], ' ', words[1]);
}

policy::Catalog read_catalog(Faults& faults, const yaml::Node& node) {
  using policy::Missing;
  policy::Catalog catalog;
  const Section section(faults, node, "catalog",
                        {"snapshot", "missing", "drift", "accept_unattended", "trusted_keys", "variables", "dynamic",
                         "max_pages", "max_tools", "max_bytes"});
  section.text("snapshot", catalog.snapshot);
  if (catalog.snapshot.starts_with('~')) {
    section.fault(
        section.find("snapshot")->value.position,
        text::cat("catalog.snapshot must be absolute or relative to the policy file, not ", quote(catalog.snapshot)),
        "~ is not expanded here; a plain file name means a file beside the policy");
  }
  section.choice<Missing>("missing", catalog.missing, {{"block", Missing::block}, {"flag", Missing::flag}},
                          {"trust-first-use"});
  if (const yaml::Member* drift = section.find("drift")) {
    catalog.drift = read_drift(faults, drift->value);
  }
  section.boolean("accept_unattended", catalog.accept_unattended);
  if (const yaml::Member* keys = section.find("trusted_keys")) {
    catalog.trusted_keys = read_keys(faults, keys->value);
  }
  if (const yaml::Member* variables = section.find("variables")) {
    catalog.variables = read_variables(faults, variables->value);
  }
  if (const yaml::Member* dynamic = section.find("dynamic")) {
    catalog.dynamic = read_uri_globs(faults, dynamic->value, "catalog.dynamic", ListEmptiness::allowed);
  }
  section.integer("max_pages", catalog.max_pages, {1, 10'000});
  section.integer("max_tools", catalog.max_tools, {1, 100'000});
  section.size("max_bytes", catalog.max_bytes, {1'000, 100'000'000});
  return catalog;
}

}  // namespace cordon::formats
