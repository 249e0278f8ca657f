// SPDX-License-Identifier: Apache-2.0
#include "run/egress_resolver.hpp"

#include <arpa/nameser.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "egress/name.hpp"
#include "run/egress_net.hpp"

namespace cordon::run {
namespace {

constexpr std::size_t kMaxAddresses = 16;
constexpr std::size_t kStackBytes = 512 * 1024;

// What goes through the socket, one packet each.
struct Request {
  Resolver::Ticket ticket = 0;
  std::uint16_t size = 0;
  std::array<char, egress::kMaxNameBytes + 1> host = {};
};
struct Reply {
  Resolver::Ticket ticket = 0;
  std::uint16_t count = 0;
  std::array<egress::IpAddress, kMaxAddresses> addresses = {};
};

Reply look_up(const Request& request) {
  Reply reply;
  reply.ticket = request.ticket;
  const std::string host(request.host.data(), request.size);
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  // The name as it stands: below a search domain of this host it would be somebody else's. Anew each time, since the
  // servers of a laptop change; both belong to this thread.
  if (::res_init() != 0) {
    return reply;
  }
  _res.options &= ~static_cast<decltype(_res.options)>(RES_DNSRCH | RES_DEFNAMES);
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) {
    return reply;
  }
  for (const addrinfo* one = list; one != nullptr && reply.count < kMaxAddresses; one = one->ai_next) {
    if (const auto address = ip_address_of(one->ai_addr)) {
      reply.addresses[reply.count++] = *address;
    }
  }
  ::freeaddrinfo(list);
  return reply;
}

// The thread owns its descriptor, and ends when the other end is closed.
void* serve(void* argument) {
  const std::unique_ptr<UniqueFd> fd(static_cast<UniqueFd*>(argument));
  Request request;
  while (::recv(fd->get(), &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request)) {
    Reply reply = look_up(request);
    iovec part = {.iov_base = &reply, .iov_len = sizeof reply};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (::sendmsg(fd->get(), &message, MSG_NOSIGNAL) < 0) {
      break;
    }
  }
  return nullptr;
}

}  // namespace

SystemResolver::~SystemResolver() = default;

bool SystemResolver::open() {
  if (poll_) {
    return true;
  }
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return false;
  }
  theirs_ = UniqueFd(ends[1]);
  auto ours = Endpoint::own(UniqueFd(ends[0]));
  if (!ours) {
    return false;
  }
  requests_ = std::move(*ours);
  auto poll = Poll::create(loop_, requests_, [this](int) { answers(); });
  if (!poll) {
    return false;
  }
  poll_ = std::move(*poll);
  poll_->want(UV_READABLE);
  return true;
}

void SystemResolver::start_thread() {
  auto fd = std::make_unique<UniqueFd>(::fcntl(theirs_.get(), F_DUPFD_CLOEXEC, 3));
  if (!*fd) {
    return;
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread = {};
  if (::pthread_create(&thread, &attributes, &serve, fd.get()) == 0) {
    [[maybe_unused]] UniqueFd* owned_by_thread = fd.release();
    ++threads_;
  }
  ::pthread_attr_destroy(&attributes);
}

Resolver::Ticket SystemResolver::resolve(const std::string& host, Answer answer) {
  const Ticket ticket = next_++;
  waiting_.emplace(ticket, std::move(answer));
  queue_.emplace_back(ticket, host);
  if (!open()) {
    // Nothing to be told through: those who wait have time-outs.
    queue_.clear();
    return ticket;
  }
  push();
  return ticket;
}

void SystemResolver::push() {
  while (!queue_.empty() && busy_ < kThreads) {
    const auto [ticket, host] = std::move(queue_.front());
    queue_.pop_front();
    if (!waiting_.contains(ticket)) {
      continue;
    }
    if (busy_ == threads_) {
      start_thread();
    }
    if (busy_ == threads_ || host.size() > egress::kMaxNameBytes) {
      return;  // no thread can be had; the time-out of who waits tells
    }
    Request request;
    request.ticket = ticket;
    request.size = static_cast<std::uint16_t>(host.size());
    std::memcpy(request.host.data(), host.data(), host.size());
    iovec part = {.iov_base = &request, .iov_len = sizeof request};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (::sendmsg(requests_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      return;
    }
    ++busy_;
  }
}

void SystemResolver::answers() {
  Reply reply;
  while (::recv(requests_.fd(), &reply, sizeof reply, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof reply)) {
    --busy_;
    if (auto found = waiting_.extract(reply.ticket); !found.empty()) {
      found.mapped()(Addresses(reply.addresses.begin(), reply.addresses.begin() + reply.count));
    }
  }
  poll_->want(UV_READABLE);
  push();
}

}  // namespace cordon::run
