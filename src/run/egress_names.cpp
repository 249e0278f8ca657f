// SPDX-License-Identifier: Apache-2.0
#include "run/egress_names.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace cordon::run {
namespace {

// Questions answered before other descriptors get their turn.
constexpr int kTurns = 32;
constexpr std::size_t kMaxAskers = 8;
constexpr std::uint64_t kStarvedMs = 200;

}  // namespace

EgressNames::EgressNames(const Around& around, UniqueFd udp, UniqueFd tcp)
    : around_(around),
      udp_(std::move(udp)),
      tcp_(std::move(tcp)),
      burial_(around.loop, [this] { bury(); }),
      retry_(around.loop, [this] {
        if (tcp_) {
          tcp_poll_->want(UV_READABLE);
        }
      }) {}

EgressNames::~EgressNames() { close(); }

Status EgressNames::start() {
  auto udp = Poll::create(around_.loop, udp_.get(), [this](int) { udp_ready(); });
  auto tcp = Poll::create(around_.loop, tcp_.get(), [this](int) { tcp_ready(); });
  if (!udp || !tcp) {
    return std::unexpected(!udp ? udp.error() : tcp.error());
  }
  udp_poll_ = std::move(*udp);
  tcp_poll_ = std::move(*tcp);
  udp_poll_->want(UV_READABLE);
  tcp_poll_->want(UV_READABLE);
  return {};
}

void EgressNames::close() {
  for (Poll* poll : {udp_poll_.get(), tcp_poll_.get()}) {
    if (poll != nullptr) {
      poll->close();
    }
  }
  while (!streams_.empty()) {
    drop(*streams_.begin()->second);
  }
  pending_.clear();
  udp_.reset();
  tcp_.reset();
}

void EgressNames::udp_ready() {
  std::array<std::byte, egress::kMaxQueryBytes + 1> buffer = {};
  for (int turn = 0; turn < kTurns && udp_; ++turn) {
    Asker asker;
    socklen_t size = sizeof asker.from;
    const ssize_t got = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&asker.from), &size);
    if (got < 0) {
      break;
    }
    take(std::span(buffer).first(static_cast<std::size_t>(got)), asker);
  }
  udp_poll_->want(udp_ ? UV_READABLE : 0);
}

