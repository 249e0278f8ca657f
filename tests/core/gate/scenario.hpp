// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one scenario of tests/vectors (the format is in tests/vectors/README.md) against a Session.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::test {

// Problems found, each as "line N: …"; empty when the scenario holds. Input is fed in pieces of `chunk` bytes.
std::vector<std::string> run_scenario(std::string_view text, const std::string& include_folder, std::size_t chunk);

}  // namespace cordon::test
