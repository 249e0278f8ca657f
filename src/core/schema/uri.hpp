// SPDX-License-Identifier: Apache-2.0
#pragma once
// References between schemas (RFC 3986, section 5). Nothing is ever fetched: a URI is a name.

#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::schema {

struct Reference {
  std::string uri = {};       // absolute, or as far as the base goes; without fragment
  std::string fragment = {};  // percent-decoded
};
Reference resolve(std::string_view base, std::string_view reference);

// What a JSON pointer (RFC 6901) names below `root`; absent when it leads nowhere.
json::Value at_pointer(const json::Value& root, std::string_view pointer);

}  // namespace cordon::schema
