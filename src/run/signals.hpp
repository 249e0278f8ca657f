// SPDX-License-Identifier: Apache-2.0
#pragma once
// The signals that end us, and those that must not.

#include <signal.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "run/loop.hpp"

namespace cordon::run {

// Writing to a closed pipe or over a size limit gives an error instead of our death, as long as this lives. Handlers
// and not SIG_IGN: a program that we start inherits what is ignored, but not handlers.
class QuietWrites {
 public:
  QuietWrites();
  ~QuietWrites();
  QuietWrites(const QuietWrites&) = delete;
  QuietWrites& operator=(const QuietWrites&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_ = {};
};

// SIGTERM, SIGINT and SIGHUP become calls. Those that were ignored when we started (nohup, background jobs) stay so.
class EndSignals {
 public:
  EndSignals(Loop& loop, std::function<void(int)> caught);

 private:
  std::vector<std::unique_ptr<SignalWatch>> watches_ = {};
};

}  // namespace cordon::run
