// SPDX-License-Identifier: Apache-2.0
#include "run/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "run/environment.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::run;
using cordon::test::slurp;
using cordon::test::spill;
using cordon::test::TempDir;
namespace fs = std::filesystem;

namespace {

// A folder tree with one good file: <dir>/a/b/policy.yaml
struct Tree {
  Tree() {
    fs::create_directories(dir / "a/b");
    spill(file, "content\n");
    ::chmod(file.c_str(), 0644);
    ::chmod((dir / "a").c_str(), 0755);
    ::chmod((dir / "a/b").c_str(), 0755);
  }
  TempDir dir;
  std::string file = dir / "a/b/policy.yaml";
};

void untrusted(const std::string& path, std::string_view detail, std::string_view remedy,
               const TrustRules& rules = {}) {
  const auto read = read_trusted(path, rules);
  REQUIRE_FALSE(read);
  CAPTURE(read.error().to_string());
  CHECK(read.error().code == Errc::file_untrusted);
  CHECK(read.error().detail.contains(detail));
  CHECK(read.error().remedy.contains(remedy));
  CHECK(read.error().where.starts_with('/'));
}

void unreadable(const std::string& path, std::string_view detail, const TrustRules& rules = {}) {
  const auto read = read_trusted(path, rules);
  REQUIRE_FALSE(read);
  CAPTURE(read.error().to_string());
  CHECK(read.error().code == Errc::file_unreadable);
  CHECK(read.error().detail.contains(detail));
}

int mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return static_cast<int>(info.st_mode & 07777);
}

}  // namespace

TEST_CASE("a good file is read with its resolved path and its identity") {
  const Tree tree;
  const auto read = read_trusted(tree.file);
  REQUIRE(read);
  CHECK(read->content == "content\n");
  CHECK(read->path == tree.file);
  CHECK(read->identity.size == 8);
  const auto opened = open_trusted(tree.dir / "a/../a/./b//policy.yaml");
  REQUIRE(opened);
  CHECK(opened->identity == read->identity);
  CHECK(opened->path == tree.file);
}

TEST_CASE("a file that others may write to is refused with the command that helps") {
  const Tree tree;
  for (const mode_t mode : {0664U, 0646U, 0666U}) {
    ::chmod(tree.file.c_str(), mode);
    untrusted(tree.file, "others may write to the file", "chmod go-w " + tree.file);
  }
}

TEST_CASE("a symlink in place of the file is refused and its target named") {
  const Tree tree;
  fs::create_symlink(tree.file, tree.dir / "link.yaml");
  untrusted(tree.dir / "link.yaml", "symlink", tree.file);
  fs::create_symlink(tree.dir / "nowhere", tree.dir / "dangling");
  untrusted(tree.dir / "dangling", "symlink", "nowhere");
}

TEST_CASE("symlinks among the parents are followed when they are ours") {
  const Tree tree;
  fs::create_directory_symlink("a/b", tree.dir / "config");
  fs::create_directory_symlink(tree.dir / "a", tree.dir / "absolute");
  const auto relative = read_trusted(tree.dir / "config/policy.yaml");
  REQUIRE(relative);
  CHECK(relative->path == tree.file);
  const auto absolute = read_trusted(tree.dir / "absolute/b/policy.yaml");
  REQUIRE(absolute);
  CHECK(absolute->path == tree.file);
}

TEST_CASE("a circle of symlinks ends in an error") {
  const Tree tree;
  fs::create_directory_symlink("two", tree.dir / "one");
  fs::create_directory_symlink("one", tree.dir / "two");
  unreadable(tree.dir / "one/policy.yaml", "symbolic links");
}

TEST_CASE("each parent folder that others may write to is refused, unless it is sticky") {
  const Tree tree;
  for (const char* folder : {"a", "a/b"}) {
    const std::string path = tree.dir / folder;
    for (const mode_t mode : {0775U, 0757U, 0777U}) {
      ::chmod(path.c_str(), mode);
      untrusted(tree.file, "others may write to the folder", "chmod go-w " + path);
    }
    ::chmod(path.c_str(), 01777);
    CHECK(read_trusted(tree.file));
    ::chmod(path.c_str(), 0755);
  }
}

