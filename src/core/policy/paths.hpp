// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a path that a model wrote leads. It is judged by every reading that a server may have of it (`..` resolved by
// text or along links, percent escapes decoded or not, ~ expanded or not), and all of them have to agree.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::policy {

// Looks into the server's file system, which the core cannot do itself.
class PathJudge {
 public:
  enum class Answer : std::uint8_t { inside, outside, unknown };
  virtual ~PathJudge() = default;
  // Does `path` lead to `folder` or into it? Both absolute. Links are followed, `..` is the parent of what a link leads
  // to; what does not exist yet is where it would be made.
  virtual Answer within(const std::string& path, const std::string& folder) = 0;
  // Is there something of that name? `unknown` counts as yes.
  virtual Answer exists(const std::string& path) = 0;
  // Do its answers follow links? For what is told to a person.
  virtual bool follows_links() const = 0;
};

// By the text of the paths alone, as if there were no links: for where nothing can be looked at.
class LexicalPaths final : public PathJudge {
 public:
  Answer within(const std::string& path, const std::string& folder) override;
  Answer exists(const std::string&) override { return Answer::outside; }
  bool follows_links() const override { return false; }
};

// How the server sees its file system. Without `files` no path is ever judged to be inside.
struct ServerView {
  std::string cwd = {};
  std::string home = {};
  PathJudge* files = nullptr;  // borrowed
};

// An absolute path that a server may take the text for.
struct PathReading {
  std::string path = {};
  std::string only_if = {};  // counts only when something of this name exists; empty: always
};

// argument_denied with what is unclear, when no list of readings would be complete.
Result<std::vector<PathReading>> path_readings(std::string_view text, const ServerView& view);

enum class Containment : std::uint8_t {
  inside,   // by every reading within one of the folders
  outside,  // by no reading
  unclear,
};
struct PathFinding {
  Containment containment = Containment::unclear;
  std::string reason = {};  // of unclear
};
PathFinding contains(const std::vector<std::string>& folders, std::string_view text, const ServerView& view);

// Without `.`, `..` and repeated slashes, by text. `path` is absolute.
std::string lexically_normal(std::string_view path);

}  // namespace cordon::policy
