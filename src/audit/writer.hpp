// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log of one launch. A record that append() accepted is in the file: one write(2), checked. After the first failure
// nothing more is accepted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.hpp"
#include "audit/folder.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/mask.hpp"
#include "base/rate.hpp"
#include "base/time.hpp"

namespace cordon::audit {

// Against what an accepted record is safe.
enum class Sync : std::uint8_t {
  process,  // the death of any process: the record is in the kernel. A power failure may lose the last seconds.
  disk,     // a power failure too: fdatasync before append() returns
};

struct WriterConfig {
  std::string state_dir = {};  // absolute; logs go to <state_dir>/audit/<server>
  std::string server = {};
  std::string session_id = {};  // letters, digits, '-', '_'; part of the file name
  std::string version = {};     // of this program
  Sync sync = Sync::process;
  Masker masker = {};
  // What the server alone can cause in any number is cut down to a count, per event: these events, and all records
  // with "from":"server". What the client tried is never left out.
  std::vector<std::string> limited_events = {"stray", "stderr"};
  std::int64_t limited_burst = 50;
  std::int64_t limited_per_second = 5;
  // Tests set these: microseconds since 1970, and the clock of Instant.
  std::int64_t (*unix_us)() = nullptr;
  Instant (*monotonic)() = nullptr;
};

class Writer {
 public:
  // Creates the file and writes its first record, which names the launches before. Errc::audit_unavailable.
  static Result<Writer> open(WriterConfig config);

  // `body`: a JSON object with "event". Once this returns without error the record is in the file.
  Status append(std::string_view body);

  // Writes what was counted but not yet said. Call it now and then, and at the end.
  Status flush();
  // When flush() has something to say, on CLOCK_MONOTONIC.
  std::optional<Instant> next_deadline() const;

  bool broken() const { return broken_.has_value(); }
  const Head& head() const { return head_; }
  const std::string& path() const { return path_; }
  // What was found wrong with earlier logs, for the person at stderr.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Limited {
    std::string event;
    RateLimit rate;
  };
  Writer() = default;
  Status create(const std::vector<Link>& previous, const std::string& newest);
  Status append(std::string_view members, std::string_view event, bool from_server, std::size_t bytes);
  Status write_record(std::string_view members, std::string_view prev);
  Status check_file();
  const std::string& time_now();
  Status write_suppressed(Limited& limited);
  Limited* limit_of(std::string_view event, bool from_server);
  Status refuse(std::string detail);
  std::int64_t now_us() const;
  Instant now() const;
  Instant about_now() const;

  WriterConfig config_ = {};
  Folder folder_ = {};
  UniqueFd fd_ = {};
  std::string name_ = {};
  std::string path_ = {};
  Head head_ = {};
  std::uint64_t next_seq_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  Instant name_checked_ = {};
  std::int64_t time_ms_ = -1;  // of time_text_
  std::string time_text_ = {};
  std::vector<Limited> limited_ = {};
  std::vector<std::string> problems_ = {};
  std::optional<Error> broken_ = {};
};

}  // namespace cordon::audit
