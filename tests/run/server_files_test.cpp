// SPDX-License-Identifier: Apache-2.0
#include "run/server_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "sandbox/confine.hpp"
#include "support/temp_dir.hpp"

using cordon::UniqueFd;
using cordon::run::ServerFiles;
using cordon::run::walk;
using Answer = cordon::policy::PathJudge::Answer;
namespace fs = std::filesystem;

namespace {

// A tree that stands for the server's root: what leads out of it by name would be outside of the test's folder.
class Tree {
 public:
  Tree() {
    for (const char* folder : {"data/out/deep", "data/other", "home/cordon", "etc"}) {
      fs::create_directories(dir_.path() + "/" + folder);
    }
    std::ofstream(dir_.path() + "/etc/passwd") << "x";
    std::ofstream(dir_.path() + "/data/out/file") << "x";
    link("/etc", "data/out/etc");
    link("../../../../../../etc", "data/out/up");
    link("nowhere/x", "data/out/dangling");
    link("/data/out", "data/in");
    link("loop", "data/out/loop");
    link("deep", "data/out/inner");
    link("/data/out/deep", "data/shortcut");
  }
  UniqueFd root() const { return UniqueFd(::open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); }
  std::string path() const { return dir_.path(); }

 private:
  void link(const char* target, const char* name) { fs::create_symlink(target, dir_.path() + "/" + name); }
  cordon::test::TempDir dir_;
};

}  // namespace

TEST_CASE("a path leads where the server would get to") {
  const Tree tree;
  auto files = ServerFiles::start({.root = tree.root()});
  REQUIRE(files.has_value());
  const auto at = [&](const char* path) { return files->within(path, "/data/out"); };
  for (const char* inside :
       {"/data/out", "/data/out/file", "/data/out/new", "/data/out/new/deeper", "/data/in/file", "/data/in/new",
        "/data/shortcut/x", "/data/shortcut/../file", "/data/out/inner/x", "/data/out/deep/../new",
        "/data/out/new/../file", "/../../data/out/file", "/data/./out//file"}) {
    CHECK_MESSAGE(at(inside) == Answer::inside, inside);
  }
  for (const char* outside :
       {"/etc/passwd", "/data", "/data/other/x", "/data/out/..", "/data/out/etc/passwd", "/data/out/etc/new",
        "/data/out/up/passwd", "/data/out/etc/../data", "/data/outer", "/", "/nowhere/data/out/x"}) {
    CHECK_MESSAGE(at(outside) == Answer::outside, outside);
  }
  for (const char* unknown :
       {"/data/out/dangling", "/data/out/dangling/x", "/data/out/loop/x", "/data/out/file/x", "data/out", ""}) {
    CHECK_MESSAGE(at(unknown) == Answer::unknown, unknown);
  }
  CHECK(files->within("/data/out/x", "/data/in") == Answer::inside);
  CHECK(files->within("/data/out/x", "/data/gone") == Answer::unknown);
  CHECK(files->exists("/data/out/file") == Answer::inside);
  CHECK(files->exists("/data/out/none") == Answer::outside);
}

TEST_CASE("the way through /proc is not followed") {
  const UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  CHECK(walk(root.get(), "/etc").has_value());
  CHECK_FALSE(walk(root.get(), "/proc/self/root/etc").has_value());
}

