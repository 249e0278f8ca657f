// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "formats/npm_lock.hpp"
#include "formats/npmrc.hpp"
#include "formats/package_json.hpp"
#include "formats/package_record.hpp"

using namespace cordon;
using namespace cordon::formats;

namespace {

const std::string kDigest = "sha512-" + std::string(86, 'A') + "==";

std::string lock_with(const std::string& entry) {
  return R"({"name":"x","lockfileVersion":3,"packages":{"":{"dependencies":{"a":"1.0.0"}},)" + entry + "}}";
}

std::string refusal(const std::string& entry) {
  const auto lock = read_npm_lock(lock_with(entry), "l");
  return lock ? "" : lock.error().detail;
}

}  // namespace

TEST_CASE("a lock file gives each package with its digest") {
  const auto lock = read_npm_lock(
      lock_with(R"("node_modules/a":{"version":"1.0.0","integrity":"sha1-x )" + kDigest +
                R"(","hasInstallScript":true},"node_modules/a/node_modules/@b/c":{"version":"2.0.0","inBundle":true})"),
      "l");
  REQUIRE(lock);
  REQUIRE(lock->packages.size() == 2);
  CHECK(lock->packages[0] == LockedPackage{"node_modules/a", "a", "1.0.0", kDigest, true});
  CHECK(lock->packages[1].name == "@b/c");
  CHECK(lock->packages[1].integrity.empty());
  CHECK(lock->find("node_modules/a") == lock->packages.data());
  CHECK(lock->find("node_modules/z") == nullptr);
}

TEST_CASE("the digest of a lock file is that of what it says, not of how it is written") {
  const std::string entry = R"("node_modules/a":{"version":"1.0.0","integrity":")" + kDigest + "\"}";
  const auto one = read_npm_lock(lock_with(entry), "l");
  const auto other = read_npm_lock(" " + lock_with(entry) + "\n", "l");
  const auto changed =
      read_npm_lock(lock_with(R"("node_modules/a":{"version":"1.0.1","integrity":")" + kDigest + "\"}"), "l");
  REQUIRE((one && other && changed));
  CHECK(one->digest == other->digest);
  CHECK(one->digest != changed->digest);
}

TEST_CASE("what is not bound to one content is refused") {
  CHECK(refusal(R"("node_modules/a":{"version":"1.0.0"})") == "'node_modules/a' has no sha512 digest");
  CHECK(refusal(R"("node_modules/a":{"version":"1.0.0","integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="})") ==
        "'node_modules/a' has no sha512 digest");
  CHECK(refusal(R"("node_modules/a":{"link":true,"resolved":"../a"})") == "'node_modules/a' is a link to a folder");
  CHECK(refusal(R"("node_modules/a":{"resolved":"git+ssh://git@h/a.git#1","integrity":")" + kDigest + "\"}") ==
        "'node_modules/a' does not come from a registry");
  CHECK(refusal(R"("node_modules/a":{"version":"1.0.0","inBundle":true})") == "'node_modules/a' has no sha512 digest");
  for (const char* kind : {"dependencies", "optionalDependencies", "peerDependencies"}) {
    CHECK(refusal(R"("node_modules/a":{"version":"1.0.0","integrity":")" + kDigest + "\",\"" + kind +
                  R"(":{"b":"HTTPS://r.example/b/-/b-1.0.0.tgz"}})") ==
          "'node_modules/a' wants a package from an address and not from a registry");
  }
  CHECK(refusal(R"("../a":{"version":"1.0.0"})") == "'../a' is no place for a package");
  CHECK(refusal(R"("node_modules/../../a":{"version":"1.0.0"})") == "'node_modules/../../a' is no place for a package");
  CHECK(refusal(R"("node_modules/a":[])") == "'node_modules/a' is no place for a package");
  CHECK_FALSE(read_npm_lock(R"({"lockfileVersion":1,"dependencies":{}})", "l"));
  CHECK_FALSE(read_npm_lock("{", "l"));
}

