// SPDX-License-Identifier: Apache-2.0
#pragma once
// The circumstances under which `capture --twice` starts a server again. The clock of the machine is not among them:
// no namespace changes CLOCK_REALTIME. The time zone stands in for it, and texts are searched for today's date.

#include <cstdint>
#include <string>
#include <vector>

#include "app/capture.hpp"

namespace cordon::app {

struct Attempt {
  std::string label = {};
  LoadedPolicy loaded;
  std::vector<std::string> client_command = {};
};

std::vector<Attempt> attempts(const CaptureRequest& request);

// The day of `unix_seconds` in UTC as servers write it: "2026-11-30", "30.11.2026", "November 30, 2026", …
std::vector<std::string> spellings_of_day(std::int64_t unix_seconds);

}  // namespace cordon::app
