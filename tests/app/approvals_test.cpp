// SPDX-License-Identifier: Apache-2.0
#include "app/approvals.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "app/approve_dialog.hpp"
#include "app/temp_folder.hpp"
#include "app/write_grants.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "run/loop.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

std::string line_of(const std::string& id, std::int64_t until_ms) {
  return text::cat(R"({"id":")", id, R"(","server":"s","tool":"put","until_ms":)", until_ms,
                   R"(,"text":"mcp-cordon asks for s\n    tool: put\n"})");
}

WaitingCall first(const std::vector<WaitingCall>& calls) {
  REQUIRE_FALSE(calls.empty());
  return calls[0];
}

std::vector<WaitingCall> waiting(const Caller& caller, Instant now = run::monotonic_now()) {
  const auto calls = waiting_calls(caller, now);
  REQUIRE(calls);
  return *calls;
}

// The session's side: takes one decision and lets the call go.
std::string serve(run::ApprovalDesk& desk) {
  while (true) {
    for (const std::string& line : desk.take_answers()) {
      REQUIRE(desk.publish({}));
      return line;
    }
    std::this_thread::yield();
  }
}

struct Desk {
  TempFolder temp = {};
  Caller caller = temp.caller();
  std::optional<run::ApprovalDesk> desk = {};
  std::int64_t later = run::monotonic_now().ms + 60'000;
  explicit Desk(const std::string& session = "s1") {
    auto opened = open_approval_desk(caller, session);
    REQUIRE(opened);
    desk = std::move(*opened);
  }
  std::string file(const std::string& name) const { return caller.state_folder() + "/approve/" + name; }
};

}  // namespace

TEST_CASE("a decision reaches the session with the digest of what was shown") {
  Desk at;
  const std::string line = line_of("0a1b", at.later);
  REQUIRE(at.desk->publish(line + "\n"));
  const auto calls = waiting(at.caller);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].tool == "put");
  std::string heard;
  std::thread session([&] { heard = serve(*at.desk); });
  const Status decided = decide_call(at.caller, calls[0], Approval::allow);
  session.join();
  CHECK(decided);
  CHECK(heard == "allow 0a1b " + hex(sha256(line)));
  CHECK(waiting(at.caller).empty());
  const Status again = decide_call(at.caller, calls[0], Approval::refuse);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == Errc::confirmation_unavailable);
  CHECK(again.error().detail.find("on another terminal") != std::string::npos);
}

TEST_CASE("only what still waits, as it was shown, and in time is decided about") {
  Desk at;
  REQUIRE(at.desk->publish(line_of("0a1b", at.later) + "\n"));
  const WaitingCall shown = first(waiting(at.caller));
  REQUIRE(at.desk->publish(line_of("0a1b", at.later + 1) + "\n"));
  CHECK(decide_call(at.caller, shown, Approval::allow).error().code == Errc::confirmation_unavailable);
  REQUIRE(at.desk->publish(line_of("0a1b", 1) + "\n"));
  CHECK(waiting(at.caller).empty());
  const WaitingCall late = first(waiting(at.caller, {0}));
  CHECK(decide_call(at.caller, late, Approval::allow).error().code == Errc::confirmation_unavailable);
  CHECK(at.desk->take_answers().empty());
}

TEST_CASE("what waits ends with its session, and its files with the next one") {
  Desk at;
  REQUIRE(at.desk->publish(line_of("0a1b", at.later) + "\n"));
  const WaitingCall shown = first(waiting(at.caller));
  at.desk.reset();
  CHECK(waiting(at.caller).empty());
  CHECK(decide_call(at.caller, shown, Approval::allow).error().code == Errc::confirmation_unavailable);
  CHECK(std::filesystem::exists(at.file("s1.waiting")));
  const auto next = open_approval_desk(at.caller, "s2");
  REQUIRE(next);
  CHECK_FALSE(std::filesystem::exists(at.file("s1.waiting")));
  CHECK_FALSE(std::filesystem::exists(at.file("s1.answers")));
  CHECK(std::filesystem::exists(at.file("s2.waiting")));
}

