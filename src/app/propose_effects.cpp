// SPDX-License-Identifier: Apache-2.0
#include "app/propose_effects.hpp"

#include "app/plain_file.hpp"
#include "app/session_context.hpp"
#include "formats/reports/effects.hpp"
#include "formats/snapshot.hpp"

namespace cordon::app {
namespace {

Result<catalog::Snapshot> catalog_of(const EffectsRequest& request) {
  if (!request.file.empty()) {
    const Result<std::string> text = read_plain(request.file, formats::kCatalogFileLimits.max_bytes);
    if (!text) {
      return std::unexpected(text.error());
    }
    return formats::read_any_catalog(*text, request.file);
  }
  const Result<LoadedPolicy> loaded = load_policy(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  Result<LoadedSnapshot> found = load_snapshot(request.caller, *loaded);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (found->snapshot) {
    return std::move(*found->snapshot);
  }
  return capture_candidate({.caller = request.caller, .loaded = *loaded, .version = request.version});
}

}  // namespace

Result<std::string> propose_effects(const EffectsRequest& request) {
  const Result<catalog::Snapshot> catalog = catalog_of(request);
  if (!catalog) {
    return std::unexpected(catalog.error());
  }
  std::vector<formats::NamedProposal> tools;
  for (const catalog::PinnedTool& tool : catalog->tools) {
    tools.push_back({tool.name, catalog::propose_effect(tool.definition)});
  }
  return request.format == "json"
             ? formats::effects_json(tools)
             : formats::effects_text(tools, {.colour = request.style.colour, .width = request.width});
}

bool is_catalog_path(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".json");
}

}  // namespace cordon::app
