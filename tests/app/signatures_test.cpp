// SPDX-License-Identifier: Apache-2.0
#include "app/signatures.hpp"
#include "app/compare_catalogs.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "app/command_output.hpp"
#include "app/launch_plan.hpp"
#include "app/review_files.hpp"
#include "app/session_context.hpp"
#include "app/temp_folder.hpp"
#include "core/catalog/compare.hpp"
#include "formats/snapshot.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The public half, as it stands in a .pub file.
std::string make_key(const TempFolder& temp, const std::string& name) {
  const auto made =
      command_output({.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", temp.at(name)},
                      .environment = {"HOME=" + temp.path()},
                      .program = system_program("ssh-keygen")});
  REQUIRE_MESSAGE(made.has_value(), made.error().to_string());
  std::string line = content(temp.at(name) + ".pub");
  line.pop_back();
  return line;
}

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  std::string mine = make_key(temp, "mine");
  std::string other = make_key(temp, "other");

  LoadedPolicy loaded(const std::string& keys) const {
    const Result<LoadedPolicy> out =
        load_policy(caller, {"", temp.file("proj/one.yaml",
                                           "version: 1\nserver: one\nlaunch: {command: [\"/bin/true\"]}\n"
                                           "catalog: {trusted_keys: [" +
                                               keys + "]}\n")});
    REQUIRE_MESSAGE(out.has_value(), out.error().to_string());
    return *out;
  }
  std::string snapshot(bool unattended, const std::string& reviewer = "tester") const {
    catalog::Snapshot out;
    out.server = "one";
    out.reviewer = reviewer;
    out.reviewed_at = "2026-01-31T12:00:00Z";
    out.unattended = unattended;
    return temp.file("proj/one.catalog.json", formats::write_snapshot(out));
  }
  Result<std::string> sign(const LoadedPolicy& policy, const std::string& key) const {
    return sign_snapshot(caller, policy, key, load_snapshot(caller, policy)->digest);
  }
  std::string verdict(const LoadedPolicy& policy) const {
    const Result<LoadedSnapshot> found = load_snapshot(caller, policy);
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    const Status admitted = admit_snapshot(policy, *found);
    return admitted ? "admitted" : std::string(name(admitted.error().code)) + ": " + admitted.error().detail;
  }
};

constexpr const char* kNotTrusted =
    "snapshot_invalid: its signature is not one of a key in catalog.trusted_keys over this very file";

}  // namespace

TEST_CASE("a signature is of one key, one namespace and one text") {
  const Fixture f;
  const Result<std::string> signature = sign_content(f.caller, "text", f.temp.at("mine"));
  REQUIRE_MESSAGE(signature.has_value(), signature.error().to_string());
  CHECK(verify_signature(f.caller, "text", *signature, {f.mine}).has_value());
  CHECK(verify_signature(f.caller, "text", *signature, {f.other, f.mine}).has_value());
  for (const Status& refused :
       {verify_signature(f.caller, "text", *signature, {f.other}),
        verify_signature(f.caller, "texts", *signature, {f.mine}), verify_signature(f.caller, "", *signature, {f.mine}),
        verify_signature(f.caller, "text", "", {f.mine}), verify_signature(f.caller, "text", "nothing", {f.mine}),
        verify_signature(f.caller, "text", *signature, {})}) {
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Errc::snapshot_invalid);
  }
  // A signature that git or a login asked for is none of a snapshot.
  f.temp.file("for-git", "text");
  REQUIRE(command_output(
              {.argv = {"ssh-keygen", "-Y", "sign", "-q", "-f", f.temp.at("mine"), "-n", "git", f.temp.at("for-git")},
               .program = system_program("ssh-keygen")})
              .has_value());
  CHECK_FALSE(verify_signature(f.caller, "text", content(f.temp.at("for-git.sig")), {f.mine}).has_value());
}

TEST_CASE("where the policy trusts keys, only what one of them signed is served") {
  const Fixture f;
  const std::string path = f.snapshot(false);
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  CHECK(f.verdict(policy) == "snapshot_invalid: is not signed, and catalog.trusted_keys asks for it");
  REQUIRE(f.sign(policy, f.temp.at("other")).has_value());
  CHECK(f.verdict(policy) == kNotTrusted);
  const Result<std::string> written = f.sign(policy, f.temp.at("mine"));
  REQUIRE(written.has_value());
  CHECK(*written == path + ".sig");
  CHECK(f.verdict(policy) == "admitted");
  f.snapshot(false, "somebody else");
  CHECK(f.verdict(policy) == kNotTrusted);
}

