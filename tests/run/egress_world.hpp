// SPDX-License-Identifier: Apache-2.0
#pragma once
// A broker on loopback: doors at 127.9.0.x stand for the addresses inside, and what is "outside" listens at 127.0.0.1.
// Clients and outside servers run in threads of their own with blocking sockets; the broker runs in the test's thread.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "egress/plan.hpp"
#include "run/egress_broker.hpp"

namespace cordon::run::test {

inline constexpr int kMaxWaitSeconds = 20;

inline sockaddr_in at(egress::Ipv4 address, std::uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address.value);
  out.sin_port = htons(port);
  return out;
}

// Blocking, and never for ever.
class Socket {
 public:
  explicit Socket(UniqueFd fd) : fd_(std::move(fd)) {
    const timeval limit = {.tv_sec = kMaxWaitSeconds, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  static Socket to(egress::Ipv4 address, std::uint16_t port) {
    Socket out(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    const sockaddr_in where = at(address, port);
    out.error = ::connect(out.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 ? 0 : errno;
    return out;
  }
  void say(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void say_end() const { ::shutdown(fd(), SHUT_WR); }
  // At least that many bytes, or all until the end; "RESET" for a reset.
  std::string hear(std::size_t enough = ~std::size_t{0}) const {
    std::string out;
    std::string buffer(65'536, '\0');
    while (out.size() < enough) {
      const ssize_t got = ::recv(fd(), buffer.data(), buffer.size(), 0);
      if (got < 0) {
        return out + (errno == ECONNRESET ? "RESET" : "TIMEOUT");
      }
      if (got == 0) {
        break;
      }
      out.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return out;
  }
  int fd() const { return fd_.get(); }
  void close() { fd_.reset(); }
  int error = 0;

 private:
  UniqueFd fd_;
};

inline UniqueFd bound(int type, egress::Ipv4 address, std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in where = at(address, port);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
  if (type == SOCK_STREAM || (type & SOCK_STREAM) != 0) {
    REQUIRE(::listen(fd.get(), 512) == 0);
  }
  return fd;
}

inline std::uint16_t port_of(int fd) {
  sockaddr_in where = {};
  socklen_t size = sizeof where;
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) == 0);
  return ntohs(where.sin_port);
}

// Serves one connection after the other until it goes out of scope.
class OutsideServer {
 public:
  using Serve = std::function<void(Socket&)>;
  explicit OutsideServer(Serve serve) : listener_(bound(SOCK_STREAM, egress::ipv4(127, 0, 0, 1), 0)) {
    port_ = port_of(listener_.get());
    thread_ = std::thread([this, serve = std::move(serve)] {
      while (true) {
        UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!fd || over_) {
          return;
        }
        ++connections;
        Socket socket(std::move(fd));
        serve(socket);
      }
    });
  }
  ~OutsideServer() { end(); }
  // After it, nothing is served any more, and what serving has written may be read.
  void end() {
    if (thread_.joinable()) {
      over_ = true;
      ::shutdown(listener_.get(), SHUT_RDWR);
      thread_.join();
    }
  }
  OutsideServer(const OutsideServer&) = delete;
  OutsideServer& operator=(const OutsideServer&) = delete;
  std::uint16_t port() const { return port_; }
  std::atomic<int> connections = 0;

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// Answers as it is told, in the next turn of the loop.
class FakeResolver final : public Resolver {
 public:
  using Lookup = std::function<Addresses(const std::string& host, int time)>;
  FakeResolver(Loop& loop, Lookup lookup, int& lookups)
      : lookup_(std::move(lookup)), lookups_(lookups), timer_(loop, [this] { answer(); }) {}
  Ticket resolve(const std::string& host, Answer answer) override {
    waiting_.emplace(++ticket_, std::pair(host, std::move(answer)));
    timer_.set(0);
    return ticket_;
  }
  void forget(Ticket ticket) override { waiting_.erase(ticket); }

 private:
  void answer() {
    auto all = std::exchange(waiting_, {});
    for (auto& [ticket, one] : all) {
      Addresses addresses = lookup_(one.first, ++lookups_);
      // 0.0.0.0 stands for a resolver that never answers.
      if (addresses.size() != 1 || addresses[0] != egress::IpAddress()) {
        one.second(std::move(addresses));
      }
    }
  }
  Lookup lookup_;
  int& lookups_;
  LoopTimer timer_;
  Ticket ticket_ = 0;
  std::map<Ticket, std::pair<std::string, Answer>> waiting_ = {};
};

inline egress::IpAddress ip(const char* text) { return *egress::ip_address_from_text(text); }

class World {
 public:
  egress::Rules rules = {};
  EgressLimits limits = {};
  FakeResolver::Lookup lookup = [](const std::string&, int) { return Resolver::Addresses{ip("127.0.0.1")}; };
  int lookups = 0;
  std::vector<std::string> records = {};
  std::vector<std::string> notices = {};
  bool log_works = true;
  UniqueFd agent = {};
  UniqueFd watch = {};
  std::uint16_t dns_port = 0;
  std::uint16_t proxy_port = 0;  // of mode: proxy, at door()

  void allow(egress::HostKind kind, std::string host, std::uint16_t port, bool private_addresses = true) {
    egress::Rule rule;
    rule.kind = kind;
    rule.host = std::move(host);
    rule.ports = {port};
    rule.private_addresses = private_addresses;
    rules.allow.push_back(std::move(rule));
  }
  // The address of the n-th exact name, in the order of the rules.
  static egress::Ipv4 door(std::uint8_t n = 1) { return egress::ipv4(127, 9, 0, n); }

  // Runs the broker while `client` runs in a thread. Everything is over when this returns.
  void run(const std::function<void()>& client) {
    auto loop = Loop::create();
    REQUIRE(loop);
    {
      EgressBroker broker(**loop, config(), output());
      REQUIRE(broker.start());
      const UniqueFd done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      auto poll = Poll::create(**loop, done.get(), [&](int) {
        if (stop_when_idle && broker.connections() > 0) {
          return;  // comes again at once
        }
        (*loop)->stop();
      });
      REQUIRE(poll);
      (*poll)->want(UV_READABLE);
      std::thread thread([&] {
        client();
        [[maybe_unused]] const int woken = ::eventfd_write(done.get(), 1);
      });
      (*loop)->run();
      thread.join();
      connections_left = broker.connections();
      (*poll)->close();
      broker.close();
    }
  }
  bool stop_when_idle = true;
  std::size_t connections_left = 0;

  // How many records have all of these parts.
  int count(std::initializer_list<std::string_view> parts) const {
    int out = 0;
    for (const std::string& record : records) {
      bool all = true;
      for (const std::string_view part : parts) {
        all = all && record.find(part) != std::string::npos;
      }
      out += all ? 1 : 0;
    }
    return out;
  }
  bool said(std::string_view part) const {
    for (const std::string& notice : notices) {
      if (notice.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

 private:
  EgressConfig config() {
    EgressConfig out;
    out.rules = rules;
    out.limits = limits;
    out.policy_file = "p.yaml";
    std::uint8_t next = 1;
    if (rules.mode == egress::EgressMode::proxy) {
      out.sockets.listeners.push_back({bound(SOCK_STREAM | SOCK_NONBLOCK, door(), 0), door(), 0});
      proxy_port = port_of(out.sockets.listeners.front().fd.get());
    }
    for (const egress::Rule& rule : rules.allow) {
      if (rules.mode == egress::EgressMode::proxy || rule.kind == egress::HostKind::wildcard) {
        continue;
      }
      const egress::Ipv4 address =
          rule.kind == egress::HostKind::address ? *egress::ipv4_from_text(rule.host) : door(next++);
      if (rule.kind == egress::HostKind::name) {
        out.doors.names.push_back({rule.host, address});
      }
      for (const std::uint16_t port : rule.ports) {
        out.sockets.listeners.push_back({bound(SOCK_STREAM | SOCK_NONBLOCK, address, port), address, port});
      }
    }
    out.sockets.dns_udp = bound(SOCK_DGRAM | SOCK_NONBLOCK, door(250), 0);
    dns_port = port_of(out.sockets.dns_udp.get());
    out.sockets.dns_tcp = bound(SOCK_STREAM | SOCK_NONBLOCK, door(250), dns_port);
    out.sockets.agent = std::move(agent);
    out.sockets.watch = std::move(watch);
    out.resolver = [this](Loop& loop) { return std::make_unique<FakeResolver>(loop, lookup, lookups); };
    return out;
  }
  EgressOutput output() {
    return {[this](std::string_view body) {
              records.emplace_back(body);
              return log_works;
            },
            [this](std::string_view line) { notices.emplace_back(line); }};
  }
};

}  // namespace cordon::run::test
