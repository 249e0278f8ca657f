// SPDX-License-Identifier: Apache-2.0
#include "app/launch_summary.hpp"

#include <doctest/doctest.h>

#include "audit/chain.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

LaunchSummary summary(const std::string& file, const std::vector<std::string>& bodies) {
  LaunchSummary out(file);
  std::uint64_t seq = 0;
  std::string prev(audit::no_previous());
  for (const std::string& body : bodies) {
    const audit::SealedLine line = audit::seal(seq++, "2026-11-29T15:10:07.123Z", prev, body);
    prev = line.hash;
    out.take(std::string_view(line.line).substr(0, line.line.size() - 1));
  }
  return out;
}

constexpr const char* kBegin = R"("event":"begin","server":"one")";

const LaunchSummary& first() {
  static const LaunchSummary out =
      summary("a.jsonl",
              {kBegin,
               R"("event":"launch","argv":["node","--token=[masked]"],"backend":"native","guarantees":{"network":{)"
               R"("strength":"enforced","reason":"r"}},"environment_names":["HOME","LANG"],"ceilings":{"/c":"1"})",
               R"("event":"call","tool":"echo","decision":"allow")",
               R"("event":"call","tool":"echo","decision":"allow")", R"("event":"call","tool":"rm","decision":"block")",
               R"("event":"suppressed","of":"stray","records":7,"bytes":70)",
               R"("event":"refused","from":"client","reason":"message_malformed")"});
  return out;
}

const LaunchSummary& second() {
  static const LaunchSummary out =
      summary("b.jsonl",
              {kBegin,
               R"("event":"launch","argv":["node","--token=[masked]","-v"],"backend":"none","guarantees":{"network":{)"
               R"("strength":"no","reason":"q"}},"environment_names":["HOME","TZ"],"ceilings":{})",
               R"("event":"call","tool":"rm","decision":"allow")"});
  return out;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what changed between two launches is named value by value") {
  const std::string text = comparison_text(first(), second());
  CHECK(holds(text, "\n  argv[2]: - -> -v\n"));
  CHECK(holds(text, "\n  backend: native -> none\n"));
  CHECK(holds(text, "\n  ceilings./c: 1 -> -\n"));
  CHECK(holds(text, "\n  environment_names.LANG: yes -> -\n"));
  CHECK(holds(text, "\n  environment_names.TZ: - -> yes\n"));
  CHECK(holds(text, "\n  guarantees.network.strength: enforced -> no\n"));
  CHECK(holds(text, "\n  guarantees.network.reason: r -> q\n"));
  CHECK(
      holds(text, "\nallowed in both:\n  argv[0]: node\n  argv[1]: --token=[masked]\n  environment_names.HOME: yes\n"));
}

TEST_CASE("what was done stands beside it, and of files nothing is claimed") {
  const std::string text = comparison_text(first(), second());
  CHECK(holds(text, "\ncalls: (A, B)\n  echo allow: 2, 0\n  rm allow: 0, 1\n  rm block: 1, 0\n"));
  CHECK(holds(text, "\n  stray suppressed: 7, 0\n"));
  CHECK(holds(text, "\n  refused message_malformed: 1, 0\n"));
  CHECK(text.ends_with("\nfile access: not observed\n"));
}

TEST_CASE("equal launches differ in nothing") {
  CHECK(holds(comparison_text(first(), first()), "\nchanged: nothing\n"));
}

TEST_CASE("a launch that was refused, and lines that are no records") {
  LaunchSummary refused = summary(
      "c.jsonl", {kBegin, R"("event":"launch_refused","reason":"isolation_conflict","detail":"asks for more")"});
  refused.take("{}");
  CHECK_FALSE(refused.launched());
  CHECK(refused.damaged() == 1);
  const std::string text = comparison_text(refused, first());
  CHECK(holds(text, "refused: isolation_conflict: asks for more\n"));
  CHECK(holds(text, "1 damaged lines were left out"));
}

TEST_CASE("the same as one JSON object") {
  const Result<json::Document> document = json::read(comparison_json("one", first(), second()), {});
  REQUIRE(document.has_value());
  const json::Value root = document->root();
  CHECK(root.find("format").string() == "mcp-cordon.audit-compare");
  CHECK(root.find("version").safe_integer() == 1);
  CHECK(root.find("before").find("file").string() == "a.jsonl");
  CHECK(root.find("after").find("launched").boolean());
  CHECK(root.find("same").find("argv[0]").string() == "node");
  CHECK(root.find("changes").size() == 7);
  CHECK(root.find("calls").size() == 3);
  CHECK(root.find("file_access").string() == "not observed");
}

TEST_CASE("nothing hostile in a record reaches a person raw") {
  const LaunchSummary hostile = summary("d.jsonl", {kBegin, R"("event":"call","tool":"\u001b[31m","decision":"allow")",
                                                    R"("event":"launch","argv":["\u001b]0;x"],"x\u202ey":"\u0007"})"});
  const std::string text = comparison_text(hostile, first());
  for (const char c : text) {
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  }
  CHECK_FALSE(holds(text, "\u202e"));
}

TEST_CASE("declared hosts stand against those used, and grants that nothing used are named") {
  const LaunchSummary a = summary(
      "a.jsonl",
      {kBegin, R"("event":"launch","backend":"native","hosts":["*.w.test:443","a.test:443","b.test:443","c.test:80"])",
       R"("event":"egress","decision":"allowed","host":"a.test","port":443,"address":"1.2.3.4","connection":1)",
       R"("event":"egress_end","host":"a.test","port":443,"connection":1,"how":"closed","bytes_up":10,"bytes_down":20,"ms":5)",
       R"("event":"egress","decision":"flagged","why":"ech","host":"x.w.test","port":443,"connection":2)",
       R"("event":"egress","decision":"denied","reason":"egress_denied","why":"private_address","host":"b.test","port":443)",
       R"("event":"egress","decision":"denied","reason":"egress_denied","why":"unlisted_name","host":"evil.test")"});
  CHECK(a.hosts_declared() == std::vector<std::string>{"*.w.test:443", "a.test:443", "b.test:443", "c.test:80"});
  CHECK(a.hosts_unused() == std::vector<std::string>{"b.test:443", "c.test:80"});
  CHECK(a.others().empty());
  const LaunchSummary b = summary("b.jsonl", {kBegin, R"("event":"launch","backend":"native","hosts":[])"});
  const std::string text = comparison_text(a, b);
  for (const char* line :
       {"  a.test:443: allowed 1 (up 10, down 20 bytes); -\n", "  b.test:443: never used, denied 1; -\n",
        "  c.test:80: never used; -\n", "  evil.test: denied 1; -\n", "  *.w.test:443: used; -\n"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line, text);
  }
  const std::string json = comparison_json("one", a, b);
  CHECK(
      json.find(
          R"("unused":["b.test:443","c.test:80"],"used":[{"host":"a.test:443","allowed":1,"denied":0,"bytes_up":10,"bytes_down":20})") !=
      std::string::npos);
  CHECK(comparison_text(b, b).find("\nhosts: none\n") != std::string::npos);
}
