// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/mask.hpp"
#include "base/rate.hpp"

using namespace cordon;

TEST_CASE("values of secrets are replaced, the longest first") {
  const Masker masker(std::vector<NamedSecret>{{"A", "abc"}, {"B", "abcdef"}, {"EMPTY", ""}});
  CHECK(masker.mask("x abcdef abc y") == "x [secret B] [secret A] y");
  CHECK(masker.mask("nothing") == "nothing");
  CHECK(masker.hits("zabcz"));
  CHECK_FALSE(masker.hits(""));
  CHECK(masker.longest() == 6);
  CHECK(Masker().mask("abc") == "abc");
}

TEST_CASE("the lines of a key and its escaped form are secrets too") {
  const Masker masker(std::vector<NamedSecret>{{"KEY", "-----BEGIN-----\r\nc2VjcmV0\nx\n"}});
  CHECK(masker.mask("got c2VjcmV0!") == "got [secret KEY]!");
  CHECK(masker.mask("x") == "x");
  const Masker escaped(std::vector<NamedSecret>{{"T", "back\\slash"}});
  CHECK(escaped.mask("as back\\\\slash shown") == "as [secret T] shown");
}

TEST_CASE("a secret that stands in a text many times costs another one nothing") {
  const Masker masker(std::vector<NamedSecret>{{"A", "abcd"}, {"B", "aaaaz"}});
  std::string many;
  for (std::size_t i = 0; i < 250'000; ++i) {
    many += "abcd";
  }
  CHECK(masker.mask(many).size() == 250'000 * std::string("[secret A]").size());
  CHECK(masker.mask("aaaaz abcd aaaaz abcaaaaz") == "[secret B] [secret A] [secret B] abc[secret B]");
}

TEST_CASE("a rate limit lets a burst pass and counts the rest") {
  RateLimit limit(2, 1);
  CHECK(limit.admit(10, {0}));
  CHECK(limit.admit(10, {0}));
  CHECK_FALSE(limit.admit(10, {0}));
  CHECK_FALSE(limit.admit(5, {500}));
  CHECK(limit.summary_due() == Instant{1000});
  CHECK(limit.admit(1, {1000}));
  const RateLimit::Dropped dropped = limit.take_dropped();
  CHECK(dropped.items == 2);
  CHECK(dropped.bytes == 15);
  CHECK_FALSE(limit.has_dropped());
  CHECK_FALSE(limit.admit(1, {900}));  // a clock that goes back gives nothing
}
