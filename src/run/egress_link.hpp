// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the server's, from its acceptance to its end: what it says first is judged, its name is looked up
// meanwhile, the addresses are checked, one of them is connected to, and then bytes go both ways. Until the first words
// are judged nobody is connected to whom they might be meant for, and none of them is passed on, whoever speaks first.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "egress/directory.hpp"
#include "egress/first_words.hpp"
#include "run/egress_dialer.hpp"
#include "run/egress_log.hpp"
#include "run/egress_net.hpp"
#include "run/egress_recent.hpp"
#include "run/egress_resolver.hpp"

namespace cordon::run {

struct EgressLimits {
  std::size_t connections = 256;
  std::uint64_t first_words_ms = 10'000;  // a hello that takes longer is refused
  std::uint64_t quiet_ms = 300;           // after which a server that speaks first is dialled, save on 443
  std::uint64_t lookup_ms = 15'000;
  std::int64_t answer_ms = 5'000;  // for which an answer of the resolver is good
  std::uint64_t connect_ms = 20'000;
  std::uint64_t idle_ms = 15 * 60'000;  // no byte in either direction
};

class EgressLink {
 public:
  // All borrowed; they outlive the link.
  struct Around {
    Loop& loop;
    Resolver& resolver;
    RecentAnswers& recent;
    EgressLog& log;
    const EgressLimits& limits;
    std::span<std::byte> buffer;  // of all links: what is read is written at once
    egress::SniCheck sni;
    std::function<void(std::uint64_t number)> over;  // from the link itself: it is to be destroyed later
  };

  // `target` has a rule.
  EgressLink(const Around& around, std::uint64_t number, UniqueFd inside, egress::Directory::Target target,
             std::uint16_t port);
  ~EgressLink();
  EgressLink(const EgressLink&) = delete;
  EgressLink& operator=(const EgressLink&) = delete;

  void start();
  // Cuts it off; it is written down.
  void end(std::string_view how);

 private:
  enum class Stage : std::uint8_t { words, lookup, connect, relay, over };

  // One way of the relay.
  struct Way {
    std::vector<std::byte> rest = {};  // read, and not written yet
    std::size_t rest_done = 0;
    std::uint64_t bytes = 0;
    bool ended = false;  // the end was read
    bool shut = false;   // and passed on
    bool pending() const { return rest_done < rest.size(); }
  };

  void inside_ready(int events);
  void outside_ready(int events);
  void read_first_words();
  void judged(egress::WordsState state);
  bool poll_inside();
  void ask();
  void look_up();
  void resolved(const Resolver::Addresses& addresses);
  void dial(std::vector<egress::IpAddress> addresses);
  void connected(Dialer::Outcome outcome);
  bool pump(Way& way, int from, int to);
  bool drain(Way& way, int to);
  void watch();
  void timed_out();
  void deny(std::string_view why);
  void deny_named();
  void deny_address(egress::Scope scope, const egress::IpAddress& address);
  void deny(const EgressAttempt& denied);
  void finish(std::string_view how, bool with_reset);
  EgressAttempt attempt() const;

  const Around& around_;
  std::uint64_t number_;
  UniqueFd inside_;
  UniqueFd outside_ = {};
  std::optional<egress::IpAddress> address_ = {};  // that outside_ is connected to
  egress::Directory::Target target_;
  std::uint16_t port_;
  egress::FirstWords words_;
  Stage stage_ = Stage::words;
  bool dialling_ = false;  // looking up or connecting has begun
  bool recorded_ = false;  // the attempt is in the log
  bool inside_ended_early_ = false;
  Instant began_ = {};
  std::unique_ptr<Poll> inside_poll_ = {};
  std::unique_ptr<Poll> outside_poll_ = {};
  std::unique_ptr<Dialer> dialer_ = {};
  std::optional<Resolver::Ticket> ticket_ = {};
  std::optional<Resolver::Addresses> answer_ = {};  // came before it was needed, or what was connected by
  Instant asked_ = {};
  std::vector<std::byte> early_ = {};  // first words that wait to be passed on
  Way up_ = {};
  Way down_ = {};
  LoopTimer timer_;  // what is being waited for
  LoopTimer quiet_timer_;
};

}  // namespace cordon::run
