// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder that holds the logs of one server: <state>/audit/<server>, 0700, with a lock file and one file per launch.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/verify.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::audit {

// True for file names of logs: UTC time, '-', id, ".jsonl".
bool is_log_name(std::string_view name);

class Folder {
 public:
  // Creates what is missing, `state_dir` included. Refuses folders of other users or that others may write to.
  static Result<Folder> create(const std::string& state_dir, const std::string& server);
  // For readers: audit_unavailable when there is none.
  static Result<Folder> open(const std::string& state_dir, const std::string& server);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  std::string path_of(std::string_view name) const;

  // Names of logs, ascending, which is the order of launches.
  Result<std::vector<std::string>> logs() const;

  // Held as long as the descriptor lives. Waits for other launches, five seconds at most.
  Result<UniqueFd> lock() const;

  // `flags` of openat(2) besides O_NOFOLLOW and O_CLOEXEC. Only regular files of this user.
  Result<UniqueFd> open_log(const std::string& name, int flags) const;

 private:
  std::string path_ = {};
  UniqueFd fd_ = {};
};

// Names of servers that have logs below `state_dir`.
Result<std::vector<std::string>> servers_with_logs(const std::string& state_dir);

// Whether a process that still writes to it holds the lock of this log.
bool is_live(int fd);

// Verifies all logs of the folder, streaming; `expected` is a head that was noted earlier.
Result<VerifyReport> verify_folder(const Folder& folder, const std::optional<Head>& expected);

}  // namespace cordon::audit
