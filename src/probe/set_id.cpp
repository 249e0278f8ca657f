// SPDX-License-Identifier: Apache-2.0
// Nothing set-id and no device comes into being. Tried in a folder of the launcher's own.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

// A file to play with; empty when there is no place for it.
class Playground {
 public:
  Playground(const Request& request, Result& result) {
    if (!request.has("write")) {
      result.not_applicable("this plan has no such place of ours");
      return;
    }
    folder_ = request.one("write");
    fd_ = ::open(file().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  }
  ~Playground() {
    if (fd_ >= 0) {
      ::close(fd_);
      ::unlink(file().c_str());
    }
  }
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;

  explicit operator bool() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  std::string file() const { return folder_ + "/set-id"; }
  std::string another() const { return folder_ + "/set-id-2"; }
  const std::string& folder() const { return folder_; }
  // Whatever was made is taken away again.
  int made(long returned) const {
    const int error_number = result_of(returned);
    ::unlink(another().c_str());
    return error_number;
  }
  int opened(int fd) const {
    const int error_number = result_of_open(fd);
    ::unlink(another().c_str());
    return error_number;
  }

 private:
  std::string folder_ = {};
  int fd_ = -1;
};

void change_mode(const Request& request, Result& result) {
  const Playground place(request, result);
  if (!place) {
    return;
  }
  const std::string file = place.file();
  result.refused("chmod setuid", "EPERM", [&] { return result_of(::chmod(file.c_str(), 04755)); });
  result.refused("chmod setgid", "EPERM", [&] { return result_of(::chmod(file.c_str(), 02755)); });
  result.allowed("chmod plain", [&] { return result_of(::chmod(file.c_str(), 0755)); });
  result.allowed("chmod sticky", [&] { return result_of(::chmod(file.c_str(), 01755)); });
  result.refused("fchmod setuid", "EPERM", [&] { return result_of(::fchmod(place.fd(), 04755)); });
  result.refused("fchmod setuid, high bits", "EPERM",
                 [&] { return result_of(::syscall(SYS_fchmod, place.fd(), 0x7'0000'0000 | 04755)); });
  result.refused("fchmodat setuid", "EPERM",
                 [&] { return result_of(::syscall(SYS_fchmodat, AT_FDCWD, file.c_str(), 04755)); });
  result.refused("fchmodat2 setgid", "EPERM",
                 [&] { return result_of(::syscall(452, AT_FDCWD, file.c_str(), 02755, 0)); });
}

void create_set_id(const Request& request, Result& result) {
  const Playground place(request, result);
  if (!place) {
    return;
  }
  const std::string file = place.another();
  result.refused("open setuid", "EPERM",
                 [&] { return place.opened(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 04755)); });
  result.refused("openat setgid", "EPERM",
                 [&] { return place.opened(::openat(AT_FDCWD, file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 02755)); });
  result.refused("O_TMPFILE setuid", "EPERM",
                 [&] { return place.opened(::open(place.folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755)); });
  result.allowed("open without creating ignores the mode", [&] {
    return result_of_open(
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, place.file().c_str(), O_RDONLY | O_CLOEXEC, 04755)));
  });
#ifdef SYS_creat
  result.refused("creat setuid", "EPERM",
                 [&] { return place.opened(static_cast<int>(::syscall(SYS_creat, file.c_str(), 04755))); });
#endif
  result.refused("mknod setuid", "EPERM", [&] { return place.made(::mknod(file.c_str(), S_IFREG | 04755, 0)); });
}

void make_device(const Request& request, Result& result) {
  const Playground place(request, result);
  if (!place) {
    return;
  }
  const std::string file = place.another();
  result.denied("character device", [&] { return place.made(::mknod(file.c_str(), S_IFCHR | 0666, makedev(1, 3))); });
  result.denied("block device", [&] { return place.made(::mknod(file.c_str(), S_IFBLK | 0666, makedev(8, 0))); });
  if (request.calls("strict")) {
    return;
  }
  result.allowed("FIFO", [&] { return place.made(::mknod(file.c_str(), S_IFIFO | 0600, 0)); });
}

void unreadable_arguments(const Request&, Result& result) {
  // Their arguments lie where a filter cannot look.
  result.refused("openat2", "ENOSYS", [] { return result_of(::syscall(437, AT_FDCWD, "/probe", nullptr, 0)); });
  result.refused("clone3", "ENOSYS", [] { return result_of(::syscall(435, nullptr, 0)); });
}

constexpr std::array kChecks = {
    Check{"syscalls.set_id_mode", "syscalls.filter", "seccomp", Place::anywhere, change_mode},
    Check{"syscalls.set_id_create", "syscalls.filter", "seccomp", Place::anywhere, create_set_id},
    Check{"devices.make", "devices.listed", "seccomp, capabilities", Place::inside, make_device},
    Check{"syscalls.unreadable_arguments", "syscalls.filter", "seccomp", Place::anywhere, unreadable_arguments},
};

}  // namespace

std::span<const Check> set_id_checks() { return kChecks; }

}  // namespace cordon::probe
