// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "core/catalog/diff.hpp"
#include "core/json/read.hpp"
#include "formats/json_place.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {

namespace {

using json::Kind;
using json::Value;

Value plain_list(const Value& root) {
  const Value tools = root.find("tools");
  return tools.is(Kind::array) ? tools : root.find("result").find("tools");
}

bool is_snapshot(const Value& root) {
  const Value format = root.find("format");
  return format.is(Kind::string) && format.string().starts_with("mcp-cordon.");
}

}  // namespace

Result<catalog::Snapshot> read_any_catalog(std::string_view text, std::string file) {
  const Result<json::Document> document = json::read(std::string(text), kCatalogFileLimits);
  if (!document) {
    return fail(Errc::catalog_invalid, document.error().detail, place_of_read_error(file, text, document.error().where),
                document.error().remedy);
  }
  const Value root = document->root();
  if (is_snapshot(root)) {
    return read_snapshot(text, std::move(file));
  }
  const Value tools = plain_list(root);
  if (!tools.is(Kind::array)) {
    return fail(Errc::catalog_invalid, "this is neither a snapshot nor a list of tools", file,
                R"(give a snapshot, {"tools": [...]} or {"result": {"tools": [...]}})");
  }
  catalog::Catalog live;
  for (const Value element : tools.elements()) {
    Result<catalog::Tool> tool = catalog::read_tool(element, catalog::Leniency::plain);
    if (!tool) {
      return fail(tool.error().code, tool.error().detail, place_of_value(file, *document, element));
    }
    live.tools.push_back(std::move(*tool));
  }
  Result<catalog::Snapshot> snapshot = catalog::as_candidate({}, live, nullptr);
  if (!snapshot) {
    return fail(snapshot.error().code, text::cat(snapshot.error().where, ": ", snapshot.error().detail), file);
  }
  snapshot->tools_only = true;
  return snapshot;
}

}  // namespace cordon::formats
