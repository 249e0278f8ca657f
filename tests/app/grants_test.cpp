// SPDX-License-Identifier: Apache-2.0
#include "app/grants.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "app/known_values.hpp"
#include "app/temp_folder.hpp"
#include "base/fd.hpp"

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

TEST_CASE("a sensitive grant says what it gives away, read or write, from above or inside") {
  const TempFolder temp;
  temp.folder("home/.config/gcloud/x");
  temp.folder("home/.config/app");
  for (const bool write : {false, true}) {
    for (const char* path : {"~/.config", "~/.config/gcloud", "~/.config/gcloud/x"}) {
      CAPTURE(path);
      policy::Policy policy = empty_policy();
      std::vector<policy::Grant>& list = write ? policy.isolation.write : policy.isolation.read;
      list.push_back(grant(path, "/at"));
      CHECK(says(resolve_grants(policy, temp.caller()).error(), "needs a reason: it gives away "));
      list.front().reason = "because";
      CHECK(resolve_grants(policy, temp.caller()).has_value());
    }
  }
  policy::Policy policy = empty_policy();
  policy.isolation.read = {grant("~/.config/app")};
  CHECK(resolve_grants(policy, temp.caller()).has_value());
}

TEST_CASE("a write grant of what steers other programs needs a reason, a read grant does not") {
  const TempFolder temp;
  temp.file("proj/.vscode/settings.json", "{}");
  temp.file("proj/.git/hooks/pre-commit", "");
  temp.file("proj/AGENTS.md", "");
  for (const std::string name : {"proj/.vscode", "proj/.vscode/settings.json", "proj/.git/hooks", "proj/AGENTS.md"}) {
    CAPTURE(name);
    policy::Policy policy = empty_policy();
    policy.isolation.write = {grant(temp.at(name))};
    CHECK(says(resolve_grants(policy, temp.caller()).error(), "needs a reason: it decides what other programs do"));
    policy.isolation.write = {grant(temp.at(name), "", "because")};
    CHECK(resolve_grants(policy, temp.caller()).has_value());
    policy.isolation.write.clear();
    policy.isolation.read = {grant(temp.at(name))};
    CHECK(resolve_grants(policy, temp.caller()).has_value());
  }
}

TEST_CASE("listed sockets are sockets, and sockets are not granted") {
  const TempFolder temp;
  const std::string path = temp.at("s");
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::ranges::copy(path, address.sun_path);
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  policy::Policy policy = empty_policy();
  policy.isolation.unix_sockets = {grant(path)};
  const Result<Grants> out = resolve_grants(policy, temp.caller());
  REQUIRE(out.has_value());
  CHECK(out->unix_sockets == std::vector<std::string>{path});
  CHECK(out->mounts.empty());
  temp.link("link", path);
  policy.isolation.unix_sockets = {grant(temp.at("link"))};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "leads through a symlink"));
  policy.isolation.unix_sockets = {grant(temp.file("file", ""))};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "is no socket"));
  policy.isolation.unix_sockets = {grant(temp.at("nowhere"))};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "cannot be granted"));
  policy.isolation.unix_sockets.clear();
  policy.isolation.read = {grant(path)};
  CHECK(says(resolve_grants(policy, temp.caller()).error(), "isolation.unix_sockets"));
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

TEST_CASE("roots are the granted folders, where the server sees them") {
  const TempFolder temp;
  const std::string data = temp.folder("data");
  const std::string file = temp.file("file", "x");
  PreparedLaunch launch;
  launch.spec.mounts = {{.source = data, .target = "/data"},
                        {.source = file, .target = "/file"},
                        {.source = data, .target = "/data"},
                        {.source = data, .target = "/again"}};
  CHECK(granted_folders(launch) == std::vector<std::string>{"/data", "/again"});
}
