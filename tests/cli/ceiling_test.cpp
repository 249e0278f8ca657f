// SPDX-License-Identifier: Apache-2.0
// Ceilings, expected facts and compared launches through the program. A server that was started leaves a mark.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "cli/place.hpp"
#include "fakes/peer.hpp"

using namespace cli_test;

namespace {

// A server that writes a mark where it is granted to, and whose secret leaves another one when it is fetched.
struct Marked {
  Place place = {};

  explicit Marked(const std::string& more = "") {
    std::filesystem::create_directory(place.at("data"));
    write_text(place.at("one.yaml"),
               "version: 1\n"
               "server: one\n"
               "launch:\n"
               "  command: [/bin/sh, -c, \"echo started > " +
                   place.at("data") +
                   "/mark\"]\n"
                   "  environment:\n"
                   "    pass: [LANG]\n"
                   "    secrets: {K: {from_command: [/bin/sh, -c, \"echo s3cret; echo > " +
                   place.at("fetched") +
                   "\"]}}\n"
                   "isolation:\n"
                   "  backend: " +
                   required("CORDON_TEST_BACKEND") +
                   "\n"
                   "  filesystem:\n"
                   "    write: [" +
                   place.at("data") +
                   "]\n"
                   "catalog: {missing: flag}\n" +
                   more);
  }

