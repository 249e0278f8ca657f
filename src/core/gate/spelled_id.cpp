// SPDX-License-Identifier: Apache-2.0
#include "core/gate/spelled_id.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {

std::optional<std::string> answer_as_spelled(const wire::Refused& refused, const json::Limits& limits,
                                             const std::function<bool(const wire::Id&)>& waits) {
  constexpr double kMostExact = 9007199254740992.0;
  const auto document = json::read(refused.line, limits);
  const json::Value id = document ? document->root().find("id") : json::Value();
  if (!refused.has_method || !id.is(json::Kind::number) || id.number_text().size() > wire::kMaxIdBytes) {
    return std::nullopt;
  }
  const std::string_view text = id.number_text();
  double number = 0;  // which is also what is left of one that is too small
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (std::abs(number) < kMostExact && std::trunc(number) == number) {
    const auto same = static_cast<std::int64_t>(number);  // 7.0 is 7 to many
    if (waits(wire::Id(same)) || waits(wire::Id(std::to_string(same)))) {
      return std::nullopt;
    }
  }
  const Errc code = refused.error.code;
  return text::cat(R"({"jsonrpc":"2.0","id":)", text, R"(,"error":{"code":)", json_rpc_code(code), R"(,"message":)",
                   json::quoted(text::cat(name(code), ": ", refused.error.detail)), R"(,"data":{"type":")", name(code),
                   R"("}}})", "\n");
}

}  // namespace cordon::gate
