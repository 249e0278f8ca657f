// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of run_proxy, one object per call. Private to proxy.cpp and conversation.cpp.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/proxy.hpp"
#include "run/signals.hpp"
#include "run/stream.hpp"

namespace cordon::run {

class Conversation {
 public:
  Conversation(const ProxyConfig& config, std::unique_ptr<Loop> loop, Engine& engine, RecordSink& records, Log& log);
  Status connect(ProxyConfig& config);
  Result<int> run();
  // Instead of run(): ends the server.
  void abandon();

 private:
  // Events of the loop. Each ends with settle().
  void client_bytes(std::string_view bytes);
  void client_end();
  void client_hangup();
  void server_bytes(std::string_view bytes);
  void server_end();
  void server_exit(gate::ExitReport report);
  void caught(int number);
  void timer();
  void settle();

  void act(gate::Actions actions);
  bool carry_out(gate::Action& action);
  bool write_record(std::string_view body);
  void publish(std::string_view lines);
  void hear_approvals();
  bool egress_record(std::string_view body);
  void stop(int exit_status);

  Status connect_server(ServerProcess& server);
  EgressOutput egress_output();

  // respawn.cpp
  void respawn();
  Status begin_spare();
  void spare_started();
  Status spare_runs();
  void drop_spare();

  void end_client();
  void end_server();
  bool next_event();
  void balance();
  void hold(Source& source, bool& held, bool wanted);
  void arm();
  bool passed(const std::optional<Instant>& deadline) const { return deadline && *deadline <= now(); }
  void limit(std::int64_t delay_ms);
  bool done() const;
  void expire();
  static Instant now() { return monotonic_now(); }

  const ProxyConfig& config_;
  Engine& engine_;
  RecordSink& records_;
  Log& log_;
  QuietWrites quiet_ = {};
  std::unique_ptr<Loop> loop_;  // outlives every handle below
  std::vector<char> buffer_;    // of all sources
  Timer timer_;
  EndSignals signals_;
  std::unique_ptr<Source> client_in_ = {};
  std::unique_ptr<Sink> client_out_ = {};
  std::unique_ptr<Sink> server_in_ = {};
  std::unique_ptr<Source> server_out_ = {};
  std::unique_ptr<Source> server_err_ = {};
  std::unique_ptr<Child> child_ = {};
  std::unique_ptr<EgressBroker> egress_ = {};

  std::optional<SpareServer> spare_ = {};
  std::unique_ptr<Source> status_of_start_ = {};  // of the spare, once it was begun
  std::string start_said_ = {};
  bool starting_ = false;                 // what comes of the spare waits until its server runs
  std::optional<Status> respawned_ = {};  // until the engine knows
  // Of the first server: an event of theirs may be what led here. Its stderr may still have something to say.
  std::unique_ptr<Sink> old_in_ = {};
  std::unique_ptr<Source> old_out_ = {};
  std::unique_ptr<Source> old_err_ = {};
  std::unique_ptr<EgressBroker> old_egress_ = {};

  bool client_ended_ = false;  // the engine knows
  bool server_ended_ = false;
  bool server_deaf_ = false;  // its stdin is closed on its side
  bool client_held_ = false;  // not read because of a full queue
  bool server_held_ = false;
  bool records_failed_ = false;
  bool egress_failed_ = false;  // a record of it could not be written; the engine is told at the next turn
  bool signalled_ = false;
  std::optional<gate::ExitReport> exit_ = {};  // until the engine knows
  std::optional<int> status_ = {};             // set: the session is over

  UniqueFd notes_ = {};                       // of the server's launch
  std::optional<Instant> drain_until_ = {};   // output of a server that exited
  std::optional<Instant> hangup_until_ = {};  // reading from a client that hung up while it was held
  std::optional<Instant> limit_ = {};         // all of it
  std::optional<Instant> flush_until_ = {};   // after the end: writing to the client
  std::optional<Instant> spare_until_ = {};   // it is kept
  std::optional<Instant> start_until_ = {};   // it may take to start
  std::optional<Instant> approvals_at_ = {};  // when decisions are looked for
  std::optional<Instant> reap_until_ = {};    // after the end: the exit of the server
  std::optional<Instant> errors_until_ = {};  // after the end: the last lines of its stderr
};

}  // namespace cordon::run
