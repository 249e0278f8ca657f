// SPDX-License-Identifier: Apache-2.0
// The view: what is outside is not there, places of the system cannot be written, nothing runs from private places.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

// Tries to read a planted file unless the policy itself shows its place.
void read_canary(const Request& request, Result& result, const std::string& path, const char* what) {
  if (path.empty()) {
    result.not_applicable("nothing was planted");
  } else if (request.shown(path)) {
    result.not_applicable("the policy grants the folder that holds the canaries");
  } else {
    result.denied(what, [&] { return read_one(path); });
  }
}

void key(const Request& request, Result& result) { read_canary(request, result, request.one("key"), "read"); }

void client_config(const Request& request, Result& result) {
  read_canary(request, result, request.one("config"), "read");
}

void write_key(const Request& request, Result& result) {
  const std::string& path = request.one("key");
  if (path.empty() || request.shown(path)) {
    result.not_applicable("the policy grants the folder that holds the canaries");
    return;
  }
  result.denied("open for writing", [&] { return open_for_writing(path); });
}

void key_through_proc(const Request& request, Result& result) {
  for (const char* way : {"/proc/1/root", "/proc/1/cwd", "/proc/self/root", "/proc/self/cwd"}) {
    read_canary(request, result, request.one("key").empty() ? std::string() : way + request.one("key"), way);
  }
}

void key_beside_grant(const Request& request, Result& result) {
  const std::string& read = request.one("read");
  if (read.empty() || request.shown(request.one("key"))) {
    result.not_applicable("no grant beside the key");
    return;
  }
  result.denied("..", [&] { return read_one(read + "/../outside/key"); });
  result.denied("symlink in a grant", [&] { return read_one(read + "/link"); });
  result.denied("list", [&] { return count_entries(read + "/../outside") < 0 ? errno : 0; });
}

// Tries each path that the policy does not show.
void unless_shown(const Request& request, Result& result, std::initializer_list<const char*> paths,
                  const std::function<int(const std::string&)>& attempt) {
  result.not_applicable("the policy grants all of these places");
  for (const char* path : paths) {
    if (!request.shown(path) && !request.leads_to_shown(path)) {
      result.denied(path, [&] { return attempt(path); });
    }
  }
}

void machine_secrets(const Request& request, Result& result) {
  unless_shown(request, result,
               {"/etc/shadow", "/etc/ssl/private", "/root/.ssh", "/home/cordon/.ssh/id_ed25519", "/etc/machine-id"},
               [](const std::string& path) { return read_one(path) == 0 || count_entries(path) > 0 ? 0 : ENOENT; });
}

// 0 when there is something in it that can be listed.
int list_folder(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  DIR* folder = ::fdopendir(fd);
  int entries = 0;
  while (folder != nullptr && ::readdir(folder) != nullptr) {
    ++entries;
  }
  if (folder != nullptr) {
    ::closedir(folder);
  } else {
    ::close(fd);
  }
  return entries > 2 ? 0 : ENOENT;
}

void machine_places(const Request& request, Result& result) {
  if (request.has("image")) {
    // An image has folders of these names, too; what is in them must not be the machine's.
    unless_shown(request, result, {"/run/docker.sock", "/var/run/docker.sock", "/run/dbus"},
                 [](const std::string& path) { return result_of(::access(path.c_str(), F_OK)); });
    result.denied("list /sys", [] { return list_folder("/sys"); });
    result.denied("/sys/kernel", [] { return list_folder("/sys/kernel"); });
    return;
  }
  unless_shown(request, result, {"/root", "/sys", "/boot", "/run/docker.sock", "/var/run/docker.sock", "/run/dbus"},
               [](const std::string& path) {
                 const int entries = count_entries(path);  // an empty folder is a cover
                 return entries >= 0 ? (entries > 0 ? 0 : ENOENT) : result_of(::access(path.c_str(), F_OK));
               });
}

