// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers for the allowed hosts in place of the real broker, so that the inside can be tried alone: DNS for the names
// of the doors, and behind each door an HTTP answer that says which door it was.

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "egress/plan.hpp"

namespace cordon::test {

class FakeBroker {
 public:
  FakeBroker(const egress::Rules& rules, egress::Doors doors, egress::Sockets sockets);
  ~FakeBroker();
  FakeBroker(const FakeBroker&) = delete;
  FakeBroker& operator=(const FakeBroker&) = delete;

  // What the agent says to a request of the test's own; the errno, 0 with a socket. Not while names are asked for.
  int ask_agent(egress::Door door);
  int agent_fd() const { return sockets_.agent.get(); }
  void close_agent() { sockets_.agent.reset(); }

 private:
  void run();
  void answer_datagram();
  void answer_stream(int listener);
  void answer_door(const egress::Listener& listener);
  std::string answer(std::string query);
  std::optional<egress::Ipv4> address_of(const std::string& name);

  egress::Rules rules_;
  egress::Doors doors_;
  egress::Sockets sockets_;
  std::map<std::string, egress::Ipv4> wild_ = {};
  std::uint32_t requests_ = 0;
  UniqueFd stop_in_ = {};
  UniqueFd stop_out_ = {};
  std::thread thread_ = {};
};

}  // namespace cordon::test
