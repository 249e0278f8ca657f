// SPDX-License-Identifier: Apache-2.0
#include "run/privileges.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace cordon::run {

Status ensure_standard_descriptors() {
  for (;;) {
    const int fd = ::open("/dev/null", O_RDWR);  // without O_CLOEXEC: these three are inherited
    if (fd < 0) {
      return fail(Errc::internal, errno_text("open", errno), "/dev/null");
    }
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return {};
    }
  }
}

Status protect_memory() {
  const rlimit none{0, 0};
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::setrlimit(RLIMIT_CORE, &none) != 0) {
    return fail(Errc::internal, errno_text("PR_SET_DUMPABLE", errno), "process");
  }
  return {};
}

}  // namespace cordon::run
