// SPDX-License-Identifier: Apache-2.0
// Allowed hosts: what the plan lists is there, and what lies beside it is not. Whoever has started us answers for the
// names; nobody answers behind the doors, since a connection that is made says enough.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "probe/check.hpp"
#include "probe/sockets.hpp"

namespace cordon::probe {
namespace {

constexpr int kPatienceMs = 2000;
constexpr std::size_t kHeader = 12;
constexpr const char* kResolver = "127.0.0.1";
constexpr int kResolverPort = 53;
// Names below .invalid exist nowhere (RFC 2606).
constexpr std::string_view kUnlisted = "unlisted.invalid";

struct Door {
  std::string address = {};
  int port = 0;
};

std::pair<std::string, std::string> halves(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon == std::string::npos ? std::pair(text, std::string())
                                    : std::pair(text.substr(0, colon), text.substr(colon + 1));
}

std::vector<Door> doors(const Request& request) {
  std::vector<Door> out;
  for (const std::string& text : request.all("door")) {
    const auto [address, digits] = halves(text);
    Door door{.address = address};
    std::from_chars(digits.data(), digits.data() + digits.size(), door.port);
    out.push_back(std::move(door));
  }
  return out;
}

// A port of that address that is not in the list.
int closed_port(const std::vector<Door>& list, const std::string& address) {
  int port = 1;
  const auto listed = [&](const Door& door) { return door.address == address && door.port == port; };
  while (std::ranges::any_of(list, listed)) {
    ++port;
  }
  return port;
}

UniqueFd dial(const char* address, int port, int type) {
  UniqueFd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address, &target.sin_addr);
  if (fd && ::connect(fd.get(), reinterpret_cast<sockaddr*>(&target), sizeof target) != 0) {
    fd.reset();
  }
  return fd;
}

bool readable(int fd) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, kPatienceMs) == 1;
}

// One question for an address.
std::string query(std::string_view host) {
  constexpr std::array<char, kHeader> kHead = {0x2a, 0x2a, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  constexpr std::array<char, 5> kTail = {0, 0, 1, 0, 1};
  std::string out(kHead.data(), kHead.size());
  for (const std::string_view label : text::split(host, '.')) {
    out += static_cast<char>(label.size());
    out += label;
  }
  return out.append(kTail.data(), kTail.size());
}

// "198.18.1.1", "no such name", "no address", "code N", or why there was no answer.
std::string meaning(const std::string& answer) {
  if (answer.size() < kHeader) {
    return "no answer";
  }
  const int code = static_cast<unsigned char>(answer[3]) & 0xf;
  if (code != 0) {
    return code == 3 ? std::string("no such name") : text::cat("code ", code);
  }
  constexpr std::size_t kAddress = 4;
  if (answer[7] == 0 || answer.size() < kHeader + kAddress) {
    return "no address";
  }
  // The address is the last thing in an answer with one record and no options.
  std::array<char, INET_ADDRSTRLEN> shown = {};
  ::inet_ntop(AF_INET, answer.data() + answer.size() - kAddress, shown.data(), shown.size());
  return shown.data();
}

std::string ask_by_datagram(const char* resolver, std::string_view host) {
  const UniqueFd fd = dial(resolver, kResolverPort, SOCK_DGRAM);
  const std::string question = query(host);
  std::array<char, 1500> buffer = {};
  if (!fd || ::send(fd.get(), question.data(), question.size(), 0) < 0 || !readable(fd.get())) {
    return "no answer";
  }
  const ssize_t length = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  return length < 0 ? "no answer" : meaning(std::string(buffer.data(), static_cast<std::size_t>(length)));
}

std::string ask_by_stream(const char* resolver, std::string_view host) {
  const UniqueFd fd = dial(resolver, kResolverPort, SOCK_STREAM);
  const std::string question = query(host);
  const std::string framed = std::string(1, '\0') + static_cast<char>(question.size()) + question;
  if (!fd || ::send(fd.get(), framed.data(), framed.size(), MSG_NOSIGNAL) < 0) {
    return "no answer";
  }
  std::string answer;
  std::array<char, 1500> buffer = {};
  const auto wanted = [&]() -> std::size_t {
    const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(answer[at])}; };
    return answer.size() < 2 ? 2 : 2 + (byte(0) << 8 | byte(1));
  };
  while (answer.size() < wanted()) {
    const ssize_t length = readable(fd.get()) ? ::recv(fd.get(), buffer.data(), buffer.size(), 0) : -1;
    if (length <= 0) {
      return "no answer";
    }
    answer.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return meaning(answer.substr(2));
}

