// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shell around the core: bytes, ends, exits and the time go into an Engine, and what it answers is carried out in
// order. One thread, one loop.
//
// Memory: a side is not read while more than `queue_bytes` wait for the other side, so a peer that stalls costs one
// such queue and the message at hand. A server that writes is read even while its own input is stuck (it may be of the
// kind that does not read before it has written), until `max_queue_bytes` wait for it; the same for the client. Order:
// a record is in the log before any later action happens; when it cannot be written, none of them happens.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "run/approval_desk.hpp"
#include "run/child.hpp"
#include "run/egress_broker.hpp"
#include "run/engine.hpp"
#include "run/log.hpp"

namespace cordon::run {

struct ProxyConfig {
  int client_in = -1;  // borrowed; -1: there is no client
  int client_out = -1;
  ServerProcess server = {};
  // For a server that ends when it is probed; of the first one nothing is left when it is begun.
  std::optional<SpareServer> spare = {};
  // The hosts that the server may reach, and the sockets through which it asks for them.
  std::optional<EgressConfig> egress = {};
  // Where calls wait for a person on another terminal; borrowed.
  ApprovalDesk* approvals = nullptr;
  // Called when all is open, before the first byte of either side is read. After an error nothing is read, the server
  // is ended, and run_proxy gives that error.
  std::function<Status()> before_first_byte = {};
  // Told how the server ended, when that comes to light.
  std::function<void(gate::ExitReport)> server_exited = {};
  // How long a spare is kept while the client says nothing, and how long its start may take.
  std::int64_t spare_ms = 60'000;
  std::int64_t start_ms = 20'000;
  std::size_t queue_bytes = 1'000'000;
  std::size_t max_queue_bytes = 16'000'000;

  // Whatever the engine says, all is over this long after the client's end of file, or after SIGTERM, SIGINT, SIGHUP:
  // clients kill after two seconds, and some after one.
  std::int64_t end_limit_ms = 1700;
  std::int64_t signal_limit_ms = 700;
  // How long output is waited for after the server has exited, while the client takes it.
  std::int64_t drain_ms = 200;
  // How long a client that is still there may take to read what was accepted, after the session is over.
  std::int64_t flush_ms = 10'000;
};

// Runs the conversation to its end and returns the exit status that the engine gave. The server and all that became our
// child is gone then.
Result<int> run_proxy(ProxyConfig config, Engine& engine, RecordSink& records, Log& log);

}  // namespace cordon::run
