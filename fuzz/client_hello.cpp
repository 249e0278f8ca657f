// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the pieces, the rest is what a client says. Oracles: pieces do not matter, nothing after the
// hello does, and a name that is found is canonical and stands in what was said.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "egress/client_hello.hpp"
#include "egress/name.hpp"

using namespace cordon::egress;

namespace {

struct Read {
  Peek state = Peek::more;
  Meant meant = {};
  bool operator==(const Read&) const = default;
};

Read read(std::span<const std::byte> said, std::size_t piece) {
  ClientHello hello;
  Read out;
  for (std::size_t at = 0; at < said.size(); at += piece) {
    out.state = hello.feed(said.subspan(at, std::min(piece, said.size() - at)));
  }
  out.meant = hello.meant();
  return out;
}

// The contents of all records one after the other, as far as they can be followed.
std::string without_heads(std::span<const std::byte> said) {
  std::string out;
  while (said.size() >= 5) {
    const std::size_t length = (std::to_integer<std::size_t>(said[3]) << 8) | std::to_integer<std::size_t>(said[4]);
    said = said.subspan(5);
    for (const std::byte byte : said.first(std::min(length, said.size()))) {
      out += static_cast<char>(byte);
    }
    said = said.subspan(std::min(length, said.size()));
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
  CORDON_ASSERT(whole == read(said, std::size_t{1} + data[0]));
  CORDON_ASSERT(whole.state == Peek::done || whole.meant == Meant());
  if (!whole.meant.host.empty()) {
    CORDON_ASSERT(canonical_host(whole.meant.host) == whole.meant.host);
    CORDON_ASSERT(cordon::text::lower_ascii(without_heads(said)).find(whole.meant.host) != std::string::npos);
  }
  return 0;
}
