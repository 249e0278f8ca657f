// SPDX-License-Identifier: Apache-2.0
// No definition, whatever it is made of, breaks out of any report.
#include "hostile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/json/read.hpp"

namespace cordon::formats {
namespace {

std::string rendered(std::string_view format, const catalog::Diff& diff) {
  return find_report(format)->render(diff, {});
}

TEST_CASE("no report holds a raw control or invisible character") {
  for (const catalog::Diff& diff : hostile_diffs()) {
    REQUIRE_FALSE(diff.changes.empty());
    for (const Report* report : reports()) {
      CAPTURE(report->name);
      check_no_raw_characters(report->render(diff, {}));
    }
  }
}

// What is left of a comment when fenced blocks and code spans are taken out, as a reader of CommonMark takes them.
std::string outside_code(std::string_view markdown) {
  std::string out;
  bool fenced = false;
  for (const std::string_view line : text::split(markdown, '\n')) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view content = line.substr(indent);
    if (indent <= 3 && content.starts_with("```")) {
      // A fence opens with a word; it closes with nothing after it.
      fenced = fenced ? content.find_first_not_of('`') != std::string_view::npos : true;
      continue;
    }
    if (fenced) {
      // Each line in a block begins with a mark of ours.
      CHECK((line.starts_with("- ") || line.starts_with("+ ") || line.starts_with("! ")));
      continue;
    }
    for (std::size_t i = 0; i < line.size();) {
      if (line[i] != '`') {
        out += line[i++];
        continue;
      }
      std::size_t run = i;
      while (run < line.size() && line[run] == '`') {
        ++run;
      }
      const std::string fence(run - i, '`');
      std::size_t end = line.find(fence, run);
      while (end != std::string_view::npos &&
             ((end + fence.size() < line.size() && line[end + fence.size()] == '`') || line[end - 1] == '`')) {
        end = line.find(fence, line.find_first_not_of('`', end) == std::string_view::npos
                                   ? line.size()
                                   : line.find_first_not_of('`', end));
      }
      REQUIRE(end != std::string_view::npos);  // every span ends on its line
      out += "CODE";
      i = end + fence.size();
    }
    out += '\n';
  }
  CHECK_FALSE(fenced);
  return out;
}

TEST_CASE("markdown: strangers stand in code only") {
  for (const catalog::Diff& diff : hostile_diffs()) {
    const std::string rest = outside_code(rendered("markdown", diff));
    CAPTURE(rest);
    for (const std::string_view sign : {"http", "](", "![", "@", "<", "&", "|", "#1"}) {
      CHECK(rest.find(sign) == std::string::npos);
    }
    // Only our own headlines are strong.
    for (const std::string_view line : text::split(rest, '\n')) {
      const std::size_t strong = line.find("**");
      CHECK((strong == std::string_view::npos || strong == 0));
      CHECK((line.empty() || line.starts_with("### Server catalog") || line.starts_with("**") ||
             line.starts_with("- ") || line.starts_with("Drift: ")));
    }
  }
}

TEST_CASE("sarif: reads back, with the members that its schema demands") {
  constexpr std::array<std::string_view, 4> kLevels = {"none", "note", "warning", "error"};
  for (const catalog::Diff& diff : hostile_diffs()) {
    const Result<json::Document> document = json::read(rendered("sarif", diff), {.max_bytes = 10'000'000});
    REQUIRE(document.has_value());
    const json::Value root = document->root();
    CHECK(root.find("version").string() == "2.1.0");
    const json::Value run = root.find("runs").at(0);
    const json::Value driver = run.find("tool").find("driver");
    CHECK(driver.find("name").string() == "mcp-cordon");
    CHECK(run.find("results").size() != 0);
    for (const json::Value result : run.find("results").elements()) {
      const json::Value rule =
          driver.find("rules").at(static_cast<std::size_t>(*result.find("ruleIndex").safe_integer()));
      CHECK(rule.find("id").string() == result.find("ruleId").string());
      const std::string level = result.find("level").string();
      CHECK(std::ranges::find(kLevels, level) != kLevels.end());
      CHECK((result.find("kind").string() == "fail" || level == "none"));
      const std::string message = result.find("message").find("text").string();
      CHECK_FALSE(message.empty());
      // No link: every bracket has an odd number of backslashes in front.
      for (std::size_t i = 0; i < message.size(); ++i) {
        if (message[i] == '[' || message[i] == ']') {
          std::size_t slashes = 0;
          while (slashes < i && message[i - 1 - slashes] == '\\') {
            ++slashes;
          }
          CHECK(slashes % 2 == 1);
        }
      }
    }
  }
  const std::string named = find_report("sarif")->render(hostile_diffs().front(), {.artifact = "a b/c:d\x1b.json"});
  CHECK(named.find("\"uri\": \"a%20b/c%3Ad%1B.json\"") != std::string::npos);
}

// Tags in the order in which they stand; fails on whatever is no tag of a well-formed page or file.
std::vector<std::string> tags(std::string_view markup) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < markup.size(); ++i) {
    if (markup[i] == '<') {
      const std::size_t end = markup.find('>', i);
      REQUIRE(end != std::string_view::npos);
      out.emplace_back(markup.substr(i + 1, end - i - 1));
      i = end;
    } else {
      REQUIRE(markup[i] != '>');
    }
  }
  return out;
}

