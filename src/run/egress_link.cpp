// SPDX-License-Identifier: Apache-2.0
#include "run/egress_link.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"

namespace cordon::run {
namespace {

// As much as a hello may have, and the heads of its records.
constexpr std::size_t kMaxEarlyBytes = 2 * egress::ClientHello::kMaxBytes;
// Reads before other descriptors get their turn.
constexpr int kTurns = 4;
// Behind so much the end is often there already; behind more, more is to come, and it is better waited for.
constexpr std::size_t kSmallAnswer = 16'384;

}  // namespace

EgressLink::EgressLink(const Around& around, std::uint64_t number, UniqueFd inside, egress::Directory::Target target,
                       std::uint16_t port)
    : around_(around),
      number_(number),
      inside_(std::move(inside)),
      target_(std::move(target)),
      port_(port),
      words_(target_.is_address ? std::string() : target_.host, port, around.sni),
      timer_(around.loop, [this] { timed_out(); }),
      quiet_timer_(around.loop, [this] { look_up(); }) {}

EgressLink::~EgressLink() {
  if (ticket_) {
    around_.resolver.forget(*ticket_);
  }
}

void EgressLink::start() {
  began_ = monotonic_now();
  if (words_.state() != egress::WordsState::waiting) {
    return judged(words_.state());
  }
  timer_.set(around_.limits.first_words_ms);
  if (words_.may_dial_before()) {
    quiet_timer_.set(around_.limits.quiet_ms);
  }
  // Not for a name below a wildcard, which is a word of the server's own: it says what it wants there first.
  if (target_.rule->kind == egress::HostKind::name) {
    ask();
  }
  // Most have spoken by the time they are accepted.
  read_first_words();
  if (stage_ != Stage::over && words_.state() == egress::WordsState::waiting) {
    if (!poll_inside()) {
      return deny("descriptor_limit");
    }
    inside_poll_->want(UV_READABLE);
  }
}

// Made when it is needed, since it takes a few calls, and a connection may be through before.
bool EgressLink::poll_inside() {
  if (!inside_poll_) {
    auto poll = Poll::create(around_.loop, inside_.get(), [this](int events) { inside_ready(events); });
    if (poll) {
      inside_poll_ = std::move(*poll);
    }
  }
  return inside_poll_ != nullptr;
}

void EgressLink::end(std::string_view how) { finish(how, true); }

void EgressLink::inside_ready(int) {
  if (stage_ == Stage::over) {
    return;
  }
  if (words_.state() == egress::WordsState::waiting) {
    return read_first_words();
  }
  if (stage_ == Stage::relay && pump(up_, inside_.get(), outside_.get()) && drain(down_, inside_.get())) {
    watch();
  }
}

void EgressLink::outside_ready(int) {
  if (stage_ == Stage::relay && pump(down_, outside_.get(), inside_.get()) && drain(up_, outside_.get())) {
    watch();
  }
}

void EgressLink::read_first_words() {
  const std::ptrdiff_t got = receive(inside_.get(), around_.buffer);
  if (got == -EAGAIN || got == -EINTR) {
    return;
  }
  if (got < 0) {
    return finish("reset", true);
  }
  if (got == 0) {
    inside_ended_early_ = true;
    if (early_.empty() && !dialling_) {
      return deny("closed_early");
    }
    return judged(words_.end());
  }
  quiet_timer_.stop();
  if (early_.empty() && stage_ != Stage::words) {
    timer_.set(around_.limits.first_words_ms);
  }
  const auto bytes = around_.buffer.first(static_cast<std::size_t>(got));
  early_.insert(early_.end(), bytes.begin(), bytes.end());
  const egress::WordsState state = words_.feed(bytes);
  if (state == egress::WordsState::waiting && early_.size() > kMaxEarlyBytes) {
    return deny("malformed");
  }
  if (state != egress::WordsState::waiting) {
    judged(state);
  }
}

void EgressLink::judged(egress::WordsState state) {
  quiet_timer_.stop();
  timer_.stop();
  if (state == egress::WordsState::refused) {
    return deny_named();
  }
  // Dialled while it was silent: what was written down then did not know this.
  if (state == egress::WordsState::flagged && recorded_) {
    EgressAttempt flagged = attempt();
    flagged.why = words_.why();
    flagged.named = words_.named();
    if (!around_.log.attempt(EgressLog::Decision::flagged, flagged, monotonic_now())) {
      return finish("audit_unavailable", true);
    }
  }
  if (stage_ == Stage::relay) {
    // Connected while it was silent.
    up_.rest = std::move(early_);
    up_.rest_done = 0;
    up_.bytes += up_.rest.size();
    up_.ended = inside_ended_early_;
    if (drain(up_, outside_.get())) {
      watch();
    }
    return;
  }
  if (!dialling_) {
    look_up();
  } else {
    timer_.set(around_.limits.connect_ms);
  }
  // Nothing is read until there is somebody to pass it on to.
  if ((stage_ == Stage::lookup || stage_ == Stage::connect) && inside_poll_) {
    inside_poll_->want(0);
  }
}

// The resolver, who may take his time; once, and not for what was asked a moment ago.
void EgressLink::ask() {
  asked_ = monotonic_now();
  if (Resolver::Addresses recent = around_.recent.find(target_.host, asked_); !recent.empty()) {
    answer_ = std::move(recent);
    return;
  }
  ticket_ = around_.resolver.resolve(target_.host, [this](const Resolver::Addresses& addresses) {
    ticket_.reset();
    answer_ = addresses;
    if (stage_ == Stage::lookup) {
      resolved(*answer_);
    }
  });
}

void EgressLink::look_up() {
  if (dialling_ || stage_ == Stage::over) {
    return;
  }
  dialling_ = true;
  stage_ = Stage::lookup;
  if (const auto address = target_.is_address ? egress::ip_address_from_text(target_.host) : std::nullopt) {
    return resolved({*address});
  }
  if (!answer_ && !ticket_) {
    ask();
  }
  if (answer_) {
    return resolved(*answer_);
  }
  timer_.set(around_.limits.lookup_ms);
}

// The addresses of this answer and no others: what is checked is what is connected to.
void EgressLink::resolved(const Resolver::Addresses& addresses) {
  if (addresses.empty()) {
    return deny("not_resolved");
  }
  const bool private_addresses = target_.rule->private_addresses;
  std::vector<egress::IpAddress> fit;
  std::optional<std::pair<egress::Scope, egress::IpAddress>> unfit;
  for (const egress::IpAddress& address : addresses) {
    egress::Scope scope = egress::scope_of(address, {});
    if (scope == egress::Scope::global && is_own_address(address)) {
      scope = egress::Scope::own;
    }
    if (egress::may_connect(scope, private_addresses)) {
      fit.push_back(address);
    } else if (!unfit || egress::is_private_scope(unfit->first)) {
      unfit = {scope, address};  // the worst is what is told
    }
  }
  if (fit.empty()) {
    return deny_address(unfit->first, unfit->second);
  }
  dial(std::move(fit));
}

void EgressLink::dial(std::vector<egress::IpAddress> addresses) {
  stage_ = Stage::connect;
  EgressAttempt now = attempt();
  if (addresses.size() == 1) {
    now.address = addresses.front();
  }
  const bool flagged = words_.state() == egress::WordsState::flagged;
  now.why = flagged ? words_.why() : std::string_view();
  now.named = flagged ? words_.named() : std::string();
  // Before a byte leaves. What cannot be written down does not happen.
  if (!around_.log.attempt(flagged ? EgressLog::Decision::flagged : EgressLog::Decision::allowed, now,
                           monotonic_now())) {
    return finish("audit_unavailable", true);
  }
  recorded_ = true;
  timer_.set(around_.limits.connect_ms);
  dialer_ = std::make_unique<Dialer>(around_.loop, in_turn(addresses), port_,
                                     [this](Dialer::Outcome outcome) { connected(std::move(outcome)); });
  dialer_->start();
}

void EgressLink::connected(Dialer::Outcome outcome) {
  if (stage_ != Stage::connect) {
    return;
  }
  if (!outcome.fd) {
    around_.recent.forget(target_.host);
    return finish(
        outcome.error_number == EMFILE || outcome.error_number == ENFILE ? "descriptor_limit" : "not_connected", true);
  }
  outside_ = std::move(outcome.fd);
  address_ = outcome.address;
  if (answer_ && around_.recent.find(target_.host, asked_).empty()) {
    around_.recent.keep(target_.host, *answer_, asked_);
  }
  stage_ = Stage::relay;
  if (words_.state() != egress::WordsState::waiting) {
    up_.rest = std::move(early_);
    up_.bytes = up_.rest.size();
    up_.ended = inside_ended_early_;
  }
  if (!drain(up_, outside_.get())) {
    return;
  }
  no_delay(outside_.get());  // for what comes after the first words
  auto poll = Poll::create(around_.loop, outside_.get(), [this](int events) { outside_ready(events); });
  if (!poll || !poll_inside()) {
    return finish("descriptor_limit", true);
  }
  outside_poll_ = std::move(*poll);
  watch();
}

// Reads what there is and writes it on. False: the link is over.
bool EgressLink::pump(Way& way, int from, int to) {
  for (int turn = 0; turn < kTurns && !way.ended && !way.pending(); ++turn) {
    const std::ptrdiff_t got = receive(from, around_.buffer);
    if (got == -EAGAIN || got == -EINTR) {
      break;
    }
    if (got < 0) {
      finish("reset", true);
      return false;
    }
    if (got == 0) {
      way.ended = true;
      break;
    }
    const auto bytes = around_.buffer.first(static_cast<std::size_t>(got));
    way.bytes += bytes.size();
    std::ptrdiff_t sent = send_some(to, bytes);
    if (sent < 0 && sent != -EAGAIN && sent != -EINTR) {
      finish("reset", true);
      return false;
    }
    sent = std::max<std::ptrdiff_t>(sent, 0);
    const auto left = bytes.subspan(static_cast<std::size_t>(sent));
    way.rest.assign(left.begin(), left.end());
    way.rest_done = 0;
    if (bytes.size() < around_.buffer.size() && bytes.size() > kSmallAnswer) {
      break;
    }
  }
  return drain(way, to);
}

// Writes what waits, and passes the end on behind it. False: the link is over.
bool EgressLink::drain(Way& way, int to) {
  while (way.pending()) {
    const std::ptrdiff_t sent = send_some(to, std::span(way.rest).subspan(way.rest_done));
    if (sent == -EAGAIN || sent == -EINTR) {
      return true;
    }
    if (sent < 0) {
      finish("reset", true);
      return false;
    }
    way.rest_done += static_cast<std::size_t>(sent);
  }
  if (!way.rest.empty()) {
    way.rest = {};  // its memory too: most links have nothing waiting
    way.rest_done = 0;
  }
  if (way.ended && !way.shut) {
    way.shut = true;
    if (!up_.shut || !down_.shut) {
      ::shutdown(to, SHUT_WR);  // else it is closed altogether
    }
  }
  if (up_.shut && down_.shut) {
    finish("closed", false);
    return false;
  }
  return true;
}

// A side is read while what was read from it could be written.
void EgressLink::watch() {
  const bool words_open = words_.state() == egress::WordsState::waiting;
  const bool read_inside = words_open || (!up_.ended && !up_.pending());
  inside_poll_->want((read_inside ? UV_READABLE : 0) | (down_.pending() ? UV_WRITABLE : 0));
  outside_poll_->want((!down_.ended && !down_.pending() ? UV_READABLE : 0) | (up_.pending() ? UV_WRITABLE : 0));
  if (!words_open || early_.empty()) {
    timer_.set(around_.limits.idle_ms);
  }
}

void EgressLink::timed_out() {
  if (stage_ == Stage::words || (words_.state() == egress::WordsState::waiting && !early_.empty())) {
    return deny("slow");
  }
  switch (stage_) {
    case Stage::lookup:
      return deny("not_resolved");
    case Stage::connect:
      return finish("not_connected", true);
    case Stage::relay:
      return finish("idle", true);
    case Stage::words:
    case Stage::over:
      return;
  }
}

void EgressLink::finish(std::string_view how, bool with_reset) {
  if (stage_ == Stage::over) {
    return;
  }
  stage_ = Stage::over;
  if (recorded_) {
    EgressEnd end;
    end.number = number_;
    end.host = target_.host;
    end.port = port_;
    end.bytes_up = up_.bytes;
    end.bytes_down = down_.bytes;
    end.ms = monotonic_now() - began_;
    end.how = how;
    end.address = address_;
    around_.log.ended(end, monotonic_now());
  }
  timer_.stop();
  quiet_timer_.stop();
  if (inside_poll_) {
    inside_poll_->close();
  }
  if (outside_poll_) {
    outside_poll_->close();
  }
  if (with_reset) {
    reset(std::move(inside_));
    reset(std::move(outside_));
  }
  // Closed when this link is destroyed, in the next turn: whoever waits to be accepted comes first.
  up_.rest = {};
  down_.rest = {};
  early_ = {};
  around_.over(number_);
}

}  // namespace cordon::run
