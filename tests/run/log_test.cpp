// SPDX-License-Identifier: Apache-2.0
#include "run/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "run/signals.hpp"
#include "support/pipes.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::run;
using cordon::test::Pipe;
using cordon::test::read_available;

namespace {

LogConfig config(int fd) { return {.fd = fd, .server = "demo"}; }
constexpr Instant kNow{1000};

}  // namespace

TEST_CASE("our lines and the server's are told apart and hostile bytes are escaped") {
  Pipe pipe;
  Log log(config(pipe.write.get()));
  log.notice("started", kNow);
  log.server_bytes("one\ntw", kNow);
  log.server_bytes("o\r\n\x1b[2Jmcp-cordon: fake\n", kNow);
  log.server_line("stray", kNow);
  log.server_bytes("no line feed", kNow);
  log.server_end(kNow);
  CHECK(read_available(pipe.read.get()) ==
        "mcp-cordon: started\n[demo] one\n[demo] two\n[demo] \\x1b[2Jmcp-cordon: fake\n[demo] stray\n"
        "[demo] no line feed\n");
}

TEST_CASE("a stray line does not mix with an unfinished line of stderr") {
  Pipe pipe;
  Log log(config(pipe.write.get()));
  log.server_bytes("half ", kNow);
  log.server_line("stray", kNow);
  log.server_bytes("line\n", kNow);
  CHECK(read_available(pipe.read.get()) == "[demo] stray\n[demo] half line\n");
}

TEST_CASE("long lines are cut below the size that a pipe takes whole") {
  Pipe pipe;
  Log log(config(pipe.write.get()));
  log.server_bytes(std::string(1'000'000, 'x'), kNow);
  log.server_bytes("\nnext\n", kNow);
  log.notice(std::string(10'000, 'y'), kNow);
  const std::string shown = read_available(pipe.read.get());
  const auto lines = text::split(shown, '\n');
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].size() < 4096);
  CHECK(lines[0].ends_with("x…"));
  CHECK(lines[1] == "[demo] next");
  CHECK(lines[2].size() < 4096);
  CHECK(text::valid_utf8(shown));
}

TEST_CASE("secrets are masked, also across the cut of a long line and chunks") {
  Pipe pipe;
  LogConfig with = config(pipe.write.get());
  with.masker = Masker(std::vector<NamedSecret>{{"TOKEN", "hunter2-hunter2"}});
  Log log(std::move(with));
  log.server_bytes("a hunter2-", kNow);
  log.server_bytes("hunter2 b\n", kNow);
  log.server_bytes(std::string(3795, 'x') + "hunter2-hunter2" + std::string(5000, 'x') + "\n", kNow);
  log.notice("failed with hunter2-hunter2", kNow);
  const std::string shown = read_available(pipe.read.get());
  CHECK_FALSE(shown.contains("hunter2"));
  CHECK_FALSE(shown.contains("hunte"));
  CHECK(shown.starts_with("[demo] a [secret TOKEN] b\n"));
  CHECK(shown.ends_with("mcp-cordon: failed with [secret TOKEN]\n"));
}

TEST_CASE("a flood becomes a count") {
  Pipe pipe;
  LogConfig slow = config(pipe.write.get());
  slow.burst = 3;
  slow.per_second = 1;
  Log log(std::move(slow));
  for (int i = 0; i < 50; ++i) {
    log.server_bytes("line\n", kNow);
  }
  CHECK(std::ranges::count(read_available(pipe.read.get()), '\n') == 3);
  REQUIRE(log.next_deadline());
  CHECK(*log.next_deadline() == kNow + 1000);
  log.tick(kNow + 999);
  CHECK(read_available(pipe.read.get()).empty());
  log.tick(kNow + 1000);
  CHECK(read_available(pipe.read.get()) == "mcp-cordon: 47 lines of demo (188 bytes) were not shown\n");
  CHECK_FALSE(log.next_deadline());
}

TEST_CASE("a full pipe costs lines, which are counted, and no time") {
  Pipe pipe;
  Log log({.fd = pipe.write.get(), .server = "demo", .burst = 100'000});
  for (int i = 0; i < 1000; ++i) {
    log.server_line(std::string(1000, 'x'), kNow);  // more than the pipe holds
  }
  CHECK((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);
  const std::string shown = read_available(pipe.read.get());
  CHECK(shown.ends_with('\n'));  // whole lines only
  const auto taken = std::ranges::count(shown, '\n');
  CHECK(taken < 100);
  log.flush(kNow);
  CHECK(read_available(pipe.read.get()) ==
        text::cat("mcp-cordon: ", 1000 - taken, " lines of demo (", (1000 - taken) * 1000, " bytes) were not shown\n"));
}

TEST_CASE("a full socket costs lines and no time; a line cut by it is finished later") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  Log log({.fd = writer.get(), .server = "demo", .burst = 100'000});
  for (int i = 0; i < 2000; ++i) {
    log.notice(std::string(3000, 'x'), kNow);
  }
  CHECK((::fcntl(writer.get(), F_GETFL) & O_NONBLOCK) == 0);
  std::string shown = read_available(reader.get());
  log.flush(kNow);
  shown += read_available(reader.get());
  const auto lines = text::split(shown, '\n');
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    REQUIRE(lines[i].size() == 3012);
  }
  CHECK(lines[lines.size() - 2].contains("messages"));
}

TEST_CASE("a closed pipe and a closed descriptor are no reason to die") {
  const QuietWrites quiet;
  Pipe pipe;
  Log log(config(pipe.write.get()));
  pipe.read.reset();
  for (int i = 0; i < 10; ++i) {
    log.notice("x", kNow);
    log.server_bytes("y\n", kNow);
  }
  log.flush(kNow);
  Log none(config(-1));
  none.notice("x", kNow);
  none.flush(kNow);
}

TEST_CASE("lines of the server can be dropped or kept in a file of bounded size") {
  Pipe pipe;
  Log quiet({.fd = pipe.write.get(), .server = "demo", .server_lines = ServerLines::drop});
  quiet.server_bytes("x\n", kNow);
  quiet.server_line("y", kNow);
  quiet.flush(kNow);
  CHECK(read_available(pipe.read.get()).empty());

  const cordon::test::TempDir dir;
  UniqueFd file(::open((dir / "err.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  LogConfig kept{.fd = pipe.write.get(),
                 .server = "demo",
                 .server_lines = ServerLines::file,
                 .server_file = std::move(file),
                 .max_file_bytes = 10};
  Log log(std::move(kept));
  log.server_bytes("one\x1b\ntwo\nthree\n", kNow);
  log.notice("ours", kNow);
  CHECK(cordon::test::slurp(dir / "err.log") == "one\\x1b\n");
  CHECK(read_available(pipe.read.get()) == "mcp-cordon: ours\n");
}