  std::string ceiling(const std::string& text, const std::string& name = "ceiling.yaml") const {
    write_text(place.at(name), "version: 1\n" + text);
    return place.at(name);
  }
  bool started() const { return std::filesystem::exists(place.at("data/mark")); }
  bool touched() const { return started() || std::filesystem::exists(place.at("fetched")); }
  // The error that a client gets, "" for none of ours. What it was told is in `message`.
  std::string refusal(const Words& words, const Words& environment = {}) {
    const fake::Json answer = place.opening(environment, words);
    message = answer["error"]["message"].text;
    return error_type(answer);
  }
  Outcome tool(const std::string& command, const Words& more) const {
    Words words = {command, "--policy", place.at("one.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    return place.tool(words);
  }
  std::string message = {};
};

constexpr const char* kNoWrite = "isolation: {filesystem: {read: [/srv]}}\n";

std::string digest_of(const Outcome& facts) {
  const std::size_t begin = facts.out.find("sha256:");
  REQUIRE(begin != std::string::npos);
  return facts.out.substr(begin, 7 + 64);
}

}  // namespace

TEST_CASE("without a ceiling the server starts") {
  Marked m;
  m.refusal({});
  CHECK(m.started());
}

TEST_CASE("a policy that stays below its ceiling starts") {
  Marked m;
  m.refusal(
      {"--ceiling", m.ceiling("isolation: {filesystem: {write: [" + m.place.at("d*") +
                              "]}}\n"
                              "launch: {environment: {pass: [L*], from_command: true}}\ncatalog: {missing: flag}\n")});
  CAPTURE(m.message);
  CHECK(m.started());
}

TEST_CASE("asking for more: the client is told both lines, nothing is fetched, nothing is started") {
  Marked m;
  const std::string ceiling = m.ceiling(kNoWrite);
  Words words = {};
  Words environment = {};
  SUBCASE("--ceiling") { words = {"--ceiling", ceiling}; }
  SUBCASE("--ceiling=") { words = {"--ceiling=" + ceiling}; }
  SUBCASE("MCP_CORDON_CEILING") { environment = {"MCP_CORDON_CEILING=" + ceiling}; }
  SUBCASE("the second of two") {
    words = {"--ceiling", m.ceiling("audit: {arguments: none}\n", "other.yaml"), "--ceiling", ceiling};
  }
  CHECK(m.refusal(words, environment) == "isolation_conflict");
  CHECK(holds(m.message, m.place.at("one.yaml") + ":11:13: isolation.filesystem.write: '" + m.place.at("data") + "'"));
  CHECK(holds(m.message, "the ceiling " + ceiling + ":2:13 accepts no more than nothing"));
  CHECK(holds(m.place.last_stderr(), "mcp-cordon: isolation_conflict: "));
  CHECK_FALSE(m.touched());
  // It is in the log of its server.
  CHECK(holds(m.place.tool({"audit", "show", "--policy", m.place.at("one.yaml")}).out,
              "launch_refused reason=isolation_conflict"));
}

TEST_CASE("a ceiling that is named and cannot be used stops everything") {
  Marked m;
  std::string ceiling = m.place.at("absent.yaml");
  std::string type = "file_unreadable";
  SUBCASE("missing") {}
  SUBCASE("others may write it") {
    ceiling = m.ceiling("");
    ::chmod(ceiling.c_str(), 0666);
    type = "file_untrusted";
  }
  SUBCASE("misspelled") {
    ceiling = m.ceiling("isolation: {backends: [native]}\n");
    type = "policy_invalid";
  }
  CHECK(m.refusal({"--ceiling=" + ceiling}) == type);
  for (const std::string command : {"facts", "capture", "diff"}) {
    CAPTURE(command);
    CHECK(m.tool(command, {"--ceiling=" + ceiling}).status >= 64);
  }
  CHECK_FALSE(m.touched());
}

TEST_CASE("a ceiling without a name is no ceiling that is left out") {
  Marked m;
  CHECK(m.tool("run", {"--ceiling="}).status == 2);
  CHECK(m.refusal({"--ceiling", ""}) == "file_unreadable");
  CHECK(m.tool("facts", {"--ceiling", ""}).status == 92);
  CHECK_FALSE(m.touched());
}

TEST_CASE("every command that would launch holds to the ceiling") {
  const Marked m;
  const Words over = {"--ceiling", m.ceiling(kNoWrite)};
  CHECK(m.tool("facts", over).status == 65);
  CHECK(m.tool("capture", over).status == 65);
  CHECK(m.tool("diff", over).status == 65);
  CHECK(m.tool("explain", {"tool", over[0], over[1]}).status == 65);
  CHECK(m.tool("review", {"--accept-all", "--reviewer", "robot", over[0], over[1]}).status == 65);
  CHECK_FALSE(m.touched());
  CHECK(m.place.tool({"diff", m.place.at("a.json"), m.place.at("b.json"), over[0], over[1]}).status == 2);
}

TEST_CASE("check reports every excess as a finding, and the ceiling's own faults") {
  const Marked m;
  const std::string policy = m.place.at("one.yaml");
  const Outcome over = m.place.tool({"check", policy, "--ceiling", m.ceiling(std::string(kNoWrite) + "catalog: {}\n")});
  CHECK(over.status == 1);
  CHECK(holds(over.out, policy + ":11:13: isolation.filesystem.write"));
  CHECK(holds(over.out, policy + ":12:11: catalog.missing: flag is asked for"));
  const Outcome within = m.place.tool({"check", policy, "--ceiling", m.ceiling("audit: {}\n")});
  CHECK_MESSAGE(within.status == 0, within.out);
  CHECK_FALSE(m.touched());
  CHECK(m.place.tool({"check", "--ceiling", m.ceiling("audit: {}\n")}).status == 0);
  const Outcome faulty = m.place.tool({"check", "--ceiling", m.ceiling("audt: {}\nlaunhc: {}\n")});
  CHECK(faulty.status == 1);
  CHECK(holds(faulty.out, "unknown key 'audt' (did you mean 'audit'?)"));
  CHECK(holds(faulty.out, "unknown key 'launhc' (did you mean 'launch'?)"));
}

TEST_CASE("expected facts: those that were printed start the server, others nothing") {
  Marked m;
  const std::string digest = digest_of(m.tool("facts", {}));
  CHECK_FALSE(m.touched());
  SUBCASE("others are refused before a secret is fetched") {
    std::string other = digest;
    other.back() = other.back() == '0' ? '1' : '0';
    CHECK(m.refusal({"--expect-facts", other}) == "isolation_conflict");
    CHECK(holds(m.message, digest));
    CHECK_FALSE(m.touched());
  }
  SUBCASE("the same, in an environment that holds other things") {
    m.refusal({"--expect-facts", digest}, {"LANG=C", "TZ=UTC", "OTHER=x"});
    CAPTURE(m.message);
    CHECK(m.started());
  }
  SUBCASE("the same, without the name of the digest") {
    m.refusal({"--expect-facts", digest.substr(7)});
    CHECK(m.started());
  }
  SUBCASE("the policy grants more now") {
    std::string text = read_text(m.place.at("one.yaml"));
    text.replace(text.find("    write:"), 4, "    read: [/usr/share]\n    ");
    write_text(m.place.at("one.yaml"), text);
    CHECK(m.refusal({"--expect-facts", digest}) == "isolation_conflict");
    CHECK_FALSE(m.touched());
  }
  SUBCASE("the command is another now") {
    std::string text = read_text(m.place.at("one.yaml"));
    text.replace(text.find("started"), 7, "renamed");
    write_text(m.place.at("one.yaml"), text);
    CHECK(m.refusal({"--expect-facts", digest}) == "isolation_conflict");
    CHECK_FALSE(m.touched());
  }
  SUBCASE("what is no digest is a wrong command line") {
    for (const std::string bad : {"", "abc", "sha256:abc"}) {
      CAPTURE(bad);
      CHECK(m.tool("run", {"--expect-facts=" + bad}).status == 2);
    }
    CHECK_FALSE(m.touched());
  }
}

TEST_CASE("two launches are compared by number, by name, and the last two by themselves") {
  Marked m;
  m.refusal({});
  m.refusal({"--ceiling", m.ceiling(kNoWrite)});
  m.refusal({"--ceiling", m.ceiling("audit: {}\n")}, {"LANG=C"});
  const Words audit = {"audit", "compare", "--policy", m.place.at("one.yaml")};
  const auto compare = [&](const Words& more) {
    Words words = audit;
    words.insert(words.end(), more.begin(), more.end());
    return m.place.tool(words);
  };
  const Outcome latest = compare({});
  CHECK(latest.status == 0);
  CHECK(holds(latest.out, "refused: isolation_conflict"));
  CHECK(latest.out == compare({"previous", "last"}).out);
  CHECK(latest.out == compare({"2", "3"}).out);
  const Outcome apart = compare({"1", "3", "--format", "json"});
  CHECK(apart.status == 0);
  CHECK(holds(apart.out, R"({"what":"environment_names.LANG","before":null,"after":"yes"})"));
  CHECK(holds(apart.out, R"({"what":"ceilings.)" + m.place.at("ceiling.yaml") + R"(","before":null,"after":"sha256:)"));
  CHECK(holds(apart.out, R"("guarantees.network.strength":"enforced")"));
  CHECK(holds(apart.out, R"("file_access":"not observed")"));
  const std::size_t begin = apart.out.find("\"file\":\"") + 8;
  const std::string log = apart.out.substr(begin, apart.out.find('"', begin) - begin);
  CHECK(compare({log, "3", "--format", "json"}).out == apart.out);
  CHECK(compare({m.place.at("home/.local/state/mcp-cordon/audit/one/" + log), "3", "--format", "json"}).out ==
        apart.out);
  CHECK(compare({"0", "1"}).status == 92);
  CHECK(compare({"1", "4"}).status == 92);
  CHECK(compare({"/tmp/" + log, "3"}).status == 92);
  CHECK(compare({"1"}).status == 2);
}
