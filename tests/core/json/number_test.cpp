// SPDX-License-Identifier: Apache-2.0
#include "core/json/number.hpp"

#include <doctest/doctest.h>

using cordon::json::compare;
using cordon::json::decimal;
using cordon::json::same_everywhere;

TEST_CASE("spellings of one number are equal") {
  for (const char* spelling : {"100", "1e2", "1E+2", "100.0", "10.00e1", "1000e-1", "0.1e3"}) {
    CHECK_MESSAGE(decimal(spelling) == decimal("100"), spelling);
  }
  for (const char* spelling : {"0", "-0", "0.0", "-0e5", "0e-9"}) {
    CHECK_MESSAGE(decimal(spelling) == decimal("0"), spelling);
  }
}

TEST_CASE("numbers are ordered by their value, beyond what a double keeps") {
  const char* ascending[] = {"-1e300",
                             "-9007199254740993",
                             "-9007199254740992",
                             "-2.5",
                             "-2.25",
                             "-1e-9",
                             "0",
                             "1e-9",
                             "0.3",
                             "0.30000000000000001",
                             "1",
                             "9.99",
                             "10",
                             "9007199254740992",
                             "9007199254740993",
                             "1e300"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      CHECK_MESSAGE(compare(*decimal(ascending[i]), *decimal(ascending[j])) == (i <=> j), ascending[i], ascending[j]);
    }
  }
}

TEST_CASE("a number that readers round is told from one that they all keep") {
  for (const char* kept :
       {"0", "-1", "9007199254740992", "-9007199254740992", "1e3", "0.7", "3.14159265358979", "1e-7"}) {
    CHECK_MESSAGE(same_everywhere(*decimal(kept)), kept);
  }
  for (const char* lost : {"9007199254740993", "-9007199254740993", "1e16", "1e400", "0.1234567890123456", "1e-320",
                           "9007199254740991.5"}) {
    CHECK_MESSAGE(!same_everywhere(*decimal(lost)), lost);
  }
  CHECK(!decimal("1e9999999999"));
}
