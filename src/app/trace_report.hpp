// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a traced launch comes to: the file that is kept (docs/formats/trace.md), and the words for the person at stderr.
// Pure but for Surroundings::outside.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/diagnose.hpp"
#include "app/trace_proposal.hpp"
#include "base/error.hpp"
#include "base/mask.hpp"
#include "base/text.hpp"
#include "sandbox/trace.hpp"

namespace cordon::app {

struct TraceSetting {
  std::string server = {};
  std::string session = {};
  std::string began = {};  // UTC
  std::string policy_path = {};
  std::vector<std::string> runtime = {};
  Surroundings around;
  Masker masker = {};
};

class TraceReport {
 public:
  explicit TraceReport(TraceSetting setting) : setting_(std::move(setting)) {}

  // Bytes of the pipe, in any pieces. What is no line of a trace is only counted.
  void take(std::string_view bytes);

  bool empty() const { return findings_.empty() && !ended_; }
  std::string to_json() const;
  // Printable lines, at most a screenful or two; `file` holds the rest.
  std::vector<std::string> summary(std::string_view file) const;

 private:
  void take_line(std::string_view line);
  TraceProposal proposed() const;
  void add(sandbox::TraceFinding finding);
  std::string masked(std::string_view text) const { return setting_.masker.mask(text); }
  // A path is bytes, and a file is text.
  std::string in_file(std::string_view path) const { return masked(text::printable(path, 4 * sandbox::kMaxTracePath)); }

  TraceSetting setting_;
  std::string rest_ = {};
  bool skipping_ = false;  // to the end of a line that is too long
  std::vector<sandbox::TraceFinding> findings_ = {};
  std::map<std::size_t, Finding> denied_ = {};  // by the place in findings_
  sandbox::TraceEnd counts_ = {};
  bool ended_ = false;
  std::uint64_t strange_lines_ = 0;  // or findings beyond the bounds
};

// What was refused for a reason that is the sandbox's; nothing when it was not, or cannot be told.
std::optional<Finding> denial(const sandbox::TraceFinding& finding, const Surroundings& around);

inline constexpr std::size_t kMaxTraceFileBytes = 64'000'000;

// What a trace file says of files: path → what was done with it and what came of it, "read, write ENOENT".
using FileAccess = std::map<std::string, std::string>;
Result<FileAccess> read_trace_file(std::string content);

}  // namespace cordon::app
