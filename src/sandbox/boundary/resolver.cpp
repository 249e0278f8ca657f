// SPDX-License-Identifier: Apache-2.0
#include "sandbox/boundary/resolver.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace cordon::sandbox::boundary {
namespace {

constexpr std::size_t kMostStreams = 16;
constexpr std::size_t kFixed = 2;  // watched before the streams

}  // namespace

Resolver::Resolver(const egress::Rules& rules, const egress::Doors& doors, egress::Sockets sockets)
    : directory_(rules, doors), sockets_(std::move(sockets)) {}

std::vector<pollfd> Resolver::watched() const {
  std::vector<pollfd> out = {{.fd = sockets_.dns_udp.get(), .events = POLLIN, .revents = 0},
                             {.fd = sockets_.dns_tcp.get(), .events = POLLIN, .revents = 0}};
  for (const Stream& stream : streams_) {
    out.push_back({.fd = stream.fd.get(), .events = POLLIN, .revents = 0});
  }
  return out;
}

void Resolver::take(const std::vector<pollfd>& watched) {
  std::size_t i = kFixed;
  for (Stream& stream : streams_) {
    if (i < watched.size() && watched[i].revents != 0) {
      take_stream(stream);
    }
    ++i;
  }
  std::erase_if(streams_, [](const Stream& stream) { return stream.over; });
  if (watched.at(0).revents != 0) {
    take_datagram();
  }
  if (watched.at(1).revents != 0) {
    UniqueFd fd(::accept4(sockets_.dns_tcp.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd && streams_.size() < kMostStreams) {
      streams_.push_back({.fd = std::move(fd)});
    }
  }
}

void Resolver::take_datagram() {
  std::array<std::byte, egress::kMaxQueryBytes + 1> buffer = {};
  sockaddr_storage from = {};
  socklen_t length = sizeof from;
  auto* address = reinterpret_cast<sockaddr*>(&from);
  const ssize_t got = ::recvfrom(sockets_.dns_udp.get(), buffer.data(), buffer.size(), 0, address, &length);
  if (got < 0) {
    return;
  }
  if (const auto reply = answer(std::span(buffer).first(static_cast<std::size_t>(got)))) {
    (void)::sendto(sockets_.dns_udp.get(), reply->data(), reply->size(), MSG_NOSIGNAL, address, length);
  }
}

void Resolver::take_stream(Stream& stream) {
  std::array<std::byte, egress::kMaxQueryBytes> buffer = {};
  const ssize_t got = ::recv(stream.fd.get(), buffer.data(), buffer.size(), 0);
  stream.over = got <= 0 || !stream.questions.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
  while (!stream.over) {
    const auto question = stream.questions.next();
    if (!question) {
      return;
    }
    const auto reply = answer(*question);
    if (!reply) {
      stream.over = true;
      return;
    }
    const egress::Bytes framed = egress::DnsStream::framed(*reply);
    stream.over =
        ::send(stream.fd.get(), framed.data(), framed.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(framed.size());
  }
}

std::optional<egress::Bytes> Resolver::answer(std::span<const std::byte> message) const {
  const auto query = egress::read_query(message);
  if (!query) {
    return query.error().answer;
  }
  if (const auto address = directory_.address_of(query->name)) {
    return egress::answer_with_address(*query, *address);
  }
  return egress::answer_without(*query, egress::DnsCode::no_such_name);
}

}  // namespace cordon::sandbox::boundary
