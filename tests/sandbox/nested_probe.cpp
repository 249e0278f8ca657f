// SPDX-License-Identifier: Apache-2.0
// A program for a sandbox that allows user namespaces: it makes one, holds every capability in it, and tries what that
// could lift. It prints lines "ID EXPECTED GOT", and does nothing where it is not inside.
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>

namespace {

int result_of(long returned) { return returned < 0 ? errno : 0; }

void check(const std::string& id, const std::string& expected, const std::function<int()>& attempt) {
  const int error_number = attempt();
  std::string got = "allowed";
  if (error_number != 0) {
    const char* name = ::strerrorname_np(error_number);
    got = expected == "denied" ? "denied" : name != nullptr ? name : std::to_string(error_number);
  }
  std::printf("%s %s %s\n", id.c_str(), expected.c_str(), got.c_str());
  std::fflush(stdout);
}

int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

int put(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int error_number = result_of(::write(fd, text.data(), text.size()));
  ::close(fd);
  return error_number;
}

bool has_all_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return ::syscall(SYS_capget, &header, data) == 0 && data[0].effective == 0xffffffff;
}

std::string argument(int argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).rfind(name + "=", 0) == 0) {
      return argv[i] + name.size() + 1;
    }
  }
  return {};
}

void try_the_view(const std::string& key) {
  check("mount_tmpfs", "EPERM", [] { return result_of(::mount("t", "/tmp", "tmpfs", 0, nullptr)); });
  check("mount_proc", "EPERM", [] { return result_of(::mount("p", "/tmp", "proc", 0, nullptr)); });
  check("mount_bind", "EPERM", [] { return result_of(::mount("/usr", "/tmp", nullptr, MS_BIND, nullptr)); });
  check("remount", "EPERM", [] { return result_of(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr)); });
  check("umount", "EPERM", [] { return result_of(::umount2("/proc/sys", MNT_DETACH)); });
  check("pivot_root", "EPERM", [] { return result_of(::syscall(SYS_pivot_root, "/tmp", "/tmp")); });
  for (const long number : {428L, 429L, 430L, 431L, 432L, 433L, 442L}) {
    check("mount_call_" + std::to_string(number), "EPERM",
          [&] { return result_of(::syscall(number, -1, 0, 0, 0, 0)); });
  }
  check("setns", "EPERM", [] { return result_of(::syscall(SYS_setns, -1, 0)); });
  check("open_by_handle_at", "EPERM", [] { return result_of(::syscall(SYS_open_by_handle_at, -1, 0, 0)); });
  check("device_node", "EPERM", [] { return result_of(::mknod("/tmp/sda", S_IFBLK | 0600, 0x800)); });
  check("write_sysctl", "denied", [] { return put("/proc/sys/kernel/core_pattern", "x"); });
  check("write_namespace_count", "denied", [] { return put("/proc/sys/user/max_user_namespaces", "9"); });
  check("read_key", "denied", [&] { return result_of(::open(key.c_str(), O_RDONLY | O_CLOEXEC)); });
  // Out of a chroot, the classic way: as far as our private root, and no further.
  check("escape_chroot", "denied", [&] {
    return in_child([&] {
      ::mkdir("/tmp/jail", 0755);
      const int outside = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (::chroot("/tmp/jail") != 0 || ::fchdir(outside) != 0) {
        return errno;
      }
      for (int i = 0; i < 64; ++i) {
        (void)!::chdir("..");
      }
      (void)!::chroot(".");
      return result_of(::open(key.c_str(), O_RDONLY | O_CLOEXEC));
    });
  });
}

// With CAP_SETFCAP over the owner that the file has here, which may be root outside.
void try_file_capabilities(const std::string& folder) {
  const std::string path = folder + "/program";
  check("make_file", "allowed", [&] {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    ::close(fd);
    return result_of(fd);
  });
  vfs_ns_cap_data capabilities = {};
  capabilities.data[0].permitted = 1U << CAP_SETUID;
  for (const auto& [name, revision, size] : {std::tuple("file_capabilities", VFS_CAP_REVISION_2, XATTR_CAPS_SZ_2),
                                             {"file_capabilities_of_namespace", VFS_CAP_REVISION_3, XATTR_CAPS_SZ_3}}) {
    capabilities.magic_etc = static_cast<__u32>(revision) | VFS_CAP_FLAGS_EFFECTIVE;
    check(name, "denied", [&, bytes = static_cast<size_t>(size)] {
      const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      const bool set = ::setxattr(path.c_str(), "security.capability", &capabilities, bytes, 0) == 0 ||
                       ::lsetxattr(path.c_str(), "security.capability", &capabilities, bytes, 0) == 0 ||
                       ::fsetxattr(fd, "security.capability", &capabilities, bytes, 0) == 0;
      const int error_number = errno;
      ::close(fd);
      return set ? 0 : error_number;
    });
  }
}

