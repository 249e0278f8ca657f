// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernel interfaces that the C library or the headers of the oldest supported system lack. Names and values are those
// of the kernel's uapi headers; each says since which version.

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace cordon::sandbox::kernel {

inline constexpr unsigned kOpenTreeClone = 1;           // 5.2
inline constexpr unsigned kOpenTreeCloexec = 02000000;  // O_CLOEXEC
inline constexpr unsigned kAtRecursive = 0x8000;        // 5.2
inline constexpr unsigned kAtEmptyPath = 0x1000;
inline constexpr unsigned kMoveFromEmpty = 0x4;  // 5.2
inline constexpr unsigned kMoveToEmpty = 0x40;
inline constexpr std::uint64_t kAttrReadOnly = 0x1;  // 5.12, as all of mount_setattr
inline constexpr std::uint64_t kAttrNoSuid = 0x2;
inline constexpr std::uint64_t kAttrNoDev = 0x4;
inline constexpr std::uint64_t kAttrNoExec = 0x8;
inline constexpr std::uint64_t kAttrIdmap = 0x100000;
inline constexpr std::uint64_t kPropagationPrivate = 1 << 18;

struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t userns_fd = 0;
};

inline int open_tree(int directory, const char* path, unsigned flags) {
  return static_cast<int>(::syscall(428, directory, path, flags));
}
inline int move_mount(int from, int to, const char* to_path, unsigned flags) {
  return static_cast<int>(::syscall(429, from, "", to, to_path, flags | kMoveFromEmpty));
}
inline int fsopen(const char* type) { return static_cast<int>(::syscall(430, type, 1U)); }
inline int fsconfig(int context, unsigned command, const char* key, const char* value) {
  return static_cast<int>(::syscall(431, context, command, key, value, 0));
}
inline constexpr unsigned kConfigSetString = 1;
inline constexpr unsigned kConfigCreate = 6;
inline int fsmount(int context, std::uint64_t attributes) {
  return static_cast<int>(::syscall(432, context, 1U, static_cast<unsigned>(attributes)));
}
inline int close_range(unsigned first, unsigned last, unsigned flags) {
  return static_cast<int>(::syscall(436, first, last, flags));
}
inline constexpr unsigned kCloseRangeCloexec = 4;                                                          // 5.11
inline int pidfd_open(pid_t pid) { return static_cast<int>(::syscall(434, pid, 0U)); }                     // 5.3
inline int pidfd_getfd(int process, int fd) { return static_cast<int>(::syscall(438, process, fd, 0U)); }  // 5.6
inline int openat2(int directory, const char* path, const open_how& how) {
  return static_cast<int>(::syscall(437, directory, path, &how, sizeof how));
}
inline int mount_setattr(int mount, unsigned flags, const MountAttributes& attributes) {
  return static_cast<int>(::syscall(442, mount, "", flags | kAtEmptyPath, &attributes, sizeof attributes));
}

// Landlock: the headers of Debian 12 stop at ABI 2 (6.1), the running kernel may know more.
struct LandlockRuleset {
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;  // ABI 4
  std::uint64_t scoped = 0;       // ABI 6
};
struct [[gnu::packed]] LandlockPath {
  std::uint64_t allowed = 0;
  std::int32_t parent_fd = -1;
};
inline constexpr std::uint64_t kLandlockExecute = 1ULL << 0;
inline constexpr std::uint64_t kLandlockWriteFile = 1ULL << 1;
inline constexpr std::uint64_t kLandlockReadFile = 1ULL << 2;
inline constexpr std::uint64_t kLandlockReadDir = 1ULL << 3;
inline constexpr std::uint64_t kLandlockMakeChar = 1ULL << 6;
inline constexpr std::uint64_t kLandlockMakeBlock = 1ULL << 11;
inline constexpr std::uint64_t kLandlockRefer = 1ULL << 13;        // ABI 2
inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;     // ABI 3
inline constexpr std::uint64_t kLandlockIoctlDevice = 1ULL << 15;  // ABI 5
inline constexpr std::uint64_t kLandlockResolveUnix = 1ULL << 16;  // ABI 9
inline constexpr std::uint64_t kLandlockScopes = 3;                // ABI 6: abstract sockets, signals
inline constexpr std::uint64_t kLandlockScopeAbstract = 1;
inline constexpr std::uint64_t kLandlockTcpBind = 1;
inline constexpr std::uint64_t kLandlockTcp = 3;  // ABI 4: bind, connect

// All file rights of an ABI.
constexpr std::uint64_t landlock_file_rights(int abi) {
  std::uint64_t rights = 0x1fff;
  rights |= abi >= 2 ? kLandlockRefer : 0;
  rights |= abi >= 3 ? kLandlockTruncate : 0;
  rights |= abi >= 5 ? kLandlockIoctlDevice : 0;
  rights |= abi >= 9 ? kLandlockResolveUnix : 0;
  return rights;
}

inline int landlock_create_ruleset(const LandlockRuleset* ruleset, std::size_t size, unsigned flags) {
  return static_cast<int>(::syscall(444, ruleset, size, flags));
}
inline int landlock_add_path(int ruleset, const LandlockPath& path) {
  return static_cast<int>(::syscall(445, ruleset, 1, &path, 0));
}
inline int landlock_restrict_self(int ruleset) { return static_cast<int>(::syscall(446, ruleset, 0)); }

}  // namespace cordon::sandbox::kernel
