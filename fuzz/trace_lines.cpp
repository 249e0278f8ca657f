// SPDX-License-Identifier: Apache-2.0
// Lines of a trace, whose words are a server's: what is read is what would be written, and a report of them is JSON
// that is read back, in any pieces.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/trace_report.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"

namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

cordon::app::TraceReport report_of(const cordon::sandbox::Plan& plan, std::string_view bytes, std::size_t cut) {
  cordon::app::TraceReport report({.server = "fuzz",
                                   .around = {plan, "/home/u",
                                              [](const std::string& path) {
                                                return path.size() % 2 == 0 ? cordon::sandbox::PathKind::file
                                                                            : cordon::sandbox::PathKind::absent;
                                              },
                                              [](std::string_view path) { return path.size() % 3 == 0; }}});
  report.take(bytes.substr(0, cut));
  report.take(bytes.substr(cut));
  return report;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cordon;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view line : text::split(bytes, '\n')) {
    if (const auto read = sandbox::read_trace_line(line)) {
      require(read->finding.has_value() != read->end.has_value());
      require(line == (read->finding ? trace_line(*read->finding) : trace_line(*read->end)));
    }
  }
  sandbox::Plan plan;
  plan.guarantees = {{"filesystem", sandbox::Strength::enforced, ""}};
  plan.view.emplace_back().kind = sandbox::EntryKind::bind;
  plan.view.back().target = "/d";
  plan.view.back().source = "/data";
  plan.view.back().grant = true;
  const app::TraceReport report = report_of(plan, bytes, 0);
  const std::string text = report.to_json();
  require(text == report_of(plan, bytes, size / 2).to_json());
  require(app::read_trace_file(text).has_value());
  for (const std::string& line : report.summary("/f")) {
    require(line.find_first_of("\n\x1b") == std::string::npos);
  }
  return 0;
}
