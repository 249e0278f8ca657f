// SPDX-License-Identifier: Apache-2.0
// What the client's descriptors may be: pipes, sockets, files, devices, terminals, of whomever, or nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/text.hpp"
#include "run/harness.hpp"
#include "run/privileges.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::run;
using cordon::run::test::numbered;
using cordon::run::test::ProxyRun;
using cordon::run::test::readable;
using cordon::test::slurp;
using cordon::test::spill;
using cordon::test::TempDir;

namespace {

constexpr int kStatus = 7;

}  // namespace

TEST_CASE("client descriptors of all kinds work and keep their flags") {
  const TempDir dir;
  const std::string text = numbered(500'000);
  spill(dir / "in", text);
  const UniqueFd file_in(::open((dir / "in").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd file_out(::open((dir / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  {
    ProxyRun run({.client_in = file_in.get(), .client_out = file_out.get()});
    CHECK(run.wait() == kStatus);
    CHECK(slurp(dir / "out") == text);
  }
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  {
    ProxyRun run({.script = "head -c 1000000 /dev/zero; exec cat", .client_in = null.get(), .client_out = null.get()});
    CHECK(run.wait() == kStatus);
    CHECK(run.trace.starts_with("start\nend client\n"));
  }
  for (const int fd : {file_in.get(), file_out.get(), null.get()}) {
    CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  }
}

namespace {

void keeps_flags(UniqueFd to_write, UniqueFd to_read, UniqueFd from_write, UniqueFd from_read) {
  ProxyRun run({.before =
                    [&] {
                      to_write.reset();
                      from_read.reset();
                    },
                .client_in = to_read.get(),
                .client_out = from_write.get()});
  const std::string text = numbered(500'000);
  const pid_t writer = ::fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    ::_exit(::write(to_write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  std::string got;
  while (got.size() < text.size()) {
    REQUIRE(readable(from_read.get(), 5000));
    got += cordon::test::read_available(from_read.get());
    REQUIRE((::fcntl(to_read.get(), F_GETFL) & O_NONBLOCK) == 0);
    REQUIRE((::fcntl(from_write.get(), F_GETFL) & O_NONBLOCK) == 0);
  }
  CHECK(got == text);
  REQUIRE(::waitpid(writer, nullptr, 0) == writer);
  to_write.reset();
  CHECK(run.wait() == kStatus);
  CHECK((::fcntl(to_read.get(), F_GETFL) & O_NONBLOCK) == 0);
  CHECK((::fcntl(from_write.get(), F_GETFL) & O_NONBLOCK) == 0);
}

}  // namespace

TEST_CASE("a client's pipes and sockets never become non-blocking") {
  cordon::test::Pipe to;
  cordon::test::Pipe from;
  keeps_flags(std::move(to.write), std::move(to.read), std::move(from.write), std::move(from.read));
  int ends[4];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends + 2) == 0);
  keeps_flags(UniqueFd(ends[0]), UniqueFd(ends[1]), UniqueFd(ends[2]), UniqueFd(ends[3]));
}

TEST_CASE("pipes of another user, which cannot be opened again, work as well") {
  if (::geteuid() != 0) {
    MESSAGE("needs root to become another user");
    return;
  }
  cordon::test::Pipe to;
  cordon::test::Pipe from;
  ProxyRun run({.before =
                    [&] {
                      to.write.reset();
                      from.read.reset();
                      CORDON_ASSERT(::setresgid(54321, 54321, 54321) == 0 && ::setresuid(54321, 54321, 54321) == 0);
                      const std::string path = text::cat("/proc/self/fd/", to.read.get());
                      CORDON_ASSERT(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) < 0);
                    },
                .client_in = to.read.get(),
                .client_out = from.write.get()});
  const std::string text = numbered(300'000);
  const pid_t writer = ::fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    ::_exit(::write(to.write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  std::string got;
  while (got.size() < text.size()) {
    REQUIRE(readable(from.read.get(), 5000));
    got += cordon::test::read_available(from.read.get());
  }
  CHECK(got == text);
  REQUIRE(::waitpid(writer, nullptr, 0) == writer);
  to.write.reset();
  CHECK(run.wait() == kStatus);
}

TEST_CASE("a process that nobody may look into reads and writes its pipes") {
  ProxyRun run({.before = [] { CORDON_ASSERT(protect_memory()); }});
  run.send("hello\n");
  CHECK(run.receive(6) == "hello\n");
  run.close_input();
  CHECK(run.wait() == kStatus);
}

TEST_CASE("a named pipe whose writer has gone is read to its end") {
  const TempDir dir;
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  const UniqueFd reader(::open((dir / "fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  UniqueFd writer(::open((dir / "fifo").c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(writer);
  REQUIRE(::fcntl(reader.get(), F_SETFL, 0) == 0);
  REQUIRE(::write(writer.get(), "last\n", 5) == 5);
  writer.reset();
  ProxyRun run({.client_in = reader.get()});
  CHECK(run.receive_all() == "last\n");
  CHECK(run.wait() == kStatus);
}

TEST_CASE("a terminal can be the client") {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(master);
  REQUIRE(::grantpt(master.get()) == 0);
  REQUIRE(::unlockpt(master.get()) == 0);
  const UniqueFd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(terminal);
  ProxyRun run(
      {.script = "read line; echo \"got $line\"; exec cat", .client_in = terminal.get(), .client_out = terminal.get()});
  REQUIRE(::write(master.get(), "hello\n", 6) == 6);
  std::string seen;
  while (!seen.contains("got hello")) {
    REQUIRE(readable(master.get(), 5000));
    seen += cordon::test::read_available(master.get());
  }
  CHECK((::fcntl(terminal.get(), F_GETFL) & O_NONBLOCK) == 0);
  REQUIRE(::write(master.get(), "\x04", 1) == 1);  // end of file on a terminal
  CHECK(run.wait() == kStatus);
}

TEST_CASE("closed client descriptors are an end at once") {
  ProxyRun run({.client_in = 900, .client_out = 901});
  CHECK(run.wait() == kStatus);
  CHECK(run.trace.starts_with("start\nend client\n"));
}
