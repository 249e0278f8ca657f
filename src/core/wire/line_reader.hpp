// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cuts a byte stream at LF. An over-long line is not kept: it is scanned on for its id in constant memory.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/wire/scan_id.hpp"

namespace cordon::wire {

struct Line {
  std::string text = {};  // without LF; room for one more byte is reserved
};
struct OverlongLine {
  std::size_t bytes = 0;  // without LF
  Scanned scanned = {};
};
using LineEvent = std::variant<Line, OverlongLine>;

class LineReader {
 public:
  explicit LineReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Whole lines that `bytes` completes. Any chunking of a stream gives the same events.
  std::vector<LineEvent> feed(std::string_view bytes);
  // Bytes of a line that has not ended; at the end of a stream they are lost and must be reported.
  std::size_t unfinished_bytes() const { return overlong_bytes_ + buffer_.size(); }
  // That line so far; empty when it is over-long.
  std::string_view unfinished() const { return buffer_; }

 private:
  void append(std::string_view bytes);

  std::size_t max_bytes_;
  std::string buffer_;
  std::optional<IdScanner> overlong_;
  std::size_t overlong_bytes_ = 0;
};

}  // namespace cordon::wire
