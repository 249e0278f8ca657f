// SPDX-License-Identifier: Apache-2.0
// The files among the canaries. All of them are made exclusively, below the descriptor of our new folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "sandbox/boundary/canaries.hpp"

namespace cordon::sandbox::boundary {
namespace {

std::unexpected<Error> failed(std::string_view what) {
  return fail(Errc::launch_failed, errno_text(what, errno), "probe");
}

}  // namespace

Status Canaries::folder_at(const char* name) const {
  return ::mkdirat(root_.get(), name, 0755) == 0 && ::fchmodat(root_.get(), name, 0755, 0) == 0 ? Status()
                                                                                                : failed(name);
}

Status Canaries::file_at(const char* name, std::string_view content) const {
  const UniqueFd file(::openat(root_.get(), name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644));
  const bool written = file && ::fchmod(file.get(), 0644) == 0 &&
                       ::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  return written ? Status() : failed(name);
}

Status Canaries::plant_files() {
  for (const char* name :
       {"outside", "home", "read", "read/private", "write", "write/deep", "write/deep/er", "write/deep/er/fixed"}) {
    if (Status made = folder_at(name); !made) {
      return made;
    }
  }
  const std::string config = text::cat(R"({"mcpServers":{"x":{"env":{"TOKEN":")", secret_, R"("}}}})");
  const std::initializer_list<std::pair<const char*, std::string_view>> files = {
      {"outside/key", secret_},
      {"outside/client.json", config},
      {"read/file", "granted"},
      {"read/secret.txt", secret_},
      {"read/private/file", secret_},
      {"read/marker", token_},
      {"write/file", "granted"},
      {"write/secret.txt", secret_},
      {"write/deep/er/secret.txt", secret_},
      {"write/deep/er/fixed/file", "granted"}};
  for (const auto& [name, content] : files) {
    if (Status made = file_at(name, content); !made) {
      return made;
    }
  }
  if (::symlinkat(key_path().c_str(), root_.get(), "read/link") != 0 ||
      ::mkfifoat(root_.get(), "read/fifo", 0666) != 0 || ::fchmodat(root_.get(), "read/fifo", 0666, 0) != 0) {
    return failed("read");
  }
  // Somebody reads from it, else opening it for writing would fail for another reason than ours.
  granted_fifo_ = UniqueFd(::openat(root_.get(), "read/fifo", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  return granted_fifo_ ? Status() : failed("read/fifo");
}

// Below the write grant: what steers other programs, some of it absent, and repositories.
Status Canaries::plant_steering() {
  for (const char* name : {"write/.vscode", "write/.zed", "write/a", "write/a/nested", "write/a/nested/.git",
                           "write/a/nested/.git/hooks", "write/a/nested/.git/objects", "write/a/nested/.git/refs",
                           "write/a/nested/.git/worktrees", "write/a/nested/.git/worktrees/linked", "write/other",
                           "write/other/.git", "write/other/.git/objects", "write/other/.git/refs", "write/linked"}) {
    if (Status made = folder_at(name); !made) {
      return made;
    }
  }
  const std::string linked = text::cat("gitdir: ", folder_, "/write/a/nested/.git/worktrees/linked\n");
  const std::initializer_list<std::pair<const char*, std::string_view>> files = {
      {"write/.vscode/settings.json", "{}"},
      {"write/AGENTS.md", "be good\n"},
      {"write/a/nested/.git/HEAD", "ref: refs/heads/main\n"},
      {"write/a/nested/.git/config", "[core]\n"},
      {"write/a/nested/.git/hooks/pre-commit", "#!/bin/sh\n"},
      {"write/a/nested/.git/worktrees/linked/HEAD", "ref: refs/heads/linked\n"},
      {"write/a/nested/.git/worktrees/linked/commondir", "../..\n"},
      {"write/linked/.git", linked},
      {"write/other/.git/HEAD", "ref: refs/heads/main\n"},
      {"write/other/.git/config", "[core]\n"}};
  for (const auto& [name, content] : files) {
    if (Status made = file_at(name, content); !made) {
      return made;
    }
  }
  return {};
}

}  // namespace cordon::sandbox::boundary