void try_namespaces() {
  for (const auto& [name, flag] : {std::pair("mnt", CLONE_NEWNS),
                                   {"ipc", CLONE_NEWIPC},
                                   {"uts", CLONE_NEWUTS},
                                   {"cgroup", 0x02000000},
                                   {"time", 0x80}}) {
    check(std::string("unshare_") + name, "EPERM", [&] { return result_of(::syscall(SYS_unshare, flag)); });
    if (flag != 0x80) {
      check(std::string("clone_") + name, "EPERM", [&] {
        const long pid = ::syscall(SYS_clone, static_cast<unsigned long>(flag) | SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
          ::_exit(0);
        }
        return result_of(pid);
      });
    }
  }
  check("unshare_user_and_mnt", "EPERM",
        [] { return result_of(::syscall(SYS_unshare, 0x1'0000'0000L | CLONE_NEWUSER | CLONE_NEWNS)); });
  check("clone3", "ENOSYS", [] { return result_of(::syscall(435, nullptr, 0)); });
  check("hostname", "EPERM", [] { return result_of(::sethostname("x", 1)); });
}

void try_others(const std::string& pid) {
  check("signal_init", "denied", [] { return result_of(::kill(1, SIGKILL)); });
  check("signal_outside", "denied", [&] { return result_of(::kill(std::atoi(pid.c_str()), 0)); });
  check("trace_init", "EPERM", [] { return result_of(::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr)); });
  check("limits_of_init", "denied", [] {
    const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    return result_of(::prlimit(1, RLIMIT_NPROC, &none, nullptr));
  });
  check("raise_own_limit", "EPERM", [] {
    const rlimit more = {1 << 20, 1 << 20};
    return result_of(::setrlimit(RLIMIT_NPROC, &more));
  });
  check("bpf", "EPERM", [] { return result_of(::syscall(SYS_bpf, -1, 0, 0)); });
  check("keyctl", "EPERM", [] { return result_of(::syscall(SYS_keyctl, -1, 0, 0)); });
  check("perf_event_open", "EPERM", [] { return result_of(::syscall(SYS_perf_event_open, 0, 0, 0, 0, 0)); });
  check("userfaultfd", "EPERM", [] { return result_of(::syscall(SYS_userfaultfd, 0)); });
}

// In a network namespace of its own, over which it has CAP_NET_ADMIN.
void try_network() {
  check("raw_socket", "EPERM", [] { return result_of(::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); });
  check("packet_socket", "EAFNOSUPPORT", [] { return result_of(::socket(AF_PACKET, SOCK_RAW, 0)); });
  check("netfilter_socket", "EAFNOSUPPORT", [] { return result_of(::socket(AF_NETLINK, SOCK_RAW, 12)); });
  for (const auto& [name, family, level, option] : {std::tuple("ip_tables", AF_INET, IPPROTO_IP, 64),
                                                    {"ip_tables_counters", AF_INET, IPPROTO_IP, 65},
                                                    {"ip6_tables", AF_INET6, IPPROTO_IPV6, 64},
                                                    {"arp_tables", AF_INET, IPPROTO_IP, 96},
                                                    {"eb_tables", AF_INET, IPPROTO_IP, 128}}) {
    check(name, "EPERM", [&] {
      const int fd = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      char nothing[4] = {};
      const int error_number = fd < 0 ? 9999 : result_of(::setsockopt(fd, level, option, nothing, sizeof nothing));
      ::close(fd);
      return error_number;
    });
  }
  check("other_option", "allowed", [] {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    return result_of(::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  });
}

void try_many(int limit) {
  check("fork_bomb", "EAGAIN", [&] {
    int started = 0;
    pid_t children[512] = {};
    int error_number = 0;
    while (started < 512 && error_number == 0) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::pause();
        ::_exit(0);
      }
      error_number = child < 0 ? errno : 0;
      children[started] = child;
      started += child > 0 ? 1 : 0;
    }
    for (int i = 0; i < started; ++i) {
      ::kill(children[i], SIGKILL);
      ::waitpid(children[i], nullptr, 0);
    }
    return started < limit ? error_number : 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  // The only interface is lo, and pid 1 is our parent: else this is no sandbox.
  struct if_nameindex* interfaces = ::if_nameindex();
  if (::getppid() != 1 || interfaces == nullptr || interfaces[0].if_index == 0 || interfaces[1].if_index != 0) {
    return 3;
  }
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  check("user_namespace", "allowed", [] { return result_of(::unshare(CLONE_NEWUSER)); });
  check("deny_setgroups", "allowed", [] { return put("/proc/self/setgroups", "deny"); });
  check("map_to_root", "allowed", [&] { return put("/proc/self/uid_map", "0 " + uid + " 1\n"); });
  check("map_to_root_group", "allowed", [&] { return put("/proc/self/gid_map", "0 " + gid + " 1\n"); });
  check("become_root_of_it", "allowed", [] { return ::setresuid(0, 0, 0) == 0 && has_all_capabilities() ? 0 : EPERM; });
  check("net_namespace", "allowed", [] { return result_of(::unshare(CLONE_NEWNET)); });
  try_the_view(argument(argc, argv, "key"));
  try_file_capabilities(argument(argc, argv, "write"));
  try_namespaces();
  try_others(argument(argc, argv, "pid"));
  try_network();
  try_many(std::atoi(argument(argc, argv, "processes").c_str()));
  check("complete", "allowed", [] { return 0; });
  return 0;
}
