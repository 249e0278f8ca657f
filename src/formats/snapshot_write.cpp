// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/compare.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {

namespace {

void write_items(json::Writer& writer, const catalog::Snapshot& snapshot, catalog::ListKind kind) {
  const std::vector<catalog::PinnedItem>& items = snapshot.items(kind);
  if (items.empty()) {
    return;
  }
  writer.key(catalog::names(kind).file_member).begin_array();
  for (const catalog::PinnedItem& item : items) {
    writer.begin_object().member_raw("definition", item.definition).member("digest", item.digest);
    writer.member(catalog::names(kind).file_key, item.key).end_object();
  }
  writer.end_array();
}

// Members of every object in the order of their code points, so that any sorting JSON tool writes the same file.
std::string compact(const catalog::Snapshot& snapshot) {
  json::Writer writer;
  writer.begin_object();
  writer.member_raw("capabilities", snapshot.capabilities);
  writer.member("digest", snapshot.digest);
  writer.member("format", "mcp-cordon.snapshot");
  writer.key("instructions");
  if (snapshot.instructions) {
    writer.string(*snapshot.instructions);
  } else {
    writer.null();
  }
  writer.member_raw("launch", catalog::fingerprint_json(snapshot.launch));
  if (snapshot.policy != catalog::PolicyBinding{}) {
    writer.key("policy").begin_object();
    writer.member("digest", snapshot.policy.digest).member("path", snapshot.policy.path);
    writer.end_object();
  }
  write_items(writer, snapshot, catalog::ListKind::prompts);
  writer.key("protocol_versions").begin_array();
  for (const std::string& version : snapshot.protocol_versions) {
    writer.string(version);
  }
  writer.end_array();
  write_items(writer, snapshot, catalog::ListKind::templates);
  write_items(writer, snapshot, catalog::ListKind::resources);
  writer.member("reviewed_at", snapshot.reviewed_at);
  writer.member("reviewer", snapshot.reviewer);
  writer.member("server", snapshot.server);
  writer.member_raw("server_info", snapshot.server_info);
  writer.member("status", snapshot.reviewed ? "reviewed" : "candidate");
  writer.key("tools").begin_array();
  for (const catalog::PinnedTool& tool : snapshot.tools) {
    writer.begin_object();
    writer.member_raw("definition", tool.definition);
    writer.member("digest", tool.digest);
    writer.member("effect", tool.effect);
    writer.member("effect_source", catalog::name(tool.effect_source));
    if (!tool.interface.empty()) {
      writer.member("interface", tool.interface);
    }
    if (!tool.interface_facts.empty()) {
      writer.member_raw("interface_facts", tool.interface_facts);
    }
    writer.member("name", tool.name);
    if (!tool.when.empty()) {
      writer.member_raw("when", catalog::when_json(tool.when));
    }
    writer.end_object();
  }
  writer.end_array();
  writer.member_bool("unattended", snapshot.unattended);
  if (!snapshot.variables.empty()) {
    writer.member_raw("variables", catalog::variables_json(snapshot.variables));
  }
  writer.member_int("version", 1);
  writer.end_object();
  return writer.take();
}

}  // namespace

std::string write_snapshot(const catalog::Snapshot& snapshot) {
  catalog::Snapshot sealed = snapshot;
  catalog::seal(sealed);
  std::string text = compact(sealed);
  const std::size_t size = text.size();
  // Our own text; what is in it was read under stricter limits.
  const Result<json::Document> document = json::read(std::move(text), {.max_bytes = size, .max_depth = 1024});
  CORDON_ASSERT(document.has_value());
  return json::pretty(document->root(), json::Escaping::reviewable) + "\n";
}

}  // namespace cordon::formats
