// SPDX-License-Identifier: Apache-2.0
#include "fake_broker.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/text.hpp"

namespace cordon::test {
namespace {

constexpr std::size_t kHead = 12;

void wait_readable(int fd) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  constexpr int kPatienceMs = 5000;
  (void)::poll(&one, 1, kPatienceMs);
}

}  // namespace

FakeBroker::FakeBroker(const egress::Rules& rules, egress::Doors doors, egress::Sockets sockets)
    : rules_(rules), doors_(std::move(doors)), sockets_(std::move(sockets)) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2");
  }
  stop_in_ = UniqueFd(ends[0]);
  stop_out_ = UniqueFd(ends[1]);
  thread_ = std::thread([this] { run(); });
}

FakeBroker::~FakeBroker() {
  stop_out_.reset();
  thread_.join();
}

void FakeBroker::run() {
  for (;;) {
    std::vector<pollfd> watched = {{.fd = stop_in_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = sockets_.dns_udp.get(), .events = POLLIN, .revents = 0},
                                   {.fd = sockets_.dns_tcp.get(), .events = POLLIN, .revents = 0}};
    for (const egress::Listener& listener : sockets_.listeners) {
      watched.push_back({.fd = listener.fd.get(), .events = POLLIN, .revents = 0});
    }
    (void)::poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) {
      return;
    }
    // A name may add listeners, so those that were watched come first.
    for (std::size_t i = 3; i < watched.size(); ++i) {
      if (watched[i].revents != 0) {
        answer_door(sockets_.listeners[i - 3]);
      }
    }
    if (watched[2].revents != 0) {
      answer_stream(sockets_.dns_tcp.get());
    }
    if (watched[1].revents != 0) {
      answer_datagram();
    }
  }
}

void FakeBroker::answer_datagram() {
  std::array<char, 1500> buffer = {};
  sockaddr_storage from = {};
  socklen_t length = sizeof from;
  const ssize_t got =
      ::recvfrom(sockets_.dns_udp.get(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
  if (got > static_cast<ssize_t>(kHead)) {
    const std::string reply = answer(std::string(buffer.data(), static_cast<std::size_t>(got)));
    (void)::sendto(sockets_.dns_udp.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), length);
  }
}

void FakeBroker::answer_stream(int listener) {
  const UniqueFd one(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  std::string text;
  std::array<char, 1500> buffer = {};
  while (one && (text.size() < 2 || text.size() < 2U + static_cast<unsigned char>(text[1]))) {
    wait_readable(one.get());
    const ssize_t got = ::read(one.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      return;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (one) {
    const std::string reply = answer(text.substr(2));
    const std::string framed = text::cat(std::string(1, '\0'), std::string(1, static_cast<char>(reply.size())), reply);
    (void)!::write(one.get(), framed.data(), framed.size());
  }
}

void FakeBroker::answer_door(const egress::Listener& listener) {
  const UniqueFd one(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  std::string text;
  std::array<char, 1500> buffer = {};
  while (one && text.find("\r\n\r\n") == std::string::npos) {
    wait_readable(one.get());
    const ssize_t got = ::read(one.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      return;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::string body = text::cat("door ", egress::to_string(listener.address), ":", listener.port);
  const std::string reply =
      text::cat("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  (void)!::write(one.get(), reply.data(), reply.size());
}

// The question comes back with an address, with none, or as a name that does not exist.
std::string FakeBroker::answer(std::string query) {
  std::string name;
  std::size_t at = kHead;
  while (at < query.size() && query[at] != 0) {
    const auto label = static_cast<std::size_t>(query[at]);
    name += (name.empty() ? "" : ".") + query.substr(at + 1, label);
    at += label + 1;
  }
  constexpr std::size_t kTail = 5;
  if (query.size() < at + kTail) {
    return query;
  }
  const bool wants_address = query[at + 2] == 1;
  query.resize(at + kTail);
  const auto address = address_of(name);
  query[2] = static_cast<char>(0x84);  // an answer, with authority
  query[3] = static_cast<char>(address ? 0 : 3);
  for (std::size_t i = 6; i < kHead; ++i) {
    query[i] = 0;
  }
  if (address && wants_address) {
    query[7] = 1;
    const std::array<char, 12> record = {static_cast<char>(0xc0), kHead, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4};
    query.append(record.data(), record.size());
    for (const int shift : {24, 16, 8, 0}) {
      query += static_cast<char>(address->value >> shift & 0xff);
    }
  }
  return query;
}

std::optional<egress::Ipv4> FakeBroker::address_of(const std::string& name) {
  for (const egress::NameAddress& item : doors_.names) {
    if (item.name == name) {
      return item.address;
    }
  }
  if (const auto known = wild_.find(name); known != wild_.end()) {
    return known->second;
  }
  for (const egress::Rule& rule : rules_.allow) {
    if (rule.kind != egress::HostKind::wildcard || !name.ends_with("." + rule.host)) {
      continue;
    }
    const egress::Ipv4 address{egress::kFirstWildcard.value + static_cast<std::uint32_t>(wild_.size())};
    for (const std::uint16_t port : rule.ports) {
      if (ask_agent({address, port}) != 0) {
        return std::nullopt;
      }
    }
    wild_[name] = address;
    return address;
  }
  return std::nullopt;
}

int FakeBroker::ask_agent(egress::Door door) {
  const egress::MessageBytes request = egress::to_bytes(egress::AgentRequest{++requests_, door});
  if (::send(sockets_.agent.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return errno;
  }
  wait_readable(sockets_.agent.get());
  std::array<std::byte, egress::kMessageBytes> bytes = {};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = ::recvmsg(sockets_.agent.get(), &message, MSG_CMSG_CLOEXEC);
  if (length <= 0) {
    return length == 0 ? EPIPE : errno;
  }
  const auto reply = egress::agent_reply(std::span(bytes).first(static_cast<std::size_t>(length)));
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (!reply || reply->number != requests_ || (reply->error == 0) != (head != nullptr)) {
    return EPROTO;
  }
  if (head != nullptr) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    sockets_.listeners.push_back({UniqueFd(number), door.address, door.port});
  }
  return reply->error;
}

}  // namespace cordon::test
