// SPDX-License-Identifier: Apache-2.0
// What steers other programs below a write grant: an editor's folder, a client's configuration, git's hooks. Tried in a
// write grant of the launcher's own; of those of the policy, files are opened and nothing is written.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

bool missing(const Request& request, Result& result) {
  if (request.has("steering")) {
    return false;
  }
  result.not_applicable("this plan covers nothing in such a place of ours");
  return true;
}

int move(const std::string& from, const std::string& to) { return result_of(::rename(from.c_str(), to.c_str())); }

int swap_with(const std::string& from, const std::string& to) {
  constexpr unsigned kExchange = 2;
  return result_of(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), kExchange));
}

// Something of the same kind that could take the place of what is covered.
struct Decoys {
  explicit Decoys(const Request& request)
      : folder(request.one("write") + "/decoy-folder"), file(request.one("write") + "/decoy-file") {
    ::mkdir(folder.c_str(), 0755);
    (void)result_of_open(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  std::string folder;
  std::string file;
};

// Nothing works that could take the place of `path`, or take it away.
void try_place(Result& result, const std::string& path, const std::string& decoy) {
  result.denied("delete " + path, [&] {
    const int error_number = result_of(::unlink(path.c_str()));
    return error_number == EISDIR || error_number == EPERM ? result_of(::rmdir(path.c_str())) : error_number;
  });
  result.denied("move " + path, [&] { return move(path, path + "-aside"); });
  result.denied("move over " + path, [&] { return move(decoy, path); });
  result.denied("swap " + path, [&] { return swap_with(decoy, path); });
  result.denied("link over " + path, [&] { return result_of(::symlink("/etc/passwd", path.c_str())); });
  result.denied("chmod " + path, [&] { return result_of(::chmod(path.c_str(), 0777)); });
}

void try_file(Result& result, const Decoys& decoys, const std::string& path) {
  result.denied("write " + path, [&] { return open_for_writing(path); });
  result.denied("truncate " + path, [&] { return result_of(::truncate(path.c_str(), 0)); });
  result.denied("link out " + path, [&] { return result_of(::link(path.c_str(), (decoys.file + "-link").c_str())); });
  try_place(result, path, decoys.file);
}

void try_folder(Result& result, const Decoys& decoys, const std::string& path) {
  result.denied("create in " + path, [&] { return create(path + "/new"); });
  result.denied("make a folder in " + path, [&] { return result_of(::mkdir((path + "/new").c_str(), 0755)); });
  result.denied("move into " + path, [&] { return move(decoys.file, path + "/new"); });
  try_place(result, path, decoys.folder);
}

void try_absent(Result& result, const Decoys& decoys, const std::string& path) {
  result.denied("create " + path, [&] { return result_of_open(::open(path.c_str(), O_CREAT | O_WRONLY, 0644)); });
  result.denied("make " + path, [&] { return result_of(::mkdir(path.c_str(), 0755)); });
  result.denied("move a file over " + path, [&] { return move(decoys.file, path); });
  try_folder(result, decoys, path);
}

void files(const Request& request, Result& result) {
  if (missing(request, result)) {
    return;
  }
  const Decoys decoys(request);
  for (const char* path :
       {"/.vscode/settings.json", "/AGENTS.md", "/a/nested/.git/config", "/a/nested/.git/hooks/pre-commit",
        "/linked/.git", "/a/nested/.git/worktrees/linked/commondir"}) {
    result.allowed(std::string("read ") + path,
                   [&] { return result_of_open(::open((request.one("write") + path).c_str(), O_RDONLY | O_CLOEXEC)); });
    try_file(result, decoys, request.one("write") + path);
  }
}

void folders(const Request& request, Result& result) {
  if (missing(request, result)) {
    return;
  }
  const Decoys decoys(request);
  for (const char* path : {"/.vscode", "/a/nested/.git/hooks"}) {
    try_folder(result, decoys, request.one("write") + path);
  }
}

void absent(const Request& request, Result& result) {
  if (missing(request, result)) {
    return;
  }
  const Decoys decoys(request);
  for (const char* path :
       {"/.cursor", "/.claude", "/.mcp.json", "/.envrc", "/.git", "/a/nested/.vscode", "/other/.git/hooks"}) {
    try_absent(result, decoys, request.one("write") + path);
  }
}

// The folders above what is covered in a repository stay where they are, and git can still work.
void repository(const Request& request, Result& result) {
  if (missing(request, result)) {
    return;
  }
  const Decoys decoys(request);
  const std::string write = request.one("write");
  const std::string git = write + "/a/nested/.git";
  for (const std::string& folder : {git, write + "/a/nested", write + "/a"}) {
    result.refused("move " + folder, "EBUSY", [&] { return move(folder, folder + "-aside"); });
    result.denied("swap " + folder, [&] { return swap_with(decoys.folder, folder); });
  }
  result.denied("rename over config", [&] {
    const std::string lock = git + "/config.lock";
    const int made = result_of_open(::open(lock.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    const int moved = made == 0 ? move(lock, git + "/config") : made;
    ::unlink(lock.c_str());
    return moved;
  });
  try_place(result, git + "/commondir", decoys.file);
  result.denied("write commondir", [&] { return open_for_writing(git + "/commondir"); });
  result.denied("lock commondir", [&] {
    const int fd = ::open((git + "/commondir").c_str(), O_RDONLY | O_CLOEXEC);
    struct flock wanted = {};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    const int error_number = fd < 0 ? errno : result_of(::fcntl(fd, F_OFD_SETLK, &wanted));
    ::close(fd);
    return error_number;
  });
  result.allowed("write index", [&] { return create(git + "/index"); });
}

void named_grant(const Request& request, Result& result) {
  if (missing(request, result) || !request.has("nested")) {
    result.not_applicable("the policy grants no such folder by name");
    return;
  }
  result.allowed("create", [&] { return create(request.one("write") + "/.zed/new"); });
}

// Those of the policy's own grants.
void policy_covers(const Request& request, Result& result) {
  result.not_applicable("nothing that steers other programs lies in the policy's write grants");
  for (const std::string& path : request.all("covered")) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0) {
      continue;
    }
    if (S_ISDIR(status.st_mode)) {
      result.denied(path, [&] { return result_of_open(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)); });
    } else if (S_ISREG(status.st_mode)) {
      result.denied(path, [&] { return open_for_writing(path); });
    }
  }
}

constexpr std::array kChecks = {
    Check{"steering.files", "filesystem.steering", "read-only covers", Place::anywhere, files},
    Check{"steering.folders", "filesystem.steering", "read-only covers", Place::anywhere, folders},
    Check{"steering.absent", "filesystem.steering", "read-only covers", Place::anywhere, absent},
    Check{"steering.repository", "filesystem.steering", "read-only covers", Place::anywhere, repository},
    Check{"steering.named_grant", "filesystem.steering", "grant", Place::anywhere, named_grant},
    Check{"steering.policy_covers", "filesystem.steering", "read-only covers", Place::anywhere, policy_covers},
};

}  // namespace

std::span<const Check> cover_checks() { return kChecks; }

}  // namespace cordon::probe
