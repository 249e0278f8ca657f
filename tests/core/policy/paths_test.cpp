// SPDX-License-Identifier: Apache-2.0
#include "core/policy/paths.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace cordon::policy;
using Answer = PathJudge::Answer;
using Strings = std::vector<std::string>;

namespace {

Containment found(std::string_view text, const Strings& folders = {"/data/out"}, std::string cwd = "/data") {
  LexicalPaths files;
  return contains(folders, text, {.cwd = std::move(cwd), .home = "/home/cordon", .files = &files}).containment;
}

// A file system of names and links, walked as the kernel walks it.
class Links final : public PathJudge {
 public:
  std::map<std::string, std::string> links = {};
  std::set<std::string> there = {};
  bool blind = false;

  std::string real(const std::string& path) const {
    std::string at;
    Strings todo;
    const auto push = [&](const std::string& text) {
      std::size_t end = text.size();
      while (end > 0) {
        const std::size_t slash = text.rfind('/', end - 1);
        const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
        todo.push_back(text.substr(begin, end - begin));
        end = slash == std::string::npos ? 0 : slash;
      }
    };
    push(path);
    for (int steps = 0; !todo.empty() && steps < 100; ++steps) {
      const std::string part = todo.back();
      todo.pop_back();
      if (part.empty() || part == ".") {
        continue;
      }
      if (part == "..") {
        at.erase(at.empty() ? 0 : at.rfind('/'));
        continue;
      }
      const auto link = links.find(at + '/' + part);
      if (link == links.end()) {
        at += '/' + part;
        continue;
      }
      at = link->second.starts_with('/') ? std::string() : at;
      push(link->second);
    }
    return at.empty() ? "/" : at;
  }
  Answer within(const std::string& path, const std::string& folder) override {
    return blind ? Answer::unknown : LexicalPaths().within(real(path), real(folder));
  }
  Answer exists(const std::string& path) override { return there.contains(path) ? Answer::inside : Answer::outside; }
  bool follows_links() const override { return true; }
};

}  // namespace

TEST_CASE("a path within the folder is inside, in every honest spelling") {
  for (const char* path : {"/data/out",
                           "/data/out/",
                           "/data/out/a",
                           "/data//out/./a",
                           "/data/out/a/../b",
                           "out/a",
                           "./out/a",
                           "/data/out/..a",
                           "/data/out/a..",
                           "/data/out/...",
                           "file:///data/out/a",
                           "FILE:///data/out/a",
                           "file://localhost/data/out/a",
                           "file:///data/out/a%20b",
                           "/data/out/100%25",
                           "/data/out/50%",
                           "/data/out/caf\xC3\xA9",
                           "/data/out/a:b",
                           "out/a:b",
                           "out/-a",
                           "/data/out/[id]/page",
                           "/data/out/a$",
                           "/data/out/~",
                           "/data/../data/out/x"}) {
    CHECK_MESSAGE(found(path) == Containment::inside, path);
  }
  CHECK(found("~/notes", {"/home/cordon"}) == Containment::inside);
  CHECK(found("~", {"/home/cordon"}) == Containment::inside);
  CHECK(found("/", {"/"}) == Containment::inside);
}

TEST_CASE("a path out of the folder is never inside") {
  for (const char* path :
       {"/etc/passwd", "/data", "/data/outer", "/data/ou", "/data/out/..", "/data/out/../x", "/data/out/a/../../x", "x",
        "../etc/passwd", "out/../../etc/passwd", "/", "file:///etc/passwd", "file:///data/out/../x", "~/x", "~",
        "/data/out/../../data/outside", "/DATA/OUT/x", "//etc/passwd", "/data/out/a/..//..//x"}) {
    CHECK_MESSAGE(found(path) == Containment::outside, path);
  }
}

