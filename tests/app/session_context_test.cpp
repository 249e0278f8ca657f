// SPDX-License-Identifier: Apache-2.0
#include "app/session_context.hpp"

#include <doctest/doctest.h>

#include "app/review.hpp"
#include "app/temp_folder.hpp"
#include "formats/snapshot.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

constexpr const char* kPolicy = "version: 1\nserver: one\nlaunch: {command: [\"/bin/true\"]}\n";

catalog::Snapshot snapshot_of(const std::string& server, bool unattended = false) {
  catalog::Snapshot out;
  out.server = server;
  out.reviewer = "tester";
  out.reviewed_at = "2026-01-31T12:00:00Z";
  out.unattended = unattended;
  catalog::seal(out);
  return out;
}

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();

  std::string policy(const std::string& text = kPolicy) const { return temp.file("proj/one.yaml", text); }
  LoadedPolicy loaded(const std::string& text = kPolicy) const {
    Result<LoadedPolicy> out = load_policy(caller, {"", policy(text)});
    REQUIRE_MESSAGE(out.has_value(), out.error().to_string());
    return *out;
  }
  void snapshot(const catalog::Snapshot& snapshot) const {
    temp.file("proj/one.catalog.json", formats::write_snapshot(snapshot));
  }
};

}  // namespace

TEST_CASE("a policy is read, and known by the digest of its bytes") {
  const Fixture f;
  const LoadedPolicy out = f.loaded();
  CHECK(out.policy.server == "one");
  CHECK(out.digest.starts_with("sha256:"));
  CHECK(out.digest != f.loaded(std::string(kPolicy) + "# other\n").digest);
}

TEST_CASE("a policy that others may write is not read") {
  const Fixture f;
  const std::string path = f.policy();
  SUBCASE("the file") { ::chmod(path.c_str(), 0666); }
  SUBCASE("its folder") { ::chmod(f.temp.at("proj").c_str(), 0777); }
  SUBCASE("as a symlink") {
    std::filesystem::rename(path, f.temp.at("proj/real.yaml"));
    f.temp.link("proj/one.yaml", f.temp.at("proj/real.yaml"));
  }
  CHECK(load_policy(f.caller, {"", path}).error().code == Errc::file_untrusted);
}

TEST_CASE("without a snapshot only catalog.missing: flag lets run go on") {
  const Fixture f;
  const LoadedPolicy block = f.loaded();
  const Result<LoadedSnapshot> found = load_snapshot(f.caller, block);
  REQUIRE(found.has_value());
  CHECK_FALSE(found->snapshot.has_value());
  const Error error = admit_snapshot(block, *found).error();
  CHECK(error.code == Errc::snapshot_missing);
  CHECK(error.remedy.find("mcp-cordon review") != std::string::npos);
  CHECK(admit_snapshot(f.loaded(std::string(kPolicy) + "catalog: {missing: flag}\n"), *found).has_value());
}

TEST_CASE("an unattended snapshot needs the policy's word") {
  const Fixture f;
  f.snapshot(snapshot_of("one", true));
  const LoadedPolicy strict = f.loaded();
  const Result<LoadedSnapshot> found = load_snapshot(f.caller, strict);
  REQUIRE(found.has_value());
  CHECK(admit_snapshot(strict, *found).error().code == Errc::snapshot_unattended);
  CHECK(admit_snapshot(f.loaded(std::string(kPolicy) + "catalog: {accept_unattended: true}\n"), *found).has_value());
}

TEST_CASE("a snapshot that is not of this server, a candidate, or a broken file is refused") {
  const Fixture f;
  SUBCASE("another server") { f.snapshot(snapshot_of("two")); }
  SUBCASE("a candidate") {
    catalog::Snapshot candidate = snapshot_of("one");
    candidate.reviewed = false;
    f.snapshot(candidate);
  }
  SUBCASE("broken") { f.temp.file("proj/one.catalog.json", "{}"); }
  CHECK(load_snapshot(f.caller, f.loaded()).error().code == Errc::snapshot_invalid);
}

TEST_CASE("an untrusted snapshot is refused, not treated as missing") {
  const Fixture f;
  f.snapshot(snapshot_of("one"));
  ::chmod(f.temp.at("proj/one.catalog.json").c_str(), 0666);
  CHECK(load_snapshot(f.caller, f.loaded()).error().code == Errc::file_untrusted);
}

TEST_CASE("a stored snapshot is found again") {
  const Fixture f;
  const LoadedPolicy loaded = f.loaded();
  const Result<StoredSnapshot> stored = store_snapshot(f.caller, loaded, snapshot_of("one"));
  REQUIRE(stored.has_value());
  CHECK(stored->path == f.temp.at("proj/one.catalog.json"));
  const Result<LoadedSnapshot> found = load_snapshot(f.caller, loaded);
  CHECK(found->snapshot.has_value());
  CHECK(found->digest == stored->digest);
}

TEST_CASE("the user's snapshot of a shipped policy counts for that policy's bytes alone") {
  const Fixture f;
  const std::string path = f.temp.file("prefix/share/mcp-cordon/policies/one.yaml", kPolicy);
  const LoadedPolicy loaded = *load_policy(f.caller, {"one", ""});
  const Result<StoredSnapshot> stored = store_snapshot(f.caller, loaded, snapshot_of("one"));
  REQUIRE(stored.has_value());
  CHECK(stored->path == f.temp.at("home/.config/mcp-cordon/snapshots/one.catalog.json"));
  CHECK(load_snapshot(f.caller, loaded)->snapshot.has_value());

  f.temp.file("prefix/share/mcp-cordon/policies/one.yaml", std::string(kPolicy) + "tools: {rules: []}\n");
  const LoadedPolicy updated = *load_policy(f.caller, {"one", ""});
  CHECK(load_snapshot(f.caller, updated).error().code == Errc::snapshot_invalid);

  std::filesystem::remove(path);
  f.temp.file("etc/mcp-cordon/policies/one.yaml", kPolicy);
  const LoadedPolicy elsewhere = *load_policy(f.caller, {"one", ""});
  if (!snapshot_to_read(f.caller, elsewhere.location, "")->bound) {
    return;  // root may write there, so that policy's snapshot lies beside it
  }
  CHECK(load_snapshot(f.caller, elsewhere).error().code == Errc::snapshot_invalid);
}

TEST_CASE("a candidate file must be trusted and of this server") {
  const Fixture f;
  const LoadedPolicy loaded = f.loaded();
  catalog::Snapshot candidate = snapshot_of("one");
  candidate.reviewed = false;
  const std::string path = f.temp.file("candidate.json", formats::write_snapshot(candidate));
  CHECK(load_candidate(path, loaded).has_value());
  candidate.server = "two";
  CHECK(load_candidate(f.temp.file("other.json", formats::write_snapshot(candidate)), loaded).error().code ==
        Errc::snapshot_invalid);
  ::chmod(path.c_str(), 0666);
  CHECK(load_candidate(path, loaded).error().code == Errc::file_untrusted);
}
