// SPDX-License-Identifier: Apache-2.0
// check on the machine that is to run the server. `backend: none` keeps these apart from what a sandbox can do here.
#include "app/check_launch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "app/check_files.hpp"
#include "app/planned_launch.hpp"
#include "app/temp_folder.hpp"
#include "core/catalog/compare.hpp"
#include "formats/snapshot.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();

  Fixture() {
    std::filesystem::copy_file("/bin/true", temp.at("server"));
    temp.folder("data");
  }
  // Everything that stands in the text has a line of its own.
  std::string policy(const std::string& grants = "", const std::string& launch = "",
                     const std::string& more = "") const {
    return temp.file("one.yaml", "version: 1\nserver: one\nlaunch:\n  command: [\"" + temp.at("server") +
                                     "\"]\n  home: temporary\n" + launch +
                                     "isolation:\n  backend: none\n  reason: a test\n" + grants + more);
  }
  std::vector<CheckFinding> check(const std::string& path, const std::vector<LoadedCeiling>& ceilings = {}) const {
    return check_file(caller, path, ceilings, CheckDepth::launch);
  }
  // As a review leaves it.
  void review(std::vector<catalog::PinnedTool> tools) const { review(false, std::move(tools)); }
  void review(bool unattended = false, std::vector<catalog::PinnedTool> tools = {}) const {
    const auto loaded = load_policy(caller, {.name = {}, .file = temp.at("one.yaml"), .ceilings = {}});
    REQUIRE_MESSAGE(loaded.has_value(), loaded.error().to_string());
    const auto planned = plan_launch({.caller = caller, .loaded = *loaded, .depth = LaunchRequest::Depth::show});
    REQUIRE_MESSAGE(planned.has_value(), planned.error().to_string());
    catalog::Snapshot snapshot;
    snapshot.server = "one";
    snapshot.reviewer = "tester";
    snapshot.reviewed_at = "2026-01-31T12:00:00Z";
    snapshot.unattended = unattended;
    snapshot.tools = std::move(tools);
    snapshot.launch = planned->prepared.fingerprint;
    catalog::seal(snapshot);
    temp.file("one.catalog.json", formats::write_snapshot(snapshot));
  }
};

std::string all(const std::vector<CheckFinding>& findings) {
  std::string out;
  for (const CheckFinding& finding : findings) {
    out +=
        std::string(name(finding.error.code)) + (finding.stops ? " " : " (note) ") + finding.error.to_string() + "\n";
  }
  return out;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

}  // namespace

TEST_CASE("a policy whose launch nothing stands in the way of has no finding") {
  const Fixture f;
  f.policy();
  f.review();
  CHECK(all(f.check(f.temp.at("one.yaml"))) == "");
}

TEST_CASE("the text alone is looked at when that is asked for") {
  const Fixture f;
  const std::string path = f.temp.file("two.yaml", "version: 1\nserver: two\nlaunch: {command: [/no/such/program]}\n");
  CHECK(check_file(f.caller, path).empty());
  CHECK_FALSE(f.check(path).empty());
}

TEST_CASE("a program that is not there is found also where a grant is missing, and each is told with its line") {
  const Fixture f;
  f.policy("  filesystem:\n    read:\n      - " + f.temp.at("gone") + "\n      - " + f.temp.at("away") + "\n");
  std::filesystem::remove(f.temp.at("server"));
  const std::string found = all(f.check(f.temp.at("one.yaml")));
  CHECK(lines(found) == 4);
  CHECK(says(found, "policy_invalid " + f.temp.at("one.yaml") + ":11:9: '" + f.temp.at("gone")));
  CHECK(says(found, "policy_invalid " + f.temp.at("one.yaml") + ":12:9: '" + f.temp.at("away")));
  CHECK(says(found, "(create it, or take the entry out)"));
  CHECK(says(found, "launch_failed "));
  CHECK(says(found, f.temp.at("server")));
  CHECK(says(found, "snapshot_missing " + f.temp.at("one.catalog.json")));
  CHECK(says(found, "(mcp-cordon review --policy "));
}

