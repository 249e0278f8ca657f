// SPDX-License-Identifier: Apache-2.0
#include "app/tree_table.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "app/package_tree.hpp"
#include "base/text.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << content;
}

// What only the time of change can tell.
void write_in_place(const std::string& path, const std::string& content) {
  struct stat before{};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  REQUIRE(content.size() == static_cast<std::size_t>(before.st_size));
  std::fstream(path, std::ios::in | std::ios::out) << content;
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

struct Tree {
  // Enough folders, and several threads look at it, each at a part.
  explicit Tree(int folders) {
    for (int i = 0; i < folders; ++i) {
      fill(text::cat(path(), "/d", i));
    }
    note();
  }
  static void fill(const std::string& folder) {
    fs::remove_all(folder);
    for (const char* name : {"a", "b", "c"}) {
      write(text::cat(folder, "/", name), "1234");
    }
    fs::create_symlink("a", folder + "/link");
  }
  void note() {
    auto made = tree_table(path());
    REQUIRE(made);
    table = *made;
    REQUIRE(outlast_table(table));
  }
  std::string path() const { return temp.path() + "/tree"; }
  std::string aside() const { return temp.path() + "/aside"; }
  bool same() const { return is_as_in_table(path(), table); }

  test::TempDir temp;
  std::string table = {};
};

// `folder` lies in the tree, `file` in it; `aside` does not, and is not there.
struct Change {
  std::string_view name;
  void (*make)(const std::string& folder, const std::string& file, const std::string& aside);
};

const std::vector<Change>& changes() {
  using Path = const std::string&;
  static const std::vector<Change> all = {
      {"other content of the same size and time", [](Path, Path file, Path) { write_in_place(file, "4321"); }},
      {"the same content, written again", [](Path, Path file, Path) { write_in_place(file, "1234"); }},
      {"a new file", [](Path folder, Path, Path) { write(folder + "/new", ""); }},
      {"a new folder", [](Path folder, Path, Path) { fs::create_directory(folder + "/new"); }},
      {"a new link", [](Path folder, Path, Path) { fs::create_symlink("b", folder + "/new"); }},
      {"a missing file", [](Path, Path file, Path) { fs::remove(file); }},
      {"a missing folder", [](Path folder, Path, Path) { fs::remove_all(folder); }},
      {"a file that came and went",
       [](Path folder, Path, Path) {
         write(folder + "/new", "");
         fs::remove(folder + "/new");
       }},
      {"another name", [](Path folder, Path file, Path) { fs::rename(file, folder + "/b2"); }},
      {"two files that change places",
       [](Path folder, Path file, Path aside) {
         fs::rename(file, aside);
         fs::rename(folder + "/a", file);
         fs::rename(aside, folder + "/a");
       }},
      {"a file put in its place",
       [](Path, Path file, Path aside) {
         write(aside, "1234");
         fs::rename(aside, file);
       }},
      {"a link in place of a file",
       [](Path, Path file, Path) {
         fs::remove(file);
         fs::create_symlink("a", file);
       }},
      {"a link that leads elsewhere",
       [](Path folder, Path, Path) {
         fs::remove(folder + "/link");
         fs::create_symlink("b", folder + "/link");
       }},
      {"a link in place of a folder",
       [](Path folder, Path, Path aside) {
         fs::rename(folder, aside);
         fs::create_symlink(aside, folder);
       }},
      {"another folder with the same files",
       [](Path folder, Path, Path aside) {
         fs::rename(folder, aside);
         fs::create_directory(folder);
         for (const char* name : {"a", "b", "c", "link"}) {
           fs::rename(text::cat(aside, '/', name), text::cat(folder, '/', name));
         }
       }},
      {"a right", [](Path, Path file, Path) { REQUIRE(::chmod(file.c_str(), 0600) == 0); }},
      {"a right that was given and taken back",
       [](Path, Path file, Path) {
         REQUIRE(::chmod(file.c_str(), 0755) == 0);
         REQUIRE(::chmod(file.c_str(), 0644) == 0);
       }},
      {"a second name elsewhere", [](Path, Path file, Path aside) { fs::create_hard_link(file, aside); }},
  };
  return all;
}

}  // namespace

