// SPDX-License-Identifier: Apache-2.0
// What the server answers, on its last step to the client: its size, its structure, the text in it.
#include <utility>

#include "base/text.hpp"
#include "core/gate/content_filter.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"

namespace cordon::gate {

using json::Value;

namespace {

constexpr std::string_view kTextMark = "dev.mcp-cordon/text";

// `message` again, with a mark in the `_meta` of its result or params; of an error in that of its data, as far as that
// is an object.
std::string marked(const Value& message, std::string_view key, std::string_view value) {
  const auto edit_error = [&](std::string_view member, const Value& data) -> std::optional<std::string> {
    return member == "data" && data.is(json::Kind::object) ? std::optional(wire::with_meta(data, key, value))
                                                           : std::nullopt;
  };
  const auto edit = [&](std::string_view member, const Value& part) -> std::optional<std::string> {
    if (member == "result" || member == "params") {
      return wire::with_meta(part, key, value);
    }
    return member == "error" ? std::optional(wire::edited(part, edit_error)) : std::nullopt;
  };
  return wire::edited(message, edit);
}

}  // namespace

void Session::Impl::withhold_answer(const Message& message, const Outstanding& request, const Error& why) {
  record(refused_record(Side::server, why.code, why.detail, message.id, request.method));
  notice_server(text::cat("a result of ", text::printable(request.tool.empty() ? request.method : request.tool, 100),
                          " was withheld: ", why.detail));
  fail_reply(*message.id, request, why.code, why.detail);
}

// True when it is too long, whatever it is; then everything is said.
bool Session::Impl::refuse_by_size(const Message& message, const Outstanding& request) {
  const std::size_t bytes = message.document.text().size();
  if (bytes <= config_.policy.results.max_bytes) {
    return false;
  }
  withhold_answer(message, request,
                  {Errc::result_too_large,
                   text::cat("the result has ", bytes, " bytes, and at most ", config_.policy.results.max_bytes,
                             " are let through; ask for less at once"),
                   {},
                   {}});
  return true;
}

// True when the result of a call may not pass as a whole; then everything is said.
bool Session::Impl::refuse_answer(const Message& message, const Outstanding& request) {
  if (refuse_by_size(message, request)) {
    return true;
  }
  if (request.method != "tools/call" || config_.policy.results.structured != policy::SchemaCheck::enforce) {
    return false;
  }
  const auto refusal = schemas_.refuse_result(request.tool, message.result);
  if (refusal) {
    withhold_answer(message, request, *refusal);
  }
  return refusal.has_value();
}

// The line for the client of what may pass. `what`: the tool or method that it belongs to.
std::string Session::Impl::treated_line(json::Document message, const std::optional<Id>& id, std::string_view what,
                                        bool flagged) {
  const Treated treated = treat_content(message, config_.policy.results, secret_finder_);
  if (treated.none() && !flagged) {
    std::string line = std::move(message).take_text();
    line += line.ends_with('\n') ? "" : "\n";
    return line;
  }
  std::string line = treated.text.empty() ? std::move(message).take_text() : treated.text;
  if (!treated.none()) {
    const std::string marks = treated.marks(config_.policy.results);
    record(text_record(id, what, marks));
    notice_server(text::cat("text of ", text::printable(what, 100), " was treated as the policy says: ", marks));
    line = marked(parse_own(line).root(), kTextMark, marks);
  }
  if (flagged) {
    line = marked(parse_own(line).root(), "dev.mcp-cordon/flagged", "true");
  }
  line += line.ends_with('\n') ? "" : "\n";
  return line;
}

}  // namespace cordon::gate
