// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/folding.hpp"

#include "base/text.hpp"

namespace cordon::catalog {

Status check_folding(const json::Value& object, std::span<const std::string_view> protocol, const std::string& where) {
  for (const json::Member member : object.members()) {
    const std::string key = member.key.string();
    const std::string folded = text::fold_to_ascii(key);
    for (const std::string_view known : protocol) {
      if (key != known && folded == text::fold_to_ascii(known)) {
        return fail(Errc::catalog_invalid,
                    text::cat("member '", text::printable(key), "' reads as '", known, "' where case does not count"),
                    where);
      }
    }
  }
  return {};
}

}  // namespace cordon::catalog
