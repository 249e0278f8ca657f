// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks into the server's file system for `within`: where does a path lead, as the server would meet it? A process of
// its own does it, with the server's identity and no right but to look names up, so that ours need not be able to.
//
// The answer is true when it is given. The server may change its links at any time; what it cannot reach at all is the
// sandbox's business (docs/isolation.md).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "core/policy/paths.hpp"
#include "sandbox/confine.hpp"

namespace cordon::run {

// A file or folder, however it is spelled.
struct FileKey {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileKey&) const = default;
};

// One walk from `root` (O_PATH) on, in which nothing leads out of it.
struct WalkedPath {
  std::vector<FileKey> chain = {};  // root, and every folder on the real path down to the last thing that exists
  bool complete = false;            // all of it exists
};
// Nothing when it cannot be told: no right to look, too many links, a link that leads nowhere, /proc.
std::optional<WalkedPath> walk(int root, std::string_view path);

// The root of the server's view: of the process below `child` that is none of `own` (our stage, a tool).
// unsupported_isolation when there is none.
Result<UniqueFd> open_server_root(pid_t child, const std::vector<FileKey>& own);
std::optional<FileKey> key_of(const std::string& path);

class ServerFiles final : public policy::PathJudge {
 public:
  struct Config {
    UniqueFd root = {};                            // O_PATH
    std::optional<sandbox::Identity> become = {};  // started by root: the server's
    int answer_timeout_ms = 2'000;                 // of one question; after one that takes longer none is answered
    // The root of a second server, when that takes the place of the first: called in a process that waits for it with
    // the rights that we have now. None: the root stays the same.
    std::function<Result<UniqueFd>()> find_again = {};
  };
  // Call it while the process has one thread. unsupported_isolation, internal.
  static Result<ServerFiles> start(Config config);

  Answer within(const std::string& path, const std::string& folder) override;
  Answer exists(const std::string& path) override;
  bool follows_links() const override { return true; }

  // The second server runs. After an error no question is answered any more.
  Status look_again();
  // There will be none: the process that waits for it ends.
  void settle() { later_.reset(); }

 private:
  ServerFiles(UniqueFd questions, UniqueFd later, const Config& config)
      : questions_(std::move(questions)),
        later_(std::move(later)),
        moves_(config.find_again != nullptr),
        timeout_ms_(config.answer_timeout_ms) {}
  Answer ask(const std::string& question);

  UniqueFd questions_;
  UniqueFd later_;
  bool moves_;
  int timeout_ms_;
};

}  // namespace cordon::run
