// SPDX-License-Identifier: Apache-2.0
#include "run/egress_broker.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cordon::run {
namespace {

constexpr std::size_t kBufferBytes = 131'072;
// Connections accepted before other descriptors get their turn.
constexpr int kTurns = 16;
constexpr std::uint64_t kStarvedMs = 200;

// Two descriptors each, and more while several addresses are tried; the rest is for the conversation.
std::size_t fitting(std::size_t connections) {
  constexpr rlim_t kOthers = 128;
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= kOthers) {
    return 1;
  }
  return std::min<std::size_t>(connections, (files.rlim_cur - kOthers) / 3);
}

UniqueFd any_descriptor() { return UniqueFd(::eventfd(0, EFD_CLOEXEC)); }

}  // namespace

EgressBroker::EgressBroker(Loop& loop, EgressConfig config, EgressOutput output)
    : loop_(loop),
      config_(std::move(config)),
      directory_(config_.rules, config_.doors),
      log_(std::move(output), config_.policy_file),
      buffer_(kBufferBytes),
      reserve_(any_descriptor()),
      resolver_(config_.resolver ? config_.resolver(loop) : std::make_unique<SystemResolver>(loop)),
      around_{loop,
              *resolver_,
              log_,
              config_.limits,
              buffer_,
              config_.rules.sni,
              [this](std::uint64_t number) { over(number); }},
      burial_(loop, [this] { dead_.clear(); }),
      retry_(loop, [this] { answer_again(); }) {
  config_.limits.connections = fitting(config_.limits.connections);
}

EgressBroker::~EgressBroker() { close(); }

Status EgressBroker::start() {
  egress::Sockets& sockets = config_.sockets;
  if (sockets.agent) {
    agent_ = std::make_unique<EgressAgent>(loop_, std::move(sockets.agent));
  }
  names_ = std::make_unique<EgressNames>(
      EgressNames::Around{loop_, directory_, config_.rules, log_, agent_.get(),
                          [this](egress::Door door, UniqueFd fd) { listen(door, std::move(fd)); }},
      std::move(sockets.dns_udp), std::move(sockets.dns_tcp));
  if (Status started = names_->start(); !started) {
    return started;
  }
  for (egress::Listener& listener : sockets.listeners) {
    listen({listener.address, listener.port}, std::move(listener.fd));
  }
  sockets.listeners.clear();
  return {};
}

void EgressBroker::close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  for (const auto& listening : listening_) {
    listening->poll->close();
    listening->fd.reset();
  }
  if (names_) {
    names_->close();
  }
  if (agent_) {
    agent_->close();
  }
  // Each takes itself out of the map.
  while (!links_.empty()) {
    links_.begin()->second->end("ended");
  }
  log_.flush();
}

void EgressBroker::listen(egress::Door door, UniqueFd fd) {
  auto listening = std::make_unique<Listening>();
  listening->door = door;
  listening->fd = std::move(fd);
  Listening* const here = listening.get();
  auto poll = Poll::create(loop_, here->fd.get(), [this, here](int) { door_ready(*here); });
  if (!poll) {
    return;  // closed: the server is refused there
  }
  here->poll = std::move(*poll);
  here->poll->want(UV_READABLE);
  listening_.push_back(std::move(listening));
}

void EgressBroker::door_ready(Listening& listening) {
  for (int turn = 0; turn < kTurns && !closed_ && accept_one(listening); ++turn) {
  }
  if (!closed_) {
    listening.poll->want(starved_ ? 0 : UV_READABLE);
  }
}

void EgressBroker::answer_again() {
  starved_ = false;
  reserve_ = reserve_ ? std::move(reserve_) : any_descriptor();
  for (const auto& listening : listening_) {
    listening->poll->want(closed_ ? 0 : UV_READABLE);
  }
}

bool EgressBroker::accept_one(Listening& listening) {
  UniqueFd inside(::accept4(listening.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!inside) {
    if (errno == EMFILE || errno == ENFILE) {
      no_descriptor_left(listening);
    }
    return errno == ECONNABORTED || errno == EINTR;
  }
  admit(std::move(inside));
  return true;
}

// Left in the queue it would be reported for ever, and the server would wait for ever.
void EgressBroker::no_descriptor_left(Listening& listening) {
  reserve_.reset();
  UniqueFd inside(::accept4(listening.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (inside) {
    const egress::Directory::Target target = directory_.target_of(listening.door);
    refuse(std::move(inside), target, listening.door, "descriptor_limit");
  }
  reserve_ = any_descriptor();
  if (!inside && !closed_) {
    starved_ = true;  // else the loop would turn for this alone
    retry_.set(kStarvedMs);
  }
}

void EgressBroker::admit(UniqueFd inside) {
  const std::optional<egress::Door> door = door_of(inside.get());
  if (!door) {
    return reset(std::move(inside));
  }
  egress::Directory::Target target = directory_.target_of(*door);
  if (target.rule == nullptr) {
    return refuse(std::move(inside), target, *door, "unlisted_port");
  }
  if (links_.size() >= config_.limits.connections) {
    return refuse(std::move(inside), target, *door, "too_many_connections");
  }
  if (log_.broken()) {
    return reset(std::move(inside));
  }
  const std::uint64_t number = next_number_++;
  const auto [place, added] = links_.emplace(
      number, std::make_unique<EgressLink>(around_, number, std::move(inside), std::move(target), door->port));
  place->second->start();
}

void EgressBroker::refuse(UniqueFd inside, const egress::Directory::Target& target, egress::Door door,
                          std::string_view why) {
  EgressAttempt denied;
  denied.host = target.host;
  denied.port = door.port;
  denied.why = why;
  log_.attempt(EgressLog::Decision::denied, denied, monotonic_now());
  reset(std::move(inside));
}

// What calls is the link itself, or a poll or timer of its own.
void EgressBroker::over(std::uint64_t number) {
  auto node = links_.extract(number);
  if (!node.empty()) {
    dead_.push_back(std::move(node.mapped()));
    if (!closed_) {
      burial_.set(0);
    }
  }
}

}  // namespace cordon::run
