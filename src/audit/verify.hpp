// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks the logs of one server. It proves order and integrity up to a head; it cannot prove that nothing was cut off
// behind the last record, unless a head that was noted elsewhere is given. Pure and streaming.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.hpp"
#include "base/hash.hpp"

namespace cordon::audit {

enum class FaultKind : std::uint8_t {
  torn,            // the end of a file is no whole record, and no later launch closed it
  altered,         // a line is no record, or its hash does not fit, or it contradicts what a later launch saw
  removed,         // records are missing
  reordered,       // a record stands at another place than its number says, or twice
  added,           // records, or a launch, that a later launch did not see
  missing_launch,  // a later launch names a file that is not there
  head_missing,    // the given head is not in the log
  unreadable,
};
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::altered;
  std::string file = {};
  std::uint64_t line = 0;  // from 1; 0: the file as a whole
  std::string detail = {};
};

enum class FileState : std::uint8_t { ended, live };

struct FileReport {
  std::string name = {};
  std::uint64_t records = 0;
  std::string first_time = {};
  std::string last_time = {};
  Head head = {};  // of the last good record
  FileState state = FileState::ended;
  std::vector<std::uint64_t> recovered_lines = {};  // where a torn end was closed
};

struct VerifyReport {
  std::vector<FileReport> files = {};  // in the order of launches
  std::vector<Fault> faults = {};
  std::uint64_t faults_not_shown = 0;
  std::uint64_t records = 0;
  std::optional<Head> head = {};  // of the last launch
  bool head_was_given = false;

  bool intact() const { return faults.empty(); }
  std::string to_text() const;
  std::string to_json() const;
};

// "FILE SEQ HASH", as to_text() prints the head; commas may stand for the spaces.
Result<Head> parse_head(std::string_view text);

// Files are given from the newest to the oldest, because a launch names those before it.
class Verifier {
 public:
  // A head that must be in the log.
  void expect(const Head& head);

  void begin_file(const std::string& name, FileState state);
  void feed(std::string_view bytes);  // any chunking
  void end_file();
  void unreadable_file(const std::string& name, const std::string& why);

  VerifyReport finish();

 private:
  struct Wanted {
    std::uint64_t seq = 0;
    std::string hash = {};
    std::string by = {};  // the file that names it; empty: the person who gave a head
    bool final = false;   // nothing may follow it
    bool seen = false;
  };
  struct Gap {
    std::uint64_t from = 0;
    std::uint64_t to = 0;  // one past
    std::uint64_t line = 0;
  };

  void fault(FaultKind kind, std::uint64_t line, std::string detail);
  void take_line(std::string_view line);
  void take_record(const ReadLine& record);
  void take_position(const ReadLine& record);
  bool fill_gap(std::uint64_t seq);
  bool closes_suspect(const ReadLine& record);
  void check_first(const ReadLine& record);
  void check_wanted(const ReadLine& record);
  void suspect(std::string_view line, std::string_view why);
  void drop_suspect();
  void judge_end();
  void judge_wanted();

  VerifyReport report_ = {};
  std::map<std::string, std::vector<Wanted>, std::less<>> wanted_ = {};
  bool newest_ = true;
  bool links_known_ = true;  // of all newer files

  // Of the file at hand.
  FileReport file_ = {};
  std::vector<Wanted> wanted_here_ = {};
  std::string partial_ = {};
  std::uint64_t line_ = 0;
  std::uint64_t expected_seq_ = 0;
  std::string expected_prev_ = {};  // empty: not known, the line before was bad
  std::vector<Gap> gaps_ = {};
  bool has_links_ = false;
  // Bad lines since the last good record, until it is clear whether a `recovered` record closes them.
  std::unique_ptr<Sha256> suspect_hash_ = {};
  std::uint64_t suspect_bytes_ = 0;
  std::uint64_t suspect_line_ = 0;  // the first of them
  std::uint64_t suspect_lines_ = 0;
  std::string suspect_why_ = {};
};

}  // namespace cordon::audit
