// SPDX-License-Identifier: Apache-2.0
// All of a start: from the command to the end of the first tools/list. launch.cpp measures the sandbox alone.
#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

double first_answer_ms(const Column& column, const std::string& log) {
  const std::int64_t begin = now_ns();
  Peer peer(column.command, log);
  peer.open();
  return static_cast<double>(now_ns() - begin) / 1e6;
}

}  // namespace

void measure_start(Setup& setup, Report& report) {
  report.section(text::cat("Start: from the command to the first tools/list, best of ", setup.options().rounds));
  std::vector<std::vector<double>> values;
  std::vector<Column> columns;
  for (Column& column : setup.columns()) {
    if (!column.missing.empty()) {
      report.skipped(column.name, column.missing);
      continue;
    }
    columns.push_back(std::move(column));
  }
  values.resize(columns.size());
  for (int round = 0; round < setup.options().rounds; ++round) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      values[i].push_back(first_answer_ms(columns[i], setup.log()));
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    report.row(columns[i].name, text::cat(fixed(lowest(values[i]), 2), " ms"));
  }
}

}  // namespace cordon::bench
