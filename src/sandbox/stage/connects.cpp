// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/connects.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::size_t kMostWorkers = 128;  // connects that wait at the same time

// One question of the kernel's, and the answer to it.
class Question {
 public:
  explicit Question(int listener) : listener_(listener) {
    seccomp_notif_sizes sizes = {};
    if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) {
      return;
    }
    in_.resize(std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
    out_.resize(std::max<std::size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
    asked_ = ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, in_.data()) == 0;
    std::memcpy(&request_, in_.data(), sizeof request_);
  }
  bool asked() const { return asked_; }
  pid_t who() const { return static_cast<pid_t>(request_.pid); }
  std::uint64_t argument(int index) const { return request_.data.args[index]; }
  // False when whoever asked is gone, so that its number may be somebody else's by now.
  bool stands() const { return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &request_.id) == 0; }
  void answer(int error_number) {
    seccomp_notif_resp response = {};
    response.id = request_.id;
    response.error = -error_number;
    std::memcpy(out_.data(), &response, sizeof response);
    (void)::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, out_.data());  // it may be gone
  }

 private:
  int listener_;
  bool asked_ = false;
  seccomp_notif request_ = {};
  std::vector<std::byte> in_ = {};
  std::vector<std::byte> out_ = {};
};

// /proc/self is whoever looks: the path is followed by another one.
std::string as_seen_by(pid_t thread, pid_t process, std::string path) {
  constexpr std::string_view kSelf = "/proc/self/";
  constexpr std::string_view kThread = "/proc/thread-self/";
  if (path.starts_with(kSelf)) {
    return text::cat("/proc/", process, "/", path.substr(kSelf.size()));
  }
  if (path.starts_with(kThread)) {
    return text::cat("/proc/", process, "/task/", thread, "/", path.substr(kThread.size()));
  }
  return path;
}

