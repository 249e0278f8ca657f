// SPDX-License-Identifier: Apache-2.0
#pragma once
// The resolver inside, answered from outside: UDP and TCP at 127.0.0.1:53 of the server's namespace. Nothing that is
// asked leaves the machine. A new name below a wildcard gets doors first, which the agent inside opens.

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "egress/directory.hpp"
#include "egress/dns.hpp"
#include "run/egress_log.hpp"
#include "run/egress_net.hpp"

namespace cordon::run {

// Asks the agent for one door after the other.
class EgressAgent {
 public:
  // Invalid: the door could not be opened.
  using Opened = std::function<void(UniqueFd)>;

  EgressAgent(Loop& loop, UniqueFd socket);
  void open(egress::Door door, Opened opened);
  bool is_there() const { return static_cast<bool>(socket_); }
  void close();

 private:
  struct Wanted {
    egress::Door door = {};
    Opened opened = {};
  };
  void ask();
  void reply();

  Loop& loop_;
  UniqueFd socket_;
  std::unique_ptr<Poll> poll_ = {};
  std::uint32_t number_ = 0;
  std::vector<Wanted> wanted_ = {};  // the first is being asked for
};

class EgressNames {
 public:
  struct Around {
    Loop& loop;
    egress::Directory& directory;
    const egress::Rules& rules;
    EgressLog& log;
    EgressAgent* agent;  // null: no wildcards
    std::function<void(egress::Door, UniqueFd)> new_door;
  };

  EgressNames(const Around& around, UniqueFd udp, UniqueFd tcp);
  ~EgressNames();
  EgressNames(const EgressNames&) = delete;
  EgressNames& operator=(const EgressNames&) = delete;

  Status start();
  void close();

  static constexpr std::size_t kMaxStreams = 16;
  static constexpr std::uint64_t kStreamIdleMs = 10'000;

 private:
  struct Stream {
    Stream(Loop& loop, std::uint64_t its_number, UniqueFd its_fd, std::function<void()> idle)
        : number(its_number), fd(std::move(its_fd)), timer(loop, std::move(idle)) {}
    std::uint64_t number;
    UniqueFd fd;
    egress::DnsStream messages = {};
    std::unique_ptr<Poll> poll = {};
    LoopTimer timer;
  };
  // Where an answer goes.
  struct Asker {
    sockaddr_in from = {};
    std::uint64_t stream = 0;  // 0: UDP
  };
  struct Pending {
    std::size_t doors_left = 0;
    bool failed = false;
    std::vector<std::pair<Asker, egress::DnsQuery>> askers = {};
  };

  void udp_ready();
  void tcp_ready();
  void stream_ready(Stream& stream);
  void take(std::span<const std::byte> message, const Asker& asker);
  void answer(const egress::DnsQuery& query, const Asker& asker);
  void open_doors(const egress::DnsQuery& query, const Asker& asker);
  void door_opened(const std::string& host, egress::Door door, UniqueFd fd);
  void send(const Asker& asker, const egress::Bytes& message);
  void deny(const egress::DnsQuery& query, std::string_view why);
  void drop(Stream& stream);
  void bury();

  Around around_;
  UniqueFd udp_;
  UniqueFd tcp_;
  std::unique_ptr<Poll> udp_poll_ = {};
  std::unique_ptr<Poll> tcp_poll_ = {};
  LoopTimer burial_;
  LoopTimer retry_;  // after a moment without a descriptor
  std::uint64_t next_stream_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Stream>> streams_ = {};
  std::vector<std::unique_ptr<Stream>> dead_ = {};
  std::map<std::string, Pending> pending_ = {};
};

}  // namespace cordon::run
