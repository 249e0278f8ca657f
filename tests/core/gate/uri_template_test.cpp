// SPDX-License-Identifier: Apache-2.0
#include "core/gate/uri_template.hpp"

#include <doctest/doctest.h>

#include <string>

using cordon::gate::template_matches;

TEST_CASE("a template stands for what it could have given") {
  CHECK(template_matches("demo://r/{id}", "demo://r/1"));
  CHECK(template_matches("demo://r/{id}/x", "demo://r/a%20b/x"));
  CHECK(template_matches("file:///{+path}", "file:///a/b/c"));
  CHECK(template_matches("db://{schema}/{table}", "db://public/users"));
  CHECK(template_matches("demo://r{?q,n}", "demo://r"));
  CHECK(template_matches("demo://r{?q,n}", "demo://r?q=1&n=2"));
  CHECK(template_matches("demo://r{/a}", "demo://r/x"));
  CHECK(template_matches("demo://r{/a*}", "demo://r/x/y"));
  CHECK(template_matches("demo://r{#f}", "demo://r#x/y"));
  CHECK(template_matches("demo://r", "demo://r"));
}

TEST_CASE("and for nothing else") {
  CHECK_FALSE(template_matches("demo://r/{id}", "demo://r/"));
  CHECK_FALSE(template_matches("demo://r/{id}", "demo://r/1/2"));
  CHECK_FALSE(template_matches("demo://r/{id}", "demo://r/1?x"));
  CHECK_FALSE(template_matches("demo://r/{id}", "demo://r/1#x"));
  CHECK_FALSE(template_matches("demo://r/{id}", "xdemo://r/1"));
  CHECK_FALSE(template_matches("demo://r{?q}", "demo://rx"));
  CHECK_FALSE(template_matches("demo://r{/a}", "demo://r/x/y"));
  CHECK_FALSE(template_matches("demo://r/{id", "demo://r/{id"));
  CHECK_FALSE(template_matches("demo://r/{}", "demo://r/x"));
  CHECK_FALSE(template_matches("demo://r/{{a}}", "demo://r/x"));
  CHECK_FALSE(template_matches("demo://r/}", "demo://r/}"));
  CHECK_FALSE(template_matches("", "x"));
}

TEST_CASE("hostile templates take no more than the product of the lengths") {
  std::string many;
  for (int i = 0; i < 500; ++i) {
    many += "{+a}";
  }
  CHECK_FALSE(template_matches(many + "!", std::string(4'000, 'a')));
  CHECK(template_matches(many, std::string(4'000, 'a')));
}
