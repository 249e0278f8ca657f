// SPDX-License-Identifier: Apache-2.0
#include "run/egress_broker.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "egress/address.hpp"

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

// What would allow it. An address is listed only with `private: true`, and there is no way to others.
std::string entry_for(const std::string& host, std::uint16_t port) {
  const std::optional<egress::IpAddress> address = egress::ip_address_from_text(host);
  if (!address) {
    return text::cat('"', host, ':', port, '"');
  }
  return !address->v6 && egress::is_private_scope(egress::scope_of(*address, {}))
             ? text::cat("{host: ", host, ", ports: [", port, "], private: true}")
             : std::string();
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
      recent_(config_.limits.answer_ms),
      around_{loop,           *resolver_, recent_,           log_,
              config_.limits, buffer_,    config_.rules.sni, [this](std::uint64_t number) { over(number); }},
      burial_(loop,
              [this] {
                dead_.clear();
                dead_greetings_.clear();
              }),
      retry_(loop, [this] { answer_again(); }) {
  if (!config_.limits_fit) {
    config_.limits.connections = fitting(config_.limits.connections);
  }
}

EgressBroker::~EgressBroker() { close(); }

EgressConfig EgressBroker::again(egress::Sockets sockets) const {
  EgressConfig out;
  out.rules = config_.rules;
  out.doors = config_.doors;
  out.sockets = std::move(sockets);
  out.policy_file = config_.policy_file;
  out.limits = config_.limits;
  out.limits_fit = true;
  out.resolver = config_.resolver;
  return out;
}

Status EgressBroker::start() {
  egress::Sockets& sockets = config_.sockets;
  if (sockets.agent) {
    agent_ = std::make_unique<EgressAgent>(loop_, std::move(sockets.agent));
  }
  if (sockets.watch) {
    watch_ = std::make_unique<EgressWatch>(loop_, std::move(sockets.watch),
                                           [this](egress::Door door) { refused_inside(door); });
  }
  names_ = std::make_unique<EgressNames>(
      EgressNames::Around{loop_, directory_, config_.rules, log_, agent_.get(),
                          [this](egress::Door door, UniqueFd fd) { listen(door, std::move(fd)); }},
      std::move(sockets.dns_udp), std::move(sockets.dns_tcp));
  if (Status started = names_->start(); !started) {
    return started;
  }
  return listen_all();
}

Status EgressBroker::listen_all() {
  for (egress::Listener& listener : config_.sockets.listeners) {
    listen({listener.address, listener.port}, std::move(listener.fd));
  }
  config_.sockets.listeners.clear();
  return {};
}

void EgressBroker::close() {
  if (closed_) {
    return;
  }
  if (watch_) {
    watch_->close();
  }
  closed_ = true;
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
  greetings_.clear();
  log_.flush();
}

void EgressBroker::listen(egress::Door door, UniqueFd fd) {
  auto listening = std::make_unique<Listening>();
  listening->door = door;
  listening->fd = std::move(fd);
  no_delay(listening->fd.get());  // what is accepted from it inherits that
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
  if (config_.rules.mode == egress::EgressMode::proxy) {
    greet(std::move(inside));
  } else {
    admit(std::move(inside), listening.door);
  }
  return true;
}

// Left in the queue it would be reported for ever, and the server would wait for ever.
void EgressBroker::no_descriptor_left(Listening& listening) {
  reserve_.reset();
  UniqueFd inside(::accept4(listening.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (inside) {
    const egress::Directory::Target target = directory_.target_of(listening.door);  // of a proxy: the proxy
    refuse(std::move(inside), target, listening.door, "descriptor_limit");
  }
  reserve_ = any_descriptor();
  if (!inside && !closed_) {
    starved_ = true;  // else the loop would turn for this alone
    retry_.set(kStarvedMs);
  }
}

// The listening socket is bound to exactly this pair.
void EgressBroker::admit(UniqueFd inside, egress::Door door) {
  egress::Directory::Target target = directory_.target_of(door);
  if (target.rule == nullptr) {
    return refuse(std::move(inside), target, door, "unlisted_port");
  }
  if (is_full()) {
    return refuse(std::move(inside), target, door, "too_many_connections");
  }
  if (log_.broken()) {
    return reset(std::move(inside));
  }
  begin_link(next_number_++, std::move(inside), std::move(target), door.port);
}

void EgressBroker::begin_link(std::uint64_t number, UniqueFd inside, egress::Directory::Target target,
                              std::uint16_t port) {
  const auto [place, added] =
      links_.emplace(number, std::make_unique<EgressLink>(around_, number, std::move(inside), std::move(target), port));
  place->second->start();
}

void EgressBroker::greet(UniqueFd inside) {
  if (is_full()) {
    return refuse(std::move(inside), {.host = "proxy"}, {egress::kProxy, egress::kProxyPort}, "too_many_connections");
  }
  if (log_.broken()) {
    return reset(std::move(inside));
  }
  const std::uint64_t number = next_number_++;
  const auto [place, added] =
      greetings_.emplace(number, std::make_unique<EgressGreeting>(loop_, number, std::move(inside),
                                                                  [this](std::uint64_t which) { greeted(which); }));
  place->second->start(config_.limits.first_words_ms);
}

// What calls is the greeting itself, or a poll or timer of its own.
void EgressBroker::greeted(std::uint64_t number) {
  auto node = greetings_.extract(number);
  if (node.empty() || closed_) {
    return;
  }
  EgressGreeting& greeting = *dead_greetings_.emplace_back(std::move(node.mapped()));
  burial_.set(0);
  const egress::ProxyRequest& request = greeting.request();
  if (request.state() == egress::ProxyRequest::State::done) {
    return admit_named(greeting, request.target());
  }
  const bool refused = request.state() == egress::ProxyRequest::State::refused;
  EgressAttempt denied;
  denied.host = "proxy";
  denied.port = egress::kProxyPort;
  denied.why = refused ? request.why() : std::string_view("closed_early");
  log_.attempt(EgressLog::Decision::denied, denied, monotonic_now());
  greeting.take().reset();
}

void EgressBroker::admit_named(EgressGreeting& greeting, const egress::HostPort& asked) {
  const std::uint16_t port = *asked.port;
  egress::Directory::Target target{.host = asked.host,
                                   .is_address = egress::ip_address_from_text(asked.host).has_value()};
  target.rule = egress::find_rule(config_.rules, asked.host, port);
  std::string_view why;
  if (target.rule == nullptr) {
    why = why_unlisted(asked.host);
  } else if (target.rule->kind == egress::HostKind::wildcard && !directory_.assign(asked.host)) {
    why = "too_many_names";
  }
  greeting.say(greeting.request().answer(why.empty()));
  if (why.empty()) {
    return begin_link(next_number_++, greeting.take(), std::move(target), port);
  }
  EgressAttempt denied;
  denied.host = asked.host;
  denied.port = port;
  denied.why = why;
  if (target.rule == nullptr) {
    denied.policy_entry = entry_for(asked.host, port);
  }
  log_.attempt(EgressLog::Decision::denied, denied, monotonic_now());
  greeting.take().reset();
}

std::string_view EgressBroker::why_unlisted(std::string_view host) const {
  if (!egress::ports_of(config_.rules, host).empty()) {
    return "unlisted_port";
  }
  return egress::ip_address_from_text(host) ? "unlisted_address" : "unlisted_name";
}

// By the kernel, before it came to us.
void EgressBroker::refused_inside(egress::Door door) {
  const egress::Directory::Target target = directory_.target_of(door);
  if (target.rule != nullptr || closed_) {
    return;  // a door that is being closed
  }
  EgressAttempt denied;
  denied.host = target.host;
  denied.port = door.port;
  denied.why = why_unlisted(target.host);
  denied.policy_entry =
      egress::in_pool(door.address) && target.is_address ? std::string() : entry_for(target.host, door.port);
  log_.attempt(EgressLog::Decision::denied, denied, monotonic_now());
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
