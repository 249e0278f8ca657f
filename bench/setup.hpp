// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every measurement needs: where the programs are, a private folder, and the commands that are compared.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "peer.hpp"
#include "report.hpp"

namespace cordon::bench {

struct Options {
  std::string cordon = {};  // mcp-cordon; empty: only what needs no proxy is measured
  std::string relay = {};
  std::string echo = {};
  std::string fetch = {};
  std::string host = "localhost";  // a name of this machine's loopback
  std::string srt = {};            // another sandbox launcher to compare with
  int rounds = 51;
  std::string only = {};  // one measurement by name
};

// One way to reach the echo server.
struct Column {
  std::string name = {};
  Command command = {};
  std::string missing = {};  // why there is none
};

// What a policy has by default, or that and every treatment that it can ask for.
enum class Checks : bool { standard, every };

class Setup {
 public:
  explicit Setup(Options options);
  ~Setup();
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const Options& options() const { return options_; }
  const std::string& folder() const { return folder_; }
  const std::string& echo() const { return echo_; }
  std::string log() const { return folder_ + "/stderr"; }
  const std::vector<std::string>& environment() const { return environment_; }

  Column direct(std::size_t tools = 1) const;
  Column relay() const;
  // The proxy with every check on and a reviewed snapshot; `backend` as in the policy.
  Column cordon(std::string_view backend, std::size_t tools = 1, Checks checks = Checks::standard);
  // Direct, relay and the proxy without and with isolation, and with all that results can be treated with.
  std::vector<Column> columns();

  // Any other command of mcp-cordon.
  Command cordon_command(std::vector<std::string> arguments) const;

 private:
  Options options_;
  std::string folder_;
  std::string echo_;  // a copy in `folder_`, which every account can read
  std::vector<std::string> environment_;
};

// Puts this process and what it starts from now on onto one core, and back.
class OneCore {
 public:
  OneCore();
  ~OneCore();
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  std::vector<unsigned char> before_;
};

void measure_round_trip(Setup& setup, Report& report);
void measure_throughput(Setup& setup, Report& report);
void measure_gate(Setup& setup, Report& report);
void measure_launch(Setup& setup, Report& report);
void measure_start(Setup& setup, Report& report);
void measure_memory(Setup& setup, Report& report);
void measure_catalog(Setup& setup, Report& report);
void measure_stalled(Setup& setup, Report& report);
void measure_egress(Setup& setup, Report& report);

}  // namespace cordon::bench
