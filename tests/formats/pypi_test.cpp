// SPDX-License-Identifier: Apache-2.0
// The texts that pip, uv and wheels bring.
#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "formats/ini.hpp"
#include "formats/netrc.hpp"
#include "formats/package_record.hpp"
#include "formats/pip_report.hpp"
#include "formats/pypi_lock.hpp"
#include "formats/pypi_program.hpp"
#include "formats/uv_settings.hpp"

using namespace cordon;
using namespace cordon::formats;

namespace {

const std::string kDigest(64, 'a');
const std::string kPython = "cpython-311-x86_64-linux-gnu";
const std::string kArchive = R"({"hash":"sha256=)" + kDigest + "\"}";

std::string item(const std::string& rest, const std::string& info) {
  return R"({"download_info":)" + info + R"(,"metadata":{"name":"Dep_x","version":"1.0"})" + rest + "}";
}
std::string report(const std::string& items) { return R"({"version":"1","install":[)" + items + "]}"; }
std::string refusal(const std::string& items) {
  const auto read = read_pip_report(report(items), "r");
  return read ? std::string() : read.error().detail;
}
std::string wheel_info(const std::string& archive) {
  return R"({"url":"https://x.test/dep_x-1.0-py3-none-any.whl#egg=1","archive_info":)" + archive + "}";
}

}  // namespace

