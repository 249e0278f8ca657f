// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "audit/log_text.hpp"
#include "base/hash.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::audit;
using cordon::audit::test::Log;
using cordon::audit::test::make_log;
using cordon::audit::test::make_logs;
using cordon::audit::test::verify;
namespace test = cordon::audit::test;

namespace {

std::vector<std::string> lines_of(const std::string& content) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < content.size()) {
    const std::size_t end = content.find('\n', begin) + 1;
    lines.push_back(content.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += line;
  }
  return out;
}

bool has(const VerifyReport& report, FaultKind kind, const std::string& file, std::uint64_t line) {
  return std::ranges::any_of(report.faults, [&](const Fault& fault) {
    return fault.kind == kind && fault.file == file && fault.line == line;
  });
}

}  // namespace

TEST_CASE("an untouched log is intact, in any chunking") {
  const auto logs = make_logs(3, 5);
  for (const std::size_t chunk : {1U, 7U, 100'000U}) {
    const VerifyReport report = verify(logs, nullptr, chunk);
    CHECK(report.intact());
    CHECK(report.records == 18);
    REQUIRE(report.files.size() == 3);
    CHECK(report.files[0].name == logs[0].name);
    CHECK(report.head == logs[2].head);
  }
}

TEST_CASE("an empty folder is intact and has no head") {
  const VerifyReport report = verify({});
  CHECK(report.intact());
  CHECK_FALSE(report.head);
}

TEST_CASE("each changed byte of a log is found") {
  const auto logs = make_logs(2, 2);
  for (std::size_t which = 0; which < logs.size(); ++which) {
    for (std::size_t at = 0; at < logs[which].content.size(); ++at) {
      for (const int flip : {1, 0x20, 0x80}) {
        auto changed = logs;
        changed[which].content[at] = static_cast<char>(changed[which].content[at] ^ flip);
        CAPTURE(which);
        CAPTURE(at);
        REQUIRE_FALSE(verify(changed).intact());
      }
    }
  }
}

TEST_CASE("an altered record is named by file and line, and alone") {
  auto logs = make_logs(2, 4);
  const std::size_t at = logs[0].content.find("\"n\":1");
  logs[0].content[at + 4] = '7';
  const VerifyReport report = verify(logs);
  REQUIRE(report.faults.size() == 1);
  CHECK(has(report, FaultKind::altered, logs[0].name, 3));
}

TEST_CASE("a removed record is named by the line behind it") {
  auto logs = make_logs(1, 5);
  auto lines = lines_of(logs[0].content);
  lines.erase(lines.begin() + 2, lines.begin() + 4);
  logs[0].content = joined(lines);
  const VerifyReport report = verify(logs);
  REQUIRE(report.faults.size() == 1);
  CHECK(has(report, FaultKind::removed, logs[0].name, 3));
  CHECK(report.faults[0].detail == "records 2 to 3 are missing before this line");
}

TEST_CASE("swapped records are reordered, not removed") {
  auto logs = make_logs(1, 5);
  auto lines = lines_of(logs[0].content);
  std::swap(lines[2], lines[3]);
  logs[0].content = joined(lines);
  const VerifyReport report = verify(logs);
  REQUIRE(report.faults.size() == 1);
  CHECK(has(report, FaultKind::reordered, logs[0].name, 4));
}

TEST_CASE("a repeated record is found") {
  auto logs = make_logs(1, 3);
  auto lines = lines_of(logs[0].content);
  lines.insert(lines.begin() + 2, lines[1]);
  logs[0].content = joined(lines);
  CHECK(has(verify(logs), FaultKind::reordered, logs[0].name, 3));
}

TEST_CASE("a record with a recomputed hash does not fit its neighbours") {
  auto logs = make_logs(1, 3);
  auto lines = lines_of(logs[0].content);
  const auto record = read_line(std::string_view(lines[2]).substr(0, lines[2].size() - 1));
  REQUIRE(record);
  lines[2] = seal(record->seq, record->time, record->prev, "\"event\":\"call\",\"n\":99").line;
  logs[0].content = joined(lines);
  CHECK(has(verify(logs), FaultKind::altered, logs[0].name, 4));
}

TEST_CASE("a chain rewritten to its end is found by the launch that follows, or by a head that was noted") {
  auto logs = make_logs(2, 3);
  Log forged = make_log(0, {}, 2);
  test::add(forged, "\"event\":\"call\",\"n\":99");
  const Head noted = logs[0].head;
  logs[0].content = forged.content;
  const VerifyReport report = verify(logs);
  CHECK(has(report, FaultKind::altered, logs[0].name, 4));
  CHECK_FALSE(verify({logs[0]}, &noted).intact());
  CHECK(verify({logs[0]}).intact());  // the honest limit: nothing else knows the last launch
}

TEST_CASE("records cut off the end of an ended launch are found by the next launch") {
  auto logs = make_logs(2, 3);
  auto lines = lines_of(logs[0].content);
  lines.pop_back();
  logs[0].content = joined(lines);
  CHECK(has(verify(logs), FaultKind::removed, logs[0].name, 3));
}

TEST_CASE("records cut off the newest launch are found by a head that was noted") {
  auto logs = make_logs(2, 3);
  const Head noted = logs[1].head;
  auto lines = lines_of(logs[1].content);
  lines.pop_back();
  logs[1].content = joined(lines);
  CHECK(verify(logs).intact());
  const VerifyReport report = verify(logs, &noted);
  CHECK(has(report, FaultKind::head_missing, logs[1].name, 3));
  CHECK(report.head_was_given);
}

TEST_CASE("records added behind the end that a later launch saw are found") {
  auto logs = make_logs(2, 2);
  test::add(logs[0], "\"event\":\"call\",\"n\":5");
  CHECK(has(verify(logs), FaultKind::added, logs[0].name, 4));
}

TEST_CASE("a launch that still lived may go on behind the record that the next one saw") {
  Log first = make_log(0, {}, 2);
  const Log second = make_log(1, {{first.head, true, false}}, 1);
  test::add(first, "\"event\":\"call\",\"n\":5");
  const Log third = make_log(2, {{second.head, false, false}, {first.head, false, false}}, 1);
  CHECK(verify({first, second, third}).intact());
  test::add(first, "\"event\":\"call\",\"n\":6");
  CHECK(has(verify({first, second, third}), FaultKind::added, first.name, 5));
}

TEST_CASE("a missing launch is named by the launch that follows it") {
  auto logs = make_logs(3, 2);
  const std::string gone = logs[1].name;
  logs.erase(logs.begin() + 1);
  const VerifyReport report = verify(logs);
  CHECK(has(report, FaultKind::missing_launch, logs[1].name, 1));
  CHECK(has(report, FaultKind::added, logs[0].name, 0));
  CHECK(report.to_text().contains(gone));
}

TEST_CASE("a launch put between two others is found") {
  auto logs = make_logs(2, 2);
  Log extra = make_log(0, {{logs[0].head, false, false}}, 1);
  extra.name = test::file_name(0).substr(0, 23) + "-zz.jsonl";
  const VerifyReport report = verify({logs[0], extra, logs[1]});
  CHECK(has(report, FaultKind::added, extra.name, 0));
  CHECK(has(report, FaultKind::altered, extra.name, 1));  // its first record names another file
}

TEST_CASE("two files that changed their names are found") {
  auto logs = make_logs(2, 2);
  std::swap(logs[0].content, logs[1].content);
  CHECK_FALSE(verify(logs).intact());
}

TEST_CASE("a torn end is reported, and not in a log that is being written") {
  auto logs = make_logs(1, 3);
  logs[0].content.resize(logs[0].content.size() - 20);
  CHECK(has(verify(logs), FaultKind::torn, logs[0].name, 4));
  logs[0].state = FileState::live;
  CHECK(verify(logs).intact());
}

TEST_CASE("an empty file is torn") {
  CHECK(has(verify({{test::file_name(0), "", FileState::ended, {}}}), FaultKind::torn, test::file_name(0), 0));
}

TEST_CASE("a torn end that was closed is no fault, unless its bytes change afterwards") {
  Log log = make_log(0, {}, 2);
  const std::string torn = "{\"seq\":3,\"time\":\"2027";
  log.content += torn + "\n";
  test::add(log, recovered_members(torn.size(), sha256_text(torn)));
  VerifyReport report = verify({log});
  CHECK(report.intact());
  CHECK(report.files[0].recovered_lines == std::vector<std::uint64_t>{5});
  CHECK(report.to_text().contains(":5: note: closes the torn end"));
  Log changed = log;
  changed.content[changed.content.find("2027") + 3] = '8';
  CHECK_FALSE(verify({changed}).intact());
}

TEST_CASE("a recovered record vouches for nothing but what stands right before it") {
  Log log = make_log(0, {}, 2);
  test::add(log, recovered_members(5, sha256_text("hello")));
  CHECK(has(verify({log}), FaultKind::altered, log.name, 4));
}

TEST_CASE("a record that lost only its line feed is kept") {
  Log log = make_log(0, {}, 2);
  test::add(log, recovered_members(0, sha256_text("")));
  CHECK(verify({log}).intact());
}

TEST_CASE("a log whose first record is gone does not blame the logs before it") {
  auto logs = make_logs(2, 3);
  auto lines = lines_of(logs[1].content);
  lines.erase(lines.begin());
  logs[1].content = joined(lines);
  const VerifyReport report = verify(logs);
  REQUIRE(report.faults.size() == 1);
  CHECK(has(report, FaultKind::removed, logs[1].name, 1));
}

TEST_CASE("a log that a later launch could not read is reported there") {
  const Log first = make_log(0, {}, 1);
  const Log second = make_log(1, {}, 1);
  const std::string name = first.name;
  Log third;
  third.name = test::file_name(2);
  const std::vector<Link> links = {{{second.name, 0, ""}, false, true}, {first.head, false, false}};
  third.content = seal(0, "t", first.head.hash, begin_members(third.name, "demo", "s", "0", links)).line;
  const VerifyReport report = verify({first, second, third});
  CHECK(has(report, FaultKind::unreadable, third.name, 1));
  CHECK(report.faults.size() == 1);
}

TEST_CASE("the report is one JSON object and its text holds no raw control characters") {
  auto logs = make_logs(2, 2);
  logs[0].content[10] = '\x1b';
  const VerifyReport report = verify(logs);
  const auto document = json::read(report.to_json(), {});
  REQUIRE(document);
  const json::Value root = document->root();
  CHECK(root.find("format").string() == "mcp-cordon.audit-verify");
  CHECK_FALSE(root.find("intact").boolean());
  CHECK(root.find("faults").size() == report.faults.size());
  CHECK(root.find("head").find("file").string() == logs[1].name);
  CHECK_FALSE(report.to_text().contains('\x1b'));
  CHECK(report.to_text().contains("does not prove"));
}

TEST_CASE("a head is read back as it was printed") {
  const auto logs = make_logs(2, 2);
  const std::string text = verify(logs).to_text();
  const std::size_t begin = text.find("head: ") + 6;
  CHECK(parse_head(text.substr(begin, text.find('\n', begin) - begin)) == logs[1].head);
  CHECK(parse_head(text::cat(logs[0].name, ",2,", logs[0].head.hash)) == logs[0].head);
  for (const char* bad : {"", "a b", "a 1 sha1:x", "a x sha256:0", "a 1x sha256:0", " 1 sha256:0", "a 1 sha256:0 x"}) {
    CHECK_FALSE(parse_head(bad));
  }
}

TEST_CASE("the number of faults that are kept is bounded") {
  Log log = make_log(0, {}, 0);
  log.name = test::file_name(0);
  std::string content;
  for (int i = 0; i < 3000; ++i) {
    content += seal(5, "t", no_previous(), "\"event\":\"x\"").line;
  }
  log.content = content;
  const VerifyReport report = verify({log});
  CHECK(report.faults.size() == 1000);
  CHECK(report.faults_not_shown > 1900);
}
