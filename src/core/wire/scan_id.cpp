// SPDX-License-Identifier: Apache-2.0
#include "core/wire/scan_id.hpp"

#include "core/json/read.hpp"

namespace cordon::wire {
namespace {

constexpr std::size_t kMaxToken = kMaxIdBytes + 2;

// A line with one in front is refused, but its sender must not wait for an answer.
bool is_byte_order_mark(char c) { return c == '\xEF' || c == '\xBB' || c == '\xBF'; }

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void IdScanner::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (state_ == State::broken || state_ == State::done) {
      return;
    }
    step(c);
  }
}

void IdScanner::step(char c) {
  switch (state_) {
    case State::start:  // before '{', or before a key
      if (c == '{' && depth_ == 0) {
        depth_ = 1;
      } else if (c == '"' && depth_ == 1) {
        state_ = State::key;
        token_ = '"';
        escaped_ = false;
      } else if (c == '}' && depth_ == 1) {
        state_ = State::done;
      } else if (!is_space(c) && (depth_ != 0 || !is_byte_order_mark(c))) {
        state_ = State::broken;
      }
      return;
    case State::key:
      if (token_.size() < kMaxToken) {
        token_ += c;
      }
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        key_ended();
      }
      return;
    case State::after_key:
      if (c == ':') {
        state_ = State::value;
        token_.clear();
        in_string_ = false;
        escaped_ = false;
      } else if (!is_space(c)) {
        state_ = State::broken;
      }
      return;
    case State::value:
      in_value(c);
      return;
    case State::broken:
    case State::done:
      return;
  }
}

void IdScanner::key_ended() {
  value_is_id_ = false;
  if (token_.size() < 64) {
    if (const auto key = json::read(token_, {})) {
      value_is_id_ = key->root().string_equals("id");
      has_method_ = has_method_ || key->root().string_equals("method");
      claims_json_rpc_ = claims_json_rpc_ || key->root().string_equals("jsonrpc");
    }
  }
  state_ = State::after_key;
}

void IdScanner::in_value(char c) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  } else if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    if (depth_ == 1) {
      value_ended();
      state_ = State::done;
      return;
    }
    --depth_;
  } else if (c == ',' && depth_ == 1) {
    value_ended();
    state_ = State::start;
    return;
  }
  if (value_is_id_ && token_.size() < kMaxToken) {
    token_ += c;
  }
}

void IdScanner::value_ended() {
  if (value_is_id_) {
    ++ids_;
    id_text_ = token_;
  }
}

Scanned IdScanner::result() const {
  Scanned scanned;
  scanned.has_method = has_method_;
  scanned.claims_json_rpc = claims_json_rpc_;
  if (ids_ != 1) {
    scanned.unreadable_id = ids_ != 0;
    return scanned;
  }
  scanned.unreadable_id = true;
  if (const auto document = json::read(id_text_, {.max_bytes = kMaxToken, .max_depth = 1})) {
    if (auto id = read_id(document->root())) {
      scanned.id = std::move(*id);
    }
    scanned.unreadable_id = !scanned.id && !document->root().is(json::Kind::null);
  }
  return scanned;
}

Scanned scan_id(std::string_view line) {
  IdScanner scanner;
  scanner.feed(line);
  return scanner.result();
}

}  // namespace cordon::wire
