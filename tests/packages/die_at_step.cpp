// SPDX-License-Identifier: Apache-2.0
// Preloaded into the program under test: from the moment that it writes down what will change together, it is killed at
// the step that CORDON_TEST_DIE_AT counts to. A step is a file that takes its place, or goes.
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace {

bool is_pending(int folder) {
  std::array<char, 64> link{};
  std::array<char, PATH_MAX> target{};
  (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", folder);
  const ssize_t length = ::readlink(link.data(), target.data(), target.size() - 1);
  return length > 0 && ::strstr(target.data(), "/mcp-cordon/pending") != nullptr;
}

void step(bool begins) {
  static bool counting = false;
  static int at = 0;
  const char* wanted = ::getenv("CORDON_TEST_DIE_AT");
  counting = counting || begins;
  if (wanted != nullptr && counting && at++ == ::atoi(wanted)) {
    ::raise(SIGKILL);
  }
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  step(is_pending(to_folder));
  return next<int (*)(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

extern "C" int unlink(const char* path) noexcept {
  step(false);
  return next<int (*)(const char*)>("unlink")(path);
}
