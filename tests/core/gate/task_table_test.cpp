// SPDX-License-Identifier: Apache-2.0
#include "core/gate/task_table.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"

using namespace cordon;
using namespace cordon::gate;
using wire::Era;

namespace {

Task running(Instant created, std::optional<std::int64_t> ttl_ms = {}) {
  Task task;
  task.tool = "get";
  task.limits = {3};
  task.created = created;
  task.ttl_ms = ttl_ms;
  return task;
}

Status checked(std::string_view text, Era era) { return check_task(parse_own(text).root(), era); }

}  // namespace

TEST_CASE("a full table gives up the oldest task that does not run, and else has no room") {
  TaskTable table;
  for (std::size_t i = 0; i < kMaxTasks; ++i) {
    REQUIRE(table.has_room({1}));
    table.add(text::cat("t", i), running({1}), {1});
  }
  CHECK(!table.has_room({1}));
  CHECK(table.counting(3, {1}) == kMaxTasks);
  CHECK(table.counting(2, {1}) == 0);
  table.find("t7", Era::handshake, {1})->status = TaskStatus::failed;
  REQUIRE(table.has_room({1}));
  table.add("new", running({2}), {2});
  CHECK(!table.knows("t7"));
  CHECK(table.knows("new"));
  CHECK(!table.has_room({2}));
  CHECK(table.has_room({kMostTaskMs + 1}));
}

TEST_CASE("a task is known for as long as it runs, and then for as long as the server keeps it") {
  TaskTable table;
  table.add("a", running({0}, 10), {0});
  CHECK(table.find("a", Era::stateless, {0}) == nullptr);
  REQUIRE(table.find("a", Era::handshake, {1'000'000}) != nullptr);
  Task& task = *table.find("a", Era::handshake, {1'000'000});
  task.status = TaskStatus::completed;
  task.ended = {1'000'000};
  CHECK(table.find("a", Era::handshake, {1'000'009}) != nullptr);
  CHECK(table.find("a", Era::handshake, {1'000'010}) == nullptr);
  CHECK(!table.knows("a"));
}

TEST_CASE("a task counts until it is over, and no longer than its bounds") {
  CHECK(running({0}, 1).counts({kLeastTaskMs - 1}));
  CHECK(!running({0}, 1).counts({kLeastTaskMs}));
  CHECK(running({0}, 400'000).counts({399'999}));
  CHECK(!running({0}, 400'000).counts({400'000}));
  CHECK(running({0}).counts({kMostTaskMs - 1}));
  CHECK(!running({0}, kMostTaskMs * 5).counts({kMostTaskMs}));
  Task task = running({0});
  task.cancelled = Instant{5};
  CHECK(task.counts({4 + kCancelledMs}));
  CHECK(!task.counts({5 + kCancelledMs}));
  task.cancelled.reset();
  task.status = TaskStatus::cancelled;
  CHECK(!task.counts({1}));
}

TEST_CASE("a progress token is a task's until that is over") {
  TaskTable table;
  Task task = running({0});
  task.progress_token = wire::Id(7);
  table.add("a", std::move(task), {0});
  CHECK(table.holds_token(wire::Id(7)));
  CHECK(!table.holds_token(wire::Id("7")));
  table.find("a", Era::handshake, {0})->status = TaskStatus::completed;
  CHECK(!table.holds_token(wire::Id(7)));
}

TEST_CASE("what is no task is told") {
  const std::string times = R"("createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z")";
  const auto with = [&](std::string_view rest) { return text::cat("{", times, ",", rest, "}"); };
  CHECK(checked(with(R"("taskId":"a","status":"working","ttl":null)"), Era::handshake));
  CHECK(checked(with(R"("taskId":"a","status":"working","ttlMs":5,"pollIntervalMs":0)"), Era::stateless));
  CHECK(!checked(with(R"("taskId":"a","status":"working","ttlMs":5.5)"), Era::stateless));
  CHECK(!checked(with(R"("taskId":"a","status":"Working")"), Era::handshake));
  CHECK(!checked(with(R"("taskId":"a")"), Era::handshake));
  CHECK(!checked(with(R"("taskId":"","status":"working")"), Era::handshake));
  CHECK(!checked(with(R"("taskId":"\ud800","status":"working")"), Era::handshake));
  CHECK(!checked(with(text::cat(R"("status":"working","taskId":")", std::string(kMaxTaskIdBytes, 'x'), '"')),
                 Era::handshake));
  CHECK(!checked(with(R"("taskId":"a","status":"working","statusMessage":[])"), Era::handshake));
  CHECK(!checked(R"({"taskId":"a","status":"working","createdAt":"x"})", Era::handshake));
  CHECK(!checked("[]", Era::handshake));
}
