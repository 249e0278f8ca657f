// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two files through which a session and `mcp-cordon approve` talk (docs/formats/approve.md). They are opened before
// our own process gives up files, and nothing is opened later: the session writes what waits at its beginning of the
// one and reads decisions from the other.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::run {

// What the file of waiting calls holds: a head of fixed length with length and digest, then the lines.
std::string waiting_file(std::string_view lines);
// The lines, or nothing while they are being written.
std::optional<std::string> read_waiting_file(std::string_view content);

class ApprovalDesk {
 public:
  static constexpr std::int64_t kPollMs = 200;

  ApprovalDesk() = default;
  // `waiting` is locked (flock) as long as this lives, which tells that the session does.
  ApprovalDesk(UniqueFd waiting, UniqueFd answers) : waiting_(std::move(waiting)), answers_(std::move(answers)) {}

  Status publish(std::string_view lines);
  // Somebody may answer.
  bool waits() const { return waits_; }
  // Whole lines that came since the last call, without their ends.
  std::vector<std::string> take_answers();

 private:
  UniqueFd waiting_ = {};
  UniqueFd answers_ = {};
  bool waits_ = false;
  std::size_t written_ = 0;  // longest content so far
  off_t read_ = 0;
  std::string partial_ = {};
};

}  // namespace cordon::run
