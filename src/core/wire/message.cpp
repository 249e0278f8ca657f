// SPDX-License-Identifier: Apache-2.0
#include "core/wire/message.hpp"

#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/wire/fold.hpp"
#include "core/wire/names.hpp"
#include "core/wire/scan_id.hpp"

namespace cordon::wire {
namespace {

using json::Kind;
using json::Value;

std::unexpected<Refused> refuse(Error error, std::string line) {
  Refused refused;
  const Scanned scanned = scan_id(line);
  refused.error = std::move(error);
  refused.id = scanned.id;
  refused.has_method = scanned.has_method;
  refused.unreadable_id = scanned.unreadable_id;
  refused.is_json_rpc = scanned.claims_json_rpc;
  refused.line = std::move(line);
  return std::unexpected(std::move(refused));
}

bool clean(const Value& text) { return text.is(Kind::string) && !text.has_lone_surrogate() && !text.has_nul(); }

Status check_meta(const Value& holder, std::string_view place) {
  const Value meta = holder.find("_meta");
  if (meta && !meta.is(Kind::object)) {
    return fail(Errc::message_malformed, text::cat(place, "._meta is no object"));
  }
  for (const Value token : {meta.find("progressToken"), holder.find("progressToken")}) {
    if (!token) {
      continue;
    }
    if (auto read = read_id(token); !read) {
      return fail(read.error().code, "the progress token is no string or integer that every reader reads alike");
    }
  }
  return {};
}

Status check_params(Message& message) {
  if (!message.params) {
    return {};
  }
  if (!message.params.is(Kind::object)) {
    return fail(Errc::message_malformed, "params is no object");
  }
  if (Status status = check_meta(message.params, "params"); !status) {
    return status;
  }
  if (const Value version = message.params.find("_meta").find(kMetaVersion)) {
    if (!clean(version) || version.string_raw().empty() || version.string_raw().size() > 64) {
      return fail(Errc::message_malformed, "the protocol version in params._meta is no short string");
    }
    message.modern_version = version.string();
  }
  for (const std::string_view key : {"name", "uri", "cursor"}) {
    const Value value = message.params.find(key);
    if (value.is(Kind::string) && !clean(value)) {
      return fail(Errc::message_ambiguous, text::cat("params.", key, " holds a lone surrogate or U+0000"));
    }
  }
  return {};
}

Status check_call(Message& message, const Value& method) {
  if (!method.is(Kind::string)) {
    return fail(Errc::message_malformed, "method is no string");
  }
  if (!clean(method)) {
    return fail(Errc::message_ambiguous, "method holds a lone surrogate or U+0000");
  }
  message.method = method.string();
  message.kind = message.id ? MessageKind::request : MessageKind::notification;
  return check_params(message);
}

Status check_reply(Message& message) {
  if (message.params) {
    return fail(Errc::message_ambiguous, "a reply with params");
  }
  if (message.result) {
    message.kind = MessageKind::result;
    if (!message.result.is(Kind::object)) {
      return fail(Errc::message_malformed, "result is no object");
    }
    if (!message.id) {
      return fail(Errc::message_malformed, "a result without id");
    }
    return check_meta(message.result, "result");
  }
  message.kind = MessageKind::error;
  if (!message.error.find("code").safe_integer() || !message.error.find("message").is(Kind::string)) {
    return fail(Errc::message_malformed, "error is no object with an integer code and a message");
  }
  return {};
}

Status check_envelope(Message& message) {
  const Value root = message.document.root();
  if (!root.is(Kind::object)) {
    return fail(Errc::message_malformed, text::cat("the line is a JSON ", json::name(root.kind()), ", not an object"));
  }
  const Envelope envelope = envelope_of(root);
  if (const auto place = folded_protocol_member(root, envelope)) {
    return fail(Errc::message_ambiguous,
                text::cat("a member equals a protocol member only after case folding: ", text::printable(*place, 100)));
  }
  const Value& version = envelope.version;
  if (!version.is(Kind::string) || !version.string_equals("2.0")) {
    return fail(Errc::message_malformed, "jsonrpc is not \"2.0\"");
  }
  if (envelope.id) {
    auto read = read_id(envelope.id);
    if (!read) {
      return std::unexpected(std::move(read.error()));
    }
    message.id = std::move(*read);
  }
  const Value& method = envelope.method;
  message.params = envelope.params;
  message.result = envelope.result;
  message.error = envelope.error;
  if ((method && (message.result || message.error)) || (message.result && message.error)) {
    return fail(Errc::message_ambiguous, "more than one of method, result and error");
  }
  if (method) {
    return check_call(message, method);
  }
  if (message.result || message.error) {
    return check_reply(message);
  }
  return fail(Errc::message_malformed, "none of method, result and error");
}

}  // namespace

json::Value Message::meta() const { return (params ? params : result).find("_meta"); }

std::expected<Message, Refused> parse(std::string line, const json::Limits& limits) {
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  if (line.find('\r') != std::string::npos) {
    return refuse({Errc::message_malformed, "a bare CR, which some readers take for the end of a line", {}, {}},
                  std::move(line));
  }
  Message message;
  auto document = json::read_from(line, limits);
  if (!document) {
    return refuse(std::move(document.error()), std::move(line));
  }
  message.document = std::move(*document);
  const bool is_array = message.document.root().is(Kind::array);
  if (Status status = check_envelope(message); !status) {
    auto refused = refuse(std::move(status.error()), std::move(message.document).take_text());
    refused.error().is_array = is_array;
    refused.error().is_json_rpc = refused.error().is_json_rpc || is_array;
    return refused;
  }
  return message;
}

Result<std::vector<std::string>> split_batch(const std::string& line, const json::Limits& limits,
                                             std::size_t max_elements) {
  auto document = json::read(line, limits);
  if (!document) {
    return std::unexpected(std::move(document.error()));
  }
  std::vector<std::string> lines;
  for (const Value element : document->root().elements()) {
    if (lines.size() == max_elements) {
      return fail(Errc::message_too_large, text::cat("a batch of more than ", max_elements, " messages"));
    }
    lines.emplace_back(element.raw());
  }
  if (lines.empty()) {
    return fail(Errc::message_malformed, "an empty batch");
  }
  return lines;
}

}  // namespace cordon::wire
