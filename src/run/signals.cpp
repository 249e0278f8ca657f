// SPDX-License-Identifier: Apache-2.0
#include "run/signals.hpp"

namespace cordon::run {
namespace {

void do_nothing(int) {}

}  // namespace

QuietWrites::QuietWrites() {
  struct sigaction quiet{};
  quiet.sa_handler = &do_nothing;
  quiet.sa_flags = SA_RESTART;
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL &&
        ::sigaction(number, &quiet, nullptr) == 0) {
      before_.emplace_back(number, before);
    }
  }
}

QuietWrites::~QuietWrites() {
  for (const auto& [number, before] : before_) {
    ::sigaction(number, &before, nullptr);
  }
}

EndSignals::EndSignals(Loop& loop, std::function<void(int)> caught) {
  sigset_t unblock;
  sigemptyset(&unblock);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) {
      continue;
    }
    watches_.push_back(std::make_unique<SignalWatch>(loop, number, caught));
    sigaddset(&unblock, number);
  }
  // A parent may have left them blocked, and then they would never arrive.
  ::pthread_sigmask(SIG_UNBLOCK, &unblock, nullptr);
}

}  // namespace cordon::run
