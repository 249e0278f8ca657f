// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/interface.hpp"

#include "base/hash.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

using json::Kind;
using json::Value;

std::optional<std::string> interface_of(const Value& definition) {
  constexpr std::size_t kMaxAddress = 4'096;
  const Value meta = definition.find("_meta");
  const Value nested = meta.find("ui").find("resourceUri");
  const Value flat = meta.find("ui/resourceUri");
  const Value named = nested ? nested : flat;
  if (!named.is(Kind::string) || named.has_lone_surrogate() || named.has_nul() ||
      (nested && flat && json::canonical(nested) != json::canonical(flat))) {
    return std::nullopt;
  }
  std::string address = named.string();
  if (!address.starts_with("ui://") || address.size() > kMaxAddress) {
    return std::nullopt;
  }
  return address;
}

std::optional<std::string> contents_digest(const Value& result) {
  const Value contents = result.find("contents");
  return contents.is(Kind::array) ? std::optional(sha256_text(json::canonical(contents))) : std::nullopt;
}

}  // namespace cordon::catalog