TEST_CASE("a tree that nobody touched is the one of its table") {
  for (const int folders : {1, 700}) {
    const Tree tree(folders);
    CHECK(tree.same());
    // Who reads it leaves it as it is.
    std::ifstream(tree.path() + "/d0/a").get();
    CHECK(std::distance(fs::recursive_directory_iterator(tree.path()), fs::recursive_directory_iterator()) ==
          folders * 5);
    CHECK(tree.same());
    const auto again = tree_table(tree.path());
    REQUIRE(again);
    CHECK(*again == tree.table);
  }
}

TEST_CASE("every change shows, wherever it is") {
  Tree tree(700);
  for (const char* name : {"d0", "d350", "d99"}) {  // d99 is the last, as names are sorted
    const std::string folder = text::cat(tree.path(), '/', name);
    for (const Change& change : changes()) {
      CAPTURE(name);
      CAPTURE(change.name);
      change.make(folder, folder + "/b", tree.aside());
      CHECK_FALSE(tree.same());
      fs::remove_all(tree.aside());
      fs::remove_all(folder);
      Tree::fill(folder);
      tree.note();
      CHECK(tree.same());
    }
  }
}

TEST_CASE("a change in the root itself shows, and so does another root") {
  const Tree tree(1);
  SUBCASE("a new file") { write(tree.path() + "/new", ""); }
  SUBCASE("a file that is new") {
    fs::rename(tree.path(), tree.temp.path() + "/moved");
    fs::copy(tree.temp.path() + "/moved", tree.path(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  SUBCASE("a link in its place") {
    fs::rename(tree.path(), tree.temp.path() + "/moved");
    fs::create_symlink("moved", tree.path());
  }
  SUBCASE("nothing there") { fs::remove_all(tree.path()); }
  CHECK_FALSE(tree.same());
}

TEST_CASE("what is no table is like no tree") {
  const Tree tree(1);
  CHECK_FALSE(is_as_in_table(tree.path(), ""));
  CHECK_FALSE(outlast_table(""));
  // Cut off within an entry. A digest stands beside a table for all else (store_check).
  for (std::size_t bytes = 1; bytes < tree.table.size(); ++bytes) {
    const std::string cut = tree.table.substr(0, bytes);
    if (is_as_in_table(tree.path(), cut)) {
      CHECK(cut.ends_with('\0'));
    }
  }
  CHECK_FALSE(is_as_in_table(tree.path(), tree.table.substr(sizeof(EntryFacts) + 1)));  // without the root
  CHECK_FALSE(is_as_in_table(tree.path(), tree.table + "x"));
  std::string long_path = tree.table;
  long_path[offsetof(EntryFacts, path_bytes) + 3] = '\x7f';
  CHECK_FALSE(is_as_in_table(tree.path(), long_path));
}

TEST_CASE("what changes after a table was outlasted has a later time than all in it") {
  const test::TempDir temp;
  write(temp.path() + "/tree/a", "1");
  const auto table = tree_table(temp.path() + "/tree");
  REQUIRE(table);
  REQUIRE(outlast_table(*table));
  struct stat before{};
  REQUIRE(::stat((temp.path() + "/tree/a").c_str(), &before) == 0);
  write(temp.path() + "/tree/b", "1");
  struct stat after{};
  REQUIRE(::stat((temp.path() + "/tree/b").c_str(), &after) == 0);
  CHECK(std::pair(after.st_ctim.tv_sec, after.st_ctim.tv_nsec) >
        std::pair(before.st_ctim.tv_sec, before.st_ctim.tv_nsec));
}

TEST_CASE("a table from a time that has not come yet is not waited for") {
  struct stat info{};
  REQUIRE(::stat("/", &info) == 0);
  info.st_ctim = {.tv_sec = info.st_ctim.tv_sec + 1'000'000'000, .tv_nsec = 1};
  std::string table;
  add_to_table(table, "", info);
  CHECK_FALSE(outlast_table(table));
}
