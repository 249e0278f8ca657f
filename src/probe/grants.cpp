// SPDX-License-Identifier: Apache-2.0
// What is granted is there and no more. Writing is tried in folders that the launcher made for it; in the folders of
// the policy nothing is made, changed or removed.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

bool missing(const Request& request, Result& result, const char* grant) {
  if (request.has(grant)) {
    return false;
  }
  result.not_applicable("this plan has no such place of ours");
  return true;
}

void read_grant(const Request& request, Result& result) {
  if (missing(request, result, "read") || missing(request, result, "write")) {
    return;
  }
  const std::string file = request.one("read") + "/file";
  result.allowed("read", [&] { return read_one(file); });
  result.denied("open for writing", [&] { return open_for_writing(file); });
  result.denied("create", [&] { return create(request.one("read") + "/new"); });
  result.denied("make a folder", [&] { return result_of(::mkdir((request.one("read") + "/sub").c_str(), 0755)); });
  result.denied("chmod", [&] { return result_of(::chmod(file.c_str(), 0777)); });
  result.denied("set times", [&] { return result_of(::utimensat(AT_FDCWD, file.c_str(), nullptr, 0)); });
  result.denied("link out of it",
                [&] { return result_of(::link(file.c_str(), (request.one("write") + "/stolen").c_str())); });
  result.denied("delete", [&] { return result_of(::unlink(file.c_str())); });
}

void write_grant(const Request& request, Result& result) {
  if (missing(request, result, "write")) {
    return;
  }
  const std::string write = request.one("write");
  const std::string made = write + "/created";
  result.allowed("read", [&] { return read_one(write + "/file"); });
  result.allowed("create",
                 [&] { return result_of_open(::open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)); });
  result.allowed("make a folder", [&] { return result_of(::mkdir((write + "/folder").c_str(), 0755)); });
  result.allowed("move", [&] { return result_of(::rename(made.c_str(), (write + "/folder/moved").c_str())); });
}

void whiteout(const Request& request, Result& result) {
  if (missing(request, result, "write")) {
    return;
  }
  const std::string from = request.one("write") + "/file";
  const std::string to = request.one("write") + "/whiteout";
  result.refused("renameat2", "EPERM",
                 [&] { return result_of(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 4)); });
}

// Those of the policy. An unnamed file vanishes by itself where it should not have come into being.
void policy_read_grants(const Request& request, Result& result) {
  result.not_applicable("the policy grants nothing for reading only");
  for (const std::string& path : request.all("read_only")) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) {
      continue;
    }
    if (S_ISDIR(status.st_mode)) {
      result.denied(path, [&] { return result_of_open(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)); });
    } else if (S_ISREG(status.st_mode)) {
      result.denied(path, [&] { return open_for_writing(path); });
    }
  }
}

void policy_masks(const Request& request, Result& result) {
  result.not_applicable("the policy denies nothing");
  for (const std::string& path : request.all("deny")) {
    result.denied(path, [&] {
      const bool empty_folder = count_entries(path) == 0;
      return empty_folder ? ENOENT : count_entries(path) > 0 ? 0 : read_one(path);
    });
  }
}

void masks(const Request& request, Result& result) {
  if (missing(request, result, "masks")) {
    return;
  }
  const std::string read = request.one("read");
  const std::string write = request.one("write");
  result.denied("read a masked file", [&] { return read_one(read + "/secret.txt"); });
  result.denied("read in a masked folder", [&] { return read_one(read + "/private/file"); });
  result.equal("entries of a masked folder", "0", std::to_string(count_entries(read + "/private")));
  result.denied("read a masked file in a write grant", [&] { return read_one(write + "/secret.txt"); });
  result.denied("delete it", [&] { return result_of(::unlink((write + "/secret.txt").c_str())); });
  result.denied("move it",
                [&] { return result_of(::rename((write + "/secret.txt").c_str(), (write + "/moved.txt").c_str())); });
}

void uncover(const Request& request, Result& result) {
  if (missing(request, result, "masks")) {
    return;
  }
  result.denied("unmount a mask",
                [&] { return result_of(::umount2((request.one("read") + "/private").c_str(), MNT_DETACH)); });
}

// No folder above a mask or a read grant that lies in a write grant can be moved, to put a decoy in its place.
void held_in_place(const Request& request, Result& result) {
  if (missing(request, result, "masks")) {
    return;
  }
  const std::string write = request.one("write");
  const std::string deep = write + "/deep";
  std::vector<std::string> folders = {deep, deep + "/er"};
  if (request.has("nested")) {
    folders.push_back(deep + "/er/fixed");
  }
  for (const std::string& folder : folders) {
    result.refused("move aside", "EBUSY", [&] { return result_of(::rename(folder.c_str(), (folder + "-a").c_str())); });
    result.denied("move up", [&] { return result_of(::rename(folder.c_str(), (write + "/aside").c_str())); });
    result.denied("swap", [&] {
      ::mkdir((write + "/decoy").c_str(), 0755);
      return result_of(::syscall(SYS_renameat2, AT_FDCWD, (write + "/decoy").c_str(), AT_FDCWD, folder.c_str(), 2));
    });
  }
  result.denied("read the mask below", [&] { return read_one(deep + "/er/secret.txt"); });
  result.allowed("create beside it", [&] { return create(deep + "/er/new"); });
}

void read_in_write(const Request& request, Result& result) {
  if (missing(request, result, "nested")) {
    return;
  }
  const std::string fixed = request.one("write") + "/deep/er/fixed";
  result.allowed("read", [&] { return read_one(fixed + "/file"); });
  result.denied("open for writing", [&] { return open_for_writing(fixed + "/file"); });
  result.denied("create", [&] { return create(fixed + "/new"); });
}

constexpr std::array kChecks = {
    Check{"filesystem.read_grant", "filesystem.write", "read-only mount", Place::anywhere, read_grant},
    Check{"filesystem.write_grant", "filesystem.write", "mount", Place::anywhere, write_grant},
    Check{"filesystem.policy_read_grants", "filesystem.write", "read-only mounts", Place::anywhere, policy_read_grants},
    Check{"filesystem.policy_masks", "filesystem.deny", "covers", Place::anywhere, policy_masks},
    Check{"filesystem.masks", "filesystem.deny", "covers", Place::anywhere, masks},
    Check{"filesystem.unmount_mask", "filesystem.deny", "seccomp, capabilities", Place::inside, uncover},
    Check{"filesystem.held_in_place", "filesystem.deny", "mounts on themselves", Place::anywhere, held_in_place},
    Check{"filesystem.read_in_write_grant", "filesystem.write", "read-only mount", Place::anywhere, read_in_write},
    Check{"syscalls.whiteout", "syscalls.filter", "seccomp", Place::anywhere, whiteout},
};

}  // namespace

std::span<const Check> grant_checks() { return kChecks; }

}  // namespace cordon::probe
