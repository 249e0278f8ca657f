// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the top-level id of a line that is too long or too broken to be read, in constant memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/wire/id.hpp"

namespace cordon::wire {

// What could be told of an unreadable line. Only good for answering its sender, never for a decision.
struct Scanned {
  std::optional<Id> id = {};     // when there is exactly one readable top-level id
  bool has_method = false;       // a top-level "method": a request rather than a reply
  bool claims_json_rpc = false;  // a top-level "jsonrpc"
  bool unreadable_id = false;    // there is an id, but it is repeated or no id at all; null does not count
};

class IdScanner {
 public:
  void feed(std::string_view bytes);
  Scanned result() const;

 private:
  enum class State : std::uint8_t { start, key, after_key, value, broken, done };
  void step(char c);
  void in_value(char c);
  void value_ended();
  void key_ended();

  State state_ = State::start;
  std::string token_;  // the key, or the id's text, cut at kMaxIdBytes + 2
  bool in_string_ = false;
  bool escaped_ = false;
  bool value_is_id_ = false;
  std::size_t depth_ = 0;  // inside a value
  std::size_t ids_ = 0;
  std::string id_text_;
  bool has_method_ = false;
  bool claims_json_rpc_ = false;
};

// The same on a whole line.
Scanned scan_id(std::string_view line);

}  // namespace cordon::wire
