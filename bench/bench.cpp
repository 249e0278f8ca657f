// SPDX-License-Identifier: Apache-2.0
// The figures of docs/performance.md, as ratios from one run.
// Usage: bench --relay FILE --echo FILE [--fetch FILE] [--cordon FILE] [--srt FILE] [--host NAME] [--rounds N]
// [--only NAME]
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "setup.hpp"

namespace {

using cordon::bench::Options;

struct Measurement {
  std::string_view name;
  void (*measure)(cordon::bench::Setup&, cordon::bench::Report&);
};

constexpr Measurement kMeasurements[] = {
    {"round-trip", cordon::bench::measure_round_trip},
    {"throughput", cordon::bench::measure_throughput},
    {"gate", cordon::bench::measure_gate},
    {"launch", cordon::bench::measure_launch},
    {"start", cordon::bench::measure_start},
    {"memory", cordon::bench::measure_memory},
    {"catalog", cordon::bench::measure_catalog},
    {"stalled", cordon::bench::measure_stalled},
    {"egress", cordon::bench::measure_egress},
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--cordon") {
      options.cordon = value;
    } else if (name == "--relay") {
      options.relay = value;
    } else if (name == "--echo") {
      options.echo = value;
    } else if (name == "--fetch") {
      options.fetch = value;
    } else if (name == "--host") {
      options.host = value;
    } else if (name == "--srt") {
      options.srt = value;
    } else if (name == "--rounds") {
      options.rounds = std::atoi(value);
    } else if (name == "--only") {
      options.only = value;
    }
  }
  if (options.relay.empty() || options.echo.empty() || options.rounds < 1 || argc % 2 == 0) {
    std::fputs(
        "Usage: bench --relay FILE --echo FILE [--fetch FILE] [--cordon FILE] [--srt FILE] [--host NAME] [--rounds N] "
        "[--only "
        "NAME]\n",
        stderr);
    std::exit(2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  cordon::bench::Setup setup(read_options(argc, argv));
  cordon::bench::Report report;
  for (const Measurement& measurement : kMeasurements) {
    if (setup.options().only.empty() || setup.options().only == measurement.name) {
      measurement.measure(setup, report);
    }
  }
  report.summary();
  return 0;
}
