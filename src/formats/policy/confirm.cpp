// SPDX-License-Identifier: Apache-2.0
// tools.confirm: how a person is asked about a call.

#include "formats/policy/sections.hpp"

namespace cordon::formats {

policy::Confirm read_confirm(Faults& faults, const yaml::Node& node) {
  using Fallback = policy::Confirm::Fallback;
  using Remember = policy::Confirm::Remember;
  policy::Confirm confirm;
  const Section section(faults, node, "tools.confirm", {"timeout_seconds", "without_client_support", "remember"});
  if (const yaml::Member* timeout = section.find("timeout_seconds")) {
    // A question that is open for longer than an hour is not one about a call that a model waits for.
    const auto seconds = read_integer(faults, timeout->value, section.path("timeout_seconds"), {5, 3'600});
    confirm.timeout_seconds = static_cast<std::uint32_t>(seconds.value_or(confirm.timeout_seconds));
  }
  section.choice<Fallback>("without_client_support", confirm.without_client_support,
                           {{"approve", Fallback::approve}, {"block", Fallback::block}});
  section.choice<Remember>(
      "remember", confirm.remember,
      {{"never", Remember::never}, {"same_arguments", Remember::same_arguments}, {"session", Remember::session}});
  return confirm;
}

}  // namespace cordon::formats
