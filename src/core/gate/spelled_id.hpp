// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/json/read.hpp"
#include "core/wire/message.hpp"

namespace cordon::gate {

// The answer to a request whose id is a number that programs read differently (7.0, beyond 2^53), with that id as it is
// spelled: whoever wrote it finds it again, and need not wait for ever. Nothing where there is no such id, or where the
// line may be taken for the answer to a request that waits.
std::optional<std::string> answer_as_spelled(const wire::Refused& refused, const json::Limits& limits,
                                             const std::function<bool(const wire::Id&)>& waits);

}  // namespace cordon::gate