void write_system(const Request& request, Result& result) {
  result.not_applicable("the policy grants all of these places");
  for (const char* folder : {"/", "/usr", "/etc", "/dev", "/var/tmp", "/run", "/home", "/proc", "/bin"}) {
    if (!request.writable(folder)) {
      result.denied(folder, [&] { return create((std::string(folder) == "/" ? "" : folder) + std::string("/probe")); });
    }
  }
  if (!request.writable("/etc/passwd")) {
    result.denied("/etc/passwd", [] { return open_for_writing("/etc/passwd"); });
  }
}

// Private places, not those that a grant has taken over.
std::vector<std::string> private_places(const Request& request) {
  std::vector<std::string> places;
  for (const std::string& place : request.all("private")) {
    if (!request.shown(place)) {
      places.push_back(place);
    }
  }
  return places;
}

void write_private(const Request& request, Result& result) {
  for (const std::string& place : private_places(request)) {
    result.allowed(place, [&] { return create(place + "/probe-file"); });
  }
}

// Copies this program to `path` and executes it from there; 0 when it ran. Without arguments it stops at once.
int run_from(const std::string& path) {
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int to = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
  if (from < 0 || to < 0) {
    return errno;
  }
  std::vector<char> buffer(1 << 20);
  ssize_t length = 0;
  while ((length = ::read(from, buffer.data(), buffer.size())) > 0) {
    if (::write(to, buffer.data(), static_cast<std::size_t>(length)) != length) {
      return errno;
    }
  }
  ::close(from);
  ::close(to);
  const int status = in_child([&] {
    const char* argv[] = {"probe", nullptr};
    const char* environment[] = {nullptr};
    ::close(STDOUT_FILENO);
    ::syscall(SYS_execve, path.c_str(), argv, environment);
    return errno;
  });
  ::unlink(path.c_str());
  return status == kNotInside ? 0 : status;
}

void execute_private(const Request& request, Result& result) {
  if (!request.has("landlock")) {
    result.not_applicable("this plan has no Landlock, which alone forbids it");
    return;
  }
  for (const std::string& place : private_places(request)) {
    result.refused(place, "EACCES", [&] { return run_from(place + "/probe-program"); });
  }
}

void nosuid(const Request& request, Result& result) {
  for (const char* place : {"/usr", "/bin", "/tmp"}) {
    struct statvfs status = {};
    // Programs of an image keep their bits; without new privileges these mean nothing.
    if (request.has("image") && std::string_view(place) != "/tmp") {
      continue;
    }
    if (::statvfs(place, &status) == 0) {
      result.equal(place, "nosuid", (status.f_flag & ST_NOSUID) != 0 ? "nosuid" : "suid");
    }
  }
}

void devices(const Request&, Result& result) {
  result.allowed("write /dev/null", [] { return open_for_writing("/dev/null"); });
  result.denied("chmod /dev/null", [] { return result_of(::chmod("/dev/null", 0600)); });
}

constexpr std::array kChecks = {
    Check{"filesystem.key", "filesystem.read", "view", Place::anywhere, key},
    Check{"filesystem.client_config", "filesystem.read", "view", Place::anywhere, client_config},
    Check{"filesystem.key_through_proc", "filesystem.read", "view, /proc", Place::anywhere, key_through_proc},
    Check{"filesystem.key_beside_grant", "filesystem.read", "view", Place::anywhere, key_beside_grant},
    Check{"filesystem.machine_secrets", "filesystem.read", "view", Place::inside, machine_secrets},
    Check{"filesystem.machine_places", "filesystem.read", "view", Place::inside, machine_places},
    Check{"filesystem.write_key", "filesystem.write", "view", Place::anywhere, write_key},
    Check{"filesystem.write_system", "filesystem.write", "read-only mounts", Place::inside, write_system},
    Check{"filesystem.write_private", "filesystem.write", "own tmpfs", Place::inside, write_private},
    Check{"filesystem.execute_private", "filesystem.write", "Landlock", Place::inside, execute_private},
    Check{"filesystem.nosuid", "syscalls.privileges", "mount flags", Place::inside, nosuid},
    Check{"devices.attributes", "devices.listed", "read-only mounts", Place::inside, devices},
};

}  // namespace

std::span<const Check> view_checks() { return kChecks; }

}  // namespace cordon::probe