void EgressNames::tcp_ready() {
  UniqueFd accepted(::accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const bool starved = !accepted && (errno == EMFILE || errno == ENFILE);
  tcp_poll_->want(starved ? 0 : UV_READABLE);
  if (starved) {
    retry_.set(kStarvedMs);  // else the loop would turn for this alone
  }
  if (!accepted || streams_.size() >= kMaxStreams) {
    return reset(std::move(accepted));
  }
  const std::uint64_t number = next_stream_++;
  auto stream = std::make_unique<Stream>(around_.loop, number, std::move(accepted), [this, number] {
    if (const auto found = streams_.find(number); found != streams_.end()) {
      drop(*found->second);
    }
  });
  Stream* const here = stream.get();
  auto poll = Poll::create(around_.loop, here->fd.get(), [this, here](int) { stream_ready(*here); });
  if (!poll) {
    return;
  }
  here->poll = std::move(*poll);
  here->poll->want(UV_READABLE);
  here->timer.set(kStreamIdleMs);
  streams_.emplace(number, std::move(stream));
}

void EgressNames::stream_ready(Stream& stream) {
  std::array<std::byte, egress::kMaxQueryBytes> buffer = {};
  const std::ptrdiff_t got = receive(stream.fd.get(), buffer);
  if (got == -EAGAIN || got == -EINTR) {
    return;
  }
  if (got <= 0 || !stream.messages.feed(std::span(buffer).first(static_cast<std::size_t>(got)))) {
    return drop(stream);
  }
  const std::uint64_t number = stream.number;
  while (const auto message = stream.messages.next()) {
    Asker asker;
    asker.stream = number;
    take(*message, asker);
    if (!streams_.contains(number)) {
      return;
    }
  }
  stream.timer.set(kStreamIdleMs);
}

void EgressNames::take(std::span<const std::byte> message, const Asker& asker) {
  const auto query = egress::read_query(message);
  if (query) {
    answer(*query, asker);
  } else if (query.error().answer) {
    send(asker, *query.error().answer);
  }
}

void EgressNames::answer(const egress::DnsQuery& query, const Asker& asker) {
  if (!query.name.empty() && around_.log.broken()) {
    return send(asker, egress::answer_without(query, egress::DnsCode::refused));
  }
  const std::optional<egress::Ipv4> known =
      query.name.empty() ? std::nullopt : around_.directory.address_of(query.name);
  if (known && !pending_.contains(query.name)) {
    return send(asker, egress::answer_with_address(query, *known));
  }
  if (!query.name.empty() && around_.agent != nullptr && around_.directory.is_below_wildcard(query.name)) {
    return open_doors(query, asker);
  }
  // With a proxy nobody has an address: who asks for a listed name goes around it, and gets nowhere.
  const bool listed = !query.name.empty() && around_.rules.mode == egress::EgressMode::proxy &&
                      !egress::ports_of(around_.rules, query.name).empty();
  deny(query, listed ? "not_by_proxy" : "unlisted_name");
  send(asker, egress::answer_without(query, egress::DnsCode::no_such_name));
}

void EgressNames::open_doors(const egress::DnsQuery& query, const Asker& asker) {
  const auto waiting = pending_.find(query.name);
  if (waiting != pending_.end()) {
    if (waiting->second.askers.size() < kMaxAskers) {
      waiting->second.askers.emplace_back(asker, query);
    }
    return;
  }
  const std::optional<egress::Ipv4> address =
      around_.agent->is_there() ? around_.directory.assign(query.name) : std::nullopt;
  if (!address) {
    deny(query, around_.agent->is_there() ? "too_many_names" : "agent_gone");
    return send(asker, egress::answer_without(query, egress::DnsCode::no_such_name));
  }
  const std::vector<std::uint16_t> ports = egress::ports_of(around_.rules, query.name);
  Pending& pending = pending_[query.name];
  pending.doors_left = ports.size();
  pending.askers.emplace_back(asker, query);
  const std::string host = query.name;
  for (const std::uint16_t port : ports) {
    const egress::Door door = {*address, port};
    around_.agent->open(door, [this, host, door](UniqueFd fd) { door_opened(host, door, std::move(fd)); });
  }
}

void EgressNames::door_opened(const std::string& host, egress::Door door, UniqueFd fd) {
  const auto found = pending_.find(host);
  if (found == pending_.end()) {
    return;
  }
  Pending& pending = found->second;
  if (fd) {
    around_.new_door(door, std::move(fd));
  } else {
    pending.failed = true;
  }
  if (--pending.doors_left > 0) {
    return;
  }
  const Pending done = std::move(pending);
  pending_.erase(found);
  for (const auto& [asker, query] : done.askers) {
    if (done.failed) {
      deny(query, "agent_failed");
      send(asker, egress::answer_without(query, egress::DnsCode::no_such_name));
    } else {
      send(asker, egress::answer_with_address(query, door.address));
    }
  }
}

void EgressNames::send(const Asker& asker, const egress::Bytes& message) {
  if (asker.stream != 0) {
    const auto found = streams_.find(asker.stream);
    const egress::Bytes framed = egress::DnsStream::framed(message);
    // An answer is far smaller than any buffer; who does not take it is not waiting for it.
    if (found != streams_.end() &&
        send_some(found->second->fd.get(), framed) != static_cast<std::ptrdiff_t>(framed.size())) {
      drop(*found->second);
    }
    return;
  }
  sockaddr_in to = asker.from;
  iovec part = {.iov_base = const_cast<std::byte*>(message.data()), .iov_len = message.size()};
  msghdr head = {};
  head.msg_name = &to;
  head.msg_namelen = sizeof to;
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  // UDP may lose it.
  [[maybe_unused]] const ssize_t sent = ::sendmsg(udp_.get(), &head, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void EgressNames::deny(const egress::DnsQuery& query, std::string_view why) {
  EgressAttempt denied;
  denied.host = query.name.empty() ? query.shown : query.name;
  denied.why = why;
  if (why == "unlisted_name" && !query.name.empty() && !query.name.starts_with("metadata.")) {
    denied.policy_entry = text::cat("\"", query.name, ":443\"");
  }
  around_.log.attempt(EgressLog::Decision::denied, denied, monotonic_now());
}

// Its poll may be the one that is calling.
void EgressNames::drop(Stream& stream) {
  stream.poll->close();
  stream.timer.stop();
  stream.fd.reset();
  auto node = streams_.extract(stream.number);
  if (!node.empty()) {
    dead_.push_back(std::move(node.mapped()));
    burial_.set(0);
  }
}

void EgressNames::bury() { dead_.clear(); }

EgressAgent::EgressAgent(Loop& loop, UniqueFd socket) : loop_(loop), socket_(std::move(socket)) {
  auto poll = Poll::create(loop_, socket_.get(), [this](int) { reply(); });
  if (!poll) {
    socket_.reset();
    return;
  }
  poll_ = std::move(*poll);
  poll_->want(UV_READABLE);
}

void EgressAgent::open(egress::Door door, Opened opened) {
  wanted_.push_back({door, std::move(opened)});
  if (wanted_.size() == 1) {
    ask();
  }
}

void EgressAgent::ask() {
  if (!socket_) {
    return close();
  }
  const egress::MessageBytes request = egress::to_bytes(egress::AgentRequest{++number_, wanted_.front().door});
  if (send_some(socket_.get(), request) != static_cast<std::ptrdiff_t>(request.size())) {
    close();
  }
}

void EgressAgent::reply() {
  egress::MessageBytes bytes = {};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  UniqueFd fd;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (got > 0 && head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    fd = UniqueFd(number);
  }
  const auto answer =
      got > 0 ? egress::agent_reply(std::span(bytes).first(static_cast<std::size_t>(got))) : std::nullopt;
  // An agent that says what it was not asked is none of ours any more.
  if (!answer || wanted_.empty() || answer->number != number_ || (answer->error == 0) != static_cast<bool>(fd)) {
    return close();
  }
  const Wanted done = std::move(wanted_.front());
  wanted_.erase(wanted_.begin());
  if (fd && door_of(fd.get()) != done.door) {
    fd.reset();
  }
  done.opened(std::move(fd));
  if (!wanted_.empty()) {
    ask();
  }
}

void EgressAgent::close() {
  if (poll_) {
    poll_->close();
  }
  socket_.reset();
  const std::vector<Wanted> gone = std::exchange(wanted_, {});
  for (const Wanted& one : gone) {
    one.opened(UniqueFd());
  }
}

}  // namespace cordon::run
