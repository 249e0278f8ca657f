// SPDX-License-Identifier: Apache-2.0
#pragma once
// stderr: "mcp-cordon: …" for what we say, "[NAME] …" for what the server says. Whole lines, escaped, masked, limited.
// A reader that is slow or gone costs lines, which are counted, and never time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "base/mask.hpp"
#include "base/rate.hpp"
#include "base/time.hpp"
#include "run/endpoint.hpp"

namespace cordon::run {

enum class ServerLines : std::uint8_t { relay, file, drop };

struct LogConfig {
  int fd = 2;               // borrowed
  std::string server = {};  // NAME
  Masker masker = {};
  ServerLines server_lines = ServerLines::relay;
  UniqueFd server_file = {};                  // for ServerLines::file
  std::uint64_t max_file_bytes = 10'000'000;  // of it
  std::int64_t burst = 200;
  std::int64_t per_second = 100;
};

class Log {
 public:
  explicit Log(LogConfig config);

  // `heard` gets every line of the server's, masked and not escaped, whether it is shown or not; it may call notice().
  // `overheard` gets each line of what failed calls told the client, masked.
  using Listener = std::function<void(std::string_view)>;
  void listen(Listener heard, Listener overheard = {}) {
    heard_ = std::move(heard);
    overheard_ = std::move(overheard);
  }
  void overheard(std::string_view text);

  // One line of ours, already printable.
  void notice(std::string_view text, Instant now);
  // Bytes of the server's stderr as they come.
  void server_bytes(std::string_view bytes, Instant now);
  // The end of it: what stands without a line feed is shown.
  void server_end(Instant now);
  // One stray line of the server's stdout, without its line feed.
  void server_line(std::string_view line, Instant now);

  // Says how much was not shown, when that is due. flush() says it at once.
  void tick(Instant now);
  void flush(Instant now);
  std::optional<Instant> next_deadline() const;

  const Masker& masker() const { return config_.masker; }

 private:
  enum class Outcome : std::uint8_t { written, lost, gone };
  void collect(std::string_view bytes);
  void finish_line(Instant now);
  Outcome put_line(std::string_view prefix, std::string_view printable);
  Outcome put_server_line(std::string_view printable);
  Outcome put(std::string bytes);
  void say_dropped(RateLimit& rate, std::string_view what, Instant now);

  LogConfig config_;
  Listener heard_ = {};
  Listener overheard_ = {};
  Endpoint out_;
  std::string rest_ = {};  // of a line that was written in part
  std::string line_ = {};  // of the server, unfinished
  std::uint64_t cut_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
  RateLimit own_;
  RateLimit server_;
};

}  // namespace cordon::run
