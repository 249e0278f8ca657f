// SPDX-License-Identifier: Apache-2.0
#include "sandbox/boundary/canaries.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/text.hpp"

namespace cordon::sandbox::boundary {
namespace {

constexpr std::string_view kPrefix = "mcp-cordon-probe-";
constexpr int kLeakedFd = 200;
constexpr std::time_t kStillStartingSeconds = 60;

std::unexpected<Error> failed(std::string_view what) {
  return fail(Errc::launch_failed, errno_text(what, errno), "probe");
}

Result<std::string> random_hex(std::size_t bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 64> random = {};
  CORDON_ASSERT(bytes <= random.size());
  if (::getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
    return failed("getrandom");
  }
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) {
    out += kDigits[random[i] >> 4U];
    out += kDigits[random[i] & 15U];
  }
  return out;
}

Result<UniqueFd> bound_unix(const std::string& name, int type) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  CORDON_ASSERT(name.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      (type == SOCK_STREAM && ::listen(fd.get(), 4) != 0)) {
    return failed("unix socket");
  }
  return fd;
}

// Held by a living process, or just being made by one.
bool is_in_use(int folder) {
  const UniqueFd lock(::openat(folder, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (lock) {
    return ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
  }
  struct stat status = {};
  return ::fstat(folder, &status) != 0 || status.st_mtime + kStillStartingSeconds > std::time(nullptr);
}

}  // namespace

void remove_abandoned_canaries(const std::string& parent) {
  std::vector<std::string> found;
  DIR* folder = ::opendir(parent.c_str());
  while (const dirent* entry = folder != nullptr ? ::readdir(folder) : nullptr) {
    if (std::string_view(entry->d_name).starts_with(kPrefix)) {
      found.push_back(text::cat(parent, "/", entry->d_name));
    }
  }
  if (folder != nullptr) {
    ::closedir(folder);
  }
  for (const std::string& path : found) {
    const UniqueFd one(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status = {};
    const bool ours = one && ::fstat(one.get(), &status) == 0 && status.st_uid == ::geteuid();
    if (ours && !is_in_use(one.get())) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);  // follows no symlink
    }
  }
}

Result<std::unique_ptr<Canaries>> Canaries::plant(const std::string& parent, const std::string& probe, Parts parts) {
  remove_abandoned_canaries(parent);
  std::unique_ptr<Canaries> out(new Canaries());
  struct stat status = {};
  if (::lstat(probe.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(Errc::file_unreadable, errno_text("the probe program is missing", errno), text::printable(probe),
                "reinstall mcp-cordon");
  }
  out->probe_ = probe;
  out->probe_identity_ = {status.st_dev, status.st_ino};
  if (Status done = out->plant_folder(parent); !done) {
    return std::unexpected(done.error());
  }
  std::vector<Status (Canaries::*)()> steps = {&Canaries::plant_files, &Canaries::plant_steering,
                                               &Canaries::plant_sockets};
  if (parts == Parts::all) {
    steps.insert(steps.end(), {&Canaries::plant_process, &Canaries::plant_in_us});
  }
  for (const auto step : steps) {
    if (Status done = (out.get()->*step)(); !done) {
      return std::unexpected(done.error());
    }
  }
  return out;
}

// Readable by others, because a server that root starts is another account; the parent keeps others of the machine out.
Status Canaries::plant_folder(const std::string& parent) {
  std::string pattern = text::cat(parent, "/", kPrefix, "XXXXXX");
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Errc::file_unreadable, errno_text("mkdtemp", errno), text::printable(pattern));
  }
  folder_ = pattern;
  root_ = UniqueFd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root_ || ::fchmod(root_.get(), 0755) != 0) {
    return failed(folder_);
  }
  lock_ = UniqueFd(::openat(root_.get(), "lock", O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return failed("lock");
  }
  for (std::string* random : {&secret_, &token_, &abstract_}) {
    Result<std::string> hex = random_hex(random == &abstract_ ? 8 : 32);
    if (!hex) {
      return std::unexpected(hex.error());
    }
    *random = std::move(*hex);
  }
  secret_ = text::cat("canary-", secret_);
  abstract_ = text::cat("mcp-cordon-canary-", abstract_);
  return {};
}

