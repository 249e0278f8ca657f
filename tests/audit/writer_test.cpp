// SPDX-License-Identifier: Apache-2.0
#include "audit/writer.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::audit;
using cordon::test::slurp;
using cordon::test::spill;
using cordon::test::TempDir;

namespace {

WriterConfig config(const TempDir& dir, const std::string& session = "s1") {
  return {.state_dir = dir / "state/mcp-cordon", .server = "demo", .session_id = session, .version = "0"};
}

Writer open_writer(WriterConfig what) {
  auto writer = Writer::open(std::move(what));
  if (!writer) {
    FAIL(writer.error().to_string());
  }
  return std::move(*writer);
}

VerifyReport verified(const TempDir& dir, const std::optional<Head>& head = {}) {
  const auto folder = Folder::open(dir / "state/mcp-cordon", "demo");
  REQUIRE(folder);
  auto report = verify_folder(*folder, head);
  REQUIRE(report);
  return std::move(*report);
}

constexpr std::string_view kCall = R"({"event":"call","tool":"x"})";

int mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return static_cast<int>(info.st_mode & 07777);
}

}  // namespace

TEST_CASE("records are chained, private and verify") {
  const TempDir dir;
  std::string path;
  {
    Writer writer = open_writer(config(dir));
    path = writer.path();
    REQUIRE(writer.append(kCall));
    REQUIRE(writer.append(kCall));
    CHECK(writer.head().seq == 2);
    CHECK(verified(dir).intact());  // also while it is being written
    CHECK(verified(dir).files.at(0).state == FileState::live);
  }
  CHECK(mode_of(path) == 0600);
  for (const char* folder : {"state", "state/mcp-cordon", "state/mcp-cordon/audit", "state/mcp-cordon/audit/demo"}) {
    CHECK(mode_of(dir / folder) == 0700);
  }
  const VerifyReport report = verified(dir);
  CHECK(report.intact());
  CHECK(report.records == 3);
  CHECK(report.files.at(0).state == FileState::ended);
  CHECK(slurp(path).starts_with("{\"seq\":0,\"time\":\"20"));
}

TEST_CASE("a launch names the launch before it") {
  const TempDir dir;
  Head first;
  {
    Writer writer = open_writer(config(dir, "a"));
    REQUIRE(writer.append(kCall));
    first = writer.head();
  }
  Writer second = open_writer(config(dir, "b"));
  const std::string text = slurp(second.path());
  const auto record = read_line(std::string_view(text).substr(0, text.find('\n')));
  REQUIRE(record);
  CHECK(record->prev == first.hash);
  const auto links = read_links(record->document.root());
  REQUIRE(links);
  CHECK(*links == std::vector<Link>{{first, false, false}});
  CHECK(verified(dir).intact());
}

TEST_CASE("two launches at once are both named by the next one, at their ends") {
  const TempDir dir;
  {
    Writer first = open_writer(config(dir, "a"));
    Writer second = open_writer(config(dir, "b"));
    REQUIRE(first.append(kCall));
    REQUIRE(second.append(kCall));
    REQUIRE(first.append(kCall));
    CHECK(verified(dir).intact());
    Writer third = open_writer(config(dir, "c"));  // while both live
    REQUIRE(first.append(kCall));
    CHECK(verified(dir).intact());
  }
  std::string first_path;
  {
    const Writer fourth = open_writer(config(dir, "d"));
    const VerifyReport report = verified(dir);
    CHECK(report.intact());
    first_path = (dir / "state/mcp-cordon/audit/demo/") + report.files.at(0).name;
  }
  // The last record of the first launch is vouched for although it came after its successors began.
  std::string text = slurp(first_path);
  text.resize(text.rfind('\n', text.size() - 2) + 1);
  spill(first_path, text);
  const VerifyReport report = verified(dir);
  REQUIRE(report.faults.size() == 1);
  CHECK(report.faults[0].kind == FaultKind::removed);
}

