// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of list that a catalog is made of, and the reading of what stands in them. Tools have types of their own
// (catalog.hpp), since they alone carry an effect class.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

enum class ListKind : std::uint8_t { tools, prompts, resources, templates };
inline constexpr std::array kListKinds = {ListKind::tools, ListKind::prompts, ListKind::resources, ListKind::templates};
// Those whose items are no tools.
inline constexpr std::array kItemKinds = {ListKind::prompts, ListKind::resources, ListKind::templates};

struct ListNames {
  std::string_view item = {};         // "resource_template": in diffs and audit records
  std::string_view text = {};         // "resource template": in messages
  std::string_view method = {};       // "resources/templates/list"
  std::string_view member = {};       // of the method's result: "resourceTemplates"
  std::string_view key = {};          // member of a definition that tells items apart: "uriTemplate"
  std::string_view file_member = {};  // of the snapshot file: "resource_templates"
  std::string_view file_key = {};     // of an item there: "uri_template"
};
const ListNames& names(ListKind kind);
std::optional<ListKind> list_kind_of_item(std::string_view item);
std::optional<ListKind> list_kind_of_method(std::string_view method);

// A prompt, resource or resource template that a server listed.
struct Item {
  std::string key = {};
  std::string definition = {};  // canonical JSON of the whole object
};

struct PinnedItem {
  std::string key = {};
  std::string definition = {};  // canonical JSON, exactly as reviewed
  std::string digest = {};      // "sha256:…" of the definition
  bool operator==(const PinnedItem&) const = default;
};

// "sha256:…" over the canonical text.
std::string item_digest(std::string_view definition);

// catalog_invalid for what a client could not read or what readers would read differently: no object, no key, a key
// that is empty, too long or has a lone surrogate or U+0000, a resource without a string `name`, prompt arguments that
// are no objects with a `name`, a member that equals a protocol member only after case folding.
Result<Item> read_item(ListKind kind, const json::Value& element);

}  // namespace cordon::catalog
