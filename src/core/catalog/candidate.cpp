// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.hpp"
#include "core/catalog/diff.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

PinnedTool pin(const Tool& tool, const Snapshot* reviewed) {
  PinnedTool pinned = {.name = tool.name,
                       .definition = tool.definition,
                       .interface = tool.interface,
                       .interface_facts = tool.interface_facts};
  const PinnedTool* known = reviewed == nullptr ? nullptr : reviewed->find(tool.name);
  if (known != nullptr && known->interface == tool.interface &&
      relate(known->definition, tool.definition) != Relation::changed) {
    pinned.effect = known->effect;
    pinned.effect_source = known->effect_source;
    pinned.when = known->when;
  }
  return pinned;
}

}  // namespace

Result<Snapshot> as_candidate(std::string server, const Catalog& live, const Snapshot* reviewed) {
  Snapshot snapshot = {.server = std::move(server),
                       .instructions = live.instructions,
                       .server_info = live.server_info,
                       .capabilities = live.capabilities,
                       .protocol_versions = live.protocol_versions,
                       .reviewed = false};
  snapshot.tools.reserve(live.tools.size());
  for (const Tool& tool : live.tools) {
    snapshot.tools.push_back(pin(tool, reviewed));
  }
  for (const ListKind kind : kItemKinds) {
    for (const Item& item : live.items(kind)) {
      snapshot.items(kind).push_back({item.key, item.definition, {}});
    }
  }
  seal(snapshot);
  const auto twice = std::ranges::adjacent_find(snapshot.tools, {}, &PinnedTool::name);
  if (twice != snapshot.tools.end()) {
    return fail(Errc::catalog_invalid, "the name is used by more than one tool",
                text::cat("tool '", text::printable(twice->name), "'"));
  }
  for (const ListKind kind : kItemKinds) {
    const auto again = std::ranges::adjacent_find(snapshot.items(kind), {}, &PinnedItem::key);
    if (again != snapshot.items(kind).end()) {
      return fail(Errc::catalog_invalid, text::cat("it stands in the list of ", names(kind).text, "s twice"),
                  text::cat(names(kind).text, " '", text::printable(again->key), "'"));
    }
  }
  return snapshot;
}

// Members in the order of the canonical form, as the snapshot file has them.
std::string fingerprint_json(const LaunchFingerprint& launch) {
  json::Writer writer;
  writer.begin_object();
  writer.key("command").begin_array();
  for (const std::string& argument : launch.command) {
    writer.string(argument);
  }
  writer.end_array();
  writer.key("environment_names").begin_array();
  for (const std::string& variable : launch.environment_names) {
    writer.string(variable);
  }
  writer.end_array();
  writer.member("executable", launch.executable);
  writer.key("files").begin_object();
  for (const auto& [path, digest] : launch.files) {
    writer.member(path, digest);
  }
  writer.end_object();
  if (launch.package != PackagePin{}) {
    writer.key("package").begin_object();
    writer.member("lock", launch.package.lock);
    writer.member("source", launch.package.source);
    writer.member("tree", launch.package.tree);
    writer.end_object();
  }
  writer.member("set_values", launch.set_values);
  writer.end_object();
  return writer.take();
}

}  // namespace cordon::catalog