TEST_CASE("names sort like launches although the clock went back") {
  const TempDir dir;
  WriterConfig late = config(dir, "a");
  late.unix_us = [] { return std::int64_t{1'900'000'000'000'000}; };
  WriterConfig early = config(dir, "b");
  early.unix_us = [] { return std::int64_t{1'800'000'000'000'000}; };
  const std::string first = open_writer(late).path();
  const std::string second = open_writer(early).path();
  CHECK(first < second);
  CHECK(verified(dir).intact());
}

TEST_CASE("processes that launch and write at once leave one intact log") {
  const TempDir dir;
  constexpr int kProcesses = 6;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      bool good = true;
      for (int launch = 0; launch < 5; ++launch) {
        auto writer = Writer::open(config(dir, text::cat("p", i, "-", launch)));
        good = good && writer && writer->append(kCall) && writer->append(kCall);
      }
      ::_exit(good ? 0 : 1);
    }
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = -1;
    REQUIRE(::wait(&status) > 0);
    CHECK(status == 0);
  }
  const VerifyReport report = verified(dir);
  CHECK(report.intact());
  CHECK(report.files.size() == kProcesses * 5);
  CHECK(report.records == kProcesses * 5 * 3);
}

TEST_CASE("a torn end is closed by the next launch, and stays readable") {
  const TempDir dir;
  std::string path;
  {
    Writer writer = open_writer(config(dir, "a"));
    REQUIRE(writer.append(kCall));
    REQUIRE(writer.append(kCall));
    path = writer.path();
  }
  const std::string whole = slurp(path);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{20}, std::size_t{200}}) {
    spill(path, whole.substr(0, whole.size() - cut));
    CHECK_FALSE(verified(dir).intact());
    const Writer next = open_writer(config(dir, text::cat("cut", cut)));
    CHECK(next.problems().empty());
    const VerifyReport report = verified(dir);
    CHECK(report.intact());
    CHECK(report.files.at(0).recovered_lines.size() == 1);
    std::filesystem::remove(next.path());
  }
}

TEST_CASE("a closing record that was torn itself is closed again") {
  const TempDir dir;
  std::string path;
  {
    Writer writer = open_writer(config(dir, "a"));
    REQUIRE(writer.append(kCall));
    path = writer.path();
  }
  spill(path, slurp(path) + "{\"seq\":2,\"ti\n{\"seq\":2,\"time\":\"2");
  const Writer next = open_writer(config(dir, "b"));
  CHECK(verified(dir).intact());
  CHECK(slurp(path).contains("\"torn_bytes\":31"));
}

TEST_CASE("the unfinished line of a launch that lives is not touched") {
  const TempDir dir;
  Writer first = open_writer(config(dir, "a"));
  REQUIRE(first.append(kCall));
  const std::string torn = slurp(first.path()) + "{\"seq\":";
  spill(first.path(), torn);
  const Writer second = open_writer(config(dir, "b"));
  CHECK(slurp(first.path()) == torn);
}

TEST_CASE("a launch that died before its first record is closed, and the one before it still named") {
  const TempDir dir;
  Head first;
  {
    Writer writer = open_writer(config(dir, "a"));
    first = writer.head();
  }
  std::string name = first.file;
  name.replace(name.find("-a."), 3, "-b.");
  spill(dir / ("state/mcp-cordon/audit/demo/" + name), "");
  ::chmod((dir / ("state/mcp-cordon/audit/demo/" + name)).c_str(), 0600);
  const Writer next = open_writer(config(dir, "c"));
  const VerifyReport report = verified(dir);
  CHECK(report.to_text().contains("0 faults"));
  CHECK(slurp(next.path()).contains(first.hash));
}

TEST_CASE("an earlier log that cannot be read does not stop the launch, and is recorded") {
  const TempDir dir;
  std::string path;
  {
    Writer writer = open_writer(config(dir, "a"));
    path = writer.path();
  }
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const Writer next = open_writer(config(dir, "b"));
  REQUIRE(next.problems().size() == 1);
  CHECK(next.problems()[0].contains(path));
  CHECK(slurp(next.path()).contains("\"damaged\":true"));
  CHECK_FALSE(verified(dir).intact());
}

