// SPDX-License-Identifier: Apache-2.0
#include "app/ceilings.hpp"

#include <doctest/doctest.h>

#include "app/session_context.hpp"
#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

constexpr const char* kPolicy = "version: 1\nserver: one\nlaunch: {command: [\"/bin/true\"]}\n";
constexpr const char* kStrict = "version: 1\ncatalog: {missing: block}\n";

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  std::vector<std::string> named = {};

  std::string policy(const std::string& more) const { return temp.file("proj/one.yaml", kPolicy + more); }
  // "" when the policy is loaded, else what it was refused for.
  std::string refusal(const std::string& more) const {
    const Result<LoadedPolicy> loaded = load_policy(caller, {"", policy(more), named});
    return loaded ? "" : std::string(name(loaded.error().code)) + ": " + loaded.error().detail;
  }
  std::string ceiling(const std::string& text, const std::string& file = "ceilings/c.yaml") const {
    return temp.file(file, text);
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what is asked for beyond a ceiling is refused with both lines, whoever names the ceiling") {
  Fixture f;
  std::string file = f.temp.at("ceilings/c.yaml");
  SUBCASE("the command line") { f.named = {f.ceiling(kStrict)}; }
  SUBCASE("the environment") { f.caller.environment["MCP_CORDON_CEILING"] = f.ceiling(kStrict); }
  SUBCASE("the system") { file = f.ceiling(kStrict, "etc/mcp-cordon/ceiling.yaml"); }
  CHECK(f.refusal("") == "");
  const std::string refusal = f.refusal("catalog: {missing: flag}\n");
  CHECK(refusal.starts_with("isolation_conflict: " + f.temp.at("proj/one.yaml") + ":4:11: catalog.missing: flag"));
  CHECK(holds(refusal, "the ceiling " + file + ":2:11 accepts no more than block"));
}

TEST_CASE("all ceilings apply together, and all excesses are told") {
  Fixture f;
  f.named = {f.ceiling(kStrict), f.ceiling("version: 1\nisolation: {syscalls: default}\n", "ceilings/d.yaml")};
  f.caller.environment["MCP_CORDON_CEILING"] = f.ceiling("version: 1\naudit: {arguments: digest}\n", "ceilings/e.yaml");
  f.ceiling("version: 1\nisolation: {proc: minimal}\n", "etc/mcp-cordon/ceiling.yaml");
  const std::string refusal =
      f.refusal("catalog: {missing: flag}\nisolation: {syscalls: off}\naudit: {arguments: none}\n");
  for (const std::string key : {"catalog.missing", "isolation.syscalls", "audit.arguments", "isolation.proc"}) {
    CAPTURE(key);
    CHECK(holds(refusal, key + ": "));
  }
  CHECK(f.refusal("isolation: {proc: minimal}\n") == "");
}

TEST_CASE("a ceiling that is named and cannot be used is an error, whatever the policy asks for") {
  Fixture f;
  std::string expected = "file_unreadable";
  SUBCASE("there is none") { f.named = {f.temp.at("absent.yaml")}; }
  SUBCASE("an empty name") { f.named = {""}; }
  SUBCASE("a folder") {
    f.named = {f.temp.folder("ceilings")};
    expected = "file_untrusted";
  }
  SUBCASE("named by the environment") { f.caller.environment["MCP_CORDON_CEILING"] = f.temp.at("absent.yaml"); }
  SUBCASE("others may write it") {
    f.named = {f.temp.file("c.yaml", kStrict, 0666)};
    expected = "file_untrusted";
  }
  SUBCASE("others may write its folder") {
    f.named = {f.ceiling(kStrict)};
    ::chmod(f.temp.at("ceilings").c_str(), 0777);
    expected = "file_untrusted";
  }
  SUBCASE("a symlink") {
    f.ceiling(kStrict);
    f.named = {f.temp.link("link.yaml", f.temp.at("ceilings/c.yaml"))};
    expected = "file_untrusted";
  }
  SUBCASE("of the system, a dangling symlink") {
    f.temp.folder("etc/mcp-cordon");
    f.temp.link("etc/mcp-cordon/ceiling.yaml", "/does/not/exist");
    expected = "file_untrusted";
  }
  SUBCASE("of the system, a folder") {
    f.temp.folder("etc/mcp-cordon/ceiling.yaml");
    expected = "file_untrusted";
  }
  SUBCASE("a fault in it") {
    f.named = {f.ceiling("version: 1\nisolatoin: {}\n")};
    expected = "policy_invalid";
  }
  CHECK(f.refusal("").starts_with(expected));
}

TEST_CASE("paths are compared where they lead") {
  Fixture f;
  f.temp.folder("real/docs");
  f.temp.folder("real/database");
  f.temp.link("link", f.temp.at("real"));
  f.temp.folder("home/projects/a");
  f.named = {f.ceiling("version: 1\nisolation: {filesystem: {read: [" + f.temp.at("link/do*") +
                       ", ~/projects/*], write: [" + f.temp.at("link/data") + "]}}\n")};
  const auto reads = [](const std::string& path) { return "isolation: {filesystem: {read: [\"" + path + "\"]}}\n"; };
  CHECK(f.refusal(reads(f.temp.at("real/docs"))) == "");
  CHECK(f.refusal(reads("~/projects/a")) == "");
  CHECK(f.refusal(reads(f.temp.at("home/projects/a"))) == "");
  CHECK(f.refusal(reads("~/projects")).starts_with("isolation_conflict"));
  CHECK(f.refusal(reads(f.temp.at("real"))).starts_with("isolation_conflict"));
  CHECK(f.refusal(reads(f.temp.at("real/database"))).starts_with("isolation_conflict"));
  // A symlink in what is accepted leads to what is asked for, and counts as that.
  f.temp.link("real/dots", "/etc");
  CHECK(f.refusal(reads(f.temp.at("real/dots"))).starts_with("isolation_conflict"));
}

TEST_CASE("a folder whose own name would be a glob is not taken for one") {
  Fixture f;
  f.temp.folder("a*b/x");
  f.temp.link("link", f.temp.at("a*b"));
  f.named = {f.ceiling("version: 1\nisolation: {filesystem: {read: [" + f.temp.at("link") + "]}}\n")};
  CHECK(f.refusal("").starts_with("policy_invalid: the path leads to"));
}

TEST_CASE("a ceiling is known by the digest of its bytes, and no write grant may reach it") {
  Fixture f;
  f.named = {f.ceiling("version: 1\n")};
  const Result<LoadedPolicy> loaded = load_policy(f.caller, {"", f.policy(""), f.named});
  REQUIRE(loaded.has_value());
  REQUIRE(loaded->ceilings.size() == 1);
  CHECK(loaded->ceilings[0].digest.starts_with("sha256:"));
  policy::Policy greedy = loaded->policy;
  greedy.isolation.write = {{f.temp.at("ceilings"), {}, {}, {}}};
  const Status guarded = check_write_grants(greedy, f.caller, own_paths(f.caller, *loaded));
  REQUIRE_FALSE(guarded.has_value());
  CHECK(holds(guarded.error().detail, "ceilings/c.yaml"));
}

TEST_CASE("many excesses are told up to a bound") {
  std::vector<Error> many(50, Error{Errc::isolation_conflict, "d", "w", "r"});
  const Error error = joined(many);
  CHECK(error.detail.ends_with("and 30 more; mcp-cordon check shows them"));
  CHECK(error.detail.size() < 500);
}
