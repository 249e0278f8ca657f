// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/catalog.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "core/catalog/folding.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxNameBytes = 256;

constexpr std::array<std::string_view, 9> kToolMembers = {
    "name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"};
constexpr std::array<std::string_view, 5> kAnnotationMembers = {"title", "readOnlyHint", "destructiveHint",
                                                                "idempotentHint", "openWorldHint"};
constexpr std::array<std::string_view, 1> kExecutionMembers = {"taskSupport"};

Status check_served(const Value& element, const std::string& tool, const std::string& where) {
  if (tool.size() > kMaxNameBytes) {
    return fail(Errc::catalog_invalid, text::cat("the name of a tool is longer than ", kMaxNameBytes, " bytes"), where);
  }
  if (!element.find("inputSchema").is(Kind::object)) {
    return fail(Errc::catalog_invalid, "'inputSchema' must be an object", where);
  }
  if (Status status = check_folding(element, kToolMembers, where); !status) {
    return status;
  }
  if (Status status = check_folding(element.find("annotations"), kAnnotationMembers, where); !status) {
    return status;
  }
  return check_folding(element.find("execution"), kExecutionMembers, where);
}

}  // namespace

std::string_view name(EffectSource source) {
  switch (source) {
    case EffectSource::proposed:
      return "proposed";
    case EffectSource::reviewer:
      return "reviewer";
  }
  return "";
}

std::optional<EffectSource> effect_source_from_name(std::string_view text) {
  for (const EffectSource source : {EffectSource::proposed, EffectSource::reviewer}) {
    if (name(source) == text) {
      return source;
    }
  }
  return std::nullopt;
}

std::optional<int> effect_rank(std::string_view effect) {
  constexpr std::array<std::string_view, 6> kRanked = {"read", "write", "send", "destructive", "execute", "unknown"};
  const auto* found = std::ranges::find(kRanked, effect);
  return found == kRanked.end() ? std::nullopt : std::optional<int>(static_cast<int>(found - kRanked.begin()));
}

const PinnedTool* Snapshot::find(std::string_view tool) const {
  const auto found = std::ranges::lower_bound(tools, tool, {}, &PinnedTool::name);
  return found != tools.end() && found->name == tool ? &*found : nullptr;
}

const std::vector<PinnedItem>& Snapshot::items(ListKind kind) const {
  CORDON_ASSERT(kind != ListKind::tools);
  return kind == ListKind::prompts ? prompts : kind == ListKind::resources ? resources : templates;
}

std::vector<PinnedItem>& Snapshot::items(ListKind kind) {
  return const_cast<std::vector<PinnedItem>&>(std::as_const(*this).items(kind));
}

const PinnedItem* Snapshot::find(ListKind kind, std::string_view key) const {
  const std::vector<PinnedItem>& list = items(kind);
  const auto found = std::ranges::lower_bound(list, key, {}, &PinnedItem::key);
  return found != list.end() && found->key == key ? &*found : nullptr;
}

std::vector<Item>& Catalog::items(ListKind kind) {
  CORDON_ASSERT(kind != ListKind::tools);
  return kind == ListKind::prompts ? prompts : kind == ListKind::resources ? resources : templates;
}

const std::vector<Item>& Catalog::items(ListKind kind) const { return const_cast<Catalog&>(*this).items(kind); }

Result<Tool> read_tool(const Value& element, Leniency leniency) {
  if (!element.is(Kind::object)) {
    return fail(Errc::catalog_invalid, "a tool must be an object");
  }
  const Value name_value = element.find("name");
  if (!name_value.is(Kind::string)) {
    return fail(Errc::catalog_invalid, "a tool needs a 'name' that is a string");
  }
  if (name_value.has_lone_surrogate() || name_value.has_nul()) {
    return fail(Errc::catalog_invalid, "the name of a tool has a lone surrogate or U+0000");
  }
  std::string tool = name_value.string();
  if (tool.empty()) {
    return fail(Errc::catalog_invalid, "the name of a tool is empty");
  }
  if (leniency == Leniency::served) {
    const std::string where = text::cat("tool '", text::printable(tool), "'");
    if (const Status status = check_served(element, tool, where); !status) {
      return std::unexpected(status.error());
    }
  }
  return Tool{std::move(tool), json::canonical(element)};
}

}  // namespace cordon::catalog
