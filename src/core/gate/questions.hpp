// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server asks of the client (sampling, elicitation, roots), judged one by one and by one function, whatever it
// travels in: a request, an `input_required` result, the data of an error.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"
#include "core/policy/policy.hpp"
#include "core/wire/methods.hpp"

namespace cordon::gate {

// What the client said it can be asked.
struct ClientOffers {
  bool form = false;
  bool address = false;  // elicitation of mode `url`
  bool sampling = false;
  bool sampling_tools = false;
  bool roots = false;
};
ClientOffers read_offers(const json::Value& capabilities);

// Client capabilities as the server may see them: elicitation as declared, also where it is blocked (a server that
// finds none proceeds without asking); sampling and roots as the policy says; tasks of the client and what is unknown
// are taken out. `extension`: calls of the stateless era may become tasks.
enum class TaskExtension : bool { hidden, shown };
std::string client_capabilities_for_server(const json::Value& capabilities, const policy::ClientRequests& requests,
                                           TaskExtension extension);
// True when that is not what stands there already.
bool needs_rewriting(const json::Value& capabilities, const policy::ClientRequests& requests, TaskExtension extension);

struct QuestionContext {
  const policy::Policy& policy;
  const std::vector<std::string>& roots;  // folders of the policy as the server sees them
  wire::Revision revision = wire::Revision::v2025_11_25;
  ClientOffers offers = {};
};

struct JudgedQuestion {
  enum class Outcome : std::uint8_t {
    pass,    // to the client, with `params`
    answer,  // by us, with `result`
    refuse,  // there is no answer that an honest server could go on with
  };
  Outcome outcome = Outcome::refuse;
  std::string params = {};  // JSON object
  std::string result = {};  // JSON object
  bool flagged = false;
  std::string because = {};             // ours alone
  std::vector<std::string> tools = {};  // that a sampling request carries, as the server names them
  std::string host = {};                // that an address leads to
  std::string elicitation_id = {};      // 2025-11-25: what its completion is told by
};

// `params` may be absent. Members of ours are already gone.
JudgedQuestion judge_question(std::string_view method, const json::Value& params, const QuestionContext& context);

// Does the data of an error ask the client for something, to any reader?
bool data_asks(const json::Value& data);

// The result of elicitation/create that says no.
inline constexpr std::string_view kDeclined = R"({"action":"decline"})";
inline constexpr std::string_view kCancelled = R"({"action":"cancel"})";

// file:// addresses of folders.
std::string roots_result(const std::vector<std::string>& folders);

}  // namespace cordon::gate
