// SPDX-License-Identifier: Apache-2.0
// run --trace: what the server touched is told to the person and kept in a file, and the server gets no more by it.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "e2e/fixture.hpp"

using e2e::Fixture;
using fake::Json;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool native() { return std::string(std::getenv("CORDON_TEST_BACKEND")) == "native"; }

std::unique_ptr<fake::Peer> traced(const Fixture& fixture) {
  return fixture.start({"run", "--policy", fixture.folder() + "/fake.yaml", "--trace"});
}

fs::path trace_folder(const Fixture& fixture) { return fixture.folder() + "/home/.local/state/mcp-cordon/trace/fake"; }

fs::path only_trace(const Fixture& fixture) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(trace_folder(fixture))) {
    CHECK(found.empty());
    found = entry.path();
  }
  return found;
}

std::string finding(const std::string& path, const std::string& access, const std::string& outcome) {
  return R"({"path":")" + path + R"(","access":")" + access + R"(","outcome":")" + outcome + '"';
}

}  // namespace

TEST_CASE("a traced session works as any other, and says what was touched and denied") {
  if (!native()) return;
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const std::string secret = fixture.folder() + "/outside/secret.txt";
  const auto peer = traced(fixture);
  REQUIRE(peer->open()["result"]);
  CHECK(fake::text_of(peer->call("1", "read_file", R"({"path":")" + fixture.granted("hello.txt") + "\"}")) ==
        "hello from inside\n");
  const Json outside = peer->call("2", "read_file", R"({"path":")" + secret + "\"}");
  CHECK(outside["result"]["isError"].text == "true");
  const std::int64_t began = fake::now_ms();
  peer->close_stdin();
  CHECK(peer->wait_exit(2000) == 0);
  CHECK(fake::now_ms() - began < 2000);
  CHECK(peer->stray.empty());
  const std::string& err = peer->stderr_text();
  CHECK(holds(err, "mcp-cordon: trace: "));
  CHECK(holds(err, "read ENOENT: "));
  CHECK(holds(err, "to allow it, add isolation.filesystem.read: [\"" + secret + "\"]"));
  CHECK(holds(err, fixture.folder() + "/data: granted for writing, only read"));
  CHECK(holds(err, "      - \"" + fixture.granted("hello.txt") + "\""));
  CHECK(holds(err, "    write: []"));

  const fs::path file = only_trace(fixture);
  struct stat info = {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const std::string kept = e2e::read_text(file);
  CHECK(holds(kept, R"("format":"mcp-cordon.trace","version":1,"server":"fake")"));
  CHECK(holds(kept, R"("complete":true)"));
  CHECK(holds(kept, finding(fixture.granted("hello.txt"), "read", "done")));
  CHECK(holds(kept, finding(secret, "read", "ENOENT")));
  CHECK_FALSE(holds(kept, "the secret"));
}

TEST_CASE("audit compare sets beside each other what was touched") {
  if (!native()) return;
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const bool both : {false, true}) {
    const auto peer = both ? traced(fixture) : fixture.run();
    REQUIRE(peer->open()["result"]);
    if (both) {
      (void)peer->call("1", "read_file", R"({"path":")" + fixture.granted("hello.txt") + "\"}");
    }
    peer->close_stdin();
    CHECK(peer->wait_exit(2000) == 0);
  }
  const auto compare = fixture.start({"audit", "compare", "fake", "--format", "json"});
  const std::string out = compare->line().value_or("");
  CHECK(holds(out, R"("file_access":{"before":"not observed","after":{)"));
  CHECK(holds(out, '"' + fixture.granted("hello.txt") + R"(":")"));
  CHECK(holds(out, R"("plan_digest":"sha256:)"));  // the same in both
  fs::remove_all(trace_folder(fixture));
  const auto without = fixture.start({"audit", "compare", "fake", "--format", "json"});
  CHECK(holds(without->line().value_or(""), R"("file_access":"not observed")"));
}

TEST_CASE("killed, the proxy takes all along but the trace") {
  if (!native()) return;
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = traced(fixture);
  REQUIRE(peer->open()["result"]);
  (void)peer->call("1", "read_file", R"({"path":")" + fixture.granted("hello.txt") + "\"}");
  peer->signal(SIGKILL);
  CHECK(peer->wait_exit(1000).has_value());
  CHECK(fake::wait_gone(fixture.mark(), 1000));
  CHECK(peer->wait_stderr("trace: the least that would have done", 2000));
  CHECK(holds(e2e::read_text(only_trace(fixture)), finding(fixture.granted("hello.txt"), "read", "done")));
}

TEST_CASE("facts that were accepted stay accepted while tracing") {
  if (!native()) return;
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto facts = fixture.start({"facts", "--policy", fixture.folder() + "/fake.yaml"});
  std::string digest;
  while (const auto line = facts->line()) {
    const std::size_t at = line->find("sha256:");
    digest = at != std::string::npos && holds(*line, "digest") ? line->substr(at, 71) : digest;
  }
  REQUIRE(digest.size() == 71);
  const auto peer =
      fixture.start({"run", "--policy", fixture.folder() + "/fake.yaml", "--trace", "--expect-facts", digest});
  CHECK(peer->open()["result"]);
}

TEST_CASE("a launch that fails leaves no trace, and what cannot be traced is refused") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  if (native()) {
    const std::string script = fixture.folder() + "/server.sh";
    e2e::write_text(script, "#!/nowhere/interpreter\n");
    REQUIRE(::chmod(script.c_str(), 0755) == 0);
    fixture.write_policy("catalog: {accept_unattended: true, drift: {launch: flag}}\n", script);
    const auto peer = traced(fixture);
    CHECK(e2e::error_type(peer->open()) == "launch_failed");
    CHECK(fs::is_empty(trace_folder(fixture)));
    return;
  }
  const auto peer = traced(fixture);
  CHECK(e2e::error_type(peer->open()) == "unsupported_isolation");
  CHECK(peer->wait_exit(2000).value_or(0) == 64);
  CHECK(holds(peer->stderr_text(), "not_offered"));
  CHECK_FALSE(fs::exists(trace_folder(fixture)));
}
