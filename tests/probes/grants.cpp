// SPDX-License-Identifier: Apache-2.0
// What grants must not hand over: what steers other programs below a write grant, and sockets of the outside.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "probe.hpp"

namespace cordon::probe {
namespace {

// Opens, and uses what was opened for a byte where that is asked for; the errno of what failed.
int try_open(const std::string& path, int flags, bool write_byte = false) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0755);
  int error_number = result_of(fd);
  if (error_number == 0 && write_byte) {
    error_number = ::write(fd, "x", 1) == 1 ? 0 : errno;
  }
  if (fd >= 0) {
    ::close(fd);
  }
  return error_number;
}

int move(const std::string& from, const std::string& to) { return result_of(::rename(from.c_str(), to.c_str())); }
int swap_with(const std::string& from, const std::string& to) {
  constexpr unsigned kExchange = 2;
  return result_of(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), kExchange));
}
int remove_at(const std::string& path, bool folder) {
  return result_of(folder ? ::rmdir(path.c_str()) : ::unlink(path.c_str()));
}

// Nothing that could take the place of `path`, or take it away, works. `decoy` is something of the same kind.
void check_place(const std::string& id, const std::string& path, const std::string& decoy, bool folder) {
  check("remove_" + id, "denied", [&] { return remove_at(path, folder); });
  check("move_away_" + id, "denied", [&] { return move(path, path + "-aside"); });
  check("move_over_" + id, "denied", [&] { return move(decoy, path); });
  check("swap_" + id, "denied", [&] { return swap_with(decoy, path); });
  check("link_over_" + id, "denied", [&] { return result_of(::symlink("/etc/passwd", path.c_str())); });
  check("chmod_" + id, "denied", [&] { return result_of(::chmod(path.c_str(), 0777)); });
}

void check_covered_file(const std::string& id, const std::string& path, const std::string& decoy) {
  check("read_covered_" + id, "allowed", [&] { return try_open(path, O_RDONLY); });
  check("write_covered_" + id, "denied", [&] { return try_open(path, O_WRONLY); });
  check("truncate_covered_" + id, "denied", [&] { return result_of(::truncate(path.c_str(), 0)); });
  check("link_out_covered_" + id, "denied", [&] { return result_of(::link(path.c_str(), (decoy + "-link").c_str())); });
  check_place("covered_" + id, path, decoy, false);
}

void check_covered_folder(const std::string& id, const std::string& path, const std::string& decoy) {
  check("create_in_covered_" + id, "denied", [&] { return try_open(path + "/new", O_CREAT | O_EXCL | O_WRONLY); });
  check("make_folder_in_covered_" + id, "denied", [&] { return result_of(::mkdir((path + "/new").c_str(), 0755)); });
  check("move_into_covered_" + id, "denied", [&] { return move(decoy + "-file", path + "/new"); });
  check_place("covered_" + id, path, decoy, true);
}

// Absent outside: can neither be made nor used.
void check_absent(const std::string& id, const std::string& path, const std::string& decoy) {
  check("create_absent_" + id, "denied", [&] { return try_open(path, O_CREAT | O_WRONLY); });
  check("make_absent_" + id, "denied", [&] { return result_of(::mkdir(path.c_str(), 0755)); });
  check("move_file_over_absent_" + id, "denied", [&] { return move(decoy + "-file", path); });
  check_covered_folder("absent_" + id, path, decoy);
}

void check_covers(const std::string& write) {
  const std::string decoy = write + "/decoy-folder";
  const std::string file = decoy + "-file";
  ::mkdir(decoy.c_str(), 0755);
  check("create_decoy", "allowed", [&] { return try_open(file, O_CREAT | O_EXCL | O_WRONLY); });
  check_covered_file("settings", write + "/.vscode/settings.json", file);
  check_covered_folder("vscode", write + "/.vscode", decoy);
  check_covered_file("instructions", write + "/AGENTS.md", file);
  for (const char* name : {".cursor", ".claude", ".mcp.json", ".envrc", ".git"}) {
    check_absent(name, write + "/" + name, decoy);
  }
  // The named way around.
  check("create_in_granted_editor_folder", "allowed",
        [&] { return try_open(write + "/.zed/new", O_CREAT | O_EXCL | O_WRONLY); });
}

