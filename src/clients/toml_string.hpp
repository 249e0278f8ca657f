// SPDX-License-Identifier: Apache-2.0
#pragma once
// The four kinds of strings of TOML.

#include <cstddef>
#include <string>
#include <string_view>

namespace cordon::clients {

struct TomlString {
  std::string value = {};
  std::size_t end = 0;          // behind the closing quotes
  std::string_view fault = {};  // what is wrong; empty: nothing
  std::size_t fault_at = 0;
};

// `begin` is at a quote. Keys may only be strings of one line.
TomlString read_toml_string(std::string_view text, std::size_t begin);

}  // namespace cordon::clients
