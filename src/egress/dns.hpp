// SPDX-License-Identifier: Apache-2.0
#pragma once
// The resolver inside: one question, one answer, nothing forwarded. What is no plain query is refused or dropped, and a
// name counts only in its canonical spelling. RFC 1035, RFC 6891 (EDNS).

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "egress/plan.hpp"

namespace cordon::egress {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kMaxQueryBytes = 512;
inline constexpr std::uint16_t kTypeA = 1;

struct DnsQuery {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool edns = false;
  std::uint16_t type = 0;
  std::string name = {};   // canonical; empty: no host name can be spelled so (the root, a byte that names do not have)
  std::string shown = {};  // what was asked for, printable
  Bytes question = {};     // as it came, for the answer: letters in mixed case are a check that some clients make
  bool operator==(const DnsQuery&) const = default;
};

enum class DnsCode : std::uint8_t {
  no_error = 0,
  format_error = 1,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16
};
struct DnsRefusal {
  // Nothing: no answer at all, because it is no query. An answer to an answer could go on for ever.
  std::optional<Bytes> answer = {};
};

std::expected<DnsQuery, DnsRefusal> read_query(std::span<const std::byte> message);

// The one address of the name; for any other type no record, which is not "no such name": some clients take that for
// every type.
Bytes answer_with_address(const DnsQuery& query, Ipv4 address);
Bytes answer_without(const DnsQuery& query, DnsCode code);

// Messages over TCP: two bytes of length before each.
class DnsStream {
 public:
  // False: too long for a query; the connection is to be closed.
  bool feed(std::span<const std::byte> bytes);
  // The next whole message; nothing when more bytes are needed.
  std::optional<Bytes> next();
  static Bytes framed(const Bytes& message);

 private:
  Bytes buffer_ = {};
};

}  // namespace cordon::egress
