// SPDX-License-Identifier: Apache-2.0
// One line as a message. An accepted one has one shape and comes back byte for byte; a refused one says why and keeps
// the line; the id that is told of a refused line is the one that the accepted reading would give.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/read.hpp"
#include "core/wire/message.hpp"
#include "core/wire/scan_id.hpp"
#include "core/wire/synth.hpp"

using namespace cordon;

namespace {

void check_accepted(wire::Message& message, const std::string& line) {
  const json::Value root = message.document.root();
  CORDON_ASSERT(root.is(json::Kind::object));
  const bool has_method = static_cast<bool>(root.find("method"));
  const bool has_result = static_cast<bool>(root.find("result"));
  const bool has_error = static_cast<bool>(root.find("error"));
  CORDON_ASSERT(int{has_method} + int{has_result} + int{has_error} == 1);
  CORDON_ASSERT(message.id.has_value() == static_cast<bool>(root.find("id")));
  CORDON_ASSERT(!has_result || message.id.has_value());
  CORDON_ASSERT(line.find('\r') == std::string::npos || line.find('\r') == line.size() - 1);
  // The tolerant scanner, used for lines that cannot be read, must never tell another id than the strict reader.
  const wire::Scanned scanned = wire::scan_id(line);
  CORDON_ASSERT(scanned.id == message.id);
  CORDON_ASSERT(scanned.has_method == has_method);
  if (wire::has_own_meta(root)) {
    const auto cleaned = wire::parse(wire::without_own_meta(root), {});
    CORDON_ASSERT(cleaned.has_value());
    CORDON_ASSERT(!wire::has_own_meta(cleaned->document.root()));
    CORDON_ASSERT(cleaned->id == message.id && cleaned->method == message.method);
  }
  const std::string forwarded = std::move(message.document).take_text();
  CORDON_ASSERT(forwarded == line || forwarded + '\r' == line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string line(reinterpret_cast<const char*>(data), size);
  if (line.find('\n') != std::string::npos) {
    return 0;  // the line reader never gives one
  }
  auto message = wire::parse(line, {});
  if (message) {
    check_accepted(*message, line);
  } else {
    const wire::Refused& refused = message.error();
    CORDON_ASSERT(!refused.error.detail.empty());
    CORDON_ASSERT(refused.line == line || refused.line + '\r' == line);
    if (refused.is_array) {
      if (const auto parts = wire::split_batch(refused.line, {}, 100)) {
        CORDON_ASSERT(!parts->empty());
      }
    }
  }
  return 0;
}
