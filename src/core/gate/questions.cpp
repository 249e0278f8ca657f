// SPDX-License-Identifier: Apache-2.0
#include "core/gate/questions.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "core/gate/elicitation.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/wire/fold.hpp"
#include "core/wire/names.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Member;
using json::Value;
using policy::Action;
using policy::ClientRequests;
using wire::Revision;
using Outcome = JudgedQuestion::Outcome;

// Nobody reads through more before he answers.
constexpr std::size_t kMaxFormBytes = 65'536;
constexpr std::size_t kMaxTools = 256;

bool passes_to_server(const Value& key, const ClientRequests& requests) {
  return key.string_equals("elicitation") || (key.string_equals("sampling") && requests.sampling != Action::block) ||
         (key.string_equals("roots") && requests.roots != ClientRequests::Roots::block);
}

// Our own answer to roots/list never changes, so no change is promised.
bool is_answered_roots(const Value& key, const ClientRequests& requests) {
  return requests.roots == ClientRequests::Roots::policy && key.string_equals("roots");
}

// Of the extensions only that of tasks passes, and only where the server's was reviewed.
bool has_tasks(const Member& member, TaskExtension extension) {
  return extension == TaskExtension::shown && member.key.string_equals("extensions") &&
         member.value.find(wire::kTasksExtension).is(Kind::object);
}

JudgedQuestion refused(std::string because) {
  JudgedQuestion judged;
  judged.because = std::move(because);
  return judged;
}

JudgedQuestion declined(std::string because) {
  JudgedQuestion judged = refused(std::move(because));
  judged.outcome = Outcome::answer;
  judged.result = kDeclined;
  return judged;
}

std::string flagged_params(const Value& params) {
  return params ? wire::with_meta(params, "dev.mcp-cordon/flagged", "true")
                : std::string(R"({"_meta":{"dev.mcp-cordon/flagged":true}})");
}

JudgedQuestion passed(const Value& params, bool flagged, std::string because) {
  JudgedQuestion judged;
  judged.outcome = Outcome::pass;
  judged.flagged = flagged;
  judged.params = flagged ? flagged_params(params) : std::string(params ? params.raw() : "{}");
  judged.because = std::move(because);
  return judged;
}

// What a model is to read besides, of this server and of others, is not the server's to choose: the protocol lets
// clients ignore the wish, and has given it up.
enum class Wish : std::uint8_t { none, other, unreadable };
Wish wish_for_context(const Value& params) {
  const Value wish = params.find("includeContext");
  if (!wish) {
    return Wish::none;
  }
  if (!wish.is(Kind::string)) {
    return Wish::unreadable;
  }
  return wish.string_equals("none")                                             ? Wish::none
         : wish.string_equals("thisServer") || wish.string_equals("allServers") ? Wish::other
                                                                                : Wish::unreadable;
}

JudgedQuestion judge_sampling(const Value& params, const QuestionContext& context) {
  const Action action = context.policy.client_requests.sampling;
  if (action == Action::block) {
    return refused("client_requests.sampling");
  }
  if (!context.offers.sampling) {
    return refused("the client does not offer sampling");
  }
  if (!params) {
    return refused("a sampling request without params");
  }
  const Value tools = params.find("tools");
  if (tools || params.find("toolChoice")) {
    if (context.revision < Revision::v2025_11_25) {
      return refused("sampling with tools, which this revision does not have");
    }
    if (!context.offers.sampling_tools) {
      return refused("sampling with tools, which the client does not offer");
    }
  }
  if ((tools && !tools.is(Kind::array)) || tools.size() > kMaxTools) {
    return refused("sampling with tools that cannot be told");
  }
  std::vector<std::string> names;
  for (const Value tool : tools.elements()) {
    const Value name = tool.find("name");
    if (!name.is(Kind::string)) {
      return refused("sampling with a tool that has no name");
    }
    names.push_back(name.string());
  }
  if (names_us(params)) {
    return refused("it speaks of mcp-cordon");
  }
  const Wish wish = wish_for_context(params);
  if (wish == Wish::unreadable) {
    return refused("sampling with a context that cannot be read");
  }
  JudgedQuestion judged = passed(params, action == Action::flag, "client_requests.sampling");
  if (wish == Wish::other) {
    const auto without = [](std::string_view key, const Value&) -> std::optional<std::string> {
      return key == "includeContext" ? std::optional<std::string>(R"("none")") : std::nullopt;
    };
    const std::string edited = wire::edited(params, without);
    judged =
        passed(parse_own(wire::with_meta(parse_own(edited).root(), "dev.mcp-cordon/rewritten", R"(["includeContext"])"))
                   .root(),
               action == Action::flag, "client_requests.sampling; includeContext became none");
  }
  judged.tools = std::move(names);
  return judged;
}

// What keeps a form or an address from a person's eyes; empty when nothing does.
std::string fault_of_elicitation(const Value& params, const QuestionContext& context, std::string& host) {
  const Value message = params.find("message");
  const Value mode = params.find("mode");
  if (!message.is(Kind::string) || (mode && !mode.is(Kind::string)) || params.raw().size() > kMaxFormBytes) {
    return "it cannot be read";
  }
  if (names_us(params)) {
    return "it speaks of mcp-cordon";
  }
  if (poses_as_form(params)) {
    return "it looks like a question of mcp-cordon";
  }
  if (misleads_the_eye(params)) {
    return "it holds characters that mislead the eye";
  }
  if (mode && mode.string_equals("url")) {
    const Value address = params.find("url");
    if (context.revision < Revision::v2025_11_25 || !context.offers.address) {
      return "the client cannot be sent to an address";
    }
    if (!address.is(Kind::string) || params.find("requestedSchema")) {
      return "it cannot be read";
    }
    auto found = host_of_address(address.string(), context.policy.client_requests.elicitation_hosts);
    if (!found) {
      return found.error().detail;
    }
    host = std::move(*found);
    return "";
  }
  const Value schema = params.find("requestedSchema");
  if ((mode && !mode.string_equals("form")) || !schema.is(Kind::object) || params.find("url")) {
    return "it cannot be read";
  }
  if (!context.offers.form) {
    return "the client cannot show a form";
  }
  return asks_for_secret(message.string(), schema) ? "it asks for a secret" : "";
}

