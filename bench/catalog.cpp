// SPDX-License-Identifier: Apache-2.0
// Big catalogs: a diff of two files, and a whole start through the gate, at 5,000 and at 10,000 tools.
#include <fstream>

#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

// Every hundredth tool differs, in its description, between the two generations.
std::string write_catalog(const std::string& path, int tools, bool later) {
  std::ofstream file(path);
  file << "{\"tools\":[";
  for (int i = 0; i < tools; ++i) {
    file << (i == 0 ? "" : ",") << "{\"name\":\"tool_" << i << "\",\"description\":\"Looks up record number " << i
         << (later && i % 100 == 0 ? " and tells nobody" : " and says what it holds")
         << ".\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"description\":"
            "\"What to look for\"},\"limit\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"query\"]}}";
  }
  file << "]}\n";
  return path;
}

double diff_seconds(Setup& setup, int tools) {
  const std::string before = write_catalog(text::cat(setup.folder(), "/before.json"), tools, false);
  const std::string after = write_catalog(text::cat(setup.folder(), "/after.json"), tools, true);
  const Command diff = setup.cordon_command({"diff", before, after, "--format", "json"});
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t begin = now_ns();
    const int status = run(diff, setup.folder() + "/diff", setup.log());
    seconds.push_back(static_cast<double>(now_ns() - begin) / 1e9);
    if (status != 0) {
      die("diff of two big catalogs failed");
    }
  }
  return median(seconds);
}

// From the start of the process to the end of the first tools/list.
double listed_seconds(const Column& column, const std::string& log) {
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t begin = now_ns();
    Peer peer(column.command, log);
    peer.open();
    seconds.push_back(static_cast<double>(now_ns() - begin) / 1e9);
  }
  return median(seconds);
}

void add_rows(Report& report, std::string_view name, double half, double whole) {
  report.row(text::cat(name, ", 5,000 tools"), text::cat(fixed(half, 3), " s"));
  report.goal(text::cat(name, ", 10,000 tools"), whole, "s", Better::lower, 1);
  report.goal("  growth when doubled", whole / half, "x", Better::lower, 2.5);
}

}  // namespace

void measure_catalog(Setup& setup, Report& report) {
  report.section("Big catalogs: median of 5");
  if (setup.options().cordon.empty()) {
    report.skipped("diff and gate", "no mcp-cordon was given");
    return;
  }
  add_rows(report, "diff", diff_seconds(setup, 5'000), diff_seconds(setup, 10'000));
  const Column half = setup.cordon("none", 5'000);
  const Column whole = setup.cordon("none", 10'000);
  if (!half.missing.empty() || !whole.missing.empty()) {
    report.skipped("gate", half.missing + whole.missing);
    return;
  }
  const double direct = listed_seconds(setup.direct(10'000), setup.log());
  report.row("direct, 10,000 tools", text::cat(fixed(direct, 3), " s"), "start to the end of tools/list");
  add_rows(report, "gate", listed_seconds(half, setup.log()), listed_seconds(whole, setup.log()));
}

}  // namespace cordon::bench
