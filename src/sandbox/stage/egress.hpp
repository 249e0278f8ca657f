// SPDX-License-Identifier: Apache-2.0
#pragma once
// Doors: the sockets in the server's network namespace behind which the launcher answers for the allowed hosts. A
// socket belongs to the namespace it was made in, so whoever accepts from it outside needs nobody inside. Only names
// below a wildcard, whose addresses are chosen while the server runs, need one who stays: the agent.

#include <expected>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "egress/plan.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// In the network namespace that we are in, where lo is up: routes, then DNS over UDP and TCP and one listening socket
// per door, in this order.
std::expected<std::vector<UniqueFd>, Failure> open_doors(const egress::Doors& doors);
std::expected<UniqueFd, Failure> open_door(egress::Door door);
// Sees what the kernel refuses in this namespace. Invalid where it cannot be had: then that leaves no record.
UniqueFd open_watch();

// What a process of ours tells the one that waits for it, once: fine, or what went wrong.
struct Word {
  UniqueFd in = {};
  UniqueFd out = {};
  Outcome open();
  void say(const Outcome& outcome) const;  // the writer's last act with it
  Outcome hear();                          // the reader; an end without a word is a failure
};

// Sends the sockets to the launcher, which has them for itself from then on. `agent`: -1 without one.
Outcome hand_out(const Stage& stage, const std::vector<UniqueFd>& sockets, int agent);

// A pair of connected sockets: one for the agent, one that is handed out.
struct AgentSockets {
  UniqueFd inside = {};
  UniqueFd outside = {};
  Outcome open();
};
// Becomes the agent: gives up everything but the right to listen, says so, and serves until the socket, the lifeline or
// the parent ends. `lifeline` and `socket` are all that stays open.
[[noreturn]] void become_agent(const Stage& stage, UniqueFd socket, const Word& word);

// For a namespace that a tool makes, which waits until its doors are open.
struct Doorkeeper {
  UniqueFd info_in = {};   // the tool tells here which process it has made
  UniqueFd info_out = {};  // the tool's
  UniqueFd block_in = {};  // the tool's: it goes on when there is a byte
  UniqueFd block_out = {};
  Outcome open();
};
// Opens the doors in the namespace of the tool's child and lets it go on; `tool`: its process.
Outcome keep_doors(Stage& stage, Doorkeeper doorkeeper, pid_t tool);

// Opens the doors in the namespace of a container's pid 1, which is at the other end of `peer` and waits.
Outcome open_container_doors(Stage& stage, int peer, pid_t init);

// attest_network.cpp: lo alone, and the routes and sockets of the plan alone.
Outcome attest_network(const Stage& stage);

}  // namespace cordon::sandbox::stage
