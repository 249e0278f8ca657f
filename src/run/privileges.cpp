// SPDX-License-Identifier: Apache-2.0
#include "run/privileges.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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
  // Not 0, which the server would inherit as the most that it may have: only for 1 the kernel starts no handler of core
  // dumps (sandbox/syscalls.cpp). We ourselves are not dumped in any case.
  rlimit core{};
  bool done = ::getrlimit(RLIMIT_CORE, &core) == 0;
  core.rlim_max = std::min<rlim_t>(core.rlim_max, 1);
  core.rlim_cur = core.rlim_max;
  done = done && ::setrlimit(RLIMIT_CORE, &core) == 0;
  if (!done || ::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return fail(Errc::internal, errno_text("PR_SET_DUMPABLE", errno), "process");
  }
  return {};
}

}  // namespace cordon::run
