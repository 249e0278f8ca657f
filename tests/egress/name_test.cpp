// SPDX-License-Identifier: Apache-2.0
#include "egress/name.hpp"

#include <doctest/doctest.h>

using namespace cordon::egress;

TEST_CASE("a name has one spelling") {
  CHECK(canonical_host("API.GitHub.com") == "api.github.com");
  CHECK(canonical_host("api.github.com.") == "api.github.com");
  CHECK(canonical_host("_dmarc.a-b.test") == "_dmarc.a-b.test");
  CHECK(canonical_host("localhost") == "localhost");
  CHECK(canonical_host("1.test") == "1.test");
  CHECK(canonical_host(std::string(63, 'a') + ".test") == std::string(63, 'a') + ".test");
}

TEST_CASE("what programs read differently is no name") {
  using namespace std::string_view_literals;
  for (const std::string_view wrong : {""sv,
                                       "."sv,
                                       ".."sv,
                                       "a..b"sv,
                                       ".a"sv,
                                       "a.test.."sv,
                                       "evil.test\0.github.com"sv,
                                       "a\0"sv,
                                       "a%00.test"sv,
                                       "user@a.test"sv,
                                       "a.test:443"sv,
                                       "a test"sv,
                                       "a.test/x"sv,
                                       "a\\.test"sv,
                                       "a.test\n"sv,
                                       "-a.test"sv,
                                       "a-.test"sv,
                                       "*.test"sv,
                                       "[::1]"sv,
                                       "::1"sv,
                                       "127.0.0.1"sv,
                                       "127.1"sv,
                                       "2130706433"sv,
                                       "0x7f.1"sv,
                                       "0x7f000001"sv,
                                       "a.0x10"sv,
                                       "1.2.3.4."sv,
                                       "b\xc3\xbc"
                                       "cher.test"sv,
                                       "a\xef\xbc\x8etest"sv}) {
    CHECK_MESSAGE(!canonical_host(wrong), wrong);
  }
  CHECK(!canonical_host(std::string(64, 'a') + ".test"));
  std::string longest;
  for (int i = 0; i < 126; ++i) {
    longest += "a.";
  }
  CHECK(canonical_host(longest + "b"));    // 253
  CHECK(!canonical_host(longest + "bc"));  // 254
}

TEST_CASE("a policy may spell a name in its own script; a registry has to accept it") {
  CHECK(canonical_policy_host("B\xc3\x9c"
                              "CHER.test")
            .value() == "xn--bcher-kva.test");
  CHECK(canonical_policy_host("xn--bcher-kva.test").value() == "xn--bcher-kva.test");
  CHECK(canonical_policy_host("stra\xc3\x9f"
                              "e.test")
            .value() == "xn--strae-oqa.test");
  CHECK(!canonical_policy_host("xn--a.test"));
  CHECK(!canonical_policy_host("a\xe2\x80\x8b.test"));
  CHECK(
      !canonical_policy_host("user@b\xc3\xbc"
                             "cher.test"));
  CHECK(!canonical_policy_host("\xff.test"));
  CHECK(!canonical_policy_host("127.1"));
  CHECK(!canonical_policy_host(std::string(2000, 'a')));
  CHECK(canonical_policy_host("a..b").error().detail.find("empty label") != std::string::npos);
}

TEST_CASE("below a public suffix anybody has names") {
  for (const char* suffix : {"com", "co.uk", "github.io", "invalid", "s3.amazonaws.com"}) {
    CHECK_MESSAGE(is_public_suffix(suffix), suffix);
  }
  CHECK(!is_public_suffix("example.com"));
  CHECK(!is_public_suffix("example.co.uk"));
}

TEST_CASE("below means below") {
  CHECK(is_below("a.example.com", "example.com"));
  CHECK(is_below("a.b.example.com", "example.com"));
  CHECK(!is_below("example.com", "example.com"));
  CHECK(!is_below(".example.com", "example.com"));
  CHECK(!is_below("aexample.com", "example.com"));
  CHECK(!is_below("example.com.evil.test", "example.com"));
}