TEST_CASE("a spelling that servers read differently is unclear, and so never inside") {
  for (const char* path : {"",
                           " /data/out/a",
                           "/data/out/a ",
                           "\"/data/out/a\"",
                           "'/etc/passwd'",
                           "/data/out/a\n",
                           "/data/out\t/a",
                           "/data/out/..\\x",
                           "\\data\\out",
                           "C:\\x",
                           "C:/x",
                           "/data/out/%2e%2e/x",
                           "/data/out/%2e%2e%2fx",
                           "/data/out/%252e%252e/x",
                           "/data/out/%25252e%25252e/x",
                           "/data/out/%252525252e/x",
                           "/data/out/%00/x",
                           "/data/out/%5c..",
                           "~root/x",
                           "~root",
                           "file:/data/out/a",
                           "url:file:///etc/passwd",
                           "/data/out/a,/etc/passwd",
                           "a.txt,../../etc/passwd",
                           "/data/out/a:/etc",
                           "/data/out/a; ~/x",
                           "/data/out/a /etc/passwd",
                           "/data/out/a%2c/etc/passwd",
                           "/data/out/{a,../../../etc/passwd}",
                           "file:///data/out/a|/etc/passwd",
                           "[\"/etc/passwd\"]",
                           "--output=/etc/passwd",
                           "%2Drf",
                           "{\"path\":\"/etc/passwd\"}",
                           "jar:file:/etc/passwd!/x",
                           "file:data/out",
                           "file://host/data/out/a",
                           "file:///data/out/a?x",
                           "file:///data/out/a#x",
                           "file:///data/out/%2e%2e/x",
                           "http://data/out",
                           "$HOME/x",
                           "/data/out/${HOME}",
                           "/data/out/$(id)",
                           "/data/out/\xEF\xBC\x8E\xEF\xBC\x8E/x",
                           "/data/out/.\xE2\x80\x8B./x",
                           "/data/out/\xE2\x80\xA5/x",
                           "/data/out/\xEF\xBB\xBFx",
                           "/data/out/\xFFx",
                           "\xC2\xA0/etc/passwd",
                           "/data/out/a\xE3\x80\x80",
                           "\xE2\x80\xAF~/x",
                           "/data/out/\xEF\xB8\xB0/x",

                           "file:///data/out/a/../b"}) {
    CHECK_MESSAGE(found(path) == Containment::unclear, path);
  }
  CHECK(found("/data/out/" + std::string(5000, 'a')) == Containment::unclear);
}

TEST_CASE("links are followed, and `..` after one leads where the link leads") {
  Links files;
  files.links = {{"/data/out/link", "/etc"}, {"/data/in", "out"}, {"/data/out/up", ".."}, {"/folder", "/data/out"}};
  const ServerView view{.cwd = "/data", .home = "/home/cordon", .files = &files};
  const auto at = [&](std::string_view path, const Strings& folders = {"/data/out"}) {
    return contains(folders, path, view).containment;
  };
  CHECK(at("/data/out/link/passwd") == Containment::outside);
  CHECK(at("/data/in/a") == Containment::inside);
  CHECK(at("in/a") == Containment::inside);
  CHECK(at("/data/out/up/x") == Containment::outside);
  CHECK(at("/data/out/a", {"/folder"}) == Containment::inside);
  // By text it is /data/out/x, along the link /x.
  CHECK(at("/data/out/link/../x") == Containment::unclear);
  // And the reverse: by text /data/x, along the link /data/out/x.
  files.links["/data/sub"] = "/data/out/deep";
  CHECK(at("/data/sub/../x") == Containment::unclear);
}

TEST_CASE("~ and file: taken as names count where somebody has made such a name") {
  Links files;
  const ServerView view{.cwd = "/data", .home = "/home/cordon", .files = &files};
  CHECK(contains({"/data/out"}, "file:///data/out/a", view).containment == Containment::inside);
  CHECK(contains({"/home/cordon"}, "~/a", view).containment == Containment::inside);
  files.there = {"/data/file:", "/data/~"};
  CHECK(contains({"/data/out"}, "file:///data/out/a", view).containment == Containment::unclear);
  CHECK(contains({"/home/cordon"}, "~/a", view).containment == Containment::unclear);
}

TEST_CASE("what cannot be looked up is never inside") {
  Links files;
  files.blind = true;
  CHECK(contains({"/data/out"}, "/data/out/a", {.cwd = "/", .home = "/", .files = &files}).containment ==
        Containment::unclear);
  CHECK(contains({"/data/out"}, "/data/out/a", {.cwd = "/", .home = "/"}).containment == Containment::unclear);
}
