// SPDX-License-Identifier: Apache-2.0
// Every file of tests/vectors is one scenario; its name is what it shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/gate/scenario.hpp"

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<fs::path> scenarios() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(CORDON_VECTORS)) {
    if (entry.path().extension() == ".txt") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("every scenario holds, whatever the chunks") {
  const std::string include = std::string(CORDON_VECTORS) + "/include";
  const auto files = scenarios();
  REQUIRE(files.size() > 40);
  for (const fs::path& path : files) {
    const std::string text = content_of(path);
    for (const std::size_t chunk : {std::size_t{1} << 30, std::size_t{1}, std::size_t{7}}) {
      if (chunk < 100 && text.find("000000}") != std::string::npos) {
        continue;  // megabytes, byte by byte
      }
      for (const std::string& problem : cordon::test::run_scenario(text, include, chunk)) {
        FAIL_CHECK(path.filename().string() << ", chunks of " << chunk << ": " << problem);
      }
    }
  }
}