TEST_CASE("what a symlink leads through is judged too") {
  const Tree tree;
  fs::create_directories(tree.dir / "open/inner");
  spill(tree.dir / "open/inner/p.yaml", "x");
  ::chmod((tree.dir / "open").c_str(), 0777);
  fs::create_directory_symlink(tree.dir / "open/inner", tree.dir / "a/in");
  untrusted(tree.dir / "a/in/p.yaml", "others may write to the folder", "chmod go-w");
}

TEST_CASE("files, folders and symlinks of other users are refused") {
  if (::geteuid() != 0) {
    // Without root nothing can be given away; then everything of ours is foreign to another user.
    const Tree tree;
    untrusted(tree.file, "belongs to user", "chown", {.user = ::geteuid() + 1});
    return;
  }
  constexpr uid_t kOther = 54321;
  const Tree tree;
  CHECK(read_trusted(tree.file, {.user = 1000}));  // root's files are everybody's
  REQUIRE(::chown(tree.file.c_str(), kOther, kOther) == 0);
  untrusted(tree.file, "the file belongs to user 54321", "chown -h 0 " + tree.file);
  CHECK(read_trusted(tree.file, {.user = kOther}));
  REQUIRE(::chown(tree.file.c_str(), 0, 0) == 0);
  REQUIRE(::chown((tree.dir / "a").c_str(), kOther, kOther) == 0);
  untrusted(tree.file, "the folder belongs to user 54321", "chown -h 0 ");
  REQUIRE(::chown((tree.dir / "a").c_str(), 0, 0) == 0);
  fs::create_directory_symlink(tree.dir / "a", tree.dir / "link");
  REQUIRE(::lchown((tree.dir / "link").c_str(), kOther, kOther) == 0);
  untrusted(tree.dir / "link/b/policy.yaml", "the symlink belongs to user 54321", "chown -h 0 ");
}

TEST_CASE("what is no regular file is refused without hanging") {
  const Tree tree;
  untrusted(tree.dir / "a/b", "not a regular file", "");
  REQUIRE(::mkfifo((tree.dir / "fifo").c_str(), 0600) == 0);
  untrusted(tree.dir / "fifo", "not a regular file", "");
  untrusted("/dev/null", "not a regular file", "");
}

TEST_CASE("missing files, bad paths and sizes are told apart") {
  const Tree tree;
  unreadable(tree.dir / "a/none.yaml", "No such file");
  unreadable(tree.dir / "none/x.yaml", "No such file");
  unreadable(tree.file + "/x", "Not a directory");
  unreadable("", "not the path of a file");
  unreadable("/", "not the path of a file");
  unreadable(tree.dir / "a/b/", "not the path of a file");
  unreadable(tree.dir / "a/..", "not the path of a file");
  unreadable(std::string("/etc\0/passwd", 12), "zero byte");
  unreadable(tree.file, "larger than 7 bytes", {.max_bytes = 7});
  CHECK(read_trusted(tree.file, {.max_bytes = 8}));
}

TEST_CASE("only a missing file counts as absent") {
  const Tree tree;
  auto absent = read_trusted_if_present(tree.dir / "a/none.yaml");
  REQUIRE(absent);
  CHECK_FALSE(*absent);
  absent = read_trusted_if_present(tree.dir / "none/deep/p.yaml");
  REQUIRE(absent);
  CHECK_FALSE(*absent);
  const auto present = read_trusted_if_present(tree.file);
  REQUIRE(present);
  CHECK((*present)->content == "content\n");
  fs::create_symlink(tree.dir / "nowhere", tree.dir / "dangling");
  CHECK_FALSE(read_trusted_if_present(tree.dir / "dangling"));
  ::chmod(tree.file.c_str(), 0666);
  CHECK_FALSE(read_trusted_if_present(tree.file));
}

TEST_CASE("hostile names are shown escaped and as one shell word") {
  const Tree tree;
  const std::string path = tree.dir / "a/evil\x1b[2J it's";
  spill(path, "x");
  ::chmod(path.c_str(), 0666);
  const auto read = read_trusted(path);
  REQUIRE_FALSE(read);
  CHECK_FALSE(read.error().to_string().contains('\x1b'));
  CHECK(shell_word("/plain/path.yaml") == "/plain/path.yaml");
  CHECK(shell_word("/a b/it's") == "'/a b/it'\\''s'");
}

