// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <doctest/doctest.h>

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
