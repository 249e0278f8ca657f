// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the pieces, the rest is what a client says to the proxy. Oracles: pieces do not matter; it
// ends within the bound; a host that is asked for is in its canonical spelling or an address, has a port, and nothing
// behind the request is taken.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "egress/address.hpp"
#include "egress/name.hpp"
#include "egress/proxy_request.hpp"

using namespace cordon::egress;

namespace {

struct Read {
  ProxyRequest request = {};
  std::size_t taken = 0;
  std::string replies = {};
};

Read read(std::span<const std::byte> said, std::size_t piece) {
  Read out;
  while (out.taken < said.size()) {
    const auto state = out.request.feed(said.subspan(out.taken, std::min(piece, said.size() - out.taken)));
    CORDON_ASSERT(out.request.taken() > 0);
    out.taken += out.request.taken();
    out.replies += out.request.reply();
    if (state == ProxyRequest::State::done || state == ProxyRequest::State::refused) {
      break;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto said = std::as_bytes(std::span(data, size)).subspan(1);
  const Read whole = read(said, std::max<std::size_t>(said.size(), 1));
  const Read pieces = read(said, std::size_t{1} + data[0]);
  CORDON_ASSERT(whole.request.state() == pieces.request.state());
  CORDON_ASSERT(whole.taken == pieces.taken && whole.replies == pieces.replies);
  CORDON_ASSERT(whole.request.why() == pieces.request.why());
  // A greeting of SOCKS and a request.
  CORDON_ASSERT(whole.taken <= ProxyRequest::kMaxBytes + 257);
  if (whole.request.state() != ProxyRequest::State::done) {
    return 0;
  }
  const HostPort& target = whole.request.target();
  CORDON_ASSERT(target == pieces.request.target());
  CORDON_ASSERT(target.port && *target.port != 0);
  const auto address = ip_address_from_text(target.host);
  CORDON_ASSERT(address ? to_string(*address) == target.host : canonical_host(target.host) == target.host);
  return 0;
}
