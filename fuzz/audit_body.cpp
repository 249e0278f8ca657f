// SPDX-License-Identifier: Apache-2.0
// The body of a record, after a line with a value of a secret. What the short way admits, the parsing one admits as the
// same; what either gives is one line of members that a reader takes, and the value is not in it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/flat_body.hpp"
#include "audit/record.hpp"
#include "base/error.hpp"
#include "base/mask.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"

using namespace cordon;

namespace {

bool holds(const json::Value& value, std::string_view secret) {
  if (value.is(json::Kind::string) && value.string().find(secret) != std::string::npos) {
    return true;
  }
  if (value.is(json::Kind::number) && value.number_text().find(secret) != std::string_view::npos) {
    return true;
  }
  for (const json::Value element : value.elements()) {
    if (holds(element, secret)) {
      return true;
    }
  }
  for (const json::Member member : value.members()) {
    if (holds(member.key, secret) || holds(member.value, secret)) {
      return true;
    }
  }
  return false;
}

void check_admitted(const audit::AdmittedBody& admitted, std::string_view secret) {
  CORDON_ASSERT(std::ranges::none_of(admitted.members, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  const auto again = json::read(text::cat("{", admitted.members, "}"), {.max_bytes = 1U << 20U, .max_depth = 256});
  CORDON_ASSERT(again.has_value());
  CORDON_ASSERT(again->root().find("event").is(json::Kind::string));
  for (const json::Member member : again->root().members()) {
    CORDON_ASSERT(!audit::is_reserved_member(member.key.string()));
  }
  // What stands in place of a secret may hold one that is a part of those words.
  constexpr std::size_t kLeast = 4;
  constexpr std::string_view kWords = "[secret OWN] \"event\":\"\",\"masked\":true";
  if (secret.size() >= kLeast && kWords.find(secret) == std::string_view::npos &&
      secret.find_first_of("[] ") == std::string_view::npos) {
    CORDON_ASSERT(!holds(again->root(), secret));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view secret = input.substr(0, line);
  const std::string_view body = input.substr(std::min(line + 1, input.size()));
  if (const auto flat = audit::admit_flat_body(body, {})) {
    CORDON_ASSERT(text::cat("{", flat->members, "}") == body);
    // A blank is nothing that the short way takes.
    const auto parsed = audit::admit_body(text::cat("{ ", flat->members, "}"), {});
    CORDON_ASSERT(parsed && parsed->members == text::cat(" ", flat->members));
    CORDON_ASSERT(parsed->event == flat->event && parsed->from_server == flat->from_server);
  }
  if (const auto admitted = audit::admit_body(body, {})) {
    check_admitted(*admitted, {});
  }
  if (const auto admitted = audit::admit_body(body, Masker({{"OWN", std::string(secret)}}))) {
    check_admitted(*admitted, secret);
  }
  return 0;
}
