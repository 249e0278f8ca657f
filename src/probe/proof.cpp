// SPDX-License-Identifier: Apache-2.0
#include "probe/proof.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <fstream>
#include <string>
#include <string_view>

namespace cordon::probe {
namespace {

constexpr std::size_t kTokenBytes = 64;
// Our init and this program; wrapping tools add one or two of their own.
constexpr int kFewProcesses = 8;

std::string first_bytes(const std::string& path, int flags = 0) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  std::array<char, 256> buffer = {};
  const ssize_t length = fd < 0 ? -1 : ::read(fd, buffer.data(), buffer.size());
  if (fd >= 0) {
    ::close(fd);
  }
  return length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string();
}

// A launcher that is there writes it and closes.
std::string spoken_token() {
  std::string out;
  std::array<char, kTokenBytes> buffer = {};
  while (out.size() < kTokenBytes) {
    const ssize_t length = ::read(STDIN_FILENO, buffer.data(), kTokenBytes - out.size());
    if (length <= 0) {
      break;
    }
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out;
}

std::string link_text(const std::string& path) {
  std::array<char, 256> buffer = {};
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string();
}

int count_processes() {
  int count = 0;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = folder != nullptr ? ::readdir(folder) : nullptr) {
    count += std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0 ? 1 : 0;
  }
  if (folder != nullptr) {
    ::closedir(folder);
  }
  return count;
}

bool is_other(const Request& request, const char* kind) {
  const std::string& outside = request.one(std::string("outside_") + kind);
  const std::string here = namespace_name(kind);
  return !outside.empty() && !here.empty() && here != outside;
}

// pid 1 is the stage, and there is nothing but it and us.
std::string missing_init(const std::string& expected) {
  const std::string text = first_bytes("/proc/1/cmdline");
  const std::string init = text.substr(0, text.find('\0'));
  // Inside bubblewrap it was started through a descriptor, in a container from its own folder.
  const bool other_name = init == "/proc/self/fd/9" || init == "/.mcp-cordon/stage";
  if (init != expected && !(expected == "mcp-cordon-stage" && other_name)) {
    return "pid 1 is not the stage";
  }
  if (::getppid() != 1 || ::getpid() > 16) {
    return "not a child of pid 1";
  }
  return count_processes() == 2 ? std::string() : "other processes are in view";
}

}  // namespace

std::string namespace_name(const char* kind) { return link_text(std::string("/proc/self/ns/") + kind); }

std::string missing_token(const Request& request) {
  const std::string& token = request.one("token");
  const std::string& marker = request.one("marker");
  if (token.size() != kTokenBytes || marker.empty()) {
    return "no launcher has asked for this";
  }
  // Where nothing of the outside is shown, the launcher can still speak.
  const std::string planted = marker == "-" ? spoken_token() : first_bytes(marker, O_NOFOLLOW);
  return planted == token ? std::string() : "what the launcher has planted is not here";
}

std::string missing_proof(const Request& request) {
  if (!is_other(request, "pid")) {
    return "the pid namespace is the launcher's";
  }
  if (!is_other(request, "mnt")) {
    return "the mount namespace is the launcher's";
  }
  if (link_text("/proc/self") != std::to_string(::getpid())) {
    return "/proc is not that of this pid namespace";
  }
  const int processes = count_processes();
  if (processes < 1 || processes > kFewProcesses) {
    return "other processes are in view";
  }
  if (::geteuid() == 0 && !is_other(request, "user")) {
    return "this is uid 0 of the machine";
  }
  return request.has("init") ? missing_init(request.one("init")) : std::string();
}

std::string other_interfaces(const Request& request) {
  if (!is_other(request, "net")) {
    return "the network namespace is the launcher's";
  }
  // Two lines of headings, then "  lo: …". Not by a socket, which a strict filter refuses.
  std::ifstream list("/proc/self/net/dev");
  std::string others;
  bool any = false;
  for (std::string line; std::getline(list, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find('|') != std::string::npos) {
      continue;
    }
    const std::size_t first = line.find_first_not_of(' ');
    const std::string name = line.substr(first, colon - first);
    any = true;
    if (name != "lo") {
      others += (others.empty() ? "there is another interface than lo: " : ", ") + name;
    }
  }
  return any ? others : "the interfaces cannot be listed";
}

}  // namespace cordon::probe
