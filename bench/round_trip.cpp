// SPDX-License-Identifier: Apache-2.0
// Latency of small calls and throughput of big results, all columns in turn within each round, so that whatever else
// the machine does falls on all of them alike.
#include <memory>

#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

constexpr int kCallsPerRound = 500;
constexpr std::size_t kLine = 300;
constexpr std::size_t kBigResult = 9'000'000;

struct Running {
  Column column = {};
  std::unique_ptr<Peer> peer = {};
  std::vector<double> values = {};
};

std::vector<Running> start_all(Setup& setup, Report& report) {
  std::vector<Running> running;
  for (Column& column : setup.columns()) {
    if (!column.missing.empty()) {
      report.skipped(column.name, column.missing);
      continue;
    }
    auto peer = std::make_unique<Peer>(column.command, text::cat(setup.log(), "-", running.size()));
    peer->open();
    running.push_back({std::move(column), std::move(peer), {}});
  }
  return running;
}

// Arguments that make request and reply about 300 bytes each with their line ends.
std::string small_arguments() {
  const std::string head = "\"size\":225,\"query\":\"";
  const std::size_t envelope = 100;
  return text::cat(head, std::string(kLine - envelope - head.size() - 1, 'q'), "\"");
}

std::vector<double> added(const Running& column, const Running& direct) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    differences.push_back(column.values[i] - direct.values[i]);
  }
  return differences;
}

}  // namespace

void measure_round_trip(Setup& setup, Report& report) {
  report.section(text::cat("Round trip: a call of ", kLine, " B and its result of ", kLine, " B, one core, median of ",
                           setup.options().rounds, " rounds of ", kCallsPerRound));
  const OneCore pinned;
  std::vector<Running> all = start_all(setup, report);
  const std::string arguments = small_arguments();
  for (int round = -1; round < setup.options().rounds; ++round) {
    for (Running& column : all) {
      const std::int64_t begin = now_ns();
      for (int i = 0; i < kCallsPerRound; ++i) {
        column.peer->call(arguments);
      }
      if (round >= 0) {  // the first round warms up
        column.values.push_back(static_cast<double>(now_ns() - begin) / 1000 / kCallsPerRound);
      }
    }
  }
  report.row("direct", text::cat(fixed(median(all[0].values), 2), " us"));
  const double relay_added = median(added(all[1], all[0]));
  report.row("bare relay", text::cat(fixed(median(all[1].values), 2), " us"),
             text::cat("adds ", fixed(relay_added, 2), " us"));
  for (std::size_t i = 2; i < all.size(); ++i) {
    const double ours = median(added(all[i], all[0]));
    report.row(all[i].column.name, text::cat(fixed(median(all[i].values), 2), " us"),
               text::cat("adds ", fixed(ours, 2), " us"));
    report.goal(text::cat("  added, against the relay's"), ours / relay_added, "x", Better::lower, 2);
  }
}

void measure_throughput(Setup& setup, Report& report) {
  report.section(text::cat("Throughput: one result of ", kBigResult / 1'000'000, " MB, median of ",
                           setup.options().rounds, " rounds"));
  std::vector<Running> all = start_all(setup, report);
  const std::string arguments = text::cat("\"size\":", kBigResult);
  for (int round = -2; round < setup.options().rounds; ++round) {
    for (Running& column : all) {
      const std::int64_t begin = now_ns();
      const std::size_t bytes = column.peer->call(arguments).size();
      const double seconds = static_cast<double>(now_ns() - begin) / 1e9;
      if (bytes < kBigResult) {
        die("a big result came back short");
      }
      if (round >= 0) {
        column.values.push_back(static_cast<double>(bytes) / 1e6 / seconds);
      }
    }
  }
  report.row("direct", text::cat(fixed(median(all[0].values), 0), " MB/s"));
  report.row("bare relay", text::cat(fixed(median(all[1].values), 0), " MB/s"));
  for (std::size_t i = 2; i < all.size(); ++i) {
    report.row(all[i].column.name, text::cat(fixed(median(all[i].values), 0), " MB/s"));
    std::vector<double> ratios;
    for (std::size_t round = 0; round < all[i].values.size(); ++round) {
      ratios.push_back(all[i].values[round] / all[1].values[round]);
    }
    report.goal("  against the relay's", median(ratios), "x", Better::higher, 0.5);
  }
}

}  // namespace cordon::bench
