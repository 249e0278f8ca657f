// SPDX-License-Identifier: Apache-2.0
#include "app/log_lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace cordon::app {

Status each_log_line(int fd, const std::string& path, const std::function<void(std::string_view)>& take) {
  // Longer lines are not written by us; what was read of one is taken for it, and the rest left.
  constexpr std::size_t kMaxLine = 64'000'000;
  std::string pending;
  std::array<char, 65'536> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(Errc::file_unreadable, errno_text("read", errno), path);
    }
    pending.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
      take(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
    if (got == 0 || pending.size() > kMaxLine) {
      break;
    }
  }
  if (!pending.empty()) {
    take(pending);
  }
  return {};
}

}  // namespace cordon::app
