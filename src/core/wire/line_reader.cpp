// SPDX-License-Identifier: Apache-2.0
#include "core/wire/line_reader.hpp"

#include <algorithm>
#include <utility>

namespace cordon::wire {
namespace {

constexpr std::size_t kBigLine = 1'000'000;

}  // namespace

std::vector<LineEvent> LineReader::feed(std::string_view bytes) {
  std::vector<LineEvent> events;
  for (;;) {
    const std::size_t end = bytes.find('\n');
    append(bytes.substr(0, end));
    if (end == std::string_view::npos) {
      return events;
    }
    if (overlong_) {
      events.emplace_back(OverlongLine{overlong_bytes_, overlong_->result()});
      overlong_.reset();
      overlong_bytes_ = 0;
    } else {
      buffer_.reserve(buffer_.size() + 1);
      events.emplace_back(Line{std::exchange(buffer_, {})});
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineReader::append(std::string_view bytes) {
  // One byte over the limit is let in for a CR before the LF, which is not part of the message.
  if (!overlong_ && buffer_.size() + bytes.size() > max_bytes_ + 1) {
    overlong_.emplace();
    overlong_->feed(buffer_);
    overlong_bytes_ = buffer_.size();
    std::string().swap(buffer_);
  }
  if (overlong_) {
    overlong_->feed(bytes);
    overlong_bytes_ += bytes.size();
  } else {
    if (buffer_.size() >= kBigLine && buffer_.size() + bytes.size() > buffer_.capacity()) {
      // A big step instead of doubling, which would copy a big line again and again; room that is never written costs
      // no memory.
      buffer_.reserve(std::min(max_bytes_ + 2, buffer_.size() * 16));
    } else if (buffer_.empty()) {
      buffer_.reserve(bytes.size() + 1);  // for the LF that whoever passes it on appends
    }
    buffer_ += bytes;
  }
}

}  // namespace cordon::wire
