// SPDX-License-Identifier: Apache-2.0
// Latency of small calls and throughput of big results, all columns in turn within each round, so that whatever else
// the machine does falls on all of them alike.
#include <fstream>
#include <memory>

#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

constexpr int kCallsPerRound = 200;
constexpr std::size_t kLine = 300;
constexpr std::size_t kBigResult = 9'000'000;

struct Running {
  Column column = {};
  std::unique_ptr<Peer> peer = {};
  std::vector<double> values = {};
  std::vector<double> processor = {};  // of what stands between, per call
};

// Nanoseconds that the process has had a processor for.
std::int64_t processor_ns(pid_t pid) {
  std::ifstream file(text::cat("/proc/", pid, "/schedstat"));
  std::int64_t spent = 0;
  file >> spent;
  return spent;
}

std::vector<Running> start_all(Setup& setup, Report& report) {
  std::vector<Running> running;
  for (Column& column : setup.columns()) {
    if (!column.missing.empty()) {
      report.skipped(column.name, column.missing);
      continue;
    }
    auto peer = std::make_unique<Peer>(column.command, text::cat(setup.log(), "-", running.size()));
    peer->open();
    running.push_back({std::move(column), std::move(peer), {}, {}});
  }
  return running;
}

// Arguments that make request and reply about 300 bytes each with their line ends.
std::string small_arguments() {
  const std::string head = "\"size\":225,\"query\":\"";
  const std::size_t envelope = 100;
  return text::cat(head, std::string(kLine - envelope - head.size() - 1, 'q'), "\"");
}

}  // namespace

void measure_round_trip(Setup& setup, Report& report) {
  report.section(text::cat("Round trip: a call of ", kLine, " B and its result of ", kLine, " B, one core, best of ",
                           setup.options().rounds, " rounds of ", kCallsPerRound));
  const OneCore pinned;
  std::vector<Running> all = start_all(setup, report);
  const std::string arguments = small_arguments();
  for (int round = -1; round < setup.options().rounds; ++round) {
    for (Running& column : all) {
      const std::int64_t spent = processor_ns(column.peer->pid());
      const std::int64_t begin = now_ns();
      for (int i = 0; i < kCallsPerRound; ++i) {
        column.peer->call(arguments);
      }
      const std::int64_t elapsed = now_ns() - begin;
      if (round >= 0) {  // the first round warms up
        column.processor.push_back(static_cast<double>(processor_ns(column.peer->pid()) - spent) / 1000 /
                                   kCallsPerRound);
        column.values.push_back(static_cast<double>(elapsed) / 1000 / kCallsPerRound);
      }
    }
  }
  const double direct = lowest(all[0].values);
  report.row("direct", text::cat(fixed(direct, 2), " us"));
  const double relay_added = lowest(all[1].values) - direct;
  report.row("bare relay", text::cat(fixed(lowest(all[1].values), 2), " us"),
             text::cat("adds ", fixed(relay_added, 2), " us; its own processor time ",
                       fixed(lowest(all[1].processor), 2), " us"));
  for (std::size_t i = 2; i < all.size(); ++i) {
    const double ours = lowest(all[i].values) - direct;
    report.row(
        all[i].column.name, text::cat(fixed(lowest(all[i].values), 2), " us"),
        text::cat("adds ", fixed(ours, 2), " us; its own processor time ", fixed(lowest(all[i].processor), 2), " us"));
    report.goal(text::cat("  added, against the relay's"), ours / relay_added, "x", Better::lower, 2);
  }
}

void measure_throughput(Setup& setup, Report& report) {
  report.section(text::cat("Throughput: one result of ", kBigResult / 1'000'000, " MB, best of ",
                           setup.options().rounds, " rounds"));
  std::vector<Running> all = start_all(setup, report);
  const std::string arguments = text::cat("\"query\":\"q\",\"size\":", kBigResult);
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
  report.row("direct", text::cat(fixed(highest(all[0].values), 0), " MB/s"));
  report.row("bare relay", text::cat(fixed(highest(all[1].values), 0), " MB/s"));
  for (std::size_t i = 2; i < all.size(); ++i) {
    report.row(all[i].column.name, text::cat(fixed(highest(all[i].values), 0), " MB/s"));
    report.goal("  against the relay's", highest(all[i].values) / highest(all[1].values), "x", Better::higher, 0.5);
  }
}

}  // namespace cordon::bench