TEST_CASE("a policy that others may write is told, as run would refuse it") {
  const Fixture f;
  f.policy();
  f.review();
  std::filesystem::permissions(f.temp.at("one.yaml"), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const std::string found = all(f.check(f.temp.at("one.yaml")));
  CHECK(lines(found) == 1);
  CHECK(says(found, "file_untrusted "));
}

TEST_CASE("secrets: a missing file stops, one that others can read and a variable that is not set are notes") {
  const Fixture f;
  f.policy("", "  environment:\n    secrets:\n      A: {from_file: " + f.temp.at("absent") +
                   "}\n      B: {from_file: " + f.temp.at("token") +
                   "}\n      C: {from_env: NOT_SET_HERE}\n      D: {from_command: [/no/such/helper]}\n");
  f.temp.file("token", "s3cret-value\n", 0644);
  std::filesystem::permissions(f.temp.path(), std::filesystem::perms{0755});
  f.review();
  const std::string found = all(f.check(f.temp.at("one.yaml")));
  CHECK(lines(found) == 4);
  CHECK(says(found, "file_unreadable " + f.temp.at("one.yaml") + ":8:7: secret A: "));
  CHECK(
      says(found, "(note) " + f.temp.at("one.yaml") + ":9:7: note: secret B: others can read '" + f.temp.at("token")));
  CHECK(says(found, "chmod 600 " + f.temp.at("token")));
  CHECK(
      says(found, "(note) " + f.temp.at("one.yaml") + ":10:7: note: secret C: the environment variable NOT_SET_HERE"));
  CHECK(says(found, ":11:7: secret D: "));
  CHECK_FALSE(says(found, "s3cret"));
  // Others cannot reach what lies in a folder that is closed to them.
  std::filesystem::permissions(f.temp.path(), std::filesystem::perms{0700});
  CHECK_FALSE(says(all(f.check(f.temp.at("one.yaml"))), "others can read"));
}

TEST_CASE("a command of a secret is not run") {
  const Fixture f;
  const std::string helper =
      f.temp.file("helper", "#!/bin/sh\necho x > '" + f.temp.at("ran") + "'\necho value\n", 0700);
  f.policy("", "  environment:\n    secrets:\n      A: {from_command: [" + helper + "]}\n");
  f.review();
  CHECK(all(f.check(f.temp.at("one.yaml"))) == "");
  CHECK_FALSE(std::filesystem::exists(f.temp.at("ran")));
}

TEST_CASE("rules that speak of nothing that was reviewed are told") {
  const Fixture f;
  f.policy("", "",
           "tools:\n  rules:\n    - {tools: [wirte], action: block}\n"
           "    - {tools: [write], action: allow, arguments: {/paht: {max_length: 9}, /path: {}}}\n");
  f.review(
      {{.name = "write",
        .definition = R"({"inputSchema":{"properties":{"path":{"type":"string"}}},"name":"write"})",
        .digest = catalog::tool_digest(R"({"inputSchema":{"properties":{"path":{"type":"string"}}},"name":"write"})"),
        .effect = "write",
        .effect_source = catalog::EffectSource::reviewer}});
  const std::string found = all(f.check(f.temp.at("one.yaml")));
  CHECK(says(found, "note: rule 1 (" + f.temp.at("one.yaml") + ":11:7) names no tool of the snapshot"));
  CHECK(says(found, "(note) " + f.temp.at("one.yaml") + ":12:"));
  CHECK(says(found, "looks at /paht, which no tool that it names was reviewed with"));
  CHECK_FALSE(says(found, "looks at /path"));
}

TEST_CASE("a snapshot that would not count is told: unsigned, unattended, of another launch") {
  const Fixture f;
  SUBCASE("unsigned") {
    f.policy("", "",
             "catalog:\n  trusted_keys:\n    - ssh-ed25519 "
             "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n");
    f.review();
    CHECK(says(all(f.check(f.temp.at("one.yaml"))), "snapshot_invalid " + f.temp.at("one.catalog.json") +
                                                        ": is not signed, and catalog.trusted_keys asks for it"));
  }
  SUBCASE("unattended") {
    f.policy();
    f.review(true);
    CHECK(says(all(f.check(f.temp.at("one.yaml"))), "snapshot_unattended "));
  }
  SUBCASE("another launch") {
    f.policy();
    f.review();
    f.temp.file("server", "#!/bin/sh\n", 0755);
    CHECK(says(all(f.check(f.temp.at("one.yaml"))), "launch_changed "));
    f.policy("", "", "catalog: {drift: {launch: flag}}\n");
    CHECK(all(f.check(f.temp.at("one.yaml"))) == "");
  }
}

TEST_CASE("a command that the client gives is no fault, and the rest is looked at") {
  const Fixture f;
  const std::string path = f.temp.file(
      "one.yaml",
      "version: 1\nserver: one\nlaunch: {command_from_client: true}\nisolation: {filesystem: {read: [/no/such]}}\n");
  const std::string found = all(f.check(path));
  CHECK(lines(found) == 3);
  CHECK(says(found, "(note) " + path + ":3:"));
  CHECK(says(found, "policy_invalid "));
  CHECK(says(found, "snapshot_missing "));
}

TEST_CASE("an image without a digest, and a program that fetches without a network, are told") {
  const Fixture f;
  const std::string image = f.temp.file("image.yaml",
                                        "version: 1\nserver: image\nlaunch: {command: [docker, run, -i, --rm, "
                                        "mcp/files:latest]}\nisolation: {backend: docker}\n");
  CHECK(says(all(f.check(image)), "mcp/files:latest"));
  f.temp.file("npx", "#!/bin/sh\n", 0755);
  const std::string fetch = f.temp.file(
      "fetch.yaml", "version: 1\nserver: fetch\nlaunch: {command: [\"" + f.temp.at("npx") + "\", -y, some-package]}\n");
  CHECK(says(all(f.check(fetch)), "fetches 'some-package' at every start"));
}

TEST_CASE("a file that lies where its name is found has its snapshot where run would look") {
  const Fixture f;
  f.temp.file("etc/mcp-cordon/policies/shared.yaml", "version: 1\nserver: shared\nlaunch: {command: [/bin/true]}\n");
  std::filesystem::permissions(f.temp.at("etc/mcp-cordon/policies"), std::filesystem::perms{0555});
  const std::string found = all(f.check(f.temp.at("etc/mcp-cordon/policies/shared.yaml")));
  std::filesystem::permissions(f.temp.at("etc/mcp-cordon/policies"), std::filesystem::perms{0755});
  CHECK(says(found, "(mcp-cordon review shared)"));
}

TEST_CASE("a script that the command names and that is not there is told") {
  const Fixture f;
  const std::string path =
      f.temp.file("one.yaml", "version: 1\nserver: one\nlaunch: {command: [\"" + f.temp.at("server") + "\", \"" +
                                  f.temp.at("gone.mjs") + "\", \"" + f.temp.at("made-later.json") +
                                  "\"], home: temporary}\nisolation: {backend: none, reason: a test}\n");
  f.review();
  const std::string found = all(f.check(path));
  CHECK(lines(found) == 1);
  CHECK(says(found, "(note) " + path + ":3:"));
  CHECK(says(found, "the command names '" + f.temp.at("gone.mjs") + "', which is not there"));
  f.temp.file("gone.mjs", "");
  CHECK_FALSE(says(all(f.check(path)), "which is not there"));
}

TEST_CASE("a script that the command names by a relative path is told") {
  const Fixture f;
  const std::string start = "version: 1\nserver: one\nlaunch:\n  command: [\"" + f.temp.at("server") +
                            "\", srv/index.js]\n  home: temporary\n";
  const std::string end = "isolation: {backend: none, reason: a test}\n";
  CHECK(says(all(f.check(f.temp.file("one.yaml", start + end))), "'srv/index.js', a relative path"));
  CHECK_FALSE(
      says(all(f.check(f.temp.file("one.yaml", start + "  command_from_client: true\n" + end))), "relative path"));
  const std::string cwd = "  cwd: " + f.temp.at("data") + "\n";
  CHECK_FALSE(says(all(f.check(f.temp.file("one.yaml", start + cwd + end))), "a relative path"));
}
