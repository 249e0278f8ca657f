// SPDX-License-Identifier: Apache-2.0
// A server that fails inside the sandbox: a person is told which rule denied what, and the protocol is not.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <optional>
#include <string>

#include "e2e/fixture.hpp"

using e2e::Fixture;

namespace {

constexpr const char* kOtherLaunch = "catalog: {accept_unattended: true, drift: {launch: flag}}\n";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string script(const Fixture& fixture, const std::string& name, const std::string& body) {
  const std::string path = fixture.folder() + "/" + name;
  e2e::write_text(path, "#!/bin/sh\n" + body);
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  return path;
}

// Really fails: cat's own words.
std::string failing_server(const Fixture& fixture) {
  return script(fixture, "server.sh", "cat " + fixture.folder() + "/outside/secret.txt\nexit 3\n");
}

std::string wish(const Fixture& fixture) {
  return "isolation.filesystem.read: [\"" + fixture.folder() + "/outside/secret.txt\"]";
}

}  // namespace

TEST_CASE("run says what was denied and which line would allow it, on stderr alone") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  fixture.write_policy(kOtherLaunch, failing_server(fixture));
  const auto peer = fixture.run();
  const fake::Json answer = peer->open();
  CHECK(e2e::error_type(answer) == "server_exited");
  CHECK_FALSE(holds(answer.raw, "secret.txt"));
  CHECK(peer->wait_exit(2000).value_or(0) >= 64);
  const std::string err = peer->stderr_text();
  CHECK(holds(err, "denied by the sandbox: the server has '/tmp' for itself"));
  CHECK(holds(err, wish(fixture)));
  CHECK(holds(err, "add to " + fixture.folder() + "/fake.yaml"));
  CHECK_FALSE(holds(err, "last words"));  // they were relayed
}

TEST_CASE("capture says so too, with the last words of a server whose stderr is dropped") {
  Fixture fixture;
  fixture.write_policy(Fixture::kPinned, failing_server(fixture));
  std::string policy = e2e::read_text(fixture.folder() + "/fake.yaml");
  policy.replace(policy.find("launch:\n"), 8, "launch:\n  stderr: drop\n");
  e2e::write_text(fixture.folder() + "/fake.yaml", policy);
  const auto peer = fixture.start({"capture", "--policy", fixture.folder() + "/fake.yaml"});
  CHECK(peer->wait_exit(5000).value_or(0) >= 64);
  const std::string err = peer->stderr_text();
  CHECK(holds(err, "the server's own words: cat: "));
  CHECK(holds(err, wish(fixture)));
  CHECK(holds(err, "the server's own last words on stderr:"));
  CHECK_FALSE(holds(err, "[fake]"));
}

TEST_CASE("a hidden file is never proposed, whatever the server says") {
  Fixture fixture;
  e2e::write_text(fixture.folder() + "/outside/.netrc", "x");
  fixture.write_policy(Fixture::kPinned,
                       script(fixture, "server.sh", "cat " + fixture.folder() + "/outside/.netrc\nexit 3\n"));
  const auto peer = fixture.start({"capture", "--policy", fixture.folder() + "/fake.yaml"});
  CHECK(peer->wait_exit(5000).value_or(0) >= 64);
  CHECK(holds(peer->stderr_text(), "denied by the sandbox"));
  CHECK_FALSE(holds(peer->stderr_text(), "isolation.filesystem.read: ["));
}

TEST_CASE("npx without a network fails at once, with the way out") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  fixture.write_policy(kOtherLaunch, script(fixture, "npx", "sleep 60\n"));
  const std::int64_t began = fake::now_ms();
  {
    const auto peer = fixture.run();
    CHECK(e2e::error_type(peer->open()) == "launch_failed");
    CHECK(peer->wait_exit(2000).value_or(0) >= 64);
    CHECK(holds(peer->stderr_text(), "let launch.source name it"));
  }
  const auto peer = fixture.start({"capture", "--policy", fixture.folder() + "/fake.yaml"});
  CHECK(peer->wait_exit(2000).value_or(0) >= 64);
  CHECK(holds(peer->stderr_text(), "no network"));
  CHECK(fake::now_ms() - began <= 2000);  // both together
  CHECK(fake::processes_marked(fixture.mark()).empty());
}
