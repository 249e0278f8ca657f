// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names become addresses outside, and only for a connection that was made.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "egress/address.hpp"
#include "run/loop.hpp"

namespace cordon::run {

class Resolver {
 public:
  using Addresses = std::vector<egress::IpAddress>;
  // Empty: there are none, or they could not be found out.
  using Answer = std::function<void(Addresses)>;
  using Ticket = std::uint64_t;

  virtual ~Resolver() = default;
  // `answer` is called from the loop, never from within.
  virtual Ticket resolve(const std::string& host, Answer answer) = 0;
  // That answer is no longer wanted.
  virtual void forget(Ticket ticket) = 0;
};

// The system's resolver: getaddrinfo(3) in threads of its own, which share nothing with us but a socket. They are
// started when they are needed, at most kThreads; a lookup that hangs holds up a thread and not the loop.
class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(Loop& loop) : loop_(loop) {}
  ~SystemResolver() override;

  Ticket resolve(const std::string& host, Answer answer) override;
  void forget(Ticket ticket) override { waiting_.erase(ticket); }

  static constexpr std::size_t kThreads = 4;

 private:
  bool open();
  void start_thread();
  void push();
  void answers();

  Loop& loop_;
  Endpoint requests_ = {};
  UniqueFd theirs_ = {};
  std::unique_ptr<Poll> poll_ = {};
  std::size_t threads_ = 0;
  std::size_t busy_ = 0;
  Ticket next_ = 1;
  std::deque<std::pair<Ticket, std::string>> queue_ = {};
  std::map<Ticket, Answer> waiting_ = {};
};

}  // namespace cordon::run