TEST_CASE("a log that is gone although it lived is said") {
  const TempDir dir;
  Writer first = open_writer(config(dir, "a"));
  {
    const Writer second = open_writer(config(dir, "b"));
  }
  std::filesystem::remove(first.path());
  const Writer third = open_writer(config(dir, "c"));
  REQUIRE(third.problems().size() == 1);
  CHECK(third.problems()[0].contains("is gone"));
}

namespace {

// What happens to a log while it is written; each must make the next record fail.
struct Attack {
  const char* name;
  bool at_once;  // noticed at the next record; else when the name is looked up, ten times a second
  void (*act)(const std::string& path);
};
const Attack kAttacks[] = {
    {"removed", true, [](const std::string& path) { std::filesystem::remove(path); }},
    {"replaced", true,
     [](const std::string& path) {
       const std::string text = slurp(path);
       std::filesystem::remove(path);
       spill(path, text);
     }},
    {"truncated", true, [](const std::string& path) { std::filesystem::resize_file(path, 10); }},
    {"grown", true, [](const std::string& path) { spill(path, slurp(path) + "x"); }},
    {"renamed", false, [](const std::string& path) { std::filesystem::rename(path, path + ".old"); }},
    {"renamed and replaced", false,
     [](const std::string& path) {
       std::filesystem::rename(path, path + ".old");
       spill(path, slurp(path + ".old"));
     }},
    {"folder removed", true,
     [](const std::string& path) { std::filesystem::remove_all(std::filesystem::path(path).parent_path()); }},
};

}  // namespace

TEST_CASE("a log that is tampered with under the writer ends the writing") {
  for (const Attack& attack : kAttacks) {
    CAPTURE(attack.name);
    const TempDir dir;
    WriterConfig timed = config(dir);
    static std::int64_t clock_ms = 0;
    timed.monotonic = [] { return Instant{clock_ms}; };
    Writer writer = open_writer(timed);
    REQUIRE(writer.append(kCall));
    attack.act(writer.path());
    clock_ms += attack.at_once ? 0 : 100;
    const Status failed = writer.append(kCall);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == Errc::audit_unavailable);
    CHECK(writer.broken());
    CHECK_FALSE(writer.append(kCall));
    CHECK_FALSE(writer.flush());
  }
}

TEST_CASE("a full disk ends the writing, and the torn record is closed later") {
  const TempDir dir;
  const std::string done = dir / "done";
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{900, 900};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = Writer::open(config(dir, "a"));
    if (!writer) {
      ::_exit(1);
    }
    int accepted = 0;
    while (writer->append(kCall)) {
      ++accepted;
    }
    const bool stays = !writer->append(kCall);
    ::_exit(accepted > 0 && accepted < 10 && stays ? 0 : 2);
  }
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  CHECK_FALSE(verified(dir).intact());
  const Writer next = open_writer(config(dir, "b"));
  const VerifyReport report = verified(dir);
  CHECK(report.intact());
  CHECK(report.files.at(0).recovered_lines.size() == 1);
}

TEST_CASE("bodies that are no records end the writing") {
  const TempDir dir;
  Writer writer = open_writer(config(dir));
  CHECK_FALSE(writer.append("{\"event\":\"x\",\"seq\":9}"));
  CHECK(writer.broken());
}

