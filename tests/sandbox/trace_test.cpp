// SPDX-License-Identifier: Apache-2.0
#include "sandbox/trace.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/seccomp.h>

#include <set>
#include <string>

#include "sandbox/plan.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/syscalls.hpp"
#include "sandbox/trace_calls.hpp"

using namespace cordon::sandbox;

TEST_CASE("a finding is read back from its line, whatever bytes its path has") {
  for (const std::string& path : {std::string("/a"), std::string("/a b\n%41\x01\xff"), std::string(4095, '\n'),
                                  std::string("unix:@\0x", 8), std::string("[::1]:80")}) {
    for (std::uint8_t access = 0; access <= static_cast<std::uint8_t>(kLastTraceAccess); ++access) {
      const TraceFinding finding{static_cast<TraceAccess>(access), 13, path};
      const std::string line = trace_line(finding);
      CHECK(line.find_first_of("\n\x01\xff") == std::string::npos);
      const auto read = read_trace_line(line);
      REQUIRE(read);
      CHECK(read->finding == finding);
      CHECK_FALSE(read->end);
    }
  }
  const TraceEnd end{.calls = 7, .dropped = 1, .unread = ~0ULL};
  CHECK(read_trace_line(trace_line(end))->end == end);
}

TEST_CASE("what is no line of a trace is not read") {
  for (const char* line : {"",
                           "f",
                           "f read 0 ",
                           "f read 0 a b",
                           "f read -1 /a",
                           "f read 5000 /a",
                           "f read 00 /a",
                           "f reads 0 /a",
                           "f read 0 /%",
                           "f read 0 /%4",
                           "f read 0 /%zz",
                           "f read 0 /%41",
                           "f read 0 /%0a",
                           "f read 0 /\x7f",
                           "g read 0 /a",
                           "e 1 2",
                           "e 1 2 3 4",
                           "e 1 2 -3",
                           "e 1 2 03",
                           "f read 0 /a\n"}) {
    CHECK_MESSAGE(!read_trace_line(line), line);
  }
  CHECK_FALSE(read_trace_line("f read 0 /" + std::string(20'000, 'a')));
}

TEST_CASE("paths are told in one spelling, and processes do not multiply them") {
  CHECK(normal_trace_path("/") == "/");
  CHECK(normal_trace_path("/a//b/./c/../d/") == "/a/b/d");
  CHECK(normal_trace_path("/../..") == "/");
  CHECK(normal_trace_path("/proc/123/task/45/stat") == "/proc/*/task/*/stat");
  CHECK(normal_trace_path("/data/123") == "/data/123");
}

TEST_CASE("what opening does hangs on its flags") {
  CHECK(access_of_open(O_RDONLY) == TraceAccess::read);
  CHECK(access_of_open(O_RDONLY | O_DIRECTORY) == TraceAccess::list);
  CHECK(access_of_open(O_RDWR) == TraceAccess::write);
  CHECK(access_of_open(O_RDONLY | O_TRUNC) == TraceAccess::write);
  CHECK(access_of_open(O_WRONLY | O_CREAT) == TraceAccess::change);
  CHECK(access_of_open(O_RDWR | O_TMPFILE) == TraceAccess::change);
  CHECK(access_of_open(O_PATH) == TraceAccess::look);
}

TEST_CASE("only calls that the launch allows at all are looked at") {
  std::set<std::string_view> allowed(allowed_calls().begin(), allowed_calls().end());
  for (const CallRule& rule : rules()) {
    allowed.insert(rule.name);
  }
  for (const TracedCall& call : traced_calls()) {
    CHECK_MESSAGE(allowed.contains(call.name), call.name);
  }
}

TEST_CASE("the filter of a trace answers nothing but: let through, or look at it") {
  std::size_t looked_at = 0;
  for (const sock_filter& step : build_trace_filter()) {
    if (step.code == (BPF_RET | BPF_K)) {
      CHECK((step.k == SECCOMP_RET_ALLOW || step.k == SECCOMP_RET_TRACE));
      looked_at += step.k == SECCOMP_RET_TRACE ? 1 : 0;
    }
  }
  CHECK(looked_at > 25);
}

TEST_CASE("a traced plan is the same plan in every print and digest, and reaches the helper") {
  Plan plan;
  const std::string before = digest(plan);
  const std::string text = to_text(plan);
  plan.trace = true;
  CHECK(digest(plan) == before);
  CHECK(to_text(plan) == text);
  CHECK(decode(encode(plan, {}))->plan.trace);
}
