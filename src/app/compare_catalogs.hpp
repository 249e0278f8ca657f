// SPDX-License-Identifier: Apache-2.0
#pragma once
// diff: a snapshot against the live catalog, or any two catalog files.

#include <string>

#include "app/capture.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "core/catalog/diff.hpp"

namespace cordon::app {

struct Comparison {
  std::string before = {};  // where each side came from, for the report
  std::string after = {};
  catalog::Diff diff = {};
};

// Starts nothing. Files may be snapshots, candidates or plain lists of tools.
Result<Comparison> compare_files(const std::string& before, const std::string& after);

struct LiveComparison {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
  std::string version = {};
};

// snapshot_missing when there is none; an unattended one is compared like any other.
Result<Comparison> compare_live(const LiveComparison& request);

enum class DiffFormat : std::uint8_t { text, json };
std::string render(const Comparison& comparison, DiffFormat format, Style style);

}  // namespace cordon::app
