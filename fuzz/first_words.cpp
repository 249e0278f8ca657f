// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the pieces, the second the port and how strictly, the rest is what a client says to the host
// "api.example.com". Oracles: pieces do not matter, nothing is said of a connection twice, and what is passed names
// that host or speaks neither TLS nor HTTP.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "egress/first_words.hpp"

using namespace cordon::egress;

namespace {

const std::string kHost = "api.example.com";

struct Heard {
  WordsState state = WordsState::waiting;
  std::string why = {};
  std::string named = {};
  bool operator==(const Heard&) const = default;
};

Heard hear(std::span<const std::byte> said, std::size_t piece, std::uint16_t port, SniCheck check) {
  FirstWords words(kHost, port, check);
  for (std::size_t at = 0; at < said.size(); at += piece) {
    const WordsState before = words.state();
    const WordsState state = words.feed(said.subspan(at, std::min(piece, said.size() - at)));
    CORDON_ASSERT(state == words.state() && (before == WordsState::waiting || state == before));
  }
  const WordsState before = words.state();
  words.end();
  CORDON_ASSERT(words.state() != WordsState::waiting);
  CORDON_ASSERT(before == WordsState::waiting || words.state() == before);
  return {words.state(), std::string(words.why()), words.named()};
}

bool speaks(std::span<const std::byte> said, Peek tls, Peek http) {
  ClientHello hello;
  HttpHost request;
  return hello.feed(said) == tls && request.feed(said) == http;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const auto said = std::as_bytes(std::span(data, size)).subspan(2);
  const std::uint16_t port = (data[1] & 1U) != 0 ? 443 : 80;
  const SniCheck check = (data[1] & 2U) != 0 ? SniCheck::flag : SniCheck::match;
  const Heard whole = hear(said, std::max<std::size_t>(said.size(), 1), port, check);
  CORDON_ASSERT(whole == hear(said, std::size_t{1} + data[0], port, check));
  CORDON_ASSERT(whole.state != WordsState::refused || check == SniCheck::match);
  CORDON_ASSERT(whole.state != WordsState::flagged || check == SniCheck::flag);
  CORDON_ASSERT((whole.state == WordsState::passed) == whole.why.empty());
  if (whole.state == WordsState::passed && whole.named != kHost) {
    const bool nothing = said.empty() || speaks(said, Peek::other, Peek::other);
    CORDON_ASSERT(whole.named.empty() && port != 443 && nothing);
  }
  return 0;
}