TEST_CASE("relative paths start at the working directory") {
  const Tree tree;
  const fs::path before = fs::current_path();
  fs::current_path(tree.dir / "a");
  const auto read = read_trusted("b/policy.yaml");
  fs::current_path(before);
  REQUIRE(read);
  CHECK(read->path == tree.file);
}

TEST_CASE("a private folder is made with all that is missing above it") {
  const Tree tree;
  const auto made = ensure_private_folder(tree.dir / "x/y/z");
  REQUIRE(made);
  CHECK(*made == tree.dir / "x/y/z");
  for (const char* folder : {"x", "x/y", "x/y/z"}) {
    CHECK(mode_of(tree.dir / folder) == 0700);
  }
  CHECK(ensure_private_folder(tree.dir / "x/y/z"));
  ::chmod((tree.dir / "x/y/z").c_str(), 01777);
  const auto open = ensure_private_folder(tree.dir / "x/y/z");
  REQUIRE_FALSE(open);
  CHECK(open.error().code == Errc::file_untrusted);
  CHECK_FALSE(ensure_private_folder(tree.file));
}

TEST_CASE("a file is written whole, with its mode, and nothing is left beside it") {
  const Tree tree;
  const std::string path = tree.dir / "a/out.json";
  REQUIRE(write_atomic(path, "one"));
  CHECK(slurp(path) == "one");
  CHECK(mode_of(path) == 0600);
  REQUIRE(write_atomic(path, "two", {.mode = 0644}));
  CHECK(slurp(path) == "two");
  CHECK(mode_of(path) == 0644);
  CHECK(std::distance(fs::directory_iterator(tree.dir / "a"), {}) == 2);  // b and out.json
}

TEST_CASE("an exclusive write loses against a file that is there") {
  const Tree tree;
  const std::string path = tree.dir / "a/pin.json";
  REQUIRE(write_atomic(path, "first", {.replace = Replace::never}));
  const Status second = write_atomic(path, "second", {.replace = Replace::never});
  REQUIRE_FALSE(second);
  CHECK(second.error().detail.contains("File exists"));
  CHECK(slurp(path) == "first");
  CHECK(std::distance(fs::directory_iterator(tree.dir / "a"), {}) == 2);
}

TEST_CASE("writing does not go through symlinks, into foreign folders or over what is no file") {
  const Tree tree;
  fs::create_symlink(tree.file, tree.dir / "link");
  const Status linked = write_atomic(tree.dir / "link", "x");
  REQUIRE_FALSE(linked);
  CHECK(linked.error().code == Errc::file_untrusted);
  CHECK(slurp(tree.file) == "content\n");
  CHECK_FALSE(write_atomic(tree.dir / "a/b", "x"));
  CHECK_FALSE(write_atomic(tree.dir / "none/x", "x"));
  ::chmod((tree.dir / "a").c_str(), 0777);
  CHECK_FALSE(write_atomic(tree.dir / "a/new", "x"));
}

TEST_CASE("folders come from HOME and the XDG variables") {
  const char* const raw[] = {"PATH=/bin", "HOME=/home/u/", "XDG_STATE_HOME=relative", "HOMEX=/no", nullptr};
  const Environment environment = Environment::from(raw);
  CHECK(environment.path == "/bin");
  CHECK(config_dir(environment) == "/home/u/.config/mcp-cordon");
  CHECK(state_dir(environment) == "/home/u/.local/state/mcp-cordon");
  CHECK(expand_home(environment, "~/x") == "/home/u/x");
  CHECK(expand_home(environment, "~") == "/home/u");
  CHECK(expand_home(environment, "~other") == "~other");
  const Environment xdg{.home = "", .path = "", .xdg_config_home = "/c", .xdg_state_home = "/s"};
  CHECK(config_dir(xdg) == "/c/mcp-cordon");
  CHECK(state_dir(xdg) == "/s/mcp-cordon");
  const auto none = state_dir(Environment{});
  REQUIRE_FALSE(none);
  CHECK(none.error().detail.contains("HOME"));
}
