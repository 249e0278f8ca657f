// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client that opens a server, calls one tool a few times, one call after the other, and ends it. Pure, like
// gate::Collector; drive it with run::EngineOf.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "core/gate/action.hpp"
#include "core/gate/collector.hpp"
#include "core/json/limits.hpp"
#include "core/wire/id.hpp"
#include "core/wire/line_reader.hpp"
#include "core/wire/message.hpp"

namespace cordon::app {

struct ToolCallerConfig {
  std::string tool = {};
  std::vector<std::string> arguments = {};  // JSON objects, one per call
  gate::Opening opening = gate::Opening::initialize;
  std::string version = {};  // of mcp-cordon, for clientInfo
  json::Limits limits = {};
  std::int64_t answer_timeout_ms = 30'000;
};

struct ToolAnswer {
  enum class Kind : std::uint8_t { none, result, error } kind = Kind::none;
  std::string json = {};  // of the result or the error, as the server wrote it
};

class ToolCaller {
 public:
  explicit ToolCaller(ToolCallerConfig config);

  gate::Actions start(Instant now);
  gate::Actions feed(std::string_view server_bytes, Instant now);
  gate::Actions end(Instant now);
  gate::Actions exited(gate::ExitReport report, Instant now);
  gate::Actions tick(Instant now);
  std::optional<Instant> next_deadline() const;

  // After Stop: one per call, in order. method_not_allowed when the server refused this opening; server_exited,
  // timed_out and the like when it never got so far as to be called.
  Result<std::vector<ToolAnswer>> take_answers();

 private:
  gate::Actions take();
  void ask(std::string_view method, const std::string& params);
  void call_next();
  void on_line(wire::LineEvent event);
  void on_request(const wire::Message& message);
  void on_answer(const wire::Message& message);
  void on_opened(const wire::Message& message);
  void give_up(Errc code, std::string detail);
  void finish();
  std::string meta() const;
  std::string opening_params() const;
  std::string call_params() const;

  ToolCallerConfig config_;
  wire::LineReader lines_;
  Instant now_ = {};
  gate::Actions actions_ = {};
  std::vector<ToolAnswer> answers_ = {};
  std::size_t calls_ = 0;  // begun
  std::optional<wire::Id> asked_ = {};
  std::uint64_t count_ = 0;
  bool opened_ = false;
  bool finished_ = false;
  bool stopped_ = false;
  std::optional<Error> failure_ = {};
  std::optional<Instant> deadline_ = {};
  std::optional<Instant> kill_at_ = {};
};

}  // namespace cordon::app
