// SPDX-License-Identifier: Apache-2.0
// Preloaded into the program under test: its look at the installed files stops before the one whose path ends as
// CORDON_TEST_HOLD_AT says. Into the pipe CORDON_TEST_HOLD/said goes a letter when that is reached ("h"), and when the
// program's first thread begins to wait for another ("w"); it goes on when somebody writes to CORDON_TEST_HOLD/go.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace {

int open_pipe(const char* name, int flags) {
  std::array<char, PATH_MAX> path{};
  (void)std::snprintf(path.data(), path.size(), "%s/%s", ::getenv("CORDON_TEST_HOLD"), name);
  return ::open(path.data(), flags | O_CLOEXEC);
}

void say(char letter) {
  const int pipe = open_pipe("said", O_WRONLY);
  if (::write(pipe, &letter, 1) != 1) {
    ::_exit(99);
  }
  ::close(pipe);
}

void hold_at(const char* path) {
  const char* wanted = ::getenv("CORDON_TEST_HOLD_AT");
  if (wanted == nullptr || ::strlen(path) < ::strlen(wanted) ||
      ::strcmp(path + ::strlen(path) - ::strlen(wanted), wanted) != 0) {
    return;
  }
  say('h');
  char letter = 0;
  const int pipe = open_pipe("go", O_RDONLY);
  if (::read(pipe, &letter, 1) != 1) {
    ::_exit(99);
  }
  ::close(pipe);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// By the names of the C library itself, whichever of them a header means by fstatat.
extern "C" int held_fstatat(int, const char*, void*, int) noexcept __asm__("fstatat");
extern "C" int held_fstatat64(int, const char*, void*, int) noexcept __asm__("fstatat64");

extern "C" int held_fstatat(int folder, const char* path, void* info, int flags) noexcept {
  hold_at(path);
  return next<int (*)(int, const char*, void*, int)>("fstatat")(folder, path, info, flags);
}

extern "C" int held_fstatat64(int folder, const char* path, void* info, int flags) noexcept {
  hold_at(path);
  return next<int (*)(int, const char*, void*, int)>("fstatat64")(folder, path, info, flags);
}

extern "C" int pthread_join(pthread_t thread, void** result) {
  if (::getpid() == ::gettid() && ::getenv("CORDON_TEST_HOLD_AT") != nullptr) {
    say('w');
  }
  return next<int (*)(pthread_t, void**)>("pthread_join")(thread, result);
}