JudgedQuestion judge_elicitation(const Value& params, const QuestionContext& context) {
  const Action action = context.policy.client_requests.elicitation;
  if (action == Action::block) {
    return declined("client_requests.elicitation");
  }
  std::string host;
  if (std::string fault = fault_of_elicitation(params, context, host); !fault.empty()) {
    return declined(std::move(fault));
  }
  // Who asks stands in front, so that no server's words are taken for ours or for the client's.
  const auto named = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "message" ? std::optional(json::quoted(context.policy.server + " asks: " + value.string()))
                            : std::nullopt;
  };
  const json::Document shown = parse_own(
      wire::with_meta(parse_own(wire::edited(params, named)).root(), "dev.mcp-cordon/rewritten", R"(["message"])"));
  JudgedQuestion judged = passed(shown.root(), action == Action::flag, "client_requests.elicitation");
  judged.host = std::move(host);
  if (const Value id = params.find("elicitationId"); id.is(Kind::string)) {
    judged.elicitation_id = id.string();
  }
  return judged;
}

JudgedQuestion judge_roots(const Value& params, const QuestionContext& context) {
  using Roots = ClientRequests::Roots;
  const Roots roots = context.policy.client_requests.roots;
  if (roots == Roots::block) {
    return refused("client_requests.roots");
  }
  if (!context.offers.roots) {
    return refused("the client does not offer roots");
  }
  if (roots == Roots::policy) {
    JudgedQuestion judged = refused("client_requests.roots");
    judged.outcome = Outcome::answer;
    judged.result = roots_result(context.roots);
    return judged;
  }
  return passed(params, roots == Roots::flag, "client_requests.roots");
}

}  // namespace

ClientOffers read_offers(const Value& capabilities) {
  ClientOffers offers;
  const Value elicitation = capabilities.find("elicitation");
  const Value sampling = capabilities.find("sampling");
  offers.address = elicitation.find("url").is(Kind::object);
  // Without a mode it means forms.
  offers.form = elicitation.is(Kind::object) && (elicitation.find("form").is(Kind::object) || !offers.address);
  offers.sampling = sampling.is(Kind::object);
  offers.sampling_tools = sampling.find("tools").is(Kind::object);
  offers.roots = capabilities.find("roots").is(Kind::object);
  return offers;
}

std::string client_capabilities_for_server(const Value& capabilities, const ClientRequests& requests,
                                           TaskExtension extension) {
  json::Writer w;
  w.begin_object();
  for (const Member member : capabilities.members()) {
    if (is_answered_roots(member.key, requests)) {
      w.member_raw("roots", "{}");
    } else if (passes_to_server(member.key, requests)) {
      w.key(member.key.string()).value(member.value);
    } else if (has_tasks(member, extension)) {
      w.key("extensions").begin_object();
      w.key(wire::kTasksExtension).value(member.value.find(wire::kTasksExtension)).end_object();
    }
  }
  w.end_object();
  return w.take();
}

bool needs_rewriting(const Value& capabilities, const ClientRequests& requests, TaskExtension extension) {
  for (const Member member : capabilities.members()) {
    const bool tasks_alone = has_tasks(member, extension) && member.value.size() == 1;
    if ((!passes_to_server(member.key, requests) && !tasks_alone) ||
        (is_answered_roots(member.key, requests) && member.value.raw() != "{}")) {
      return true;
    }
  }
  return !capabilities.is(Kind::object);
}

JudgedQuestion judge_question(std::string_view method, const Value& params, const QuestionContext& context) {
  if (params && !params.is(Kind::object)) {
    return refused("params that are no object");
  }
  if (wire::folded_params_member(params)) {
    constexpr std::string_view kFolded = "a member equals a protocol member only after case folding";
    return method == "elicitation/create" ? declined(std::string(kFolded)) : refused(std::string(kFolded));
  }
  // A task in place of an answer was not reviewed.
  if (params.find("task")) {
    return method == "elicitation/create" ? declined("a task") : refused("a task");
  }
  if (method == "sampling/createMessage") {
    return judge_sampling(params, context);
  }
  if (method == "elicitation/create") {
    return judge_elicitation(params, context);
  }
  if (method == "roots/list") {
    return judge_roots(params, context);
  }
  return refused("a question that does not exist");
}

bool data_asks(const Value& data) {
  for (const Member member : data.members()) {
    const std::string key = text::fold_to_ascii(member.key.string());
    if (key == "elicitations" || key == "inputrequests") {
      return true;
    }
  }
  return false;
}

std::string roots_result(const std::vector<std::string>& folders) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  json::Writer w;
  w.begin_object().key("roots").begin_array();
  for (const std::string& folder : folders) {
    std::string address = "file://";
    for (const char c : folder) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         std::string_view("/-._~").find(c) != std::string_view::npos;
      if (plain) {
        address += c;
      } else {
        address += '%';
        address += kHex[byte >> 4U];
        address += kHex[byte & 15U];
      }
    }
    w.begin_object().member("uri", address).end_object();
  }
  w.end_array().end_object();
  return w.take();
}

}  // namespace cordon::gate