Status Canaries::plant_sockets() {
  // Through the descriptor of the folder: a whole path may be longer than an address can hold.
  const std::string folder = text::cat("/proc/self/fd/", root_.get());
  Result<UniqueFd> abstract = bound_unix(std::string(1, '\0') + abstract_, SOCK_STREAM);
  if (!abstract) {
    return std::unexpected(abstract.error());
  }
  sockets_.push_back(std::move(*abstract));
  for (const auto& [name, type] : {std::pair("outside/socket", SOCK_STREAM),
                                   {"read/socket", SOCK_STREAM},
                                   {"write/socket", SOCK_STREAM},
                                   {"read/datagram", SOCK_DGRAM},
                                   {"write/datagram", SOCK_DGRAM}}) {
    Result<UniqueFd> made = bound_unix(text::cat(folder, "/", name), type);
    // As open as can be: what keeps the server out must not be its mode.
    if (!made || ::fchmodat(root_.get(), name, 0666, 0) != 0) {
      return made ? failed(name) : std::unexpected(made.error());
    }
    sockets_.push_back(std::move(*made));
  }
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (!listener_ || ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return failed("listener");
  }
  port_ = ntohs(address.sin_port);
  return {};
}

// The probe itself, which then does nothing but wait for the end of its input: it ends with us, however we end.
Status Canaries::plant_process() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  const UniqueFd theirs(ends[0]);
  process_input_ = UniqueFd(ends[1]);
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string program = "mcp-cordon-canary";
  std::string word = "hold";
  std::string variable = text::cat("SECRET=", secret_);
  std::array<char*, 3> argv = {program.data(), word.data(), nullptr};
  std::array<char*, 2> environment = {variable.data(), nullptr};
  const int error = ::posix_spawn(&process_, probe_.c_str(), &actions, &attributes, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    process_ = -1;
    return fail(Errc::launch_failed, errno_text("cannot start the probe program", error), text::printable(probe_));
  }
  return {};
}

// What a careless launcher hands down: memory, a variable, a descriptor that stays open across exec.
Status Canaries::plant_in_us() {
  constexpr std::size_t kBytes = 4096;
  shared_memory_ = ::shmget(IPC_PRIVATE, kBytes, IPC_CREAT | IPC_EXCL | 0666);
  void* at = shared_memory_ < 0 ? nullptr : ::shmat(shared_memory_, nullptr, 0);
  if (shared_memory_ < 0 || at == reinterpret_cast<void*>(-1)) {
    return failed("shared memory");
  }
  shared_memory_at_ = at;
  std::memcpy(at, secret_.data(), secret_.size());
  // It can still be attached by its number, and is gone with us, however we end.
  ::shmctl(shared_memory_, IPC_RMID, nullptr);
  const UniqueFd key(::openat(root_.get(), "outside/key", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  leak_ = UniqueFd(::fcntl(key.get(), F_DUPFD, kLeakedFd));
  if (!leak_) {
    return failed("F_DUPFD");
  }
  return ::setenv(kCanaryVariable, secret_.c_str(), 1) == 0 ? Status() : failed("setenv");
}

Canaries::~Canaries() {
  process_input_.reset();
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (shared_memory_at_ != nullptr) {
    ::shmdt(shared_memory_at_);
    ::unsetenv(kCanaryVariable);
  }
  if (!folder_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

Status Canaries::give_to(uid_t uid, gid_t gid) const {
  for (const char* name : {"home", "write", "write/file", "write/deep", "write/deep/er"}) {
    if (::fchownat(root_.get(), name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
      return failed(name);
    }
  }
  return {};
}

std::string Canaries::url() const { return text::cat("http://127.0.0.1:", port_, "/", abstract_); }

std::vector<std::string> Canaries::changed() const {
  std::vector<std::string> out;
  const auto exists = [this](const char* name) {
    struct stat status = {};
    return ::fstatat(root_.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  };
  for (const char* name : {"beside", "read/new", "read/sub", "outside/written"}) {
    if (exists(name)) {
      out.push_back(text::cat("made: ", name));
    }
  }
  for (const char* name : {"outside/key", "read/file", "read/secret.txt", "write/secret.txt",
                           "write/deep/er/secret.txt", "write/deep/er/fixed/file"}) {
    if (!exists(name)) {
      out.push_back(text::cat("gone: ", name));
    }
  }
  return out;
}

bool Canaries::contacted() const {
  bool any = false;
  while (const UniqueFd peer = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC))) {
    any = true;
  }
  return any;
}

}  // namespace cordon::sandbox::boundary