TEST_CASE("npm's settings are read as npm does") {
  const auto settings = read_npmrc(
      "; a comment\n# another\nregistry = https://r.test/  ; why\n@s:registry=\"https://s.test\"\r\n"
      "//r.test/:_authToken=${TOKEN}\n//s.test/"
      ":_authToken=${NONE}\nempty=${NONE?}\n@t:registry=${NONE}\n[section]\nlist[]=x\nplain\n"
      "token=a#b\nregistry=https://last.test/\n",
      {{"TOKEN", "secret"}});
  CHECK(settings == NpmSettings{{"registry", "https://last.test/"},
                                {"@s:registry", "https://s.test"},
                                {"//r.test/:_authToken", "secret"},
                                {"empty", ""},
                                {"@t:registry", "${NONE}"},
                                {"token", "a#b"}});
}

TEST_CASE("a package's program is found by its name") {
  const auto program = [](const std::string& json, const std::string& bin) {
    const auto found = package_program(json, "package.json", "@s/pkg", bin);
    return found ? *found : "! " + found.error().remedy;
  };
  CHECK(program(R"({"bin":"./dist/index.js"})", "pkg") == "dist/index.js");
  CHECK(program(R"({"bin":{"a":"a.js","b":"./x/../b.js"}})", "b") == "b.js");
  CHECK(program(R"({"bin":{"mcp-server-pkg":"i.js"}})", "pkg") == "i.js");
  CHECK(program(R"({"bin":{"a":"i.js","b":"i.js"}})", "pkg") == "i.js");
  CHECK(program(R"({"bin":{"a":"a.js","b":"b.js"}})", "pkg") == "! it has: a, b");
  CHECK(program(R"({"bin":{"a":"a.js"}})", "b") == "! it has: a");
  CHECK(program(R"({"bin":".\\dist\\index.js"})", "pkg") == "dist/index.js");
  CHECK(program(R"({"bin":{"@s/pkg":"a.js","other":"b.js"}})", "pkg") == "a.js");
  CHECK(program(R"({"bin":{"pkg":"..\\..\\x.js"}})", "pkg") ==
        "! it has none at all, and so is no server that can be started");
  CHECK(program(R"({})", "pkg") == "! it has none at all, and so is no server that can be started");
  CHECK(program(R"({"bin":{"pkg":"../../../etc/passwd"}})", "pkg") ==
        "! it has none at all, and so is no server that can be started");
}

TEST_CASE("a record is read as it was written, and no other") {
  const auto lock =
      read_npm_lock(lock_with(R"("node_modules/a":{"version":"1.0.0","integrity":")" + kDigest + "\"}"), "l");
  REQUIRE(lock);
  const PackageRecord record{.server = "s",
                             .package = "a",
                             .version = "1.0.0",
                             .scripts = {"b"},
                             .platform = "linux-x86_64",
                             .lock_digest = lock->digest,
                             .tree_digest = "sha256:" + std::string(64, '0'),
                             .lock = lock->canonical};
  std::string text = write_package_record(record);
  CHECK(read_package_record(text, "r") == record);
  const PackageRecord image{.server = "s",
                            .kind = policy::Source::Kind::oci,
                            .package = "i",
                            .version = record.tree_digest,
                            .lock_digest = record.tree_digest};
  CHECK(read_package_record(write_package_record(image), "r") == image);
  // One digit of an integrity in the lock file.
  text.replace(text.find("sha512-A"), 8, "sha512-B");
  const auto edited = read_package_record(text, "r");
  REQUIRE_FALSE(edited);
  CHECK(edited.error().detail == "'lock_digest' is not that of 'lock'");
  CHECK_FALSE(read_package_record("[]", "r"));
  CHECK_FALSE(read_package_record("{\"format\":\"other\"}", "r"));
}
