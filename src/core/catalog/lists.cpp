// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/lists.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/folding.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::array<ListNames, kListKinds.size()> kNames = {{
    {"tool", "tool", "tools/list", "tools", "name", "tools", "name"},
    {"prompt", "prompt", "prompts/list", "prompts", "name", "prompts", "name"},
    {"resource", "resource", "resources/list", "resources", "uri", "resources", "uri"},
    {"resource_template", "resource template", "resources/templates/list", "resourceTemplates", "uriTemplate",
     "resource_templates", "uri_template"},
}};

constexpr std::size_t kMaxPromptName = 256;
constexpr std::size_t kMaxUri = 4'096;

constexpr std::array<std::string_view, 11> kItemMembers = {"name",        "title",       "description", "arguments",
                                                           "uri",         "uriTemplate", "mimeType",    "size",
                                                           "annotations", "icons",       "_meta"};
constexpr std::array<std::string_view, 4> kArgumentMembers = {"name", "title", "description", "required"};
constexpr std::array<std::string_view, 3> kAnnotationMembers = {"audience", "priority", "lastModified"};

Status check_arguments(const Value& arguments, const std::string& where) {
  if (!arguments) {
    return {};
  }
  if (!arguments.is(Kind::array)) {
    return fail(Errc::catalog_invalid, "'arguments' must be an array", where);
  }
  for (const Value argument : arguments.elements()) {
    if (!argument.find("name").is(Kind::string)) {
      return fail(Errc::catalog_invalid, "each argument must be an object with a string 'name'", where);
    }
    if (Status status = check_folding(argument, kArgumentMembers, where); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

const ListNames& names(ListKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<ListKind> list_kind_of_item(std::string_view item) {
  const auto* found = std::ranges::find(kNames, item, &ListNames::item);
  return found == kNames.end() ? std::nullopt
                               : std::optional(kListKinds.at(static_cast<std::size_t>(found - kNames.begin())));
}

std::optional<ListKind> list_kind_of_method(std::string_view method) {
  const auto* found = std::ranges::find(kNames, method, &ListNames::method);
  return found == kNames.end() ? std::nullopt
                               : std::optional(kListKinds.at(static_cast<std::size_t>(found - kNames.begin())));
}

std::string item_digest(std::string_view definition) { return sha256_text(definition); }

Result<Item> read_item(ListKind kind, const Value& element) {
  const ListNames& named = names(kind);
  const Value key = element.find(named.key);
  if (!key.is(Kind::string)) {
    return fail(Errc::catalog_invalid, text::cat("a ", named.text, " needs a '", named.key, "' that is a string"));
  }
  if (key.has_lone_surrogate() || key.has_nul()) {
    return fail(Errc::catalog_invalid,
                text::cat("'", named.key, "' of a ", named.text, " has a lone surrogate or U+0000"));
  }
  Item item{key.string(), {}};
  const std::size_t longest = kind == ListKind::prompts ? kMaxPromptName : kMaxUri;
  if (item.key.empty() || item.key.size() > longest) {
    return fail(Errc::catalog_invalid,
                text::cat("'", named.key, "' of a ", named.text, " is empty or longer than ", longest, " bytes"));
  }
  const std::string where = text::cat(named.text, " '", text::printable(item.key, 200), "'");
  if (!element.find("name").is(Kind::string)) {
    return fail(Errc::catalog_invalid, "'name' must be a string", where);
  }
  if (Status status = check_folding(element, kItemMembers, where); !status) {
    return std::unexpected(status.error());
  }
  if (Status status = check_folding(element.find("annotations"), kAnnotationMembers, where); !status) {
    return std::unexpected(status.error());
  }
  if (kind == ListKind::prompts) {
    if (Status status = check_arguments(element.find("arguments"), where); !status) {
      return std::unexpected(status.error());
    }
  }
  item.definition = json::canonical(element);
  return item;
}

}  // namespace cordon::catalog