bool none_listed(const Request& request, Result& result) {
  if (!request.has("hosts")) {
    result.not_applicable("this plan lists no hosts");
  }
  return !request.has("hosts");
}

void listed_names(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  for (const std::string& text : request.all("host")) {
    const auto [host, address] = halves(text);
    result.allowed(text::cat(host, " by UDP"),
                   [&] { return ask_by_datagram(kResolver, host) == address ? 0 : ENOENT; });
    result.allowed(text::cat(host, " by TCP"), [&] { return ask_by_stream(kResolver, host) == address ? 0 : ENOENT; });
  }
  if (request.all("host").empty()) {
    result.not_applicable("only wildcards and addresses are listed");
  }
}

void unlisted_names(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  result.equal("by UDP", "no such name", ask_by_datagram(kResolver, kUnlisted));
  result.equal("by TCP", "no such name", ask_by_stream(kResolver, kUnlisted));
}

void listed_doors(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  for (const Door& door : doors(request)) {
    result.allowed(text::cat(door.address, ":", door.port),
                   [&] { return connect_ip(door.address.c_str(), door.port, SOCK_STREAM); });
  }
}

void other_ports(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  const std::vector<Door> list = doors(request);
  for (const Door& door : list) {
    const int port = closed_port(list, door.address);
    result.refused(text::cat(door.address, ":", port), "ECONNREFUSED",
                   [&] { return connect_ip(door.address.c_str(), port, SOCK_STREAM); });
  }
  // Of the pool, but nobody's.
  result.refused("an address without a name", "ECONNREFUSED",
                 [] { return connect_ip("198.18.0.9", 443, SOCK_STREAM); });
}

// Refused at once, so that clients that try UDP first (QUIC) take TCP.
void datagrams_to_doors(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  for (const Door& door : doors(request)) {
    result.refused(text::cat("UDP ", door.address, ":", door.port), "ECONNREFUSED", [&] {
      const UniqueFd fd = dial(door.address.c_str(), door.port, SOCK_DGRAM);
      char byte = 'x';
      if (!fd || ::send(fd.get(), &byte, 1, 0) != 1) {
        return errno;
      }
      (void)readable(fd.get());
      return result_of(::recv(fd.get(), &byte, 1, MSG_DONTWAIT));
    });
  }
}

void other_resolvers(const Request& request, Result& result) {
  if (none_listed(request, result)) {
    return;
  }
  for (const char* resolver : {"192.0.2.53", "198.18.0.1", "127.0.0.53"}) {
    result.equal(text::cat(resolver, " by UDP"), "no answer", ask_by_datagram(resolver, kUnlisted));
    result.equal(text::cat(resolver, " by TCP"), "no answer", ask_by_stream(resolver, kUnlisted));
  }
}

constexpr std::array kChecks = {
    Check{"egress.listed_names", "network.hosts", "our resolver", Place::lo_only, listed_names},
    Check{"egress.unlisted_names", "network.outside", "our resolver", Place::lo_only, unlisted_names},
    Check{"egress.listed_doors", "network.hosts", "sockets that were handed out", Place::lo_only, listed_doors},
    Check{"egress.other_ports", "network.outside", "exact binds", Place::lo_only, other_ports},
    Check{"egress.datagrams", "network.outside", "no UDP socket but the resolver's", Place::lo_only,
          datagrams_to_doors},
    Check{"egress.other_resolvers", "network.outside", "network namespace", Place::lo_only, other_resolvers},
};

}  // namespace

std::span<const Check> egress_checks() { return kChecks; }

}  // namespace cordon::probe
