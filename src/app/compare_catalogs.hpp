// SPDX-License-Identifier: Apache-2.0
#pragma once
// diff: a snapshot against the live catalog, or any two catalog files.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/capture.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "core/catalog/diff.hpp"

namespace cordon::app {

// Starts nothing. Files may be snapshots, candidates or plain lists of tools.
Result<catalog::Diff> compare_files(const std::string& before, const std::string& after);

struct LiveComparison {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
  std::string version = {};
};

// snapshot_missing when there is none, snapshot_invalid when it lacks a signature that the policy asks for; an
// unattended one is compared like any other.
Result<catalog::Diff> compare_live(const LiveComparison& request);

struct Rendering {
  std::size_t width = 80;
  std::string artifact = {};  // the file that findings are about; empty for a live server
};
// `format` names a report of formats/reports: text, markdown, json, sarif, junit, html.
bool knows_format(std::string_view format);
std::string render(const catalog::Diff& diff, std::string_view format, Style style, const Rendering& rendering);

}  // namespace cordon::app
