// SPDX-License-Identifier: Apache-2.0
#include "app/host_home.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "app/paths.hpp"
#include "app/policy_lookup.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

std::string root_folder(const Caller& caller) {
  return caller.environment.contains("XDG_STATE_HOME") ? caller.state_home + "/mcp-cordon-homes"
                                                       : std::string("/var/lib/mcp-cordon");
}

// Others may pass through the folders above, nobody but the account may enter this one.
Result<std::string> make_for_account(const std::string& base, const std::string& path) {
  const std::string parent = parent_of(path);
  for (const std::string& folder : {base, parent}) {
    if (::mkdir(folder.c_str(), 0711) != 0 && errno != EEXIST) {
      return fail(Errc::file_unreadable, errno_text("mkdir", errno), text::printable(folder));
    }
    // Checks the whole way: what is root's alone cannot be replaced below us.
    if (const Result<std::string> trusted = run::ensure_private_folder(folder); !trusted) {
      return trusted;
    }
  }
  struct stat info{};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(Errc::file_unreadable, errno_text("mkdir", errno), text::printable(path));
  }
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(Errc::file_untrusted, "not a folder", text::printable(path), "move it away");
  }
  return resolved(path);
}

}  // namespace

HostHome host_home(const Caller& caller, const std::string& server) {
  if (caller.uid == 0) {
    const std::string base = root_folder(caller);
    return {text::cat(base, "/homes/", server), text::cat(base, "/temporary/", server)};
  }
  return {home_path(caller, server), text::cat(caller.state_folder(), "/temporary/", server)};
}

Result<HostHome> make_host_home(const Caller& caller, const std::string& server) {
  HostHome out = host_home(caller, server);
  for (std::string* path : {&out.home, &out.temporary}) {
    Result<std::string> made =
        caller.uid == 0 ? make_for_account(root_folder(caller), *path) : run::ensure_private_folder(*path);
    if (!made) {
      return std::unexpected(made.error());
    }
    *path = std::move(*made);
  }
  return out;
}

}  // namespace cordon::app
