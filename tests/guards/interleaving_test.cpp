// SPDX-License-Identifier: Apache-2.0
// No message is lost, reordered within an id, or answered twice, in whatever order things happen.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "interleaving_world.hpp"

namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

}  // namespace

// CORDON_INTERLEAVINGS=N runs N seeds instead of 800; CORDON_SEED=S that one alone, with all that was said.
TEST_CASE("random interleavings") {
  const std::uint64_t only = number_of("CORDON_SEED", 0);
  const std::uint64_t first = only != 0 ? only : number_of("CORDON_FIRST_SEED", 1);
  const std::uint64_t count = only != 0 ? 1 : number_of("CORDON_INTERLEAVINGS", 800);
  std::map<std::string, std::size_t> seen;
  std::size_t broken = 0;
  for (std::uint64_t seed = first; seed < first + count && broken < 5; ++seed) {
    cordon::test::World world(seed);
    world.run();
    for (const auto& [what, times] : world.seen()) {
      seen[what] += times;
    }
    broken += world.problems().empty() ? 0U : 1U;
    for (const std::string& problem : world.problems()) {
      FAIL_CHECK("CORDON_SEED=" << seed << ": " << problem);
    }
    if (only != 0) {
      std::cout << world.trace();
    }
  }
  if (only != 0 || broken > 0) {
    return;
  }
  // What did not happen was not tested.
  for (const std::string what : {"get",
                                 "put",
                                 "slow",
                                 "drop",
                                 "nosuch",
                                 "prompts/get",
                                 "resources/read",
                                 "tools/list",
                                 "ping",
                                 "logging/setLevel",
                                 "server/discover",
                                 "initialize",
                                 "does not wait for its handshake",
                                 "retry",
                                 "retry sent twice",
                                 "cancel",
                                 "cancellation reaches the server",
                                 "form",
                                 "form accepted",
                                 "form declined",
                                 "form failed",
                                 "answers twice",
                                 "approved elsewhere",
                                 "refused elsewhere",
                                 "asked for a word in a result",
                                 "question in a result",
                                 "question that the gate answers",
                                 "question: sampling/createMessage",
                                 "question: elicitation/create",
                                 "question: ping",
                                 "question answered",
                                 "question answered by the gate",
                                 "question taken back",
                                 "server takes a question back",
                                 "progress",
                                 "progress of ours",
                                 "page",
                                 "list refused",
                                 "list_changed",
                                 "list_changed reaches the client",
                                 "reply twice",
                                 "reply to nothing",
                                 "line that is none",
                                 "answer: timed_out",
                                 "answer: tool_changed",
                                 "answer: rate_limited",
                                 "answer: server_exited",
                                 "answer: confirmation_declined",
                                 "answer: tool_blocked",

                                 "answer: Unknown tool",
                                 "answer: Unknown task",
                                 "task",
                                 "task of the stateless era",
                                 "tasks/get",
                                 "tasks/result",
                                 "tasks/list",
                                 "tasks/cancel",
                                 "tasks/update",
                                 "subscriptions/listen",
                                 "acknowledgement",
                                 "news of a task",
                                 "progress of a task",
                                 "result within a task",
                                 "question of a task",
                                 "question of a task answered",
                                 "question of a task answered by the gate",
                                 "of the gate: tasks/cancel",
                                 "of the gate: tasks/update",
                                 "task forgotten",
                                 "does not wait for its probe",
                                 "ends on the probe",
                                 "ends on the probe and stays away",
                                 "second server",
                                 "second server does not start",
                                 "the server dies",
                                 "the client leaves"}) {
    CAPTURE(what);
    CHECK(seen[what] > 0);
  }
}
