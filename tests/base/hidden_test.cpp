// SPDX-License-Identifier: Apache-2.0
#include "base/hidden.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "base/token_forms.hpp"

using namespace cordon;
using text::Hidden;
using text::hidden_class;

TEST_CASE("hidden characters have a class, and what is seen has none") {
  for (const char32_t point : {U'\u200B', U'\u2060', U'\uFEFF', U'\u00AD', U'\u034F', U'\u3164', U'\U000E0080'}) {
    CHECK(hidden_class(point) == Hidden::invisible);
  }
  CHECK(hidden_class(0) == Hidden::control);
  CHECK(hidden_class(0x9F) == Hidden::control);
  CHECK(hidden_class(U'\u200D') == Hidden::joiner);
  CHECK(hidden_class(U'\u200F') == Hidden::mark);
  CHECK(hidden_class(U'\u2029') == Hidden::separator);
  CHECK(hidden_class(U'\u202E') == Hidden::bidirectional);
  CHECK(hidden_class(U'\u2069') == Hidden::bidirectional);
  CHECK(hidden_class(U'\uFE0F') == Hidden::variation);
  CHECK(hidden_class(U'\U000E0100') == Hidden::variation);
  CHECK(hidden_class(U'\U000E0041') == Hidden::tag);
  CHECK(hidden_class(U'\U000E0FFF') == Hidden::invisible);
  for (const char32_t point :
       {U' ', U'~', U'\u00A0', U'\u00AE', U'\u2010', U'\u202F', U'\u65E5', U'\U0001F600', U'\U000E1000'}) {
    CHECK(hidden_class(point) == Hidden::none);
  }
  // What is shown raw to a person is never one of them.
  for (char32_t point = 0; point < 0x30000; ++point) {
    if (text::is_visible_letter(point)) {
      REQUIRE(hidden_class(point) == Hidden::none);
    }
  }
}

TEST_CASE("letters of tokens") {
  using L = TokenForm::Letters;
  CHECK(fits(L::upper, 'A'));
  CHECK_FALSE(fits(L::upper, 'a'));
  CHECK(fits(L::alphanumeric, 'z'));
  CHECK_FALSE(fits(L::alphanumeric, '_'));
  CHECK(fits(L::word, '-'));
  CHECK_FALSE(fits(L::word, '.'));
  CHECK(fits(L::dotted, '.'));
  for (const TokenForm& form : token_forms()) {
    CHECK(form.prefix.size() >= 2);
  }
}