// The process that a thread belongs to, as pidfd_open wants it.
pid_t process_of(pid_t thread) {
  const UniqueFd file(::open(text::cat("/proc/", thread, "/status").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer = {};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size() - 1) : -1;
  const char* line = length > 0 ? std::strstr(buffer.data(), "\nTgid:\t") : nullptr;
  return line == nullptr ? -1 : static_cast<pid_t>(std::strtol(line + 7, nullptr, 10));
}

std::optional<std::uint64_t> mount_of(int folder, const char* path, int flags) {
  struct statx status = {};
  if (::statx(folder, path, flags, STATX_MNT_ID, &status) != 0 || (status.stx_mask & STATX_MNT_ID) == 0) {
    return std::nullopt;
  }
  return status.stx_mnt_id;
}

std::uint64_t mount_namespace(const std::string& process) {
  struct stat status = {};
  return ::stat(text::cat("/proc/", process, "/ns/mnt").c_str(), &status) == 0 ? status.st_ino : 0;
}

struct Call {
  UniqueFd socket = {};
  UniqueFd folder = {};  // the working folder of whoever asked
  pid_t process = -1;
  sockaddr_storage address = {};
  socklen_t length = 0;
  std::uint64_t its_namespace = 0;
  bool same_root = false;

  bool is_unix() const { return length >= sizeof(sa_family_t) && address.ss_family == AF_UNIX; }
  // Empty: an abstract name, or none.
  std::string path() const {
    const char* begin = reinterpret_cast<const char*>(&address) + offsetof(sockaddr_un, sun_path);
    const std::size_t room = length > offsetof(sockaddr_un, sun_path) ? length - offsetof(sockaddr_un, sun_path) : 0;
    return {begin, ::strnlen(begin, room)};
  }
};

// What the call is about, read once. An errno: the answer.
int read_call(const Question& question, Call& call) {
  if (question.argument(2) >= sizeof call.address) {
    return static_cast<unsigned>(question.argument(2)) == kImpossibleLength ? kImpossibleAnswer : EINVAL;
  }
  call.length = static_cast<socklen_t>(question.argument(2));
  iovec here = {&call.address, call.length};
  iovec there = {reinterpret_cast<void*>(question.argument(1)), call.length};
  if (call.length > 0 &&
      ::process_vm_readv(question.who(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(call.length)) {
    return errno == EFAULT ? EFAULT : EACCES;
  }
  call.process = process_of(question.who());
  const UniqueFd process(kernel::pidfd_open(call.process));
  call.socket = UniqueFd(process ? kernel::pidfd_getfd(process.get(), static_cast<int>(question.argument(0))) : -1);
  if (!call.socket) {
    return errno == EBADF ? EBADF : EACCES;  // one that has made itself unreadable connects to nothing
  }
  if (call.is_unix()) {
    const std::string its = std::to_string(question.who());
    call.folder = UniqueFd(::open(text::cat("/proc/", its, "/cwd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    call.its_namespace = mount_namespace(its);
    struct stat root = {};
    struct stat ours = {};
    const auto its_mount = mount_of(AT_FDCWD, text::cat("/proc/", its, "/root").c_str(), 0);
    call.same_root = ::stat(text::cat("/proc/", its, "/root").c_str(), &root) == 0 && ::stat("/", &ours) == 0 &&
                     root.st_dev == ours.st_dev && root.st_ino == ours.st_ino && its_mount &&
                     its_mount == mount_of(AT_FDCWD, "/", 0);
  }
  return 0;
}

int connect_raw(const Call& call) {
  const int done = ::connect(call.socket.get(), reinterpret_cast<const sockaddr*>(&call.address), call.length);
  return done == 0 ? 0 : errno;
}

int connect_to(const Call& call, int place) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = text::cat("/proc/self/fd/", place);
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(call.socket.get(), generic, sizeof address) == 0 ? 0 : errno;
}

bool waits(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  return flags < 0 || (flags & O_NONBLOCK) == 0;
}

std::optional<UniqueFd> receive_descriptor(int from) {
  std::byte byte = {};
  iovec part = {&byte, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1) {
    return std::nullopt;
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
    return std::nullopt;
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace

Outcome open_asking(Stage& stage) {
  if (stage.plan.unix_sockets != UnixSockets::supervised || !stage.plan.syscall_filter) {
    return {};
  }
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return failed("socketpair");
  }
  stage.asking_in = UniqueFd(ends[0]);
  stage.asking_out = UniqueFd(ends[1]);
  return {};
}

Outcome hand_over_listener(Stage& stage, UniqueFd listener) {
  std::byte byte = {};
  iovec part = {&byte, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = listener.get();
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (::sendmsg(stage.asking_out.get(), &message, MSG_NOSIGNAL) != 1) {
    return failed("hand the filter's listener to init");
  }
  stage.asking_out.reset();
  return {};
}

Connects::Connects(Stage& stage) : asking_(std::move(stage.asking_in)) {
  stage.asking_out.reset();
  if (!asking_) {
    return;
  }
  own_namespace_ = mount_namespace("self");
  const std::vector<ViewEntry>& view = stage.plan.view;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool own = view[i].kind == EntryKind::tmpfs ||
                     (view[i].kind == EntryKind::bind && view[i].target == kHomeInside && !view[i].grant);
    const auto same_place = [&](const ViewEntry& later) { return later.target == view[i].target; };
    if (!own || std::any_of(view.begin() + static_cast<std::ptrdiff_t>(i) + 1, view.end(), same_place)) {
      continue;
    }
    if (const auto mount = mount_of(AT_FDCWD, view[i].target.c_str(), AT_SYMLINK_NOFOLLOW)) {
      own_mounts_.push_back(*mount);
    }
  }
}

std::array<pollfd, 2> Connects::watched() const {
  return {
      {{.fd = asking_.get(), .events = POLLIN, .revents = 0}, {.fd = listener_.get(), .events = POLLIN, .revents = 0}}};
}

void Connects::serve(const std::array<pollfd, 2>& ready) {
  if (ready[0].revents != 0) {
    if (auto listener = receive_descriptor(asking_.get())) {
      listener_ = std::move(*listener);
    }
    asking_.reset();
  }
  if ((ready[1].revents & POLLIN) != 0) {
    answer_next();
  } else if (ready[1].revents != 0) {
    listener_.reset();  // nobody is left who could ask
  }
}

bool Connects::may_reach(int place) const {
  const auto mount = mount_of(place, "", AT_EMPTY_PATH);
  return mount && std::ranges::find(own_mounts_, *mount) != own_mounts_.end();
}

// What the path leads to, if it may be reached. An errno.
int Connects::place_of_socket(int folder, const std::string& path, UniqueFd& place) const {
  place = UniqueFd(::openat(folder, path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) {
    return errno;
  }
  return may_reach(place.get()) ? 0 : ECONNREFUSED;
}

void Connects::answer_next() {
  Question question(listener_.get());
  if (!question.asked()) {
    return;
  }
  Call call;
  const int unreadable = read_call(question, call);
  if (!question.stands()) {
    return;
  }
  if (unreadable != 0) {
    question.answer(unreadable);
    return;
  }
  const std::string path = call.is_unix() ? as_seen_by(question.who(), call.process, call.path()) : std::string();
  // In another view the same name is something else.
  if (!path.empty() &&
      (!call.same_root || !call.folder || call.its_namespace != own_namespace_ || own_namespace_ == 0)) {
    question.answer(ECONNREFUSED);
    return;
  }
  if (path.empty() && !waits(call.socket.get())) {
    question.answer(connect_raw(call));
    return;
  }
  // Another process, since it may take its time, and so may the search for a path.
  const pid_t worker = workers_.size() < kMostWorkers ? ::fork() : -1;
  if (worker < 0) {
    question.answer(EAGAIN);
  } else if (worker == 0) {
    UniqueFd place;
    const int refused = path.empty() ? 0 : place_of_socket(call.folder.get(), path, place);
    question.answer(refused != 0 ? refused : path.empty() ? connect_raw(call) : connect_to(call, place.get()));
    ::_exit(0);
  } else {
    workers_.insert(worker);
  }
}

}  // namespace cordon::sandbox::stage