TEST_CASE("a flood of stray lines becomes a count") {
  const TempDir dir;
  WriterConfig slow = config(dir);
  slow.limited_burst = 3;
  slow.limited_per_second = 1;
  static std::int64_t clock_ms = 0;
  clock_ms = 5000;
  slow.monotonic = [] { return Instant{clock_ms}; };
  Writer writer = open_writer(slow);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(writer.append(R"({"event":"stray","text":"banner"})"));
  }
  CHECK(writer.head().seq == 3);
  REQUIRE(writer.next_deadline());
  CHECK(writer.next_deadline()->ms == 6000);
  REQUIRE(writer.append(kCall));  // others are not limited
  CHECK(writer.head().seq == 4);
  REQUIRE(writer.flush());
  CHECK(slurp(writer.path()).contains(R"("event":"suppressed","of":"stray","records":97)"));
  CHECK_FALSE(writer.next_deadline());
  clock_ms += 2000;
  REQUIRE(writer.append(R"({"event":"stray","text":"banner"})"));
  CHECK(writer.head().seq == 6);
  CHECK(verified(dir).intact());
}

TEST_CASE("refusals of the server's messages are limited, those of the client's are not") {
  const TempDir dir;
  WriterConfig slow = config(dir);
  slow.limited_burst = 2;
  slow.monotonic = [] { return Instant{5000}; };
  Writer writer = open_writer(slow);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(writer.append(R"({"event":"refused","from":"server"})"));
    REQUIRE(writer.append(R"({"event":"refused","from":"client"})"));
  }
  CHECK(writer.head().seq == 12);
}

TEST_CASE("values of secrets do not reach the file") {
  const TempDir dir;
  WriterConfig with = config(dir);
  with.masker = Masker(std::vector<NamedSecret>{{"TOKEN", "hunter2hunter2"}});
  Writer writer = open_writer(with);
  REQUIRE(writer.append(R"({"event":"call","arguments":{"a":"hunter2\u0068unter2"}})"));
  CHECK_FALSE(slurp(writer.path()).contains("hunter2"));
  CHECK(slurp(writer.path()).contains("[secret TOKEN]"));
}

TEST_CASE("records reach the disk when that is asked for") {
  const TempDir dir;
  WriterConfig safe = config(dir);
  safe.sync = Sync::disk;
  Writer writer = open_writer(safe);
  CHECK(writer.append(kCall));
}

TEST_CASE("folders that others may write to are refused with the command that helps") {
  const TempDir dir;
  {
    const Writer writer = open_writer(config(dir));
  }
  ::chmod((dir / "state/mcp-cordon/audit/demo").c_str(), 0770);
  const auto refused = Writer::open(config(dir, "b"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::audit_unavailable);
  CHECK(refused.error().remedy.contains("chmod go-w"));
  ::chmod((dir / "state/mcp-cordon/audit/demo").c_str(), 0700);
  std::filesystem::rename(dir / "state/mcp-cordon/audit/demo", dir / "elsewhere");
  std::filesystem::create_directory_symlink(dir / "elsewhere", dir / "state/mcp-cordon/audit/demo");
  CHECK_FALSE(Writer::open(config(dir, "b")));
}

TEST_CASE("server names and session ids cannot leave the folder") {
  const TempDir dir;
  for (const char* server : {"", "..", ".", "a/b", ".hidden"}) {
    WriterConfig bad = config(dir);
    bad.server = server;
    CHECK_FALSE(Writer::open(bad));
  }
  for (const char* session : {"", "a/b", "..", "a b"}) {
    CHECK_FALSE(Writer::open(config(dir, session)));
  }
}

TEST_CASE("a held folder lock is waited for, and a reader does not need it") {
  const TempDir dir;
  {
    const Writer writer = open_writer(config(dir, "a"));
  }
  const auto folder = Folder::open(dir / "state/mcp-cordon", "demo");
  REQUIRE(folder);
  int ready[2];
  REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  auto lock = folder->lock();
  REQUIRE(lock);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    lock->reset();  // the description is shared; the parent still holds the lock
    [[maybe_unused]] const auto said = ::write(ready[1], "x", 1);
    ::_exit(Writer::open(config(dir, "b")) ? 0 : 1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(verified(dir).files.size() == 1);
  lock->reset();
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  CHECK(verified(dir).files.size() == 2);
  ::close(ready[0]);
  ::close(ready[1]);
}
