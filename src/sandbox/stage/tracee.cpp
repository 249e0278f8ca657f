// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/tracee.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/text.hpp"
#include "sandbox/trace.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::uint64_t kPage = 4096;  // at least; smaller steps do no harm

// As much as is there, up to `size`.
std::size_t read_memory(pid_t pid, std::uint64_t address, char* into, std::size_t size) {
  const iovec local = {.iov_base = into, .iov_len = size};
  iovec remote = {.iov_base = nullptr, .iov_len = size};
  std::memcpy(&remote.iov_base, &address, sizeof address);
  const ssize_t length = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

// A text that ends with a zero byte within PATH_MAX, as the kernel takes it.
std::optional<std::string> read_text(pid_t pid, std::uint64_t address) {
  std::array<char, kPage> page = {};
  std::string out;
  while (out.size() < PATH_MAX) {
    // Not beyond a page, where there may be nothing.
    const std::size_t wanted = kPage - address % kPage;
    const std::size_t got = read_memory(pid, address, page.data(), wanted);
    const char* end = std::find(page.data(), page.data() + got, '\0');
    out.append(page.data(), static_cast<std::size_t>(end - page.data()));
    if (end != page.data() + got) {
      return out.size() < PATH_MAX ? std::optional(std::move(out)) : std::nullopt;
    }
    if (got != wanted) {
      return std::nullopt;
    }
    address += got;
  }
  return std::nullopt;
}

std::optional<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0 || target[0] != '/') {
    return std::nullopt;  // gone, not ours to read, or no file ("pipe:[7]")
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<std::string> absolute(pid_t pid, int folder, const std::string& path) {
  if (path.starts_with('/')) {
    return normal_trace_path(path);
  }
  const std::string link =
      folder == AT_FDCWD ? text::cat("/proc/", pid, "/cwd") : text::cat("/proc/", pid, "/fd/", folder);
  const auto base = read_link(link);
  return base ? std::optional(normal_trace_path(text::cat(*base, '/', path))) : std::nullopt;
}

std::string with_port(std::string_view host, std::uint16_t port) { return text::cat(host, ':', ntohs(port)); }

std::optional<std::string> unix_address(pid_t pid, std::string_view name) {
  if (name.empty()) {
    return std::string();
  }
  if (name.front() == '\0') {
    return text::cat("unix:@", name.substr(1));
  }
  const auto path = absolute(pid, AT_FDCWD, std::string(name.substr(0, name.find('\0'))));
  return path ? std::optional(text::cat("unix:", *path)) : std::nullopt;
}

}  // namespace

std::optional<std::string> read_path(pid_t pid, int folder, std::uint64_t address) {
  if (address == 0) {
    return std::string();
  }
  const auto path = read_text(pid, address);
  if (!path || path->empty()) {
    return path;
  }
  return absolute(pid, folder, *path);
}

std::optional<std::string> read_address(pid_t pid, std::uint64_t address, std::uint64_t length) {
  std::array<char, sizeof(sockaddr_un)> bytes = {};
  const std::size_t wanted = std::min<std::uint64_t>(length, bytes.size());
  sa_family_t family = AF_UNSPEC;
  if (address == 0 || wanted < sizeof family) {
    return std::string();
  }
  if (read_memory(pid, address, bytes.data(), wanted) != wanted) {
    return std::nullopt;
  }
  std::memcpy(&family, bytes.data(), sizeof family);
  std::array<char, INET6_ADDRSTRLEN> shown = {};
  if (family == AF_UNIX) {
    return unix_address(pid, std::string_view(bytes.data(), wanted).substr(offsetof(sockaddr_un, sun_path)));
  }
  if (family == AF_INET && wanted >= sizeof(sockaddr_in)) {
    sockaddr_in inet = {};
    std::memcpy(&inet, bytes.data(), sizeof inet);
    ::inet_ntop(AF_INET, &inet.sin_addr, shown.data(), shown.size());
    return with_port(shown.data(), inet.sin_port);
  }
  if (family == AF_INET6 && wanted >= sizeof(sockaddr_in6)) {
    sockaddr_in6 inet = {};
    std::memcpy(&inet, bytes.data(), sizeof inet);
    ::inet_ntop(AF_INET6, &inet.sin6_addr, shown.data(), shown.size());
    return with_port(text::cat('[', shown.data(), ']'), inet.sin6_port);
  }
  return std::string();
}

std::optional<std::string> opened_path(pid_t pid, std::int64_t fd) {
  constexpr std::string_view kDeleted = " (deleted)";
  auto path = read_link(text::cat("/proc/", pid, "/fd/", fd));
  if (path && path->ends_with(kDeleted)) {
    path->resize(path->size() - kDeleted.size());
  }
  return path ? std::optional(normal_trace_path(*path)) : std::nullopt;
}

}  // namespace cordon::sandbox::stage
