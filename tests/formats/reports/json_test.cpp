// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/json/read.hpp"
#include "formats/reports/report.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {
namespace {

catalog::Diff diff_of(std::string_view before, std::string_view after) {
  const Result<catalog::Snapshot> old_catalog = read_any_catalog(before, "old");
  const Result<catalog::Snapshot> new_catalog = read_any_catalog(after, "new");
  REQUIRE(old_catalog.has_value());
  REQUIRE(new_catalog.has_value());
  return catalog::diff(*old_catalog, *new_catalog);
}

std::string rendered(std::string_view before, std::string_view after) {
  const Report* report = find_report("json");
  REQUIRE(report != nullptr);
  return report->render(diff_of(before, after), {});
}

TEST_CASE("the whole object for one change, as documented") {
  CHECK(rendered(R"({"tools":[{"name":"t","inputSchema":{"required":["a"]}},{"name":"u"}]})",
                 R"({"tools":[{"name":"t","inputSchema":{"required":["a","b"]},"x":1.0}]})") == R"({
  "changes": [
    {
      "group": 0,
      "item": "tool",
      "kind": "changed",
      "name": "t",
      "old_name": "",
      "omitted_places": 0,
      "places": [
        {
          "after": 1.0,
          "cues": [],
          "element": false,
          "pointer": "/x",
          "severity": "medium",
          "what": "member_changed"
        },
        {
          "after": "b",
          "cues": [],
          "element": true,
          "pointer": "/inputSchema/required",
          "severity": "low",
          "what": "constraint_tightened"
        }
      ],
      "severity": "medium"
    },
    {
      "group": 0,
      "item": "tool",
      "kind": "removed",
      "name": "u",
      "old_name": "",
      "omitted_places": 0,
      "places": [
        {
          "before": {
            "name": "u"
          },
          "cues": [],
          "element": false,
          "pointer": "",
          "severity": "low",
          "what": "item_removed"
        }
      ],
      "severity": "low"
    }
  ],
  "drifted": true,
  "format": "mcp-cordon.diff",
  "summary": {
    "added": 0,
    "changed": 1,
    "cosmetic": 0,
    "removed": 1,
    "renamed": 0
  },
  "version": 1
}
)");
}

TEST_CASE("no difference is an object too") {
  const std::string text = rendered(R"({"tools":[]})", R"({"tools":[]})");
  CHECK(text.find("\"changes\": []") != std::string::npos);
  CHECK(text.find("\"drifted\": false") != std::string::npos);
}

TEST_CASE("hostile text is escaped, deep values are whole") {
  std::string deep = "1";
  for (int i = 0; i < 120; ++i) {
    deep = "[" + deep + "]";
  }
  const std::string text =
      rendered(R"({"tools":[]})", R"({"tools":[{"name":"\u001b[2J\u202e","d":"\ud83d","x":)" + deep + "}]}");
  const Result<json::Document> read = json::read(text, {.max_depth = 200});
  REQUIRE(read.has_value());
  const json::Value change = read->root().find("changes").at(0);
  CHECK(change.find("name").string() == "\x1b[2J\xE2\x80\xAE");
  CHECK(change.find("places").at(0).find("after").find("d").has_lone_surrogate());
  for (const char c : text) {
    CHECK((c == '\n' || (c >= 0x20 && c < 0x7F)));
  }
}

TEST_CASE("every report is found by its name") {
  for (const Report* report : reports()) {
    CHECK(find_report(report->name) == report);
    CHECK_FALSE(report->render({}, {}).empty());
    CHECK(report->render({}, {}).ends_with('\n'));
  }
  CHECK(reports().front()->name == "text");
  CHECK(find_report("nonsense") == nullptr);
}

}  // namespace
}  // namespace cordon::formats
