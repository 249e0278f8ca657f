// SPDX-License-Identifier: Apache-2.0
#include "app/plain_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace cordon::app {

Result<std::string> read_plain(const std::string& path, std::size_t max_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) {
    return fail(Errc::file_unreadable, errno_text("open", errno), path);
  }
  std::string out;
  std::array<char, 65'536> buffer{};
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(Errc::file_unreadable, errno_text("read", errno), path);
    }
    if (got == 0) {
      return out;
    }
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > max_bytes) {
      return fail(Errc::file_unreadable, text::cat("is longer than ", max_bytes, " bytes"), path);
    }
  }
}

}  // namespace cordon::app
