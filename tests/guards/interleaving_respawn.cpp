// SPDX-License-Identifier: Apache-2.0
// A client that asks for the stateless era first, and a server that ends when it is asked: the second start of it.
#include <algorithm>

#include "base/text.hpp"
#include "interleaving_world.hpp"

namespace cordon::test {

using gate::Side;

void World::probe() {
  for (int times = chance(25) ? 2 : 1; times > 0; --times) {
    client_sends({.id = fresh_id(), .method = "server/discover"}, "");
  }
  if (chance(15)) {
    saw("does not wait for its probe");
    client_opens();
  }
}

// Without the stateless era it is the other one, whatever the reason was.
void World::client_opens_after(const Request& request) {
  const bool opened = std::ranges::any_of(requests_, [](const Request& one) { return one.method == "initialize"; });
  if (probes_first_ && request.method == "server/discover" && !opened && !stopped_ && !left_) {
    client_opens();
  }
}

// What it was sent after the probe is lost with it.
void World::server_ends_on_probe() {
  saw("ends on the probe");
  server_ = Server::ending;
  output_ended_ = false;
  may_stop_ = true;
  todo_.clear();
  if (chance(40)) {
    from_server_ += R"({"jsonrpc":"2.0","method":"notifications/mess)";
  }
}

// The one step that is next: its output ends or it exits, in whatever order; the second one runs, or does not start.
void World::server_comes_and_goes() {
  if (server_ == Server::starting && chance(90)) {
    saw("second server");
    server_ = Server::second;
    take(session_->respawned({}, now_));
  } else if (server_ == Server::starting) {
    saw("second server does not start");
    server_ = Server::gone;
    may_stop_ = true;
    to_server_.clear();
    take(session_->respawned(fail(Errc::launch_failed, "no namespace"), now_));
  } else if (!output_ended_ && chance(60)) {
    deliver(Side::server, true);
    output_ended_ = true;
    take(session_->end(Side::server, now_));
  } else {
    if (!output_ended_) {
      deliver(Side::server, true);
    }
    from_server_.clear();
    to_server_.clear();
    server_ = Server::gone;
    const bool limited = chance(15);
    take(session_->exited({.code = 1, .limited = limited}, now_));
    if (server_ == Server::starting) {
      may_stop_ = false;
      if (limited) {
        problem("a server that ran into a limit is started again");
      }
    } else {
      saw("ends on the probe and stays away");
    }
  }
}

}  // namespace cordon::test
