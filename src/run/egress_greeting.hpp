// SPDX-License-Identifier: Apache-2.0
#pragma once
// With network.mode: proxy, a connection from its acceptance until it has said whom it means. Nothing is looked up or
// connected to before; what it says behind that stays in the socket, for the host.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/fd.hpp"
#include "egress/proxy_request.hpp"
#include "run/egress_net.hpp"

namespace cordon::run {

class EgressGreeting {
 public:
  // From the greeting itself: it is to be destroyed later.
  using Over = std::function<void(std::uint64_t number)>;

  EgressGreeting(Loop& loop, std::uint64_t number, UniqueFd inside, Over over);
  EgressGreeting(const EgressGreeting&) = delete;
  EgressGreeting& operator=(const EgressGreeting&) = delete;

  void start(std::uint64_t patience_ms);
  // Once it is over: done, or refused and why; any other state is that of one that went, or was too slow.
  const egress::ProxyRequest& request() const { return request_; }
  // Says it to the client, who has read all that came before.
  void say(std::string_view answer);
  UniqueFd take() { return std::move(inside_); }

 private:
  void ready();
  // False: nothing more comes now, or ever.
  bool read_some();
  void end();

  Loop& loop_;
  std::uint64_t number_;
  UniqueFd inside_;
  Over over_;
  egress::ProxyRequest request_ = {};
  std::unique_ptr<Poll> poll_ = {};
  LoopTimer timer_;
  bool ended_ = false;
};

}  // namespace cordon::run
