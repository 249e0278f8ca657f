// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace cordon::cli {
namespace {

constexpr std::size_t kMaxLine = 4096;

}  // namespace

Result<Terminal> Terminal::open(std::string remedy) {
  UniqueFd fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    return fail(Errc::file_unreadable, errno_text("open", errno), "/dev/tty", std::move(remedy));
  }
  return Terminal(std::move(fd));
}

void Terminal::drop_typed_ahead() const { ::tcflush(fd_.get(), TCIFLUSH); }

void Terminal::show(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;  // the next read tells that the terminal is gone
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<std::string> Terminal::line() {
  std::array<char, 512> buffer{};
  while (true) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string out = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return out;
    }
    const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0 || pending_.size() > kMaxLine) {
      return std::nullopt;
    }
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string new_word() {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz";
  constexpr std::string_view kVowels = "aeiou";
  std::array<unsigned char, 6> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return {};
  }
  std::string word;
  for (std::size_t i = 0; i < random.size(); ++i) {
    const std::string_view letters = i % 2 == 0 ? kConsonants : kVowels;
    word += letters[random[i] % letters.size()];
  }
  return word;
}

}  // namespace cordon::cli
