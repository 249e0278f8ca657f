// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

using namespace cordon;

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// The cells of the table's rows that begin with a name in backquotes.
std::vector<std::vector<std::string>> rows_of_page() {
  std::ifstream file(CORDON_ERRORS_PAGE);
  REQUIRE(file.is_open());
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) {
      continue;
    }
    std::vector<std::string> cells;
    for (const std::string_view cell : text::split(line, '|')) {
      cells.push_back(trimmed(cell));
    }
    out.push_back(std::move(cells));
  }
  return out;
}

}  // namespace

TEST_CASE("docs/errors.md and the code list the same failures with the same numbers") {
  const std::vector<std::vector<std::string>> rows = rows_of_page();
  const auto first = static_cast<int>(kFirstErrc);
  const auto last = static_cast<int>(kLastErrc);
  REQUIRE(rows.size() == static_cast<std::size_t>(last - first + 1));
  for (int value = first; value <= last; ++value) {
    const auto code = static_cast<Errc>(value);
    const std::vector<std::string>& cells = rows[static_cast<std::size_t>(value - first)];
    CAPTURE(std::string(name(code)));
    REQUIRE(cells.size() == 7);  // with the empty ones before the first and after the last bar
    CHECK(cells[1] == text::cat('`', name(code), '`'));
    CHECK(cells[2] == std::to_string(exit_status(code)));
    CHECK(cells[3] == std::to_string(json_rpc_code(code)));
    CHECK(cells[4].size() > 10);
    CHECK(cells[5].size() > 5);
  }
}
