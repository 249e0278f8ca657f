// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person is shown before a call, and what the answer of a client means. Nothing that a server or a model wrote
// stands in it but escaped, and the arguments stand in it whole or not at all.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/gate/secret_finder.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

// A form in a client is a small window: what is longer belongs on a terminal. There, too, what nobody can read through
// is no question.
inline constexpr std::size_t kMaxAskBytes = 2'000;
inline constexpr std::size_t kMaxAskLines = 40;
inline constexpr std::size_t kMaxTerminalBytes = 100'000;

// The words that these forms are known by; a server's form that has them is declined.
inline constexpr std::string_view kFormQuestion = "may this call be made";
inline constexpr std::array<std::string_view, 3> kFormChoices = {
    "allow this call", "allow, also again with the same arguments", "allow, also every later call of this tool"};

struct ConfirmQuestion {
  std::string_view server = {};
  std::string_view tool = {};
  policy::Effect effect = policy::Effect::unknown;
  bool flagged = false;  // its definition differs from the reviewed one
  json::Value arguments = {};
};

// Lines of printable text. Each but the first is indented by four: a client that renders markdown shows such lines as
// they are. A secret is replaced by its kind, its length and where it goes. Whole only if it fits a terminal.
std::string confirm_text(const ConfirmQuestion& question, const SecretFinder& secrets);
bool fits_form(std::string_view text);
inline bool fits_terminal(std::string_view text) { return text.size() <= kMaxTerminalBytes; }

// params of elicitation/create. The choice that allows has to be made: refusing stands first, and nothing is a default.
std::string elicitation_params(std::string_view text, policy::Confirm::Remember remember);

enum class Choice : std::uint8_t {
  allow,
  allow_same_arguments,  // and these arguments again, in this session
  allow_tool,            // and every call of this tool, in this session
  decline,
  cancel,
  unreadable,
};
// `result` is that of elicitation/create. Sent off without the choice made is a no.
Choice read_choice(const json::Value& result, policy::Confirm::Remember remember);

// Does a client with these capabilities show forms?
bool shows_forms(const json::Value& client_capabilities);

}  // namespace cordon::gate
