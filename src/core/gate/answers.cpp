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

// True when the result of a call may not pass as a whole; then everything is said.
bool Session::Impl::refuse_answer(const Message& message, const Outstanding& request) {
  const std::size_t bytes = message.document.text().size();
  std::optional<Error> refusal;
  if (bytes > config_.policy.results.max_bytes) {
    refusal = Error{Errc::result_too_large,
                    text::cat("the result has ", bytes, " bytes, and at most ", config_.policy.results.max_bytes,
                              " are let through; ask for less at once"),
                    {},
                    {}};
  } else if (request.method == "tools/call" && config_.policy.results.structured == policy::SchemaCheck::enforce) {
    refusal = schemas_.refuse_result(request.tool, message.result);
  }
  if (!refusal) {
    return false;
  }
  record(refused_record(Side::server, refusal->code, refusal->detail, message.id, request.method));
  notice_server(text::cat("a result of ", text::printable(request.tool.empty() ? request.method : request.tool, 100),
                          " was withheld: ", refusal->detail));
  fail_reply(*message.id, request, refusal->code, refusal->detail);
  return true;
}

// The line for the client of what may pass. `what`: the tool or method that it belongs to.
std::string Session::Impl::treated_line(Message message, std::string_view what, bool flagged) {
  const Treated treated = treat_content(message.document, config_.policy.results, config_.secrets);
  if (treated.none() && !flagged) {
    std::string line = std::move(message.document).take_text();
    line += '\n';
    return line;
  }
  std::string line = treated.text.empty() ? std::move(message.document).take_text() : treated.text;
  if (!treated.none()) {
    const std::string marks = treated.marks(config_.policy.results);
    record(text_record(message.id, what, marks));
    notice_server(text::cat("text of ", text::printable(what, 100), " was treated as the policy says: ", marks));
    line = marked(parse_own(line).root(), kTextMark, marks);
  }
  if (flagged) {
    line = marked(parse_own(line).root(), "dev.mcp-cordon/flagged", "true");
  }
  line += '\n';
  return line;
}

}  // namespace cordon::gate
