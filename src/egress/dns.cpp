// SPDX-License-Identifier: Apache-2.0
#include "egress/dns.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "egress/name.hpp"

namespace cordon::egress {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::uint16_t kClassInternet = 1;
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint32_t kTtlSeconds = 60;  // the address stays the same as long as the server lives
constexpr std::uint16_t kUdpBytes = 1232;
constexpr std::size_t kMaxWireName = 255;

// Flags of the header.
constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kOpcode = 0x7800;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kRecursionAvailable = 0x0080;
constexpr std::uint16_t kAnswerCode = 0x000f;

std::uint8_t byte_at(std::span<const std::byte> from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t u16_at(std::span<const std::byte> from, std::size_t at) {
  return static_cast<std::uint16_t>((byte_at(from, at) << 8) | byte_at(from, at + 1));
}

void put(Bytes& out, std::uint16_t value) {
  out.push_back(static_cast<std::byte>(value >> 8));
  out.push_back(static_cast<std::byte>(value & 0xff));
}
void put(Bytes& out, std::uint32_t value) {
  put(out, static_cast<std::uint16_t>(value >> 16));
  put(out, static_cast<std::uint16_t>(value & 0xffff));
}

struct Name {
  std::string text = {};  // labels with dots between; only for those without a dot in a label
  bool plain = true;      // no label has a dot of its own
  std::size_t end = 0;    // behind it
};

// No compression: a query has nothing that could be pointed at.
std::optional<Name> read_name(std::span<const std::byte> message, std::size_t at) {
  Name out;
  const std::size_t begin = at;
  while (at < message.size()) {
    const std::size_t length = byte_at(message, at);
    ++at;
    if (length == 0) {
      out.end = at;
      return at - begin <= kMaxWireName ? std::optional(std::move(out)) : std::nullopt;
    }
    if (length > kMaxLabelBytes || length > message.size() - at || at - begin + length > kMaxWireName) {
      return std::nullopt;
    }
    if (!out.text.empty()) {
      out.text += '.';
    }
    for (const std::byte one : message.subspan(at, length)) {
      const auto letter = static_cast<char>(one);
      out.plain = out.plain && letter != '.';
      out.text += letter;
    }
    at += length;
  }
  return std::nullopt;
}

struct Reply {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool edns = false;
  DnsCode code = DnsCode::no_error;
  std::span<const std::byte> question = {};
  std::optional<Ipv4> address = {};
};

Bytes write(const Reply& reply) {
  const auto code = static_cast<std::uint16_t>(reply.code);
  Bytes out;
  out.reserve(kHeaderBytes + reply.question.size() + 32);
  put(out, reply.id);
  put(out, static_cast<std::uint16_t>(kResponse | kRecursionAvailable |
                                      (reply.recursion_desired ? kRecursionDesired : 0) | (code & kAnswerCode)));
  put(out, static_cast<std::uint16_t>(reply.question.empty() ? 0 : 1));
  put(out, static_cast<std::uint16_t>(reply.address ? 1 : 0));
  put(out, std::uint16_t{0});
  put(out, static_cast<std::uint16_t>(reply.edns ? 1 : 0));
  out.insert(out.end(), reply.question.begin(), reply.question.end());
  if (reply.address) {
    put(out, std::uint16_t{0xc000 | kHeaderBytes});  // the name of the question
    put(out, kTypeA);
    put(out, kClassInternet);
    put(out, kTtlSeconds);
    put(out, std::uint16_t{4});
    put(out, reply.address->value);
  }
  if (reply.edns) {
    out.push_back(std::byte{0});
    put(out, kTypeOpt);
    put(out, kUdpBytes);
    put(out, static_cast<std::uint32_t>(code >> 4) << 24);  // what does not fit into the header; version 0
    put(out, std::uint16_t{0});
  }
  return out;
}

// The one additional record that a query may have. Its version; nothing when it is none.
std::optional<std::uint8_t> read_opt(std::span<const std::byte> rest) {
  constexpr std::size_t kFixed = 11;  // root, type, size, four bytes of flags, length
  if (rest.size() < kFixed || byte_at(rest, 0) != 0 || u16_at(rest, 1) != kTypeOpt ||
      rest.size() != kFixed + u16_at(rest, 9)) {
    return std::nullopt;
  }
  return byte_at(rest, 6);
}

}  // namespace

std::expected<DnsQuery, DnsRefusal> read_query(std::span<const std::byte> message) {
  if (message.size() < kHeaderBytes || message.size() > kMaxQueryBytes || (u16_at(message, 2) & kResponse) != 0) {
    return std::unexpected(DnsRefusal());
  }
  DnsQuery query;
  const std::uint16_t flags = u16_at(message, 2);
  query.id = u16_at(message, 0);
  query.recursion_desired = (flags & kRecursionDesired) != 0;
  const auto refuse = [&](DnsCode code) {
    return std::unexpected(
        DnsRefusal{write({query.id, query.recursion_desired, query.edns, code, query.question, std::nullopt})});
  };
  if ((flags & kOpcode) != 0) {
    return refuse(DnsCode::not_implemented);
  }
  const std::uint16_t additional = u16_at(message, 10);
  if (u16_at(message, 4) != 1 || u16_at(message, 6) != 0 || u16_at(message, 8) != 0 || additional > 1 ||
      (flags & (kTruncated | kAnswerCode)) != 0) {
    return refuse(DnsCode::format_error);
  }
  const std::optional<Name> name = read_name(message, kHeaderBytes);
  if (!name || message.size() < name->end + 4) {
    return refuse(DnsCode::format_error);
  }
  const std::size_t end = name->end + 4;
  std::optional<std::uint8_t> version = 0;
  if (additional == 1) {
    version = read_opt(message.subspan(end));
  } else if (message.size() != end) {
    version.reset();
  }
  if (!version) {
    return refuse(DnsCode::format_error);
  }
  query.edns = additional == 1;
  query.type = u16_at(message, name->end);
  const auto question = message.subspan(kHeaderBytes, end - kHeaderBytes);
  query.question.assign(question.begin(), question.end());
  if (*version != 0) {
    return refuse(DnsCode::bad_version);
  }
  if (u16_at(message, name->end + 2) != kClassInternet) {
    return refuse(DnsCode::refused);
  }
  // A dot at the end would be a label of its own, so what is taken away in canonical_host() cannot be there.
  if (name->plain) {
    query.name = canonical_host(name->text).value_or("");
  }
  query.shown = text::printable(name->text, kMaxNameBytes);
  return query;
}

Bytes answer_with_address(const DnsQuery& query, Ipv4 address) {
  return write({query.id, query.recursion_desired, query.edns, DnsCode::no_error, query.question,
                query.type == kTypeA ? std::optional(address) : std::nullopt});
}

Bytes answer_without(const DnsQuery& query, DnsCode code) {
  return write({query.id, query.recursion_desired, query.edns, code, query.question, std::nullopt});
}

bool DnsStream::feed(std::span<const std::byte> bytes) {
  // As much as two queries, whatever comes at once: the caller takes each message before it feeds more.
  if (buffer_.size() + bytes.size() > 2 * (kMaxQueryBytes + 2)) {
    return false;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() < 2 || u16_at(buffer_, 0) <= kMaxQueryBytes;
}

std::optional<Bytes> DnsStream::next() {
  if (buffer_.size() < 2) {
    return std::nullopt;
  }
  const std::size_t length = u16_at(buffer_, 0);
  if (buffer_.size() - 2 < length) {
    return std::nullopt;
  }
  const auto begin = buffer_.begin() + 2;
  Bytes out(begin, begin + static_cast<std::ptrdiff_t>(length));
  buffer_.erase(buffer_.begin(), begin + static_cast<std::ptrdiff_t>(length));
  return out;
}

Bytes DnsStream::framed(const Bytes& message) {
  Bytes out;
  out.reserve(message.size() + 2);
  put(out, static_cast<std::uint16_t>(message.size()));
  out.insert(out.end(), message.begin(), message.end());
  return out;
}

}  // namespace cordon::egress
