// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers a probe's DNS questions by the plan, as the broker would. Nothing is forwarded and nobody is connected:
// behind the doors nobody answers.

#include <poll.h>

#include <list>
#include <vector>

#include "egress/directory.hpp"
#include "egress/dns.hpp"
#include "egress/plan.hpp"

namespace cordon::sandbox::boundary {

class Resolver {
 public:
  // `rules` is borrowed.
  Resolver(const egress::Rules& rules, const egress::Doors& doors, egress::Sockets sockets);

  // What is to be watched; take() gets the same list back, with what poll() found.
  std::vector<pollfd> watched() const;
  void take(const std::vector<pollfd>& watched);

 private:
  struct Stream {
    UniqueFd fd = {};
    egress::DnsStream questions = {};
    bool over = false;
  };
  void take_datagram();
  void take_stream(Stream& stream);
  std::optional<egress::Bytes> answer(std::span<const std::byte> message) const;

  egress::Directory directory_;
  egress::Sockets sockets_;
  std::list<Stream> streams_ = {};
};

}  // namespace cordon::sandbox::boundary
