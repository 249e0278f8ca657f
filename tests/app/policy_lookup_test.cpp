// SPDX-License-Identifier: Apache-2.0
#include "app/policy_lookup.hpp"

#include <doctest/doctest.h>

#include "app/paths.hpp"
#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("names of policies") {
  CHECK(valid_name("filesystem"));
  CHECK(valid_name("a.b_c-9"));
  CHECK(valid_name(std::string(64, 'a')));
  CHECK_FALSE(valid_name(std::string(65, 'a')));
  CHECK_FALSE(valid_name(""));
  CHECK_FALSE(valid_name(".hidden"));
  CHECK_FALSE(valid_name("-option"));
  CHECK_FALSE(valid_name("../etc"));
  CHECK_FALSE(valid_name("a/b"));
  CHECK_FALSE(valid_name("a b"));
}

TEST_CASE("the user's policy comes before the system's, and that before the installed one") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  const std::string shipped = temp.file("prefix/share/mcp-cordon/policies/one.yaml", "");
  CHECK(locate_policy(caller, {"one", ""})->path == shipped);
  const std::string system = temp.file("etc/mcp-cordon/policies/one.yaml", "");
  CHECK(locate_policy(caller, {"one", ""})->path == system);
  const std::string own = temp.file("home/.config/mcp-cordon/policies/one.yaml", "");
  CHECK(locate_policy(caller, {"one", ""})->path == own);
  CHECK(locate_policy(caller, {"one", ""})->found_by_name);
}

TEST_CASE("a name that is not there comes with what to type") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  const auto absent = locate_policy(caller, {"one", ""});
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().remedy.find("mcp-cordon init one -- COMMAND") != std::string::npos);
  const auto version = locate_policy(caller, {"one@1.2.3", ""});
  REQUIRE_FALSE(version.has_value());
  CHECK(version.error().remedy.find("mcp-cordon update one VERSION") != std::string::npos);
  CHECK(locate_policy(caller, {"@a/b", ""}).error().remedy.find("update") == std::string::npos);
}

TEST_CASE("an unusable policy does not uncover another one of its name") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("etc/mcp-cordon/policies/one.yaml", "");
  temp.folder("home/.config/mcp-cordon/policies");
  const std::string dangling = temp.link("home/.config/mcp-cordon/policies/one.yaml", "/does/not/exist");
  CHECK(locate_policy(caller, {"one", ""})->path == dangling);
}

TEST_CASE("what cannot be looked at is not taken for absent") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("prefix/share/mcp-cordon/policies/one.yaml", "");
  temp.file("prefix/share/mcp-cordon/policies/one.catalog.json", "");
  temp.folder("home/.config/mcp-cordon");
  const PolicyLocation shipped = *locate_policy(caller, {"one", ""});
  // A loop is an error that root meets too, unlike a folder that is closed.
  SUBCASE("a folder of policies") {
    temp.link("home/.config/mcp-cordon/policies", "policies");
    const Result<PolicyLocation> found = locate_policy(caller, {"one", ""});
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == Errc::file_unreadable);
    CHECK(found.error().where == temp.at("home/.config/mcp-cordon/policies/one.yaml"));
  }
  SUBCASE("a folder of snapshots") {
    temp.link("home/.config/mcp-cordon/snapshots", "snapshots");
    const Result<SnapshotLocation> found = snapshot_to_read(caller, shipped, "");
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == Errc::file_unreadable);
  }
  SUBCASE("a file where a folder would be is an absence") {
    temp.file("home/.config/mcp-cordon/policies", "");
    temp.file("home/.config/mcp-cordon/snapshots", "");
    CHECK(locate_policy(caller, {"one", ""})->path == shipped.path);
    CHECK(snapshot_to_read(caller, shipped, "")->path == parent_of(shipped.path) + "/one.catalog.json");
  }
}

TEST_CASE("a file given with --policy is the kernel's, also where .. follows a symlink") {
  const TempFolder temp;
  temp.file("real/one.yaml", "");
  temp.folder("real/sub");
  temp.folder("proj");
  temp.file("proj/one.yaml", "");
  temp.link("proj/link", temp.at("real/sub"));
  const std::string given = temp.at("proj/link/../one.yaml");
  const Result<PolicyLocation> found = locate_policy(temp.caller(), {"", given});
  REQUIRE(found.has_value());
  CHECK(found->path == temp.at("real/one.yaml"));
  CHECK(found->spelled == given);
  CHECK(snapshot_to_write(temp.caller(), *found, "").path == temp.at("real/one.catalog.json"));
  CHECK(snapshot_to_write(temp.caller(), {temp.at("proj/one.yaml"), "one"}, "link/../x.json").path ==
        temp.at("real/x.json"));
}

TEST_CASE("a policy in the current directory is not found by name") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("here/one.yaml", "");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(temp.at("here"));
  const Result<PolicyLocation> found = locate_policy(caller, {"one", ""});
  std::filesystem::current_path(before);
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == Errc::file_unreadable);
}

TEST_CASE("a mistyped name is told the nearest one") {
  const TempFolder temp;
  temp.file("home/.config/mcp-cordon/policies/filesystem.yaml", "");
  const Result<PolicyLocation> found = locate_policy(temp.caller(), {"filesytem", ""});
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().detail.find("did you mean 'filesystem'?") != std::string::npos);
}

TEST_CASE("an impossible name is refused before any file is looked at") {
  const TempFolder temp;
  CHECK(locate_policy(temp.caller(), {"../one", ""}).error().code == Errc::policy_invalid);
}

TEST_CASE("the snapshot of a file given with --policy lies beside it") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  const PolicyLocation policy = *locate_policy(caller, {"", temp.file("proj/one.yaml", "")});
  CHECK(policy.name == "one");
  CHECK(snapshot_to_read(caller, policy, "")->path == temp.at("proj/one.catalog.json"));
  CHECK(snapshot_to_read(caller, policy, "sub/pin.json")->path == temp.at("proj/sub/pin.json"));
  CHECK(snapshot_to_read(caller, policy, "/abs/pin.json")->path == "/abs/pin.json");
  CHECK_FALSE(snapshot_to_write(caller, policy, "").bound);
}

TEST_CASE("a shipped snapshot is read until the user has reviewed, and is never written") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("prefix/share/mcp-cordon/policies/one.yaml", "");
  const PolicyLocation policy = *locate_policy(caller, {"one", ""});
  const std::string own = temp.at("home/.config/mcp-cordon/snapshots/one.catalog.json");
  CHECK(snapshot_to_read(caller, policy, "")->path == own);

  const std::string shipped = temp.file("prefix/share/mcp-cordon/policies/one.catalog.json", "");
  CHECK(snapshot_to_read(caller, policy, "")->path == shipped);
  CHECK_FALSE(snapshot_to_read(caller, policy, "")->bound);
  CHECK(snapshot_to_write(caller, policy, "").path == own);
  CHECK(snapshot_to_write(caller, policy, "").bound);

  temp.file("home/.config/mcp-cordon/snapshots/one.catalog.json", "");
  CHECK(snapshot_to_read(caller, policy, "")->path == own);
  CHECK(snapshot_to_read(caller, policy, "")->bound);
}

TEST_CASE("the snapshot of a user's own policy found by name lies beside it") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  temp.file("home/.config/mcp-cordon/policies/one.yaml", "");
  const PolicyLocation policy = *locate_policy(caller, {"one", ""});
  CHECK(snapshot_to_write(caller, policy, "").path == temp.at("home/.config/mcp-cordon/policies/one.catalog.json"));
}
