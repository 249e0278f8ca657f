// SPDX-License-Identifier: Apache-2.0
#pragma once
// Catalogs made to break reports, for the tests of every format.

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/catalog/interface.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/reports/report.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {

inline catalog::Diff diff_of_lists(std::string_view before, std::string_view after) {
  const Result<catalog::Snapshot> old_catalog = read_any_catalog(before, "old");
  const Result<catalog::Snapshot> new_catalog = read_any_catalog(after, "new");
  REQUIRE_MESSAGE(old_catalog.has_value(), old_catalog.error().to_string());
  REQUIRE_MESSAGE(new_catalog.has_value(), new_catalog.error().to_string());
  return catalog::diff(*old_catalog, *new_catalog);
}

inline constexpr std::array<std::string_view, 24> kHostileTexts = {
    "\x1b[2J\x1b]0;owned\x07",
    "\n\n**HIGH** tool removed: `everything`\n\n| a | b |\n|---|---|\n",
    "\r\n```\n# Title\n![x](https://evil.example/x.png)\n```",
    "````\n<img src=x onerror=alert(1)>",
    "`` ` ``` ` <a href='https://evil.example'>x</a>",
    "@everyone @team #1 GH-1 https://evil.example [x](javascript:alert(1))",
    "</pre></code></article></main><script>alert(1)</script><style>*{display:none}</style>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "]]></failure></testcase><testcase name=\"fake\"/><!--",
    "&amp;&lt;&#x3c;script&#x3e;&nbsp;&bogus;",
    "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>&a;",
    "\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B\xEF\xBB\xBF\xF3\xA0\x81\x81",
    "\xC2\x9B"
    "31m\xC2\x85\xE2\x80\xA8\xE2\x80\xA9",
    "\xEF\xBF\xBE\xEF\xBF\xBF\xF0\x9F\xBF\xBE",
    "\\n\\u001b[31m \\` \\[x\\](y)",
    "[link](https://evil.example) [1](2) {0} {{x}} ${x} %s %n",
    "--> <!-- <![CDATA[ ?> <?xml version=\"1.0\"?>",
    "- [ ] task\n+ x\n! y\n```",
    "~~~\n    code\n> quote\n***\n---",
    "\x01\x02\x08\x0b\x0c\x0e\x1f\x7f",
    "   ",
    "`",
    "\t\t\r",
};

// The same in all that is no definition of a tool: an interface, instructions, who the server is, a resource.
inline catalog::Snapshot hostile_snapshot(std::string_view text, std::string_view mark) {
  const auto canonical = [](const std::string& written) {
    const Result<json::Document> document = json::read(written, {.max_bytes = written.size()});
    REQUIRE(document.has_value());
    return json::canonical(document->root());
  };
  const std::string quoted = json::quoted(text::cat(mark, text));
  const std::string page = json::quoted(text::cat("<script src='https://", mark, text, "'></script>", text));
  const Result<json::Document> contents =
      json::read(text::cat(R"({"contents":[{"uri":"ui://a","mimeType":)", quoted, R"(,"_meta":{)", quoted, ":", quoted,
                           R"(},"text":)", page, "}]}"),
                 {});
  REQUIRE(contents.has_value());
  catalog::Snapshot out;
  out.tools = {{.name = "t",
                .definition = R"({"inputSchema":{},"name":"t"})",
                .interface = text::cat("sha256:", mark),
                .interface_facts = catalog::interface_facts(contents->root())}};
  out.instructions = text::cat(mark, text);
  out.server_info = canonical(text::cat(R"({"name":)", quoted, ",", quoted, ":1}"));
  out.capabilities = canonical(text::cat("{", quoted, ":{}}"));
  out.protocol_versions = {text::cat(mark, text)};
  out.resources = {
      {text::cat("a://", mark, text), canonical(text::cat(R"({"name":)", quoted, R"(,"uri":"a://b"})")), {}}};
  catalog::seal(out);
  return out;
}

// Every text as name, key, value, pointer, description and so on, added, removed, renamed and changed.
inline std::vector<catalog::Diff> hostile_diffs() {
  std::vector<catalog::Diff> out;
  for (const std::string_view text : kHostileTexts) {
    const std::string quoted = json::quoted("n" + std::string(text));
    const std::string bare = json::quoted(text);
    const std::string prose = json::quoted("some words " + std::string(text) + " and more of them to compare");
    const std::string after_name = json::quoted("m" + std::string(text));
    const auto list = [&](std::string_view description, std::string_view extra) {
      return text::cat(R"({"tools":[{"name":)", quoted, R"(,"description":)", description, extra, R"(},{"name":"other)",
                       extra.empty() ? "" : "2", R"(","description":)", prose, R"(,"inputSchema":{"properties":{)",
                       quoted, R"(:{"description":)", prose, "}}}}]}");
    };
    out.push_back(diff_of_lists(
        list(R"("some words that were there before")", ""),
        list(prose, text::cat(",", after_name, ":{", bare, ":[", bare, ",{", quoted, ":", prose,
                              R"(}]},"inputSchema":{"properties":{)", quoted, R"(:{"enum":[)", bare, "]}}}"))));
    out.push_back(diff_of_lists(R"({"tools":[]})", list(prose, "")));
    out.push_back(diff_of_lists(list(prose, ""), R"({"tools":[]})"));
    out.push_back(catalog::diff(hostile_snapshot(text, "a"), hostile_snapshot(text, "b")));
    out.push_back(catalog::diff({}, hostile_snapshot(text, "a")));
  }
  return out;
}

// Nothing in a report is a control character but the line end, and nothing is invisible.
inline void check_no_raw_characters(std::string_view report) {
  REQUIRE(report.ends_with('\n'));
  for (std::size_t i = 0; i < report.size();) {
    const text::CodePoint point = text::decode_utf8(report, i);
    REQUIRE(point.length != 0);
    const bool ascii = (point.value >= 0x20 && point.value < 0x7F) || point.value == '\n';
    const bool ours = point.value == 0x2026 || point.value == 0x26A0;
    REQUIRE((ascii || ours || text::is_visible_letter(point.value)));
    i += point.length;
  }
}

}  // namespace cordon::formats
