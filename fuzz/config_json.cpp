// SPDX-License-Identifier: Apache-2.0
// Any bytes as a client's config in JSON with comments. Oracle: config_oracle.hpp; and what the strict reader accepts
// as an object, this one accepts too.

#include "config_oracle.hpp"

#include "core/json/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  cordon::fuzz::check_config(cordon::clients::Syntax::json, text);
  const auto strict = cordon::json::read(text, {});
  if (strict && strict->root().is(cordon::json::Kind::object)) {
    CORDON_ASSERT(cordon::clients::read_jsonc(text, "fuzz").has_value());
  }
  return 0;
}