void check_nesting(std::string_view markup, const std::vector<std::string_view>& known) {
  std::vector<std::string> open;
  for (const std::string& tag : tags(markup)) {
    const std::string word = tag.substr(0, tag.find_first_of(" /", 1));
    const std::string bare = word.starts_with('/') ? word.substr(1) : word;
    CAPTURE(tag);
    REQUIRE((bare.starts_with('?') || bare.starts_with("!DOCTYPE html") || bare == "!DOCTYPE" ||
             std::ranges::find(known, bare) != known.end()));
    if (tag.starts_with('/')) {
      REQUIRE_FALSE(open.empty());
      REQUIRE(open.back() == tag.substr(1));
      open.pop_back();
    } else if (!tag.ends_with('/') && !tag.starts_with('?') && !tag.starts_with('!') && word != "meta" &&
               word != "input") {
      open.push_back(word);
    }
  }
  CHECK(open.empty());
}

TEST_CASE("junit: well-formed, with as many cases as are counted") {
  for (const catalog::Diff& diff : hostile_diffs()) {
    const std::string xml = rendered("junit", diff);
    check_nesting(xml, {"testsuites", "testsuite", "testcase", "failure"});
    std::size_t cases = 0;
    for (const std::string& tag : tags(xml)) {
      cases += tag.starts_with("testcase ") ? 1U : 0U;
    }
    CHECK(cases == diff.changes.size());
    CHECK(xml.find(text::cat("tests=\"", cases, "\"")) != std::string::npos);
  }
}

TEST_CASE("html: only our own tags, no address, no script") {
  for (const catalog::Diff& diff : hostile_diffs()) {
    const std::string html = rendered("html", diff);
    const std::size_t style = html.find("<style>");
    const std::size_t style_end = html.find("</style>");
    REQUIRE(style_end != std::string::npos);
    CHECK(html.find("<style", style + 1) == std::string::npos);
    const std::string body = html.substr(style_end + 8);
    const std::string page = html.substr(0, style) + body;
    check_nesting(page, {"html", "head",  "meta",  "title",   "body", "h1", "h2", "h3",   "h4",  "p",   "main",
                         "div",  "input", "label", "article", "span", "ul", "li", "code", "pre", "del", "ins"});
    for (const std::string& tag : tags(page)) {
      for (const std::string_view sign : {" href", " src", " style", " on", "script"}) {
        CHECK((tag.starts_with("meta ") || tag.find(sign) == std::string::npos));
      }
    }
    CHECK(html.find("default-src 'none'; style-src 'sha256-") != std::string::npos);
    CHECK(html.find("unsafe") == std::string::npos);
  }
}

TEST_CASE("no difference is a whole page, file and comment too") {
  CHECK(rendered("markdown", {}) == "### Server catalog\n\nNo difference.\n");
  CHECK(rendered("junit", {}).find("tests=\"1\" failures=\"0\"") != std::string::npos);
  CHECK(rendered("html", {}).find("<p>No difference.</p>") != std::string::npos);
  CHECK(rendered("sarif", {}).find("\"results\": []") != std::string::npos);
}

}  // namespace
}  // namespace cordon::formats
