// SPDX-License-Identifier: Apache-2.0
// Any bytes as a packet to our resolver. Oracles: a name that counts is in its canonical spelling; every answer is one,
// repeats the question byte by byte, is short, and is itself never answered; a stream gives the same in any pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "egress/dns.hpp"
#include "egress/name.hpp"

using namespace cordon::egress;

namespace {

void check_answer(std::span<const std::byte> query, const Bytes& answer) {
  CORDON_ASSERT(answer.size() >= 12 && answer.size() <= kMaxQueryBytes);
  CORDON_ASSERT(std::equal(answer.begin(), answer.begin() + 2, query.begin()));
  CORDON_ASSERT((std::to_integer<unsigned>(answer[2]) & 0x80U) != 0);
  const auto again = read_query(answer);
  CORDON_ASSERT(!again && !again.error().answer);
}

void check_stream(std::span<const std::byte> bytes) {
  DnsStream stream;
  std::size_t taken = 0;
  for (const std::byte byte : bytes) {
    if (!stream.feed(std::span(&byte, 1))) {
      break;
    }
    while (const auto message = stream.next()) {
      CORDON_ASSERT(message->size() <= kMaxQueryBytes);
      CORDON_ASSERT(
          std::equal(message->begin(), message->end(), bytes.begin() + static_cast<std::ptrdiff_t>(taken) + 2));
      taken += message->size() + 2;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_stream(bytes);
  const auto query = read_query(bytes);
  if (!query) {
    if (query.error().answer) {
      check_answer(bytes, *query.error().answer);
    }
    return 0;
  }
  CORDON_ASSERT(query->name.empty() || canonical_host(query->name) == query->name);
  CORDON_ASSERT(std::equal(query->question.begin(), query->question.end(), bytes.begin() + 12));
  for (const Bytes& answer : {answer_with_address(*query, kFirstName), answer_without(*query, DnsCode::no_such_name)}) {
    check_answer(bytes, answer);
    CORDON_ASSERT(std::equal(query->question.begin(), query->question.end(), answer.begin() + 12));
  }
  return 0;
}
