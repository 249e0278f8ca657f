// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outside of an egress: answers the sockets that were handed out of the server's namespace. It decides nothing
// beyond the rules, and never harms the conversation: at its limits it refuses.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "egress/directory.hpp"
#include "egress/plan.hpp"
#include "run/egress_greeting.hpp"
#include "run/egress_link.hpp"
#include "run/egress_log.hpp"
#include "run/egress_names.hpp"
#include "run/egress_resolver.hpp"
#include "run/egress_watch.hpp"

namespace cordon::run {

struct EgressConfig {
  egress::Rules rules = {};
  egress::Doors doors = {};
  egress::Sockets sockets = {};
  std::string policy_file = {};  // for what is said to a person
  EgressLimits limits = {};
  bool limits_fit = false;  // they were held against those of the process, which can no longer be asked for
  // In place of the system's, for tests.
  std::function<std::unique_ptr<Resolver>(Loop&)> resolver = {};
};

class EgressBroker {
 public:
  EgressBroker(Loop& loop, EgressConfig config, EgressOutput output);
  ~EgressBroker();
  EgressBroker(const EgressBroker&) = delete;
  EgressBroker& operator=(const EgressBroker&) = delete;

  Status start();
  // Ends every connection and answers nothing more. The log is flushed.
  void close();
  std::size_t connections() const { return links_.size(); }
  // For one that takes the place of this, with the sockets of another namespace.
  EgressConfig again(egress::Sockets sockets) const;
  // When flush() is due.
  std::optional<Instant> next_deadline() const { return log_.next_deadline(); }
  bool flush() { return log_.flush(); }

 private:
  struct Listening {
    egress::Door door = {};
    UniqueFd fd = {};
    std::unique_ptr<Poll> poll = {};
  };
  Status listen_all();
  void listen(egress::Door door, UniqueFd fd);
  void door_ready(Listening& listening);
  bool accept_one(Listening& listening);
  void answer_again();
  void no_descriptor_left(Listening& listening);
  void admit(UniqueFd inside, egress::Door door);
  bool is_full() const { return links_.size() + greetings_.size() >= config_.limits.connections; }
  void greet(UniqueFd inside);
  void greeted(std::uint64_t number);
  void admit_named(EgressGreeting& greeting, const egress::HostPort& asked);
  void begin_link(std::uint64_t number, UniqueFd inside, egress::Directory::Target target, std::uint16_t port);
  void refuse(UniqueFd inside, const egress::Directory::Target& target, egress::Door door, std::string_view why);
  void over(std::uint64_t number);
  void refused_inside(egress::Door door);
  std::string_view why_unlisted(std::string_view host) const;

  Loop& loop_;
  EgressConfig config_;
  egress::Directory directory_;
  EgressLog log_;
  std::vector<std::byte> buffer_;
  UniqueFd reserve_ = {};  // given up to accept, and so refuse, when there is no other descriptor
  std::unique_ptr<Resolver> resolver_;
  RecentAnswers recent_;
  EgressLink::Around around_;
  std::unique_ptr<EgressAgent> agent_ = {};
  std::unique_ptr<EgressNames> names_ = {};
  std::unique_ptr<EgressWatch> watch_ = {};
  std::vector<std::unique_ptr<Listening>> listening_ = {};
  LoopTimer burial_;
  LoopTimer retry_;
  bool starved_ = false;  // not even the reserve is left: no door is answered for a moment
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, std::unique_ptr<EgressLink>> links_ = {};
  std::vector<std::unique_ptr<EgressLink>> dead_ = {};
  std::map<std::uint64_t, std::unique_ptr<EgressGreeting>> greetings_ = {};  // mode: proxy
  std::vector<std::unique_ptr<EgressGreeting>> dead_greetings_ = {};
  bool closed_ = false;
};

}  // namespace cordon::run
