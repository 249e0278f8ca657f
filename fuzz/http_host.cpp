// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the pieces, the rest is what a client says. Oracles: pieces do not matter; a host that is
// found is canonical, stands in the head, and a second reader that looks for the word alone finds exactly one line of
// it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "egress/http_host.hpp"

using namespace cordon::egress;

namespace {

struct Read {
  Peek state = Peek::more;
  HttpRequest request = {};
};

Read read(std::span<const std::byte> said, std::size_t piece) {
  HttpHost reader;
  Read out;
  for (std::size_t at = 0; at < said.size(); at += piece) {
    out.state = reader.feed(said.subspan(at, std::min(piece, said.size() - at)));
  }
  out.request = reader.request();
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
  CORDON_ASSERT(whole.state == pieces.state);
  if (whole.state != Peek::done) {
    return 0;
  }
  CORDON_ASSERT(whole.request.host == pieces.request.host);
  CORDON_ASSERT(whole.request.head_bytes <= said.size() && whole.request.head_bytes == pieces.request.head_bytes);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, whole.request.head_bytes);
  const std::string head = cordon::text::lower_ascii(text);
  const auto again =
      read_host_port(whole.request.host.host.find(':') == std::string::npos ? whole.request.host.host
                                                                            : "[" + whole.request.host.host + "]");
  CORDON_ASSERT(again && again->host == whole.request.host.host);
  std::size_t lines = 0;
  for (std::size_t at = head.find("\nhost:"); at != std::string::npos; at = head.find("\nhost:", at + 1)) {
    ++lines;
  }
  CORDON_ASSERT(lines == 1);
  return 0;
}
