// SPDX-License-Identifier: Apache-2.0
// A program that reaches out: usage: bench-fetch HOST PORT COUNT MEGABYTES [proxy]. COUNT times it looks the name up,
// connects, asks for a small page and reads it to its end; then it reads a big one. With "proxy" it asks the HTTP proxy
// that HTTP_PROXY names, and looks nothing up. Its figures go to stderr, "open MICROSECONDS" of the median and of it
// what the look-up took, and "bulk MB/S"; then it waits for the end of its input.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Place {
  std::string host;
  std::string port;
  std::string account = {};  // "NAME:PASSWORD" in base64, of a proxy that asks for one
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "failed %s\n", what);
  std::exit(1);
}

double now_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(since).count();
}

int dial(const Place& place, double& looked_up_us) {
  const double begin = now_us();
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found) != 0) {
    fail("look-up");
  }
  looked_up_us = now_us() - begin;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    fail("connect");
  }
  ::freeaddrinfo(found);
  return fd;
}

std::size_t read_all(int fd, const std::string& request) {
  static std::vector<char> buffer(1 << 18);
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    fail("send");
  }
  std::size_t all = 0;
  ssize_t got = 0;
  while ((got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0) {
    if (all == 0 && std::string_view(buffer.data(), static_cast<std::size_t>(got)).find(" 200 ") == std::string::npos) {
      std::fprintf(stderr, "failed: %.*s\n", static_cast<int>(std::min<ssize_t>(got, 200)), buffer.data());
      std::exit(1);
    }
    all += static_cast<std::size_t>(got);
  }
  ::close(fd);
  return all;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      word = word << 8U | (j < text.size() ? static_cast<unsigned char>(text[j]) : 0U);
    }
    for (unsigned j = 0; j < 4; ++j) {
      out += i + j > text.size() ? '=' : kLetters[word >> (18 - 6 * j) & 63U];
    }
  }
  return out;
}

Place proxy_from_environment() {
  const char* value = std::getenv("HTTP_PROXY");
  std::string text = value == nullptr ? "" : value;
  text = text.substr(text.find("//") == std::string::npos ? 0 : text.find("//") + 2);
  std::string account;
  if (const std::size_t at = text.find('@'); at != std::string::npos) {
    account = base64(text.substr(0, at));
    text = text.substr(at + 1);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    fail("HTTP_PROXY");
  }
  return {text.substr(0, colon), text.substr(colon + 1, text.find('/', colon) - colon - 1), account};
}

std::string request_for(const Place& place, const char* path, bool proxy, const std::string& account) {
  std::string name = place.host;
  if (name.ends_with('.')) {
    name.pop_back();
  }
  name += ":" + place.port;
  return std::string("GET ") + (proxy ? "http://" + name : std::string()) + path + " HTTP/1.1\r\nHost: " + name +

         (account.empty() ? std::string() : "\r\nProxy-Authorization: Basic " + account) +
         "\r\nConnection: close\r\n\r\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    return 2;
  }
  const Place target{argv[1], argv[2], {}};
  const int count = std::atoi(argv[3]);
  const std::size_t megabytes = static_cast<std::size_t>(std::atoi(argv[4]));
  const bool proxy = argc > 5;
  const Place via = proxy ? proxy_from_environment() : target;
  std::vector<double> all;
  std::vector<double> look_ups;
  for (int i = 0; i < count; ++i) {
    const double begin = now_us();
    double looked_up = 0;
    const int fd = dial(via, looked_up);
    if (read_all(fd, request_for(target, "/", proxy, via.account)) == 0) {
      fail("small page");
    }
    all.push_back(now_us() - begin);
    look_ups.push_back(looked_up);
  }
  std::ranges::sort(all);
  std::ranges::sort(look_ups);
  double looked_up = 0;
  const int fd = dial(via, looked_up);
  const double begin = now_us();
  const std::size_t bytes = read_all(fd, request_for(target, "/bulk", proxy, via.account));
  const double took = now_us() - begin;
  if (bytes < megabytes * 1'000'000) {
    fail("bulk");
  }
  std::fprintf(stderr, "open %.1f of which look-up %.1f; bulk %.1f MB/s\n", all[all.size() / 2],
               look_ups[look_ups.size() / 2], static_cast<double>(bytes) / took);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
