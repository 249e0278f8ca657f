// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace cordon;

TEST_CASE("every error class has a name of its own that reads back") {
  std::set<std::string> seen;
  for (int i = static_cast<int>(kFirstErrc); i <= static_cast<int>(kLastErrc); ++i) {
    const auto code = static_cast<Errc>(i);
    CAPTURE(i);
    CHECK(!name(code).empty());
    CHECK(seen.insert(std::string(name(code))).second);
    CHECK(errc_from_name(name(code)) == code);
    CHECK(exit_status(code) >= 64);
    CHECK(exit_status(code) < 126);
    const int rpc = json_rpc_code(code);
    const bool reserved = rpc >= -32768 && rpc <= -32000;
    CHECK((!reserved || rpc == -32601 || rpc == -32602 || rpc == -32603));
  }
  CHECK(!errc_from_name("nonsense"));
}

TEST_CASE("an error says where, what and what to do") {
  CHECK(Error{Errc::policy_invalid, "unknown key 'alow'", "p.yaml:1:2", "did you mean 'allow'?"}.to_string() ==
        "p.yaml:1:2: unknown key 'alow' (did you mean 'allow'?)");
  CHECK(Error{Errc::timed_out, {}, {}, {}}.to_string() == "timed_out");
}
