// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a client says first on a connection to a name, set against that name: it is not to reach, behind the allowed
// address, a host that is not allowed (domain fronting). Where TLS is spoken nothing is decrypted, so a server behind
// the right name can still be anything that the name's owner put there.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "egress/client_hello.hpp"
#include "egress/http_host.hpp"
#include "egress/plan.hpp"

namespace cordon::egress {

enum class WordsState : std::uint8_t {
  waiting,  // more bytes have to be seen before one is passed on
  passed,
  flagged,  // passed, and to be written down: sni: flag
  refused,
};

class FirstWords {
 public:
  // `host`: the name that was connected to, canonical; empty for an address, which has no name to check.
  FirstWords(std::string host, std::uint16_t port, SniCheck check);

  WordsState feed(std::span<const std::byte> bytes);
  // No more bytes will come.
  WordsState end();
  WordsState state() const { return state_; }
  // Nothing was said yet, and the protocol of this port may let the server speak first.
  bool may_dial_before() const { return !tls_only_ && state_ == WordsState::waiting && !begun_; }
  // refused, flagged: "sni_mismatch", "sni_missing", "ech", "not_tls", "host_mismatch", "connect_method", "malformed".
  std::string_view why() const { return why_; }
  // What was named instead; printable, may be empty.
  const std::string& named() const { return named_; }

 private:
  WordsState judge();
  WordsState judge_hello();
  WordsState judge_request();
  WordsState fault(std::string_view why);

  std::string host_;
  std::uint16_t port_;
  SniCheck check_;
  bool tls_only_;
  bool begun_ = false;
  WordsState state_ = WordsState::waiting;
  Peek tls_ = Peek::more;
  Peek http_ = Peek::more;
  ClientHello hello_ = {};
  HttpHost http_host_ = {};
  std::string_view why_ = {};
  std::string named_ = {};
};

}  // namespace cordon::egress
