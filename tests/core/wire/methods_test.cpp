// SPDX-License-Identifier: Apache-2.0
#include "core/wire/methods.hpp"

#include <doctest/doctest.h>

using namespace cordon::wire;

TEST_CASE("methods exist by revision, direction and form") {
  const auto to_server = [](Revision revision, const char* method) {
    return lookup(revision, Direction::to_server, Form::request, method).has_value();
  };
  CHECK(to_server(Revision::v2024_11_05, "initialize"));
  CHECK(!to_server(Revision::v2026_07_28, "initialize"));
  CHECK(to_server(Revision::v2026_07_28, "server/discover"));
  CHECK(!to_server(Revision::v2025_11_25, "server/discover"));
  CHECK(!to_server(Revision::v2025_06_18, "tasks/get"));
  CHECK(to_server(Revision::v2025_11_25, "tasks/get"));
  CHECK(!to_server(Revision::v2025_11_25, "tools/Call"));
  CHECK(!to_server(Revision::v2025_11_25, "sampling/createMessage"));
  CHECK(!lookup(Revision::v2025_03_26, Direction::to_client, Form::request, "elicitation/create"));
  CHECK(lookup(Revision::v2025_06_18, Direction::to_client, Form::request, "elicitation/create") ==
        Feature::elicitation);
  CHECK(!lookup(Revision::v2026_07_28, Direction::to_client, Form::request, "ping"));
  CHECK(!lookup(Revision::v2025_11_25, Direction::to_server, Form::notification, "tools/call"));
}

TEST_CASE("revisions are known by their dates") {
  CHECK(revision_from_name("2026-07-28") == Revision::v2026_07_28);
  CHECK(name(Revision::v2025_03_26) == "2025-03-26");
  CHECK(!revision_from_name("2024-10-07"));
}
