// SPDX-License-Identifier: Apache-2.0
#include "core/gate/confirm_form.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Value;
using Remember = policy::Confirm::Remember;

constexpr std::string_view kField = "decision";
constexpr std::string_view kRefuse = "refuse";
constexpr std::string_view kAllow = kFormChoices[0];
constexpr std::string_view kAllowArguments = kFormChoices[1];
constexpr std::string_view kAllowTool = kFormChoices[2];

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

class Shown {
 public:
  Shown(std::string_view server, const SecretFinder& secrets)
      : server_(text::printable(server, 64)), secrets_(secrets) {}

  // Stops once nobody would read it.
  void value(const Value& value, std::size_t depth) {
    if (out_.size() > kMaxTerminalBytes) {
      return;
    }
    if (value.is(Kind::string)) {
      string(value.string());
    } else if (value.is(Kind::array) || value.is(Kind::object)) {
      container(value, depth);
    } else {
      out_ += value.raw();
    }
  }
  std::string take() { return std::move(out_); }

 private:
  // A mask stands outside of the quotes, where no argument can imitate one.
  void string(const std::string& decoded) {
    std::size_t shown = 0;
    const std::vector<SecretSpan> secrets = secrets_.find(decoded, SecretFinder::Reach::token);
    for (const SecretSpan& span : secrets) {
      if (span.begin > shown) {
        out_ += json::quoted(std::string_view(decoded).substr(shown, span.begin - shown), json::Escaping::reviewable);
        out_ += ' ';
      }
      const std::size_t length = characters(std::string_view(decoded).substr(span.begin, span.length));
      out_ += text::cat('[', span.kind, " of ", length, " characters, goes to ", server_, ']');
      shown = span.begin + span.length;
      out_ += shown < decoded.size() ? " " : "";
    }
    if (shown < decoded.size() || secrets.empty()) {
      out_ += json::quoted(std::string_view(decoded).substr(shown), json::Escaping::reviewable);
    }
  }

  void line(std::size_t depth) { out_ += '\n' + std::string(4 + 2 * depth, ' '); }

  void container(const Value& value, std::size_t depth) {
    const bool object = value.is(Kind::object);
    out_ += object ? '{' : '[';
    bool first = true;
    const auto next = [&] {
      out_ += first ? "" : ",";
      first = false;
      line(depth + 1);
    };
    for (const Value element : value.elements()) {
      next();
      this->value(element, depth + 1);
    }
    for (const json::Member member : value.members()) {
      next();
      string(member.key.string());
      out_ += ": ";
      this->value(member.value, depth + 1);
    }
    if (!first) {
      line(depth);
    }
    out_ += object ? '}' : ']';
  }

  std::string server_;
  const SecretFinder& secrets_;
  std::string out_ = {};
};

}  // namespace

std::string confirm_text(const ConfirmQuestion& question, const SecretFinder& secrets) {
  Shown arguments(question.server, secrets);
  if (question.arguments.is(Kind::object)) {
    arguments.value(question.arguments, 0);
  }
  const std::string shown = arguments.take();
  return text::cat("mcp-cordon asks for ", text::printable(question.server, 64), ": ", kFormQuestion, "?\n\n",
                   "    tool: ", text::printable(question.tool, 1024), '\n',
                   "    effect: ", policy::name(question.effect),
                   question.flagged ? " (the tool is not as it was reviewed)" : "", '\n',
                   "    arguments: ", shown.empty() || shown == "{}" ? "none" : shown, '\n');
}

bool fits_form(std::string_view text) {
  return text.size() <= kMaxAskBytes && static_cast<std::size_t>(std::ranges::count(text, '\n')) <= kMaxAskLines;
}

std::string elicitation_params(std::string_view text, Remember remember) {
  json::Writer w;
  w.begin_object().member("message", text).key("requestedSchema").begin_object().member("type", "object");
  w.key("properties").begin_object().key(kField).begin_object();
  w.member("type", "string").member("title", "Decision");
  w.member("description",
           remember == Remember::never
               ? "The tool runs only if you choose to allow it."
               : "The tool runs only if you choose to allow it. To be remembered means: until this session ends.");
  w.key("enum").begin_array().string(kRefuse).string(kAllow);
  if (remember != Remember::never) {
    w.string(kAllowArguments);
  }
  if (remember == Remember::session) {
    w.string(kAllowTool);
  }
  w.end_array().end_object().end_object();
  w.key("required").begin_array().string(kField).end_array().end_object().end_object();
  return w.take();
}

Choice read_choice(const Value& result, Remember remember) {
  const Value action = result.find("action");
  if (!action.is(Kind::string)) {
    return Choice::unreadable;
  }
  if (action.string_equals("decline")) {
    return Choice::decline;
  }
  if (action.string_equals("cancel")) {
    return Choice::cancel;
  }
  if (!action.string_equals("accept")) {
    return Choice::unreadable;
  }
  const Value chosen = result.find("content").find(kField);
  if (!chosen.is(Kind::string)) {
    return Choice::decline;
  }
  if (chosen.string_equals(kAllow)) {
    return Choice::allow;
  }
  if (chosen.string_equals(kAllowArguments) && remember != Remember::never) {
    return Choice::allow_same_arguments;
  }
  return chosen.string_equals(kAllowTool) && remember == Remember::session ? Choice::allow_tool : Choice::decline;
}

bool shows_forms(const Value& client_capabilities) {
  const Value elicitation = client_capabilities.find("elicitation");
  // Without a mode it is forms: so it was before there were modes.
  return elicitation.is(Kind::object) && (elicitation.find("form") || !elicitation.find("url"));
}

}  // namespace cordon::gate
