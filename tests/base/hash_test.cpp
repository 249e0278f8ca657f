// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace cordon;

TEST_CASE("SHA-256 agrees with the published vectors") {
  // FIPS 180-4 examples.
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_text("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 parts;
  parts.update("a");
  parts.update("bc");
  CHECK(parts.finish() == sha256("abc"));
}

TEST_CASE("the keyed digest depends on the key") {
  MacKey key{};
  const Digest first = hmac_sha256(key, "x");
  key[0] = 1;
  CHECK(first != hmac_sha256(key, "x"));
}

TEST_CASE("a million letters and the keyed digest agree with the published vectors") {
  // FIPS 180-4 examples; RFC 4231, case 1 and 2: a shorter key is the same as one filled up with zeros.
  CHECK(hex(sha256(std::string(1'000'000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  MacKey key{};
  std::fill_n(key.begin(), 20, std::uint8_t{0x0b});
  CHECK(hex(hmac_sha256(key, "Hi There")) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  key = {'J', 'e', 'f', 'e'};
  CHECK(hex(hmac_sha256(key, "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("a key made ready once gives the digests that it gives each time") {
  MacKey key{};
  key[3] = 7;
  const Mac mac(key);
  std::string text;
  for (std::size_t length = 0; length < 200; ++length) {
    REQUIRE(mac.of(text) == hmac_sha256(key, text));
    text += static_cast<char>(length);
  }
  CHECK(Mac(MacKey{}).of("x") != mac.of("x"));
}

TEST_CASE("every way to cut a text gives the same digest") {
  std::string text;
  for (std::size_t length = 0; length < 300; ++length) {
    const Digest expected = sha256(text);
    for (const std::size_t cut : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, length / 2}) {
      Sha256 parts;
      parts.update(std::string_view(text).substr(0, cut));
      parts.update(std::string_view(text).substr(std::min(cut, text.size())));
      REQUIRE(parts.finish() == expected);
    }
    text += static_cast<char>(length * 7 + 13);
  }
}
