// SPDX-License-Identifier: Apache-2.0
// The view: what is outside is not there, what is granted is there and no more, nothing set-id comes into being.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "probe.hpp"

namespace cordon::probe {
namespace {

int read_one(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return errno;
  }
  char byte = 0;
  const ssize_t length = ::read(fd, &byte, 1);
  const int error_number = length < 0 ? errno : length == 0 ? ENODATA : 0;
  ::close(fd);
  return error_number;
}

int create(const std::string& path, mode_t mode = 0600) {
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) {
    return errno;
  }
  const int error_number = ::write(fd, "x", 1) == 1 ? 0 : errno;
  ::close(fd);
  return error_number;
}

int open_for_writing(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const int error_number = result_of(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  return error_number;
}

int count_entries(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) {
    return -1;
  }
  int count = 0;
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count - 2;
}

// Copies this program to `to` and executes it from there; 0 when it ran. In a child of a child it is not a child of
// pid 1, so that it stops at its own proof.
int run_copy(int to, const std::string& path) {
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
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
  const int program =
      ::open(path.empty() ? ("/proc/self/fd/" + std::to_string(to)).c_str() : path.c_str(), O_RDONLY | O_CLOEXEC);
  ::close(to);
  const int status = in_child([&] {
    const char* argv[] = {"probe", nullptr};
    const char* environment[] = {nullptr};
    ::close(STDOUT_FILENO);
    ::syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
    return errno;
  });
  ::close(program);
  return status == kNotInside ? 0 : status;
}

int run_from(const std::string& path) {
  return run_copy(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755), path);
}

void check_outside(const Canaries& canaries) {
  const std::string key = canaries.at("key");
  check("read_key", "denied", [&] { return read_one(key); });
  check("read_key_through_init_root", "denied", [&] { return read_one("/proc/1/root" + key); });
  check("read_key_through_init_cwd", "denied", [&] { return read_one("/proc/1/cwd" + key); });
  check("read_key_through_own_root", "denied", [&] { return read_one("/proc/self/root" + key); });
  check("read_key_up_from_grant", "denied", [&] { return read_one(canaries.at("read") + "/../outside/key"); });
  check("read_key_through_symlink_in_grant", "denied", [&] { return read_one(canaries.at("read") + "/link"); });
  check("write_key", "denied", [&] { return open_for_writing(key); });
  compare("neighbours_of_grants", "2", std::to_string(count_entries(canaries.at("read") + "/..")));
  // Below the private /tmp; that nothing came into being outside is seen there.
  check("create_beside_grant", "allowed", [&] { return create(canaries.at("read") + "/../beside"); });
  for (const char* path : {"/root", "/sys", "/boot", "/run/docker.sock", "/var/run/docker.sock", "/run/dbus",
                           "/home/cordon/.ssh/id_ed25519", "/etc/shadow", "/etc/ssl/private", "/etc/machine-id"}) {
    check(std::string("stat_") + path, "denied", [&] { return result_of(::access(path, F_OK)); });
  }
}

