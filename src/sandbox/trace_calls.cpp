// SPDX-License-Identifier: Apache-2.0
#include "sandbox/trace_calls.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>

#include "sandbox/syscall_filter.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::int8_t kNone = kNoArgument;
constexpr std::uint32_t kEmptyPath = 0x1000;  // AT_EMPTY_PATH

constexpr TracedCall at_cwd(std::string_view name, TraceAccess access, std::int8_t path = 0) {
  return {.name = name, .access = access, .path = path};
}

constexpr TracedCall at_folder(std::string_view name, TraceAccess access, std::int8_t folder = 0) {
  return {.name = name, .access = access, .folder = folder, .path = static_cast<std::int8_t>(folder + 1)};
}

// With a descriptor instead of a path, which is how libc does fstat().
constexpr TracedCall unless_empty(TracedCall call, std::int8_t flags) {
  call.idle_argument = flags;
  call.idle_mask = kEmptyPath;
  call.idle_value = kEmptyPath;
  return call;
}

constexpr TracedCall opens(std::string_view name, std::int8_t folder, std::int8_t path, std::int8_t flags) {
  return {.name = name, .access = TraceAccess::read, .folder = folder, .path = path, .open_flags = flags};
}

constexpr TracedCall two(std::string_view name, bool at) {
  if (at) {
    return {.name = name, .access = TraceAccess::change, .folder = 0, .path = 1, .second_folder = 2, .second_path = 3};
  }
  return {.name = name, .access = TraceAccess::change, .path = 0, .second_path = 1};
}

constexpr TracedCall addressed(std::string_view name, TraceAccess access, std::int8_t address) {
  return {.name = name, .access = access, .address = address};
}

using enum TraceAccess;

constexpr TracedCall kTraced[] = {
    opens("open", kNone, 0, 1),
    opens("openat", 0, 1, 2),
    at_cwd("creat", change),
    at_cwd("stat", look),
    at_cwd("lstat", look),
    unless_empty(at_folder("newfstatat", look), 3),
    unless_empty(at_folder("statx", look), 2),
    at_cwd("access", look),
    at_folder("faccessat", look),
    at_folder("faccessat2", look),
    at_cwd("readlink", look),
    at_folder("readlinkat", look),
    at_cwd("statfs", look),
    at_cwd("chdir", look),
    at_cwd("getxattr", look),
    at_cwd("lgetxattr", look),
    at_cwd("listxattr", look),
    at_cwd("llistxattr", look),
    at_cwd("inotify_add_watch", look, 1),
    at_cwd("execve", execute),
    at_folder("execveat", execute),
    at_cwd("truncate", write),
    at_cwd("chmod", write),
    at_folder("fchmodat", write),
    at_cwd("chown", write),
    at_cwd("lchown", write),
    at_folder("fchownat", write),
    at_cwd("utime", write),
    at_cwd("utimes", write),
    at_folder("futimesat", write),
    at_folder("utimensat", write),
    at_cwd("setxattr", write),
    at_cwd("lsetxattr", write),
    at_cwd("removexattr", write),
    at_cwd("lremovexattr", write),
    at_cwd("mkdir", change),
    at_folder("mkdirat", change),
    at_cwd("rmdir", change),
    at_cwd("unlink", change),
    at_folder("unlinkat", change),
    at_cwd("mknod", change),
    at_folder("mknodat", change),
    at_cwd("symlink", change, 1),
    at_folder("symlinkat", change, 1),
    two("rename", false),
    two("renameat", true),
    two("renameat2", true),
    two("link", false),
    two("linkat", true),
    addressed("connect", connect, 1),
    addressed("bind", bind, 1),
    // send() is sendto() without an address.
    {.name = "sendto", .access = connect, .address = 4, .idle_argument = 4, .idle_mask = 0xffffffff},
};

constexpr sock_filter step(int code, std::uint32_t k, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
  return {static_cast<std::uint16_t>(code), if_true, if_false, k};
}

}  // namespace

std::span<const TracedCall> traced_calls() { return kTraced; }

TraceAccess access_of_open(std::uint64_t flags) {
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    return change;
  }
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0) {
    return write;
  }
  if ((flags & O_PATH) != 0) {
    return look;
  }
  return (flags & O_DIRECTORY) != 0 ? list : read;
}

std::vector<sock_filter> build_trace_filter() {
  std::vector<sock_filter> code = {step(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const TracedCall& call : kTraced) {
    const int number = call_number(call.name);
    if (number < 0) {
      continue;  // another architecture's
    }
    const bool may_be_idle = call.idle_argument != kNone;
    code.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, may_be_idle ? 5 : 1));
    if (may_be_idle) {
      const auto argument = static_cast<std::uint32_t>(call.idle_argument);
      code.push_back(step(BPF_LD | BPF_W | BPF_ABS,
                          static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t))));
      code.push_back(step(BPF_ALU | BPF_AND | BPF_K, call.idle_mask));
      code.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, call.idle_value, 0, 1));
      code.push_back(step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    code.push_back(step(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

}  // namespace cordon::sandbox
