// SPDX-License-Identifier: Apache-2.0
// The network as the server finds it, read from /proc: no socket is made for it, and nobody who answers outside is
// asked. It also tells that the doors were opened in this namespace and not in another.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <set>
#include <string>

#include "base/text.hpp"
#include "sandbox/stage/egress.hpp"

namespace cordon::sandbox::stage {
namespace {

using Lines = std::vector<std::string>;

std::expected<Lines, Failure> lines_of(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) {
    return failed(path);
  }
  std::string content;
  std::array<char, 16384> buffer = {};
  ssize_t length = 0;
  while ((length = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(length));
  }
  if (length < 0) {
    return failed(path);
  }
  Lines lines;
  for (const std::string_view line : text::split(content, '\n')) {
    if (!line.empty()) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

// As many lines as there are headings, and no more.
Outcome attest_empty(const char* path, std::size_t headings) {
  const auto lines = lines_of(path);
  if (!lines) {
    return std::unexpected(lines.error());
  }
  return lines->size() <= headings ? Outcome{} : refuse(text::cat(path, " holds what was not planned"));
}

// Two lines of headings, then "  lo: …", one for each interface. Without a socket, which a strict filter refuses.
Outcome attest_interfaces() {
  const auto lines = lines_of("/proc/self/net/dev");
  if (!lines) {
    return std::unexpected(lines.error());
  }
  std::vector<std::string_view> names;
  for (const std::string_view line : *lines) {
    const std::size_t first = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && line.find('|') == std::string_view::npos) {
      names.push_back(line.substr(first, colon - first));
    }
  }
  return names == std::vector<std::string_view>{"lo"} ? Outcome{} : refuse("lo is not the only network interface");
}

// "0100007F:0035": an address as the machine's words are, and a port.
std::optional<egress::Door> local_door(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || line.size() < colon + 15) {
    return std::nullopt;
  }
  const std::string_view place = line.substr(colon + 2, 13);
  egress::Door door;
  const auto hex = [](std::string_view digits, auto& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (place[8] != ':' || !hex(place.substr(0, 8), door.address.value) || !hex(place.substr(9), door.port)) {
    return std::nullopt;
  }
  if constexpr (std::endian::native == std::endian::little) {
    door.address.value = __builtin_bswap32(door.address.value);
  }
  return door;
}

Outcome attest_sockets(const char* path, std::vector<egress::Door> expected) {
  const auto lines = lines_of(path);
  if (!lines) {
    return std::unexpected(lines.error());
  }
  std::vector<egress::Door> there;
  for (std::size_t i = 1; i < lines->size(); ++i) {
    const auto door = local_door((*lines)[i]);
    if (!door) {
      return refuse(text::cat(path, " cannot be understood"));
    }
    there.push_back(*door);
  }
  std::ranges::sort(there);
  std::ranges::sort(expected);
  return there == expected ? Outcome{} : refuse(text::cat("the sockets in ", path, " are not those of the plan"));
}

// "  |-- 198.18.0.0" and below it "     /15 host LOCAL", once or more.
std::expected<std::set<std::string>, Failure> routes() {
  const auto lines = lines_of("/proc/self/net/fib_trie");
  if (!lines) {
    return std::unexpected(lines.error());
  }
  std::set<std::string> out;
  std::string address;
  for (const std::string_view line : *lines) {
    constexpr std::string_view kLeaf = "|-- ";
    if (const std::size_t leaf = line.find(kLeaf); leaf != std::string_view::npos) {
      address = line.substr(leaf + kLeaf.size());
    } else if (const std::size_t bits = line.find_first_not_of(' '); line.substr(bits).starts_with('/')) {
      const std::string_view rest = line.substr(bits);
      out.insert(text::cat(address, rest.substr(0, rest.find(' ')), rest.substr(rest.rfind(' '))));
    }
  }
  return out;
}

Outcome attest_routes(const egress::Doors& doors) {
  const auto there = routes();
  if (!there) {
    return std::unexpected(there.error());
  }
  std::set<std::string> expected = {"127.0.0.0/8 LOCAL", "127.0.0.1/32 LOCAL",
                                    text::cat(egress::to_string(egress::kPool), '/', egress::kPoolBits, " LOCAL")};
  for (const egress::Ipv4 address : doors.routes) {
    expected.insert(text::cat(egress::to_string(address), "/32 LOCAL"));
  }
  for (const std::string& route : expected) {
    if (!there->contains(route)) {
      return refuse(text::cat("route ", route, " is missing"));
    }
  }
  // The last is that of watch.cpp: everything is lo's, and so refused there.
  expected.insert({"127.0.0.0/32 BROADCAST", "127.255.255.255/32 BROADCAST", "0.0.0.0/0 LOCAL"});
  for (const std::string& route : *there) {
    if (!expected.contains(route)) {
      return refuse(text::cat("route ", route, " was not planned"));
    }
  }
  return attest_empty("/proc/self/net/route", 1);
}

}  // namespace

Outcome attest_network(const Stage& stage) {
  if (auto outcome = attest_interfaces(); !outcome || !stage.plan.network.hosts()) {
    return outcome;
  }
  const egress::Doors& doors = stage.plan.network.doors;
  const egress::Door resolver{egress::kResolver, egress::kResolverPort};
  std::vector<egress::Door> streams = doors.listen;
  streams.push_back(resolver);
  for (const Outcome& outcome :
       {attest_routes(doors), attest_sockets("/proc/self/net/tcp", streams),
        attest_sockets("/proc/self/net/udp", {resolver}), attest_empty("/proc/self/net/raw", 1)}) {
    if (!outcome) {
      return outcome;
    }
  }
  return {};
}

}  // namespace cordon::sandbox::stage
