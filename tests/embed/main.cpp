// SPDX-License-Identifier: Apache-2.0
// The smallest host of the library: it reads JSON strictly, judges a call, and drives one session without any process.
// It uses the installed headers only; it is built by tests/embed/run.sh, not by the project itself.

#include <cordon/cordon.hpp>
#include <cstdio>
#include <string>
#include <variant>

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok    " : "FAILED", what);
  if (!holds) ++failures;
}

bool has_line(const cordon::gate::Actions& actions, const std::string& part) {
  for (const auto& action : actions) {
    if (const auto* line = std::get_if<cordon::gate::ToServer>(&action)) {
      if (line->line.find(part) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

int main() {
  using namespace cordon;

  check(json::read(R"({"n": 1e400})", {}).has_value(), "a number of any size is read");
  const auto twice = json::read(R"({"a": 1, "\u0061": 2})", {});
  check(!twice && twice.error().code == Errc::message_ambiguous, "a member that stands twice is refused");

  policy::Policy policy;
  policy.server = "sample";
  policy.catalog.missing = policy::Missing::flag;
  policy.tools.rules.push_back({.tools = {"read_*"}, .action = policy::Action::allow});
  check(policy::evaluate(policy.tools, "read_file", policy::Effect::unknown).action == policy::Action::allow,
        "a rule allows a tool by its name");
  check(policy::evaluate(policy.tools, "write_file", policy::Effect::unknown).action == policy::Action::block,
        "the default blocks what nobody classed");

  gate::SessionConfig config;
  config.policy = policy;
  config.session_id = "embed";
  config.version = "0";
  gate::Session session(std::move(config));
  const std::string opening =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      R"("capabilities":{},"clientInfo":{"name":"sample","version":"1"}}})"
      "\n";
  check(has_line(session.feed(gate::Side::client, opening, Instant{0}), "\"initialize\""),
        "the opening reaches the server");
  return failures == 0 ? 0 : 1;
}