TEST_CASE("a second server's root takes the place of the first one's") {
  const Tree tree;
  const Tree other;
  fs::create_symlink("/etc", other.path() + "/data/out/new");
  bool found = true;
  const auto start = [&] {
    return ServerFiles::start({.root = tree.root(), .find_again = [&]() -> cordon::Result<UniqueFd> {
                                 return found ? cordon::Result<UniqueFd>(other.root())
                                              : cordon::fail(cordon::Errc::internal, "it is gone");
                               }});
  };
  auto files = start();
  REQUIRE(files.has_value());
  CHECK(files->within("/data/out/new", "/data/out") == Answer::inside);
  REQUIRE(files->look_again());
  CHECK(files->within("/data/out/new", "/data/out") == Answer::outside);
  CHECK(files->within("/data/out/file", "/data/out") == Answer::inside);
  CHECK_FALSE(files->look_again());  // once
  CHECK(files->within("/data/out/file", "/data/out") == Answer::unknown);

  found = false;
  auto lost = start();
  REQUIRE(lost.has_value());
  const cordon::Status looks = lost->look_again();
  REQUIRE_FALSE(looks);
  CHECK(looks.error().detail.contains("it is gone"));
  CHECK(lost->within("/data/out/file", "/data/out") == Answer::unknown);

  found = true;
  auto settled = start();
  REQUIRE(settled.has_value());
  settled->settle();
  CHECK(settled->within("/data/out/file", "/data/out") == Answer::inside);
  CHECK_FALSE(settled->look_again());

  auto still = ServerFiles::start({.root = tree.root()});
  REQUIRE(still.has_value());
  CHECK(still->look_again());
  CHECK(still->within("/data/out/file", "/data/out") == Answer::inside);
}

TEST_CASE("what does not answer in time answers nothing any more") {
  const Tree tree;
  auto files = ServerFiles::start({.root = tree.root(), .answer_timeout_ms = -1});
  REQUIRE(files.has_value());
  CHECK(files->within("/data/out/x", "/data/out") == Answer::inside);
  CHECK(files->within("/" + std::string(40'000, 'a'), "/data/out") == Answer::unknown);
  auto hasty = ServerFiles::start({.root = tree.root(), .answer_timeout_ms = 0});
  REQUIRE(hasty.has_value());
  std::string deep;
  for (int i = 0; i < 2'000; ++i) {
    deep += "/.";
  }
  if (hasty->within(deep, "/data/out") == Answer::unknown) {
    CHECK(hasty->within("/data/out/x", "/data/out") == Answer::unknown);
  }
}

TEST_CASE("the process that looks can look names up, and nothing else") {
  const Tree tree;
  const std::string file = tree.path() + "/etc/passwd";
  const pid_t child = ::fork();
  if (child == 0) {
    if (!cordon::sandbox::confine_looker({})) {
      ::_exit(10);
    }
    const int place = ::openat(AT_FDCWD, file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const bool reads = ::openat(AT_FDCWD, file.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
    const bool makes = ::openat(AT_FDCWD, (file + "2").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
    const bool forks = ::fork() >= 0;
    ::_exit(place < 0 ? 11 : reads ? 12 : makes ? 13 : forks ? 14 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the server is the process below ours that is none of our programs") {
  std::array<int, 2> started = {-1, -1};
  REQUIRE(::pipe2(started.data(), O_CLOEXEC) == 0);
  UniqueFd heard(started[0]);
  UniqueFd said(started[1]);
  // As a guard with its server below: the guard is this program.
  const pid_t guard = ::fork();
  if (guard == 0) {
    const pid_t server = ::fork();
    if (server == 0) {
      ::execl("/bin/sleep", "sleep", "60", nullptr);
      ::_exit(1);
    }
    said.reset();
    ::pause();
    ::_exit(0);
  }
  said.reset();
  char byte = 0;
  CHECK(::read(heard.get(), &byte, 1) == 0);  // closed by both: the server runs
  const auto self = cordon::run::key_of("/proc/self/exe");
  const auto sleeper = cordon::run::key_of("/bin/sleep");
  REQUIRE(self.has_value());
  REQUIRE(sleeper.has_value());
  const auto root = cordon::run::open_server_root(guard, {*self});
  CHECK(root.has_value());
  struct stat found = {};
  struct stat ours = {};
  CHECK(::fstat(root.has_value() ? root->get() : -1, &found) == 0);
  CHECK(::stat("/", &ours) == 0);
  CHECK(found.st_ino == ours.st_ino);
  const auto none = cordon::run::open_server_root(guard, {*self, *sleeper});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == cordon::Errc::unsupported_isolation);
  std::ifstream children("/proc/" + std::to_string(guard) + "/task/" + std::to_string(guard) + "/children");
  pid_t server = 0;
  if (children >> server) {
    ::kill(server, SIGKILL);
  }
  ::kill(guard, SIGKILL);
  ::waitpid(guard, nullptr, 0);
}
