// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/descriptor_set.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/container_plan.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/stage/container.hpp"
#include "sandbox/stage/kernel.hpp"

namespace cordon::sandbox::stage {
namespace {

// Above every fixed number.
constexpr int kParkingFd = 64;

// Where each one goes, in the order in which they are sent. 2 stays what the engine gave until run_inside.
constexpr std::array<int, 8> kNumbers = {STDIN_FILENO, STDOUT_FILENO, kStatusFd, kLifelineFd,
                                         kPlanFd,      kLeashFd,      kReadyFd,  kErrorFd};

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kNumbers.size());

std::expected<UniqueFd, Failure> plan_in_memory(const Stage& stage) {
  UniqueFd file(::memfd_create("plan", MFD_CLOEXEC));
  const std::string bytes = encode(stage.plan, stage.witness);
  if (!file || ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return failed("memfd");
  }
  return file;
}

[[noreturn]] void give_up(std::string_view what) {
  const std::string line = text::cat("mcp-cordon: ", errno_text(what, errno), "\n");
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(kFailureStatus);
}

}  // namespace

Outcome keep_for_init(Stage& stage) {
  auto plan = plan_in_memory(stage);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  // Programs open /dev/stdin again, which asks for the owner of the pipe.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::geteuid() == 0 && ::fchown(fd, stage.plan.uid, stage.plan.gid) != 0) {
      return failed(text::cat("fchown ", fd));
    }
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, stage.status.get(), stage.lifeline.get(), plan->get(),
                       stage.leash_in.get(), stage.ready_out.get(), STDERR_FILENO}) {
    UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kParkingFd));
    if (!copy) {
      return failed("F_DUPFD");
    }
    stage.for_init.push_back(std::move(copy));
  }
  return {};
}

Outcome send_to_init(const Stage& stage, int socket) {
  std::array<int, kNumbers.size()> list = {};
  std::ranges::transform(stage.for_init, list.begin(), [](const UniqueFd& fd) { return fd.get(); });
  char byte = 'd';
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, kControlBytes> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof list);
  std::memcpy(CMSG_DATA(header), list.data(), sizeof list);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) != 1) {
    return failed("sendmsg");
  }
  return {};
}

void receive_descriptors() {
  const int peer = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::ranges::copy(kContainerSocket, address.sun_path);
  if (peer < 0 || ::connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    give_up("the launcher cannot be reached from the container");
  }
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, kControlBytes> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  std::array<int, kNumbers.size()> list = {};
  if (::recvmsg(peer, &message, MSG_CMSG_CLOEXEC) != 1) {
    give_up("no descriptors from the launcher");
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof list)) {
    give_up("not the launcher's descriptors");
  }
  std::memcpy(list.data(), CMSG_DATA(header), sizeof list);
  // First out of the way of the numbers that they get.
  for (int& fd : list) {
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, kParkingFd);
    if (fd < 0) {
      give_up("F_DUPFD");
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (::dup2(list[i], kNumbers[i]) != kNumbers[i]) {
      give_up("dup2");
    }
  }
  if (kernel::close_range(kErrorFd + 1, ~0U, 0) != 0) {
    give_up("close_range");
  }
}

}  // namespace cordon::sandbox::stage
