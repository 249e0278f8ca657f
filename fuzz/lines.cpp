// SPDX-License-Identifier: Apache-2.0
// The first two bytes choose the limit and the chunk; the rest is a stream. Chunking must not matter, no byte is lost
// or made up, and no line is longer than the limit and its CR.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/wire/line_reader.hpp"

using namespace cordon::wire;

namespace {

struct Seen {
  std::string events = {};
  std::size_t bytes = 0;  // of lines with their LF, and what is left
};

Seen feed_in(std::string_view stream, std::size_t chunk, std::size_t limit) {
  LineReader reader(limit);
  Seen seen;
  for (std::size_t i = 0; i < stream.size(); i += chunk) {
    for (const LineEvent& event : reader.feed(stream.substr(i, chunk))) {
      if (const auto* line = std::get_if<Line>(&event)) {
        CORDON_ASSERT(line->text.size() <= limit + 1);
        CORDON_ASSERT(line->text.find('\n') == std::string::npos);
        seen.events += "L" + line->text + "\n";
        seen.bytes += line->text.size() + 1;
      } else {
        const auto& over = std::get<OverlongLine>(event);
        CORDON_ASSERT(over.bytes > limit + 1);
        seen.events += "O" + std::to_string(over.bytes) + (over.scanned.id ? over.scanned.id->json() : "") + "\n";
        seen.bytes += over.bytes + 1;
      }
    }
    CORDON_ASSERT(reader.unfinished().size() <= limit + 1);
  }
  seen.bytes += reader.unfinished_bytes();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::size_t limit = data[0];
  const std::size_t chunk = std::size_t{1} + data[1];
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Seen whole = feed_in(stream, std::max<std::size_t>(stream.size(), 1), limit);
  const Seen pieces = feed_in(stream, chunk, limit);
  CORDON_ASSERT(whole.events == pieces.events);
  CORDON_ASSERT(whole.bytes == stream.size() && pieces.bytes == stream.size());
  return 0;
}
