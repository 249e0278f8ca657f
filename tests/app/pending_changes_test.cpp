// SPDX-License-Identifier: Apache-2.0
#include "app/pending_changes.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.hpp"
#include "temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("files change together only from what they held when the change was made up") {
  const TempFolder folder;
  Caller caller = folder.caller();
  caller.data_home = folder.folder("data");
  const std::string policy = folder.file("p.yaml", "one");
  const std::string record = folder.at("p.lock.json");
  const auto change = [&](std::string before) {
    return change_together(
        caller, policy,
        {{.path = record, .text = "r", .before = ""}, {.path = policy, .text = "two", .before = std::move(before)}});
  };
  const Status late = change(sha256_text("what it was"));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::launch_changed);
  CHECK(late.error().where == policy);
  CHECK(content(policy) == "one");
  CHECK_FALSE(std::filesystem::exists(record));
  REQUIRE(change(sha256_text("one")));
  CHECK(content(policy) == "two");
  CHECK(content(record) == "r");
  CHECK(change(sha256_text("one")));  // somebody else did the same
  CHECK(change_together(caller, policy, {{.path = record, .text = "R", .before = ""}}).error().code ==
        Errc::launch_changed);
  const auto beside = [&](std::string before) {
    return change_together(caller, policy,
                           {{.path = record, .text = "s", .before = sha256_text("r")},
                            {.path = policy, .before = std::move(before), .stays = true}});
  };
  CHECK_FALSE(beside(sha256_text("one")));
  CHECK(content(record) == "r");
  CHECK(beside(sha256_text("two")));
  CHECK(content(record) == "s");
  CHECK(content(policy) == "two");
  CHECK(complete_changes(caller, policy));  // and nothing waits for anybody
}
