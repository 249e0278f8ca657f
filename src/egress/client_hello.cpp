// SPDX-License-Identifier: Apache-2.0
#include "egress/client_hello.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "egress/name.hpp"

namespace cordon::egress {
namespace {

constexpr std::uint8_t kFirstRecord = 20;  // change of cipher, alert, handshake, data, heartbeat
constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kLastRecord = 24;
constexpr std::uint8_t kMajorVersion = 3;
constexpr std::size_t kMaxRecord = 16'384;
constexpr std::uint8_t kClientHelloMessage = 1;
constexpr std::size_t kMessageHead = 4;

constexpr std::size_t kServerName = 0;
constexpr std::size_t kEncryptedServerName = 0xffce;  // before ECH; some still send it
constexpr std::size_t kEncryptedClientHello = 0xfe0d;
constexpr std::size_t kHostName = 0;

using View = std::span<const std::uint8_t>;

// Reads vectors with a length before them. After the first fault everything is empty.
class Reader {
 public:
  explicit Reader(View from) : rest_(from) {}

  std::size_t number(std::size_t bytes) {
    std::size_t out = 0;
    for (const std::uint8_t byte : take(bytes)) {
      out = (out << 8) | byte;
    }
    return out;
  }
  View take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      broken_ = true;
      rest_ = {};
      return {};
    }
    const View out = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return out;
  }
  View vector(std::size_t length_bytes) { return take(number(length_bytes)); }
  bool at_end() const { return rest_.empty(); }
  bool broken() const { return broken_; }

 private:
  View rest_;
  bool broken_ = false;
};

// ServerNameList: exactly one entry, and that a name. Nothing is named otherwise by anything that is in use.
std::optional<std::string> read_server_name(View extension) {
  Reader outer(extension);
  Reader list(outer.vector(2));
  const std::size_t kind = list.number(1);
  const View bytes = list.vector(2);
  if (outer.broken() || list.broken() || !outer.at_end() || !list.at_end() || kind != kHostName) {
    return std::nullopt;
  }
  // RFC 6066: no dot at the end, no address.
  const std::string name(bytes.begin(), bytes.end());
  return name.ends_with('.') ? std::nullopt : canonical_host(name);
}

bool read_extensions(View all, Meant& meant) {
  Reader reader(all);
  std::vector<std::size_t> seen;
  while (!reader.at_end()) {
    const std::size_t kind = reader.number(2);
    const View content = reader.vector(2);
    if (reader.broken()) {
      return false;
    }
    seen.push_back(kind);
    if (kind == kServerName) {
      const std::optional<std::string> host = read_server_name(content);
      if (!host) {
        return false;
      }
      meant.host = *host;
    }
    meant.encrypted = meant.encrypted || kind == kEncryptedClientHello || kind == kEncryptedServerName;
  }
  // One server takes the first of two, another the last.
  std::ranges::sort(seen);
  return std::ranges::adjacent_find(seen) == seen.end();
}

bool read_hello(View body, Meant& meant) {
  Reader hello(body);
  hello.take(2 + 32);  // version and random
  const View session = hello.vector(1);
  const View ciphers = hello.vector(2);
  const View compressions = hello.vector(1);
  if (hello.broken() || session.size() > 32 || ciphers.empty() || ciphers.size() % 2 != 0 || compressions.empty()) {
    return false;
  }
  if (hello.at_end()) {
    return true;  // without extensions, as before TLS 1.2
  }
  const View extensions = hello.vector(2);
  return !hello.broken() && hello.at_end() && read_extensions(extensions, meant);
}

}  // namespace

Peek ClientHello::feed(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    if (state_ != Peek::more) {
      break;
    }
    state_ = take(std::to_integer<std::uint8_t>(byte));
  }
  return state_;
}

Peek ClientHello::take(std::uint8_t byte) {
  if (left_ == 0) {
    return take_header(byte);
  }
  --left_;
  message_.push_back(byte);
  if (message_.size() == 1 && byte != kClientHelloMessage) {
    return Peek::malformed;
  }
  if (message_.size() < kMessageHead) {
    return Peek::more;
  }
  const std::size_t length =
      (std::size_t{message_[1]} << 16) | (std::size_t{message_[2]} << 8) | std::size_t{message_[3]};
  if (length > kMaxBytes) {
    return Peek::malformed;
  }
  return message_.size() == kMessageHead + length ? finish() : Peek::more;
}

// Five bytes: type, version, length.
Peek ClientHello::take_header(std::uint8_t byte) {
  switch (head_++) {
    case 0:
      type_ = byte;
      if (message_.empty() ? byte < kFirstRecord || byte > kLastRecord : byte != kHandshakeRecord) {
        return message_.empty() ? Peek::other : Peek::malformed;
      }
      return Peek::more;
    case 1:
      if (byte != kMajorVersion) {
        return message_.empty() ? Peek::other : Peek::malformed;
      }
      // Servers have been seen to skip an alert before the hello, which would then be no first words.
      return type_ == kHandshakeRecord ? Peek::more : Peek::malformed;
    case 2:
      return Peek::more;
    case 3:
      length_high_ = std::size_t{byte} << 8;
      return Peek::more;
    default:
      head_ = 0;
      left_ = length_high_ | byte;
      return left_ == 0 || left_ > kMaxRecord ? Peek::malformed : Peek::more;
  }
}

Peek ClientHello::finish() {
  const bool fine = read_hello(View(message_).subspan(kMessageHead), meant_);
  message_ = {};
  if (!fine) {
    meant_ = {};
  }
  return fine ? Peek::done : Peek::malformed;
}

}  // namespace cordon::egress
