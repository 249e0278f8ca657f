// SPDX-License-Identifier: Apache-2.0
#include "app/private_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {

Status make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno == ENOENT && path != "/") {
    if (const Status parent = make_private_folder(parent_of(path)); !parent) {
      return parent;
    }
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(Errc::file_unreadable, errno_text("mkdir", errno), path, "make the folder, owned by you");
    }
  } else if (errno != EEXIST && ::access(path.c_str(), F_OK) != 0) {
    return fail(Errc::file_unreadable, errno_text("mkdir", errno), path, "make the folder, owned by you");
  }
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("lstat", errno), path);
  }
  // Parents such as /home belong to others; the walk that opens the folder checks them (run/files).
  if (!S_ISDIR(info.st_mode)) {
    return fail(Errc::file_untrusted, "is no folder", path, "move it away");
  }
  return {};
}

}  // namespace cordon::app
