// SPDX-License-Identifier: Apache-2.0
#include "core/gate/sealed_state.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/json/write.hpp"

using namespace cordon;
using namespace cordon::gate;

namespace {

const MacKey kKey = {7};

SealedState state() {
  SealedState out;
  out.stage = Confirmations::Stage::granted;
  out.server = "files";
  out.session = "abc";
  out.tool = "t\xc3\xa4\"\n";
  out.call = std::string(64, 'c');
  out.nonce = std::string(64, 'n');
  out.expires = {123'456};
  out.inner = R"("\ud800 \u00e9 é \/")";
  return out;
}

}  // namespace

TEST_CASE("a sealed state comes back as it was, the server's own byte for byte") {
  const std::string sealed = seal(kKey, state());
  CHECK(looks_sealed(sealed));
  CHECK(json::quoted(sealed) == '"' + sealed + '"');
  const auto back = unseal(kKey, sealed);
  REQUIRE(back);
  CHECK(back->stage == Confirmations::Stage::granted);
  CHECK(back->server == "files");
  CHECK(back->session == "abc");
  CHECK(back->tool == state().tool);
  CHECK(back->call == state().call);
  CHECK(back->nonce == state().nonce);
  CHECK(back->expires == state().expires);
  CHECK(back->inner == state().inner);
  SealedState asked = state();
  asked.stage = Confirmations::Stage::asked;
  asked.inner.reset();
  CHECK(unseal(kKey, seal(kKey, asked))->stage == Confirmations::Stage::asked);
  CHECK_FALSE(unseal(kKey, seal(kKey, asked))->inner);
  for (std::size_t length = 0; length < 7; ++length) {
    asked.inner = std::string(length, 'x');
    CHECK(unseal(kKey, seal(kKey, asked))->inner == asked.inner);
  }
}

TEST_CASE("a state that was altered anywhere, or sealed with another key, is none") {
  const std::string sealed = seal(kKey, state());
  CHECK_FALSE(unseal(MacKey{8}, sealed));
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string altered = sealed;
    altered[at] = altered[at] == 'A' ? 'B' : 'A';
    CHECK_FALSE(unseal(kKey, altered));
    CHECK_FALSE(unseal(kKey, sealed.substr(0, at)));
  }
  CHECK_FALSE(unseal(kKey, sealed + "0"));
  CHECK_FALSE(unseal(kKey, ""));
}
