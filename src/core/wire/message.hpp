// SPDX-License-Identifier: Apache-2.0
#pragma once
// One JSON-RPC message, read strictly, or the reason why it cannot be judged.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/json/limits.hpp"
#include "core/json/value.hpp"
#include "core/wire/id.hpp"

namespace cordon::wire {

enum class MessageKind : std::uint8_t { request, notification, result, error };

struct Message {
  json::Document document = {};
  MessageKind kind = MessageKind::notification;
  std::optional<Id> id = {};        // always there for requests; absent only for notifications and error replies
  std::string method = {};          // requests and notifications
  json::Value params = {};          // an object, or absent
  json::Value result = {};          // an object
  json::Value error = {};           // an object with integer `code` and string `message`
  std::string modern_version = {};  // params._meta protocolVersion: the message belongs to the stateless era

  bool modern() const { return !modern_version.empty(); }
  std::string id_json() const { return id ? id->json() : std::string(); }
  // params._meta or result._meta; absent when there is none.
  json::Value meta() const;
};

struct Refused {
  Error error = {};
  std::optional<Id> id = {};   // for an answer to the sender (client) or in place of the reply (server)
  bool has_method = false;     // the line claims to be a request or notification
  bool unreadable_id = false;  // it has an id, but none that could be told
  bool is_json_rpc = false;    // it claims to be JSON-RPC; if not, on the server's stdout it is a stray line
  bool is_array = false;       // a batch
  std::string line = {};       // the line, unchanged
};

// `line` has no LF; one trailing CR is dropped. Checks what architecture §5 names: framing, strict JSON, one meaning of
// each member, the shape of the envelope. Everything else is left to the gate.
std::expected<Message, Refused> parse(std::string line, const json::Limits& limits);

// The elements of a batch line, each as a line of its own, whatever it is. message_malformed when it is no array or
// empty, message_too_large when there are more than `max_elements`.
Result<std::vector<std::string>> split_batch(const std::string& line, const json::Limits& limits,
                                             std::size_t max_elements);

}  // namespace cordon::wire