TEST_CASE("a report of pip names wheels of an index, each with its digest") {
  const std::string good = item(R"(,"is_direct":false)", wheel_info(R"({"hashes":{"sha256":")" + kDigest + "\"}}"));
  const auto read = read_pip_report(report(good), "r");
  REQUIRE(read);
  CHECK(*read == std::vector<PipChoice>{
                     {.package = {"dep-x", "1.0", kDigest}, .url = "https://x.test/dep_x-1.0-py3-none-any.whl"}});
  CHECK(read_pip_report(report(item("", wheel_info(kArchive))), "r"));
  CHECK(refusal(item("", wheel_info(R"({"hash":"md5=00"})"))) == "'Dep_x' has no sha256 digest");
  CHECK(refusal(item(R"(,"is_direct":true)", wheel_info(kArchive))) ==
        "'Dep_x' comes from an address and not from the index");
  CHECK(refusal(item("", R"({"url":"https://x.test/y","vcs_info":{}})")) ==
        "'Dep_x' comes from an address and not from the index");
  CHECK(refusal(item("", R"({"url":"https://x.test/dep-1.0.tar.gz","archive_info":)" + kArchive + "}")) ==
        "'Dep_x' is no wheel, and building it would run its code");
  CHECK(refusal(good + "," + good) == "names 'dep-x' twice");
  CHECK(refusal(R"({"metadata":{"name":"a b"}})") == "'a b' has no proper name and version");
  CHECK_FALSE(read_pip_report("{}", "r"));
  CHECK_FALSE(read_pip_report("[", "r"));
  CHECK_FALSE(read_pip_report(R"({"version":"2","install":[]})", "r"));
}

TEST_CASE("a lock file of wheels has one spelling and no other") {
  const std::string hash = " --hash=sha256:" + kDigest;
  const std::string first = "# wheels for " + kPython + "\n";
  const std::string line = "a==1.0" + hash + "\n";
  const std::string text = write_pypi_lock({kPython, {{"b", "1.0", kDigest}, {"a", "2!1.0+x", kDigest}}});
  CHECK(text == first + "a==2!1.0+x" + hash + "\nb==1.0" + hash + "\n");
  const auto read = read_pypi_lock(text, "l");
  REQUIRE(read);
  CHECK(read->python == kPython);
  CHECK(read->packages.size() == 2);
  CHECK(read_pypi_lock(first + line, "l"));
  for (const std::string& other :
       {std::string(), first, line, first + line + line, first + line + "\n", first + line + "-e .\n",
        first + "--index-url https://x.test\n" + line, first + "A==1.0" + hash + "\n", first + "a==1.0\n",
        first + "a @ https://x.test/a.whl" + hash + "\n", first + "a==1.0" + hash + hash + "\n",
        first + "b==1.0" + hash + "\n" + line}) {
    CAPTURE(other);
    CHECK_FALSE(read_pypi_lock(other, "l"));
  }
  CHECK(python_version_of(kPython) == "3.11");
  CHECK(python_version_of("cpython-313t-aarch64-linux-musl") == "3.13t");
  CHECK(python_version_of("pypy39-pp73-x86_64-linux-gnu").empty());
}

TEST_CASE("a record of wheels is read as it was written, and no other") {
  PackageRecord record{.server = "s",
                       .kind = policy::Source::Kind::pypi,
                       .package = "a[x]",
                       .version = "1.0",
                       .platform = kPython,
                       .tree_digest = "sha256:" + kDigest,
                       .lock = write_pypi_lock({kPython, {{"a", "1.0", kDigest}}})};
  record.lock_digest = sha256_text(record.lock);
  const std::string text = write_package_record(record);
  CHECK(read_package_record(text, "r") == record);
  std::string edited = text;
  edited.replace(edited.find("hash=sha256:aaaa"), 16, "hash=sha256:baaa");
  CHECK_FALSE(read_package_record(edited, "r"));
  PackageRecord elsewhere = record;
  elsewhere.platform = "cpython-312-x86_64-linux-gnu";
  CHECK_FALSE(read_package_record(write_package_record(elsewhere), "r"));
  PackageRecord scripts = record;
  scripts.scripts = {"a"};
  CHECK_FALSE(read_package_record(write_package_record(scripts), "r"));
  PackageRecord loose = record;
  loose.lock = "a\n";
  loose.lock_digest = sha256_text(loose.lock);
  CHECK_FALSE(read_package_record(write_package_record(loose), "r"));
}

TEST_CASE("a wheel's program is found by its name") {
  const auto program = [](const std::string& text, const std::string& bin) {
    const auto found = pypi_program(text, "entry_points.txt", "my-pkg[x]", bin);
    return found ? found->module + "|" + found->attribute : "! " + found.error().remedy;
  };
  const std::string two = "[console_scripts]\nmy-pkg = a.b:main\nOther = c:App.run [x]\n[gui_scripts]\ng = h:i\n";
  CHECK(program(two, "my-pkg") == "a.b|main");
  CHECK(program(two, "my_pkg") == "a.b|main");
  CHECK(program(two, "Other") == "c|App.run");
  CHECK(program(two, "other") == "! it has: Other, my-pkg");
  CHECK(program(two, "g") == "! it has: Other, my-pkg");
  CHECK(program("[console_scripts]\nother = a:b\n", "my-pkg") == "a|b");
  CHECK(program("[console_scripts]\nmy-pkg = a\nx = os;evil:b\ny = a:b()\n", "my-pkg") ==
        "! it has none at all, and so is no server that can be started");
  CHECK(program("", "my-pkg") == "! it has none at all, and so is no server that can be started");
}

TEST_CASE("settings are read as pip and curl do") {
  const Ini ini = read_ini(
      "x = before\n[global]\n# no\nindex-url: https://a.test\nextra-index-url =\n  https://b.test\n"
      "\n  https://c.test\ntimeout=1\ntimeout=2\nplain\n[install]\nindex-url=https://d.test/?a=b\r\n",
      true);
  CHECK(
      ini ==
      Ini{{"global",
           {{"index-url", "https://a.test"}, {"extra-index-url", "https://b.test\nhttps://c.test"}, {"timeout", "2"}}},
          {"install", {{"index-url", "https://d.test/?a=b"}}}});
  const auto netrc = read_netrc(
      "# mine\nmachine A.test login me password \"p \\\"w\"\nmacdef init\nmachine no\n\nmachine b.test\n  login x\n"
      "  account y\n  password z\ndefault login d password e\n");
  CHECK(netrc == std::vector<NetrcEntry>{{"a.test", "me", "p \"w"}, {"b.test", "x", "z"}, {"", "d", "e"}});
  CHECK(netrc_entry(netrc, "b.test")->login == "x");
  CHECK(netrc_entry(netrc, "c.test")->login == "d");
  CHECK_FALSE(netrc_entry({}, "c.test"));
}

TEST_CASE("uv's indexes are read, and refused where they say more than is understood") {
  const auto read = read_uv_settings(
      "native-tls = true\nindex-url = \"https://a.test\"  # main\n[pip]\nextra-index-url = [\"https://b.test\", "
      "'https://c.test',]\n[[index]]\nname = \"d\"\nurl = \"https://d.test\"\n[[index]]\nurl = \"https://e.test\"\n"
      "default = true\n[tool]\nurl = [\n",
      "uv.toml");
  REQUIRE(read);
  CHECK(*read == UvIndexes{"https://e.test", {"https://b.test", "https://c.test", "https://d.test"}});
  for (const char* other :
       {"index-url = '''https://a.test'''", "index-url = \"https://a.test\\n\"", "extra-index-url = [",
        "extra-index-url = [\"a\" \"b\"]", "index = [{url = \"https://a.test\"}]", "index-url = x",
        "[[index]]\nurl = \"https://a.test\"\nexplicit = true"}) {
    CAPTURE(other);
    CHECK_FALSE(read_uv_settings(other, "uv.toml"));
  }
}
