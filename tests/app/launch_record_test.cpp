// SPDX-License-Identifier: Apache-2.0
#include "app/launch_record.hpp"

#include <doctest/doctest.h>

#include "app/facts.hpp"
#include "app/installation_key.hpp"
#include "app/temp_folder.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::app;

using Words = std::vector<std::string>;

TEST_CASE("values that look like secrets are masked in argv, other words stay") {
  CHECK(masked_argv({"node", "--api-key", "k1", "--verbose"}) == Words{"node", "--api-key", "[masked]", "--verbose"});
  CHECK(masked_argv({"node", "--GITHUB_TOKEN=abc"}) == Words{"node", "--GITHUB_TOKEN=[masked]"});
  CHECK(masked_argv({"env", "DB_PASSWORD=x=y"}) == Words{"env", "DB_PASSWORD=[masked]"});
  CHECK(masked_argv({"pg", "postgres://user:p@ss@host/db?x=1"}) == Words{"pg", "postgres://user:[masked]@host/db?x=1"});
  CHECK(masked_argv({"pg", "http://host:80/a@b"}) == Words{"pg", "http://host:80/a@b"});
  CHECK(masked_argv({"token-server", "x"}) == Words{"token-server", "x"});
  CHECK(masked_argv({"node", "--token", "--verbose"}) == Words{"node", "--token", "--verbose"});
}

TEST_CASE("the record of a launch holds names and digests and no value") {
  LoadedPolicy loaded;
  loaded.location.path = "/p/one.yaml";
  loaded.digest = "sha256:policy";
  loaded.ceilings.resize(1);
  loaded.ceilings[0].ceiling.file = "/etc/mcp-cordon/ceiling.yaml";
  loaded.ceilings[0].digest = "sha256:ceiling";
  LoadedSnapshot snapshot;
  snapshot.location.path = "/p/one.catalog.json";
  snapshot.digest = "sha256:file";
  snapshot.snapshot = catalog::Snapshot{};
  snapshot.snapshot->digest = "sha256:catalog";
  PlannedLaunch planned;
  planned.plan.backend = "native";
  planned.plan.argv = {"/usr/bin/node", "--token", "t0ken"};
  planned.plan.environment = {"API_TOKEN=s3cret", "HOME=/home/cordon"};
  planned.plan.guarantees = {{"network", sandbox::Strength::enforced, "net namespace"}};
  sandbox::ViewEntry grant;
  grant.kind = sandbox::EntryKind::bind;
  grant.source = "/data/out";
  grant.target = "/out";
  grant.writable = true;
  grant.grant = true;
  planned.plan.view = {grant};
  planned.prepared.environment_names = {"API_TOKEN", "HOME"};
  planned.prepared.fingerprint.executable = "sha256:node";
  const std::string record = launch_record({"run", loaded, snapshot, planned, {"the script changed"}, true});
  CHECK(record.find("s3cret") == std::string::npos);
  CHECK(record.find("t0ken") == std::string::npos);
  const Result<json::Document> document = json::read(record, {});
  REQUIRE(document.has_value());
  const json::Value root = document->root();
  const auto text = [&root](std::string_view name) { return root.find(name).string(); };
  CHECK(text("event") == "launch");
  CHECK(text("purpose") == "run");
  CHECK(text("policy_digest") == "sha256:policy");
  CHECK(text("snapshot_digest") == "sha256:file");
  CHECK(text("catalog_digest") == "sha256:catalog");
  CHECK(text("executable_digest") == "sha256:node");
  CHECK(text("backend") == "native");
  CHECK(text("plan_digest").starts_with("sha256:"));
  CHECK(text("command_digest").starts_with("sha256:"));
  CHECK(root.find("guarantees").find("network").find("strength").string() == "enforced");
  CHECK(root.find("environment_names").size() == 2);
  CHECK(root.find("launch_differences").size() == 1);
  CHECK(root.find("ceilings").find("/etc/mcp-cordon/ceiling.yaml").string() == "sha256:ceiling");
  CHECK(root.find("grants").find("/data/out").string() == "write");
  CHECK(text("facts_digest").starts_with("sha256:"));
  CHECK(root.find("read_only").boolean());
}

TEST_CASE("the digest of facts hangs on the names that a policy passes, not on those that the caller has") {
  policy::Launch launch;
  launch.pass = {"LANG", "TZ"};
  sandbox::Plan with;
  with.environment = {"HOME=/home/cordon", "LANG=C", "PATH=/bin"};
  sandbox::Plan without = with;
  without.environment = {"HOME=/home/cordon", "PATH=/bin"};
  CHECK(facts_digest(launch, with) == facts_digest(launch, without));
  sandbox::Plan other = with;
  other.argv = {"node"};
  CHECK(facts_digest(launch, with) != facts_digest(launch, other));
  launch.pass = {"LANG"};
  const std::string fewer = facts_digest(launch, with);
  launch.pass = {"LANG", "TZ"};
  CHECK(facts_digest(launch, with) != fewer);
}

TEST_CASE("an installation keeps its key, and another has another") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  const Result<MacKey> first = installation_key(caller);
  REQUIRE_MESSAGE(first.has_value(), first.error().to_string());
  CHECK(installation_key(caller) == first);
  struct stat info{};
  REQUIRE(::stat((caller.state_folder() + "/argument.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const TempFolder other;
  CHECK(installation_key(other.caller()) != first);
}

TEST_CASE("a damaged key is an error, not a new key") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  REQUIRE(installation_key(caller).has_value());
  temp.file("home/.local/state/mcp-cordon/argument.key", "abc\n", 0600);
  CHECK(installation_key(caller).error().code == Errc::audit_unavailable);
}

TEST_CASE("names of sessions differ") {
  CHECK(random_session_id().size() == 16);
  CHECK(random_session_id() != random_session_id());
}
