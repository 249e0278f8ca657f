// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of a log that another launch wrote: its last record, and closing it when it is torn.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.hpp"
#include "audit/folder.hpp"
#include "base/error.hpp"

namespace cordon::audit {

// What the end of a file holds, told from a suffix of its bytes.
struct Tail {
  std::optional<ReadLine> last = {};  // the last whole record, if the suffix holds one
  std::uint64_t torn_bytes = 0;       // behind it
  std::string torn_digest = {};
  bool line_feed_missing = false;  // at the very end of the file
};

// `suffix` begins at a line or at the start of the file when `whole` is true; otherwise its first line is not judged.
// Nothing when the suffix holds no record and is not the whole file, so that more has to be read.
std::optional<Tail> find_tail(std::string_view suffix, bool whole);

// The link to an earlier log, after its torn end was closed where no living process writes to it. Never fails: a log
// that cannot be read becomes a damaged link, for the launch must not hang on it; `problem` then says why.
struct Closed {
  Link link = {};
  std::optional<std::string> problem = {};
  bool has_first_record = false;
  std::vector<Link> previous = {};  // of its first record
};
Closed close_log(const Folder& folder, const std::string& name, std::string_view time);

}  // namespace cordon::audit
