// SPDX-License-Identifier: Apache-2.0
// What a server says while its catalog is captured, one event per line of the input: 'S' and bytes (with LF; 's'
// without), 'T' time, 'F' its end, 'X' its exit. The first byte chooses the opening. Chunking does not matter; every
// line to the server is one message; after Stop nothing comes, and there is a catalog or a reason.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/gate/collector.hpp"
#include "core/json/read.hpp"
#include "core/wire/message.hpp"

using namespace cordon;

namespace {

class Run {
 public:
  Run(gate::Opening opening, std::size_t chunk) : chunk_(chunk), collector_(config(opening)) {
    note(collector_.start(now_));
  }

  std::string play(std::string_view events) {
    for (const std::string_view event : text::split(events, '\n')) {
      // Once it is over, its driver only gives what was under way.
      if (!event.empty() && (!stopped_ || event.front() == 'S' || event.front() == 's')) {
        act(event.front(), event.substr(1));
      }
    }
    if (stopped_) {
      const auto result = collector_.take_result();
      trace_ += result ? text::cat("tools ", result->tools.size(), '\n') : result.error().to_string();
      CORDON_ASSERT(result || !result.error().detail.empty());
    }
    return trace_;
  }

 private:
  static gate::CollectorConfig config(gate::Opening opening) {
    gate::CollectorConfig config{.policy = {}, .opening = opening, .version = "0"};
    config.policy.messages.max_bytes = 4096;
    config.policy.messages.max_depth = 16;
    return config;
  }

  void feed(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += chunk_) {
      note(collector_.feed(bytes.substr(i, chunk_), now_));
    }
  }

  void act(char kind, std::string_view rest) {
    switch (kind) {
      case 'S':
        return feed(text::cat(rest, '\n'));
      case 's':
        return feed(rest);
      case 'T':
        now_ = now_ + static_cast<std::int64_t>(rest.size() * rest.size() * 100);
        return note(collector_.tick(now_));
      case 'F':
        return note(collector_.end(now_));
      case 'X':
        return note(collector_.exited({false, 0}, now_));
      default:
        return;
    }
  }

  void note(const gate::Actions& actions) {
    for (const gate::Action& action : actions) {
      CORDON_ASSERT(!stopped_);
      trace_ += text::cat(action.index(), ' ');
      if (const auto* line = std::get_if<gate::ToServer>(&action)) {
        CORDON_ASSERT(line->line.ends_with('\n') && line->line.find('\n') == line->line.size() - 1);
        CORDON_ASSERT(wire::parse(line->line.substr(0, line->line.size() - 1), {}).has_value());
        trace_ += line->line;
      } else if (const auto* stray = std::get_if<gate::Stray>(&action)) {
        trace_ += stray->bytes;
      }
      stopped_ = stopped_ || std::holds_alternative<gate::Stop>(action);
    }
  }

  std::size_t chunk_;
  gate::Collector collector_;
  Instant now_ = {1'000};
  bool stopped_ = false;
  std::string trace_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view events(reinterpret_cast<const char*>(data) + 1, size - 1);
  const gate::Opening opening = data[0] % 2 == 0 ? gate::Opening::initialize : gate::Opening::discover;
  const std::string whole = Run(opening, std::size_t{1} << 30U).play(events);
  CORDON_ASSERT(Run(opening, 1).play(events) == whole);
  CORDON_ASSERT(Run(opening, 1 + size % 13).play(events) == whole);
  return 0;
}
