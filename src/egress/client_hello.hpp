// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a TLS client says first: which server it means. Read from the plain text of the handshake, however it is cut
// into records and reads; nothing is decrypted. RFC 8446, RFC 6066, RFC 9849 (ECH).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cordon::egress {

enum class Peek : std::uint8_t {
  more,       // not decided yet
  done,       // the name is known, or known to be absent
  other,      // another protocol
  malformed,  // begins like the protocol and breaks its rules
};

// Everything about who is meant, whatever said it.
struct Meant {
  std::string host = {};   // canonical; empty: none is named
  bool encrypted = false;  // ECH or its forerunner: the name in clear need not be the one that counts
  bool operator==(const Meant&) const = default;
};

class ClientHello {
 public:
  // Takes bytes in any pieces; once it is not `more`, it takes none.
  Peek feed(std::span<const std::byte> bytes);
  const Meant& meant() const { return meant_; }

  static constexpr std::size_t kMaxBytes = 65'536;  // of the handshake message

 private:
  Peek take(std::uint8_t byte);
  Peek take_header(std::uint8_t byte);
  Peek finish();

  std::vector<std::uint8_t> message_ = {};  // handshake messages without the heads of records
  std::size_t head_ = 0;                    // bytes of the head of a record that were read
  std::uint8_t type_ = 0;                   // of that record
  std::size_t length_high_ = 0;             // first half of the length of a record
  std::size_t left_ = 0;                    // bytes of the record still to come
  Peek state_ = Peek::more;
  Meant meant_ = {};
};

}  // namespace cordon::egress
