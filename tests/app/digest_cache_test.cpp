// SPDX-License-Identifier: Apache-2.0
#include "app/digest_cache.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/temp_folder.hpp"
#include "base/hash.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

struct Fixture {
  TempFolder temp = {};
  std::string folder = temp.at("digests");
  // A file of the system, installed a while ago; this program may have been linked a second ago.
  std::string old_file = fs::canonical("/bin/sh").string();
  DigestCache cache{folder, 1};

  fs::path entry() const {
    REQUIRE(fs::exists(folder));
    return fs::directory_iterator(folder)->path();
  }
  void write_entry(const std::string& content) const { std::ofstream(entry(), std::ios::binary) << content; }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the digest is the file's, with and without memory") {
  const std::string expected = sha256_text(content_of(old_file));
  CHECK(cache.digest(old_file) == expected);
  CHECK(cache.digest(old_file) == expected);
  CHECK(DigestCache("", 1).digest(old_file) == expected);
  CHECK(DigestCache(temp.at("unused"), 1ULL << 40).digest(old_file) == expected);
  CHECK(!fs::exists(temp.at("unused")));
}

TEST_CASE_FIXTURE(Fixture, "what is remembered is used only for the very same state of the file") {
  const std::string expected = cache.digest(old_file).value();
  const std::string line = content_of(entry());
  const std::string other = "sha256:" + std::string(64, 'a');
  const std::string identity = line.substr(0, line.size() - other.size() - 1);
  write_entry(identity + other + "\n");
  CHECK(cache.digest(old_file) == other);  // so it is the memory that answers
  write_entry("v1 1 2 3 4 5 " + other + "\n");
  CHECK(cache.digest(old_file) == expected);
  for (const std::string& broken : {identity + other, identity + "sha256:xyz\n", identity + "\n", std::string()}) {
    write_entry(broken);
    CHECK(cache.digest(old_file) == expected);
  }
}

TEST_CASE_FIXTURE(Fixture, "a memory that others may write is not believed") {
  const std::string expected = cache.digest(old_file).value();
  const std::string line = content_of(entry());
  const std::string other = "sha256:" + std::string(64, 'a');
  write_entry(line.substr(0, line.size() - other.size() - 1) + other + "\n");
  REQUIRE(::chmod(entry().c_str(), 0666) == 0);
  CHECK(cache.digest(old_file) == expected);
}

TEST_CASE("only what root alone can write is remembered") {
  struct stat info{};
  info.st_mode = S_IFREG | 0755;
  info.st_nlink = 1;
  CHECK(only_root_writes(info));
  SUBCASE("of a user") { info.st_uid = 1000; }
  SUBCASE("of a group's") { info.st_mode |= S_IWGRP; }
  SUBCASE("of everybody's") { info.st_mode |= S_IWOTH; }
  SUBCASE("with a second name") { info.st_nlink = 2; }
  SUBCASE("a device") { info.st_mode = S_IFBLK | 0600; }
  CHECK_FALSE(only_root_writes(info));
}

TEST_CASE_FIXTURE(Fixture, "a file that a user can write is read each time, however long ago it changed") {
  const DigestCache hasty(folder, 1, -1);
  const std::string tool = temp.file("tool", "one");
  if (::geteuid() == 0) {
    REQUIRE(::chown(tool.c_str(), 1, 1) == 0);
  }
  CHECK(hasty.digest(tool) == sha256_text("one"));
  CHECK(!fs::exists(folder));
  CHECK(hasty.digest(old_file).has_value());
  CHECK(fs::exists(folder));
}

TEST_CASE_FIXTURE(Fixture, "a file that has just changed is read each time") {
  temp.file("fresh", "one");
  CHECK(cache.digest(temp.at("fresh")) == sha256_text("one"));
  CHECK(!fs::exists(folder));
  temp.file("fresh", "two");
  CHECK(cache.digest(temp.at("fresh")) == sha256_text("two"));
}

TEST_CASE_FIXTURE(Fixture, "what is no readable regular file is an error that names it") {
  for (const std::string& path : {temp.at("missing"), temp.at("")}) {
    const auto digest = cache.digest(path);
    REQUIRE(!digest);
    CHECK(digest.error().code == Errc::file_unreadable);
    CHECK(digest.error().where == path);
  }
}
