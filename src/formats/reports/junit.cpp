// SPDX-License-Identifier: Apache-2.0
// The diff for test dashboards: one case for each item that differs, failed unless it differs in form only.
#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;

constexpr std::size_t kMaxValueBytes = 2'000;

// Printable text has none of the characters that XML does not allow, escaped or not.
std::string xml(std::string_view untrusted, std::size_t max_bytes = kMaxValueBytes) {
  return escaped_markup(text::printable(untrusted, max_bytes));
}

std::string detail(const ItemChange& change) {
  std::string out;
  for (const Place& place : change.places) {
    out += text::cat(label(place.severity), ' ', catalog::facts(place.what).phrase, ' ', xml(place.pointer), '\n');
    for (const catalog::Cue& cue : place.cues) {
      out += text::cat("! ", catalog::cue_phrase(cue.name), ": ", xml(cue.excerpt), '\n');
    }
    out += place.before.empty() ? "" : text::cat("- ", xml(place.before), '\n');
    out += place.after.empty() ? "" : text::cat("+ ", xml(place.after), '\n');
  }
  return change.omitted_places == 0 ? out : text::cat(out, "… and ", change.omitted_places, " more places\n");
}

std::string test_case(const ItemChange& change) {
  const std::string old_name = change.kind == ChangeKind::renamed ? text::cat(" (was ", xml(change.old_name), ')') : "";
  std::string out = text::cat("    <testcase classname=\"", xml(change.item), "\" name=\"",
                              change.name.empty() ? xml(change.item) : xml(change.name), "\"");
  if (change.kind == ChangeKind::cosmetic) {
    return out + "/>\n";
  }
  return text::cat(out, ">\n      <failure type=\"", catalog::name(change.severity), "\" message=\"",
                   noun(change.item, 1), ' ', catalog::name(change.kind), old_name, "\">", detail(change),
                   "</failure>\n    </testcase>\n");
}

std::string render(const catalog::Diff& diff, const RenderOptions&) {
  std::size_t failures = 0;
  std::string cases;
  for (const ItemChange& change : diff.changes) {
    failures += change.kind == ChangeKind::cosmetic ? 0 : 1;
    cases += test_case(change);
  }
  std::size_t tests = diff.changes.size();
  if (tests == 0) {
    cases = "    <testcase classname=\"catalog\" name=\"no difference\"/>\n";
    tests = 1;
  }
  const std::string counts = text::cat("tests=\"", tests, "\" failures=\"", failures, "\"");
  return text::cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mcp-cordon diff\" ", counts,
                   ">\n  <testsuite name=\"catalog\" ", counts, " errors=\"0\" skipped=\"0\">\n", cases,
                   "  </testsuite>\n</testsuites>\n");
}

}  // namespace

extern const Report junit_report;
constinit const Report junit_report = {.name = "junit", .render = render};

}  // namespace cordon::formats
