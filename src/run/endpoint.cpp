// SPDX-License-Identifier: Apache-2.0
#include "run/endpoint.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace cordon::run {
namespace {

Transfer outcome(ssize_t count) {
  if (count >= 0) {
    return {Transfer::Kind::done, static_cast<std::size_t>(count), 0};
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {Transfer::Kind::again, 0, 0};
  }
  return {Transfer::Kind::broken, 0, errno};
}

bool hung_up(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

// A second description of the same pipe or terminal, or none where that is impossible or means something else.
UniqueFd reopen(int fd, const struct stat& info, int access) {
  unsigned number = 0;
  const bool terminal = S_ISCHR(info.st_mode) && ::isatty(fd) == 1 && ::ioctl(fd, TIOCGPTN, &number) != 0;
  if (!S_ISFIFO(info.st_mode) && !terminal) {
    return {};  // opening a device again, such as /dev/ptmx, may make a new one
  }
  const std::string path = text::cat("/proc/self/fd/", fd);
  UniqueFd again(::open(path.c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat same{};
  if (!again || ::fstat(again.get(), &same) != 0 || same.st_ino != info.st_ino || same.st_dev != info.st_dev) {
    return {};
  }
  // A named pipe without a writer at the moment of opening never reports its end to a new description (fifo(7)).
  if (access == O_RDONLY && hung_up(fd)) {
    return {};
  }
  return again;
}

}  // namespace

Result<Endpoint> Endpoint::own(UniqueFd fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(Errc::internal, errno_text("fcntl", errno), "pipe");
  }
  Endpoint out;
  out.own_ = std::move(fd);
  out.way_ = Way::nonblocking;
  return out;
}

Endpoint Endpoint::shared(int fd, Direction direction) {
  Endpoint out;
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return out;
  }
  out.borrowed_ = fd;
  if (S_ISSOCK(info.st_mode)) {
    out.way_ = Way::socket;
  } else if (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode)) {
    out.way_ = Way::file;
  } else if (UniqueFd again = reopen(fd, info, direction == Direction::read ? O_RDONLY : O_WRONLY)) {
    out.own_ = std::move(again);
    out.way_ = Way::nonblocking;
  } else {
    out.way_ = Way::guarded;
  }
  return out;
}

bool Endpoint::ready(short events) const {
  pollfd entry{borrowed_, events, 0};
  return ::poll(&entry, 1, 0) == 1;
}

Transfer Endpoint::read(std::span<char> into) const {
  Transfer result;
  switch (way_) {
    case Way::closed:
      return {Transfer::Kind::end, 0, 0};
    case Way::socket:
      result = outcome(::recv(borrowed_, into.data(), into.size(), MSG_DONTWAIT));
      break;
    case Way::guarded:
      if (!ready(POLLIN)) {
        return {Transfer::Kind::again, 0, 0};
      }
      result = outcome(::read(borrowed_, into.data(), into.size()));
      break;
    case Way::nonblocking:
    case Way::file:
      result = outcome(::read(fd(), into.data(), into.size()));
      break;
  }
  if (result.kind == Transfer::Kind::done && result.bytes == 0) {
    result.kind = Transfer::Kind::end;
  }
  return result;
}

Transfer Endpoint::write(std::string_view bytes) const {
  // writev(2) does not write through iov_base.
  const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  return write(std::span(&piece, 1));
}

Transfer Endpoint::write(std::span<const iovec> pieces) const {
  const int count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
  switch (way_) {
    case Way::closed:
      return {Transfer::Kind::broken, 0, EBADF};
    case Way::socket: {
      msghdr message{};
      // sendmsg(2) does not change the pieces.
      message.msg_iov = const_cast<iovec*>(pieces.data());
      message.msg_iovlen = static_cast<std::size_t>(count);
      return outcome(::sendmsg(borrowed_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
    }
    case Way::guarded:
      // A pipe that polls as writable has room for PIPE_BUF bytes, so this much does not block.
      if (!ready(POLLOUT)) {
        return {Transfer::Kind::again, 0, 0};
      }
      return outcome(
          ::write(borrowed_, pieces.front().iov_base, std::min<std::size_t>(pieces.front().iov_len, PIPE_BUF)));
    case Way::nonblocking:
    case Way::file:
      return outcome(count == 1 ? ::write(fd(), pieces.front().iov_base, pieces.front().iov_len)
                                : ::writev(fd(), pieces.data(), count));
  }
  CORDON_ASSERT(false);
}

}  // namespace cordon::run
