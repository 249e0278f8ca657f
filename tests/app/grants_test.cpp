// SPDX-License-Identifier: Apache-2.0
#include "app/grants.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

policy::Policy empty_policy() {
  policy::Policy out;
  out.server = "one";
  out.file = "one.yaml";
  return out;
}

policy::Grant grant(std::string path, std::string at = {}, std::string reason = {}) {
  return {std::move(path), std::move(at), std::move(reason), {7, 3}};
}

bool says(const Error& error, std::string_view text) { return error.to_string().find(text) != std::string::npos; }

}  // namespace

TEST_CASE("grants become mounts, parents first, and write implies read") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  temp.folder("data/out");
  temp.folder("home/proj");
  policy.isolation.read = {grant(temp.at("data/out")), grant(temp.at("data")), grant("~/proj", "/proj")};
  policy.isolation.write = {grant(temp.at("data/out"))};
  const Result<Grants> out = resolve_grants(policy, temp.caller());
  REQUIRE(out.has_value());
  REQUIRE(out->mounts.size() == 3);
  CHECK(out->mounts[0].target == "/proj");
  CHECK(out->mounts[0].source == temp.at("home/proj"));
  CHECK(out->mounts[1].target == temp.at("data"));
  CHECK_FALSE(out->mounts[1].writable);
  CHECK(out->mounts[2].target == temp.at("data/out"));
  CHECK(out->mounts[2].writable);
}

TEST_CASE("a missing path is an error with its place") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  policy.isolation.read = {grant(temp.at("nowhere"))};
  const Error error = resolve_grants(policy, temp.caller()).error();
  CHECK(error.code == Errc::policy_invalid);
  CHECK(error.where == "one.yaml:7:3");
  CHECK(says(error, temp.at("nowhere")));
}

TEST_CASE("a path through a symlink is an error that names where it leads") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  temp.folder("real/sub");
  temp.link("link", temp.at("real"));
  SUBCASE("as the last part") { policy.isolation.write = {grant(temp.at("link"))}; }
  SUBCASE("in the middle") { policy.isolation.write = {grant(temp.at("link/sub"))}; }
  const Error error = resolve_grants(policy, temp.caller()).error();
  CHECK(error.code == Errc::policy_invalid);
  CHECK(says(error, temp.at("real")));
}

TEST_CASE("devices and sockets cannot be granted") {
  policy::Policy policy = empty_policy();
  const TempFolder temp;
  policy.isolation.read = {grant("/dev/null")};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "neither a file nor a folder"));
}

TEST_CASE("the home folder, what holds it, and keys in it need a reason") {
  const TempFolder temp;
  temp.folder("home/.ssh");
  for (const std::string& path : {std::string("~"), std::string("/"), temp.path(), std::string("~/.ssh")}) {
    CAPTURE(path);
    policy::Policy policy = empty_policy();
    policy.isolation.read = {grant(path, "/at")};
    CHECK(says(resolve_grants(policy, temp.caller()).error(), "needs a reason"));
    policy.isolation.read = {grant(path, "/at", "because")};
    CHECK(resolve_grants(policy, temp.caller()).has_value());
  }
}

TEST_CASE("a denied path is masked where its grant shows it") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  temp.folder("data/private");
  policy.isolation.read = {grant(temp.at("data"), "/data"), grant(temp.at("data/private/../../data"), "/twice")};
  policy.isolation.deny = {grant(temp.at("data/private"))};
  const Result<Grants> out = resolve_grants(policy, temp.caller());
  REQUIRE(out.has_value());
  CHECK(out->deny == std::vector<std::string>{"/data/private", "/twice/private"});
}

TEST_CASE("a denied path that does not exist is an error") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  temp.folder("data");
  policy.isolation.read = {grant(temp.at("data"))};
  policy.isolation.deny = {grant(temp.at("data/private"))};
  CHECK(resolve_grants(policy, temp.caller()).error().code == Errc::policy_invalid);
}

TEST_CASE("what is denied cannot be granted in part") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  temp.folder("data/private/open");
  policy.isolation.read = {grant(temp.at("data/private/open"))};
  policy.isolation.deny = {grant(temp.at("data/private"))};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "is denied, but"));
}

TEST_CASE("two sources cannot appear at one place") {
  const TempFolder temp;
  policy::Policy policy = empty_policy();
  policy.isolation.read = {grant(temp.folder("a"), "/x"), grant(temp.folder("b"), "/x")};
  CHECK(resolve_grants(policy, temp.caller()).error().code == Errc::policy_invalid);
}

TEST_CASE("an inside path is found outside through the innermost grant") {
  const std::vector<sandbox::Mount> mounts = {{"/home/u/proj", "/data", false}, {"/srv/x", "/data/x", false}};
  CHECK(outside_path(mounts, "/data/a.js") == "/home/u/proj/a.js");
  CHECK(outside_path(mounts, "/data/x/a.js") == "/srv/x/a.js");
  CHECK(outside_path(mounts, "/usr/lib/a.js") == "/usr/lib/a.js");
}