TEST_CASE("whoever signs what nobody looked at answers for it") {
  const Fixture f;
  f.snapshot(true);
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  CHECK(f.verdict(f.loaded("")) == "snapshot_unattended: was accepted without a person looking at it");
  CHECK(f.verdict(policy).starts_with("snapshot_invalid"));
  REQUIRE(f.sign(policy, f.temp.at("mine")).has_value());
  CHECK(f.verdict(policy) == "admitted");
  CHECK(f.verdict(f.loaded("")).starts_with("snapshot_unattended"));
}

TEST_CASE("a review builds on nothing that none of the trusted keys signed") {
  const Fixture f;
  const std::string path = f.snapshot(false);
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  const auto own = own_paths(f.caller, policy, {f.temp.at("candidate.json")});
  const auto launch = prepare_launch({policy.policy, f.caller, {}, own, {}, LaunchRequest::Depth::show});
  REQUIRE_MESSAGE(launch.has_value(), launch.error().to_string());
  // What another program of the user wrote into the snapshot is what the server offers: without a look at the signature
  // nothing would differ, and what nobody has seen would be signed.
  catalog::Catalog live;
  live.tools = {{"t", R"({"inputSchema":{"type":"object"},"name":"t"})"}};
  catalog::Snapshot forged = *catalog::as_candidate("one", live, nullptr);
  forged.launch = launch->fingerprint;
  forged.reviewed = false;
  f.temp.file("candidate.json", formats::write_snapshot(forged));
  forged.reviewed = true;
  forged.reviewer = "tester";
  forged.reviewed_at = "2026-01-31T12:00:00Z";
  forged.tools[0].effect = "read";
  forged.tools[0].effect_source = catalog::EffectSource::reviewer;
  catalog::seal(forged);
  f.temp.file("proj/one.catalog.json", formats::write_snapshot(forged));
  const ReviewRequest request = {f.caller, {"", policy.location.path}, {}, f.temp.at("candidate.json"), "1"};

  const Result<OpenReview> open = open_review(request, ReviewScope::differences);
  REQUIRE_MESSAGE(open.has_value(), open.error().to_string());
  CHECK(open->must_write);
  REQUIRE(open->review.items().size() == 1);
  CHECK(open->review.items()[0].change.kind == catalog::ChangeKind::added);
  CHECK(open->introduction.find("nobody vouches for the present snapshot: it is not signed") != std::string::npos);

  REQUIRE(f.sign(policy, f.temp.at("other")).has_value());
  CHECK(open_review(request, ReviewScope::differences)->must_write);
  REQUIRE(f.sign(policy, f.temp.at("mine")).has_value());
  const Result<OpenReview> vouched_for = open_review(request, ReviewScope::differences);
  CHECK_FALSE(vouched_for->must_write);
  CHECK(vouched_for->review.items().empty());
}

TEST_CASE("a live comparison with what no trusted key signed is no comparison") {
  const Fixture f;
  (void)f.loaded("\"" + f.mine + "\"");
  (void)f.snapshot(false);
  const auto compared = [&] {
    const auto diff = compare_live({.caller = f.caller, .choice = {"", f.temp.at("proj/one.yaml")}});
    REQUIRE_FALSE(diff.has_value());  // nothing answers as a server there, signed or not
    return diff.error().code;
  };
  CHECK(compared() == Errc::snapshot_invalid);
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  REQUIRE(f.sign(policy, f.temp.at("mine")).has_value());
  CHECK(compared() != Errc::snapshot_invalid);
}

TEST_CASE("only the bytes that were reviewed are signed") {
  const Fixture f;
  f.snapshot(false);
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  const std::string reviewed = load_snapshot(f.caller, policy)->digest;
  f.snapshot(false, "somebody else");
  const Result<std::string> refused = sign_snapshot(f.caller, policy, f.temp.at("mine"), reviewed);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::snapshot_invalid);
  CHECK_FALSE(std::filesystem::exists(f.temp.at("proj/one.catalog.json.sig")));
}

TEST_CASE("what cannot be signed is an error, and nothing is left behind") {
  const Fixture f;
  const LoadedPolicy policy = f.loaded("\"" + f.mine + "\"");
  CHECK(f.sign(policy, f.temp.at("mine")).error().code == Errc::file_unreadable);
  f.snapshot(false);
  CHECK(f.sign(policy, f.temp.at("none")).error().code == Errc::launch_failed);
  CHECK(f.sign(policy, "").error().detail == "there is no key to sign with");
  for (const auto& entry : std::filesystem::directory_iterator(f.caller.state_folder())) {
    CHECK_FALSE(entry.path().filename().string().starts_with("signature-"));
  }
}
