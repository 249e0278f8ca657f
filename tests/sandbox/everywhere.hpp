// SPDX-License-Identifier: Apache-2.0
#pragma once
// Under each backend that is chosen by itself, as we are and as an ordinary user.

#include <doctest/doctest.h>

#include <array>

#include "sandboxed.hpp"

namespace cordon::test {

inline constexpr std::array kBackends = {sandbox::BackendChoice::native, sandbox::BackendChoice::bubblewrap};

// `body` takes the backend and gives what is wrong, see as_ordinary_user().
template <typename Body>
void everywhere(Body body) {
  for (const sandbox::BackendChoice backend : kBackends) {
    if (must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    CHECK(as_we_are([&] { return body(backend); }) == "");
    CHECK(as_ordinary_user([&] { return body(backend); }) == "");
  }
}

}  // namespace cordon::test