TEST_CASE("sessions at the same time do not disturb each other") {
  Desk at;
  auto other = open_approval_desk(at.caller, "s2");
  REQUIRE(other);
  REQUIRE(at.desk->publish(line_of("0001", at.later + 5) + "\n"));
  REQUIRE(other->publish(line_of("0002", at.later) + "\n" + line_of("0003", at.later + 9) + "\n"));
  const auto calls = waiting(at.caller);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].id == "0002");
  CHECK(calls[2].id == "0003");
}

TEST_CASE("files that others could have written are not believed, and ours are private") {
  Desk at;
  REQUIRE(at.desk->publish(line_of("0a1b", at.later) + "\n"));
  const WaitingCall shown = first(waiting(at.caller));
  for (const char* name : {"s1.waiting", "s1.answers"}) {
    struct stat info{};
    REQUIRE(::stat(at.file(name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
  }
  ::chmod(at.file("s1.answers").c_str(), 0622);
  CHECK(decide_call(at.caller, shown, Approval::allow).error().code == Errc::file_untrusted);
  ::chmod(at.file("s1.waiting").c_str(), 0622);
  CHECK(waiting_calls(at.caller, run::monotonic_now()).error().code == Errc::file_untrusted);
}

TEST_CASE("a file that is half written says nothing") {
  const std::string whole = run::waiting_file("abc\n");
  CHECK(run::read_waiting_file(whole) == "abc\n");
  CHECK(run::read_waiting_file(whole + "old bytes") == "abc\n");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_FALSE(run::read_waiting_file(whole.substr(0, length)));
  }
  std::string torn = whole;
  torn[torn.size() - 2] = 'x';
  CHECK_FALSE(run::read_waiting_file(torn));
}

TEST_CASE("no server can be granted the folder") {
  Desk at;
  policy::Policy policy;
  policy.isolation.write.push_back({.path = at.caller.state_folder() + "/approve"});
  const OwnPaths own = own_paths(at.caller, at.temp.file("p.yaml", "x"), at.temp.at("p.catalog.json"));
  CHECK(check_write_grants(policy, at.caller, own).error().code == Errc::policy_invalid);
}

TEST_CASE("a session has the files only when a call could wait") {
  policy::Tools tools;
  CHECK(may_wait_for_approval(tools));
  tools.confirm.without_client_support = policy::Confirm::Fallback::block;
  CHECK_FALSE(may_wait_for_approval(tools));
  tools.confirm.without_client_support = policy::Confirm::Fallback::approve;
  for (auto& [effect, action] : tools.effects) {
    action = policy::Action::allow;
  }
  CHECK_FALSE(may_wait_for_approval(tools));
  tools.rules.push_back({.tools = {"x"}, .action = policy::Action::confirm});
  CHECK(may_wait_for_approval(tools));
}

TEST_CASE("at the terminal the word allows, and nothing else") {
  using Outcome = ApproveDialog::Outcome;
  WaitingCall call{.id = "0a1b", .text = "asks\n    tool: put\n    x: \xc3\xa4\\n\n", .until = {61'000}};
  const auto outcome = [&](const char* line) {
    ApproveDialog dialog(call, {1, 1}, {}, "bamoki");
    dialog.answer(line);
    return dialog.outcome();
  };
  CHECK(outcome("bamoki") == Outcome::allow);
  CHECK(outcome(" bamoki\r") == Outcome::allow);
  for (const char* no_word : {"y", "yes", "", "bamok", "bamokii", "BAMOKI"}) {
    CHECK(outcome(no_word) == Outcome::open);
  }
  CHECK(outcome("n") == Outcome::refuse);
  CHECK(outcome("s") == Outcome::leave);
  CHECK(outcome("q") == Outcome::quit);
  ApproveDialog dialog(call, {2, 3}, {}, "bamoki");
  CHECK(dialog.text({1'000}) ==
        "\n[2/3] 0a1b, 60 s left\nasks\n    tool: put\n    x: \xc3\xa4\\n\n\n"
        "To allow this one call, type bamoki; n refuses it, s leaves it waiting, q quits: ");
  dialog.answer("y");
  CHECK(dialog.text({1'000}).starts_with("That is not the word.\n"));
  call.text = "tool: \x1b[2Jput\xe2\x80\xae";
  ApproveDialog hostile(call, {1, 1}, {}, "bamoki");
  CHECK(hostile.text({0}).find('\x1b') == std::string::npos);
  CHECK(hostile.text({0}).find("\xe2\x80\xae") == std::string::npos);
}
