// SPDX-License-Identifier: Apache-2.0
// A server that reaches out by its own means: to the host that the policy allows, and to others. All of it on loopback.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "e2e/fixture.hpp"

using e2e::Fixture;

namespace {

// Answers each line with "pong", one connection after the other.
class Outside {
 public:
  Outside() {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where = {};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&where), size) == 0);
    REQUIRE(::listen(fd_, 16) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&where), &size) == 0);
    port_ = std::to_string(ntohs(where.sin_port));
    thread_ = std::thread([this] {
      for (int one = -1; (one = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(one)) {
        ++connections;
        char byte = 0;
        while (::recv(one, &byte, 1, 0) == 1) {
          if (byte == '\n') {
            ::send(one, "pong\n", 5, MSG_NOSIGNAL);
          }
        }
      }
    });
  }
  ~Outside() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  const std::string& port() const { return port_; }
  std::atomic<int> connections = 0;

 private:
  int fd_ = -1;
  std::string port_ = {};
  std::thread thread_ = {};
};

// localhost is listed with one port, so that it is this machine's there; at all others it is the server's own.
std::string script(const std::string& allowed, const std::string& other) {
  return "exec 3<>/dev/tcp/localhost/" + allowed +
         " && echo ping >&3 && read -r answer <&3 && echo heard $answer >&2; exec 3>&-; "
         "(exec 4<>/dev/tcp/127.0.0.1/" +
         other +
         ") 2>/dev/null && echo reached a loopback >&2; "
         "(exec 4<>/dev/tcp/localhost./" +
         other +
         ") 2>/dev/null && echo reached another port >&2; "
         "(exec 4<>/dev/tcp/never.example/80) 2>/dev/null && echo reached a third port >&2; "
         "(exec 4<>/dev/tcp/evil.example./443) 2>/dev/null && echo reached another host >&2; "
         "(exec 4<>/dev/tcp/169.254.169.254/80) 2>/dev/null && echo reached credentials >&2; "
         "echo done >&2; read -r line";
}

void write_policy(const Fixture& fixture, const std::string& command, const std::string& allowed) {
  e2e::write_text(fixture.folder() + "/fake.yaml",
                  "version: 1\n"
                  "server: fake\n"
                  "launch:\n"
                  "  command: [/usr/bin/bash, -c, \"" +
                      command +
                      "\"]\n"
                      "isolation:\n"
                      "  backend: " +
                      std::getenv("CORDON_TEST_BACKEND") +
                      "\n"
                      "  network:\n"
                      "    allow:\n"
                      "      - {host: localhost, ports: [" +
                      allowed +
                      "], private: true}\n"
                      "      - \"never.example:443\"\n"
                      "catalog: {missing: flag}\n");
}

std::string all_logs(const std::string& folder) {
  std::string out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") out += e2e::read_text(entry.path());
  }
  return out;
}

}  // namespace

TEST_CASE("a server reaches the host that is allowed and no other, and all of it is written down") {
  const Outside allowed;
  const Outside other;
  const Fixture fixture;
  write_policy(fixture, script(allowed.port(), other.port()), allowed.port());
  const auto peer = fixture.run();
  CHECK(peer->wait_stderr("[fake] done"));
  peer->close_stdin();
  peer->wait_exit(fake::Peer::kPatienceMs);
  const std::string& said = peer->stderr_text();
  CAPTURE(said);
  CHECK(said.find("[fake] heard pong") != std::string::npos);
  CHECK(said.find("[fake] reached") == std::string::npos);
  CHECK(said.find(
            "mcp-cordon: egress_denied: evil.example: unlisted_name; to allow it, add to isolation.network.allow in " +
            fixture.folder() + "/fake.yaml: \"evil.example:443\"") != std::string::npos);
  // Refused by the kernel, and known all the same.
  CHECK(said.find("mcp-cordon: egress_denied: never.example:80: unlisted_port; to allow it, add to "
                  "isolation.network.allow in " +
                  fixture.folder() + "/fake.yaml: \"never.example:80\"") != std::string::npos);
  CHECK(said.find("mcp-cordon: egress_denied: 169.254.169.254:80: unlisted_address\n") != std::string::npos);
  CHECK(allowed.connections == 1);
  CHECK(other.connections == 0);
  const std::string log = all_logs(fixture.folder() + "/home");
  CAPTURE(log);
  const std::string host = "\"host\":\"localhost\",\"port\":" + allowed.port();
  CHECK(log.find("\"hosts\":[\"localhost:" + allowed.port() + "\",\"never.example:443\"]") != std::string::npos);
  CHECK(log.find("\"event\":\"egress\",\"decision\":\"allowed\"," + host) != std::string::npos);
  CHECK(log.find("\"event\":\"egress_end\"," + host) != std::string::npos);
  CHECK(log.find("\"bytes_up\":5,\"bytes_down\":5") != std::string::npos);
  CHECK(
      log.find(
          "\"decision\":\"denied\",\"reason\":\"egress_denied\",\"why\":\"unlisted_name\",\"host\":\"evil.example\"") !=
      std::string::npos);
  const auto compare = fixture.start({"audit", "compare", "--policy", fixture.folder() + "/fake.yaml", "1", "1"});
  std::string report;
  while (const auto line = compare->line()) report += *line + "\n";
  for (const std::string& line : compare->stray) report += line + "\n";
  CAPTURE(report);
  CHECK(report.find("never.example:443: never used; never used") != std::string::npos);
}

TEST_CASE("a server that was started once more reaches the same hosts, by sockets of its own namespace") {
  const Outside allowed;
  const Outside other;
  const Fixture fixture;
  write_policy(fixture,
               "read -r line; echo asked >&2; exec 5<>/dev/tcp/localhost/" + allowed.port() +
                   " && echo ping >&5 && read -r first <&5; exec 5>&-; case $line in *discover*) exit 1;; esac; " +
                   script(allowed.port(), other.port()),
               allowed.port());
  const auto peer = fixture.run();
  CHECK(
      peer->request(
              "1", "server/discover",
              R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}})")
          ["error"]["code"]
              .text == "-32601");
  peer->send(
      R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
  CHECK(peer->wait_stderr("[fake] done"));
  peer->close_stdin();
  peer->wait_exit(fake::Peer::kPatienceMs);
  const std::string& said = peer->stderr_text();
  CAPTURE(said);
  CHECK(said.find("[fake] heard pong") != std::string::npos);
  CHECK(said.find("[fake] reached") == std::string::npos);
  CHECK(allowed.connections == 3);
  CHECK(other.connections == 0);
}