void check_grants(const Canaries& canaries) {
  const std::string read = canaries.at("read");
  const std::string write = canaries.at("write");
  check("read_grant", "allowed", [&] { return read_one(read + "/file"); });
  check("write_read_grant", "denied", [&] { return open_for_writing(read + "/file"); });
  check("create_in_read_grant", "denied", [&] { return create(read + "/new"); });
  check("delete_in_read_grant", "denied", [&] { return result_of(::unlink((read + "/file").c_str())); });
  check("chmod_in_read_grant", "denied", [&] { return result_of(::chmod((read + "/file").c_str(), 0777)); });
  check("utime_in_read_grant", "denied",
        [&] { return result_of(::utimensat(AT_FDCWD, (read + "/file").c_str(), nullptr, 0)); });
  check("link_out_of_read_grant", "denied",
        [&] { return result_of(::link((read + "/file").c_str(), (write + "/stolen").c_str())); });
  check("read_write_grant", "allowed", [&] { return read_one(write + "/file"); });
  check("create_in_write_grant", "allowed", [&] { return create(write + "/created"); });
  check("make_folder_in_write_grant", "allowed", [&] { return result_of(::mkdir((write + "/folder").c_str(), 0755)); });
  check("whiteout_in_write_grant", "EPERM", [&] {
    return result_of(
        ::syscall(SYS_renameat2, AT_FDCWD, (write + "/created").c_str(), AT_FDCWD, (write + "/whiteout").c_str(), 4));
  });
  check("move_in_write_grant", "allowed",
        [&] { return result_of(::rename((write + "/created").c_str(), (write + "/folder/moved").c_str())); });
  check("read_masked_file", "denied", [&] { return read_one(read + "/secret.txt"); });
  check("read_in_masked_folder", "denied", [&] { return read_one(read + "/private/file"); });
  compare("entries_of_masked_folder", "0", std::to_string(count_entries(read + "/private")));
  check("read_masked_file_in_write_grant", "denied", [&] { return read_one(write + "/secret.txt"); });
  check("replace_masked_file", "denied", [&] { return result_of(::unlink((write + "/secret.txt").c_str())); });
  check("move_masked_file", "denied",
        [&] { return result_of(::rename((write + "/secret.txt").c_str(), (write + "/moved.txt").c_str())); });
  check("uncover_masked_folder", "denied",
        [&] { return result_of(::umount2((read + "/private").c_str(), MNT_DETACH)); });
}

// Masks and read-only grants below a write grant: no folder above them can be moved, to put a decoy in its place.
void check_nested(const Canaries& canaries) {
  const std::string write = canaries.at("write");
  const std::string deep = write + "/deep";
  for (const std::string& folder : {deep, deep + "/er", deep + "/er/fixed"}) {
    check("move_folder_over_mask_" + folder.substr(write.size()), "EBUSY",
          [&] { return result_of(::rename(folder.c_str(), (write + "/aside").c_str())); });
    check("swap_folder_over_mask_" + folder.substr(write.size()), "denied", [&] {
      ::mkdir((write + "/decoy").c_str(), 0755);
      return result_of(::syscall(SYS_renameat2, AT_FDCWD, (write + "/decoy").c_str(), AT_FDCWD, folder.c_str(), 2));
    });
  }
  check("move_folder_over_mask_within_its_parent", "EBUSY",
        [&] { return result_of(::rename((deep + "/er").c_str(), (deep + "/aside").c_str())); });
  check("read_nested_mask", "denied", [&] { return read_one(deep + "/er/secret.txt"); });
  check("read_nested_grant", "allowed", [&] { return read_one(deep + "/er/fixed/file"); });
  check("write_nested_read_grant", "denied", [&] { return open_for_writing(deep + "/er/fixed/file"); });
  check("create_in_nested_read_grant", "denied", [&] { return create(deep + "/er/fixed/new"); });
  check("create_above_nested_mask", "allowed", [&] { return create(deep + "/er/new"); });
}

void check_writable_places() {
  for (const char* folder : {"/", "/usr", "/etc", "/dev", "/var/tmp", "/run", "/home", "/proc", "/bin"}) {
    check(std::string("create_in_") + folder, "denied", [&] { return create(std::string(folder) + "/probe-file"); });
  }
  for (const char* folder : {"/tmp", "/home/cordon", "/dev/shm"}) {
    check(std::string("create_in_") + folder, "allowed", [&] { return create(std::string(folder) + "/probe-file"); });
  }
  check("write_passwd", "denied", [] { return open_for_writing("/etc/passwd"); });
  check("write_device_null", "allowed", [] { return open_for_writing("/dev/null"); });
  check("chmod_device", "denied", [] { return result_of(::chmod("/dev/null", 0600)); });
  check("execute_from_tmp", "EACCES", [] { return run_from("/tmp/program"); });
  check("execute_from_home", "EACCES", [] { return run_from("/home/cordon/program"); });
  check("execute_from_shared_memory", "EACCES", [] { return run_from("/dev/shm/program"); });
  // Known, and no way out: a program can come out of memory.
  check("execute_from_memfd_known_gap", "allowed", [] { return run_copy(::memfd_create("program", MFD_CLOEXEC), {}); });
  struct statvfs status = {};
  compare("usr_is_nosuid", "yes", ::statvfs("/usr", &status) == 0 && (status.f_flag & ST_NOSUID) != 0 ? "yes" : "no");
}

