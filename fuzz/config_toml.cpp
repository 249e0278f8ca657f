// SPDX-License-Identifier: Apache-2.0
// Any bytes as a client's config in TOML. Oracle: config_oracle.hpp.

#include "config_oracle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cordon::fuzz::check_config(cordon::clients::Syntax::toml, std::string(data, data + size));
  return 0;
}