void check_repository(const std::string& write) {
  const std::string nested = write + "/a/nested";
  const std::string git = nested + "/.git";
  const std::string decoy = write + "/decoy-folder";
  const std::string file = decoy + "-file";
  check_covered_folder("hooks", git + "/hooks", decoy);
  check_covered_file("hook", git + "/hooks/pre-commit", file);
  check_covered_file("git_config", git + "/config", file);
  check("rename_over_git_config", "denied", [&] {
    const int error_number = try_open(git + "/config.lock", O_CREAT | O_EXCL | O_WRONLY);
    return error_number != 0 ? 0 : move(git + "/config.lock", git + "/config");
  });
  check_place("commondir", git + "/commondir", file, false);
  check("write_commondir", "denied", [&] { return try_open(git + "/commondir", O_WRONLY); });
  check("lock_commondir", "denied", [&] {
    const int fd = ::open((git + "/commondir").c_str(), O_RDONLY | O_CLOEXEC);
    struct flock request = {};
    request.l_type = F_WRLCK;
    request.l_whence = SEEK_SET;
    const int error_number = result_of(::fcntl(fd, F_OFD_SETLK, &request));
    ::close(fd);
    return error_number;
  });
  check("write_index", "allowed", [&] { return try_open(git + "/index", O_CREAT | O_EXCL | O_WRONLY, true); });
  for (const std::string& folder : {git, nested, write + "/a"}) {
    check("move_above_hooks_" + folder.substr(write.size()), "EBUSY", [&] { return move(folder, folder + "-aside"); });
    check("swap_above_hooks_" + folder.substr(write.size()), "denied", [&] { return swap_with(decoy, folder); });
  }
  check_absent("nested_vscode", nested + "/.vscode", decoy);
  check_absent("hooks_of_other", write + "/other/.git/hooks", decoy);
  // A linked working folder, and what its git folder says about where config and hooks are.
  check_covered_file("git_file", write + "/linked/.git", file);
  check_covered_file("worktree_commondir", git + "/worktrees/linked/commondir", file);
}

int connect_to(const std::string& path, int type) {
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return errno;
  }
  sockaddr_un target = {};
  target.sun_family = AF_UNIX;
  std::memcpy(target.sun_path, path.data(), path.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int error_number = result_of(::connect(fd, reinterpret_cast<sockaddr*>(&target), length));
  ::close(fd);
  return error_number;
}

void check_sockets(const std::string& folder, const std::string& id) {
  check("connect_in_" + id, "denied", [&] { return connect_to(folder + "/socket", SOCK_STREAM); });
  check("connect_datagram_in_" + id, "denied", [&] { return connect_to(folder + "/datagram", SOCK_DGRAM); });
}

}  // namespace

bool check_only_listed_sockets(const Canaries& canaries) {
  const auto listed = canaries.find("listed");
  if (listed == canaries.end()) {
    return false;
  }
  check("connect_listed", "allowed", [&] { return connect_to(listed->second, SOCK_STREAM); });
  check("connect_not_listed", "denied", [&] { return connect_to(canaries.at("unlisted"), SOCK_STREAM); });
  check("replace_listed", "denied", [&] { return remove_at(listed->second, false); });
  compare("complete", "yes", "yes");
  return true;
}

void check_what_grants_reach(const Canaries& canaries) {
  const std::string write = canaries.at("write");
  check_covers(write);
  check_repository(write);
  check_sockets(canaries.at("read"), "read_grant");
  check_sockets(write, "write_grant");
  check_sockets(canaries.at("apart"), "read_grant_apart");
  int pair[2] = {-1, -1};
  check("socket_pair", "allowed",
        [&] { return result_of(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)); });
  ::close(pair[0]);
  ::close(pair[1]);
  // Somebody reads them. Where the grant shows in a writable place, Landlock does not tell it from that.
  check("read_fifo", "allowed", [&] { return try_open(canaries.at("apart") + "/fifo", O_RDONLY); });
  check("write_fifo_in_read_grant", "denied", [&] { return try_open(canaries.at("apart") + "/fifo", O_WRONLY, true); });
  check("write_fifo_below_tmp_known_gap", "allowed",
        [&] { return try_open(canaries.at("read") + "/fifo", O_WRONLY, true); });
}

}  // namespace cordon::probe