void check_set_id() {
  const std::string file = "/tmp/set-id";
  check("create_plain_for_set_id", "allowed", [&] { return create(file); });
  check("chmod_setuid", "EPERM", [&] { return result_of(::chmod(file.c_str(), 04755)); });
  check("chmod_setgid", "EPERM", [&] { return result_of(::chmod(file.c_str(), 02755)); });
  check("chmod_plain", "allowed", [&] { return result_of(::chmod(file.c_str(), 0755)); });
  check("chmod_sticky", "allowed", [&] { return result_of(::chmod(file.c_str(), 01755)); });
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  check("fchmod_setuid", "EPERM", [&] { return result_of(::fchmod(fd, 04755)); });
  check("fchmod_setuid_high_bits", "EPERM",
        [&] { return result_of(::syscall(SYS_fchmod, fd, 0x7'0000'0000 | 04755)); });
  ::close(fd);
  check("fchmodat_setuid", "EPERM", [&] { return result_of(::syscall(SYS_fchmodat, AT_FDCWD, file.c_str(), 04755)); });
  check("fchmodat2_setgid", "EPERM", [&] { return result_of(::syscall(452, AT_FDCWD, file.c_str(), 02755, 0)); });
  check("open_setuid", "EPERM", [] { return result_of(::open("/tmp/s1", O_CREAT | O_WRONLY | O_CLOEXEC, 04755)); });
  check("openat_setgid", "EPERM",
        [] { return result_of(::openat(AT_FDCWD, "/tmp/s2", O_CREAT | O_WRONLY | O_CLOEXEC, 02755)); });
  check("open_tmpfile_setuid", "EPERM",
        [] { return result_of(::open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755)); });
  check("open_without_create_ignores_mode", "allowed",
        [&] { return result_of(::syscall(SYS_openat, AT_FDCWD, file.c_str(), O_RDONLY | O_CLOEXEC, 04755)); });
#ifdef SYS_creat
  check("creat_setuid", "EPERM", [] { return result_of(::syscall(SYS_creat, "/tmp/s3", 04755)); });
#endif
  check("openat2", "ENOSYS", [] { return result_of(::syscall(437, AT_FDCWD, "/tmp/s4", nullptr, 0)); });
  check("mknod_setuid", "EPERM", [] { return result_of(::mknod("/tmp/s5", S_IFREG | 04755, 0)); });
  check("mknod_character_device", "EPERM", [] { return result_of(::mknod("/tmp/s6", S_IFCHR | 0666, makedev(1, 3))); });
  check("mknod_block_device", "EPERM", [] { return result_of(::mknod("/tmp/s7", S_IFBLK | 0666, makedev(8, 0))); });
  check("mknod_fifo", "allowed", [] { return result_of(::mknod("/tmp/s8", S_IFIFO | 0600, 0)); });
}

}  // namespace

void check_files(const Canaries& canaries) {
  check_outside(canaries);
  check_grants(canaries);
  check_nested(canaries);
  check_writable_places();
  check_set_id();
}

void check_procfs(const Canaries&) {
  for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
                           "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity"}) {
    check(std::string("write_") + path, "denied", [&] { return open_for_writing(path); });
  }
  for (const char* path : {"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kmsg",
                           "/proc/timer_list", "/proc/config.gz", "/proc/iomem", "/proc/modules", "/proc/1/environ",
                           "/proc/1/mem", "/proc/1/maps", "/proc/1/fd/4", "/proc/1/exe"}) {
    check(std::string("read_") + path, "denied", [&] { return read_one(path); });
  }
  check("write_own_oom_score", "allowed", [] { return open_for_writing("/proc/self/oom_score_adj"); });
}

}  // namespace cordon::probe
