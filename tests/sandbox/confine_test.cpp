// SPDX-License-Identifier: Apache-2.0
// A process gives up what ours gives up, and tries. Every attempt is one that does no harm where it succeeds.
#include "sandbox/confine.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "base/text.hpp"

using namespace cordon;
using namespace cordon::sandbox;

namespace {

constexpr std::uint32_t kOrdinary = 54321;

// Runs the body in a child and gives what it says: "" is what is hoped for.
std::string in_child(const std::function<std::string()>& body, bool ordinary_user = false) {
  std::array<int, 2> ends = {-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    std::string said = "cannot become an ordinary user";
    if (!ordinary_user || ::geteuid() != 0 ||
        (::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 && ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0)) {
      said = body();
    }
    [[maybe_unused]] const ssize_t written = ::write(out.get(), said.data(), said.size());
    ::_exit(0);
  }
  out.reset();
  std::string said;
  std::array<char, 4096> buffer = {};
  for (ssize_t got = 0; (got = ::read(in.get(), buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? said : text::cat(said, "ended with wait status ", status);
}

// Files and a listener that an attempt may reach; made before.
struct World {
  std::string folder = std::filesystem::temp_directory_path().string() + "/cordon-confine-XXXXXX";
  UniqueFd log = {};
  UniqueFd folder_fd = {};
  UniqueFd listener = {};
  sockaddr_in address = {};
  UniqueFd unconnected = {};  // made before, connected after

  World() {
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    std::ofstream(folder + "/secret") << "key";
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);  // reachable for all, so that only what is given up stands in the way
    REQUIRE(::chmod((folder + "/secret").c_str(), 0666) == 0);
    log = UniqueFd(::open((folder + "/log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    folder_fd = UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    listener = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener.get(), 4) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    unconnected = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE((log && folder_fd && unconnected));
  }
  ~World() { std::filesystem::remove_all(folder); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
};

struct Attempt {
  const char* name;
  std::function<long()> act;  // negative: refused, with errno
};

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  return ::syscall(number, arguments...);
}

std::vector<Attempt> file_attempts(const World& world) {
  const std::string& folder = world.folder;
  const int at = world.folder_fd.get();
  return {
      {"read a file of the system", [] { return long{::open("/etc/passwd", O_RDONLY)}; }},
      {"read a secret", [&folder] { return long{::open((folder + "/secret").c_str(), O_RDONLY)}; }},
      {"read it through an open folder", [at] { return long{::openat(at, "secret", O_RDONLY)}; }},
      {"write beside the log", [at] { return long{::openat(at, "other", O_WRONLY | O_CREAT, 0600)}; }},
      {"change a file", [&folder] { return long{::truncate((folder + "/secret").c_str(), 0)}; }},
      {"make a folder", [at] { return long{::mkdirat(at, "made", 0700)}; }},
      {"remove the log", [at] { return long{::unlinkat(at, "log", 0)}; }},
      {"rename the log", [at] { return long{::renameat(at, "log", at, "gone")}; }},
      {"link a secret", [at] { return long{::linkat(at, "secret", at, "again", 0)}; }},
      {"list a folder", [] { return long{::open("/", O_RDONLY | O_DIRECTORY)}; }},
      {"read our own memory", [] { return long{::open("/proc/self/mem", O_RDWR)}; }},
  };
}

std::vector<Attempt> call_attempts(const World& world) {
  const pid_t parent = ::getppid();
  return {
      {"open a path only", [] { return long{::open("/", O_PATH)}; }},
      {"list an open folder",
       [&world] {
         std::array<char, 256> buffer = {};
         return call(SYS_getdents64, world.folder_fd.get(), buffer.data(), buffer.size());
       }},
      {"change a mode", [&world] { return long{::fchmod(world.log.get(), 0777)}; }},
      {"change an owner", [&world] { return long{::fchown(world.log.get(), ::getuid(), ::getgid())}; }},
      {"cut the log", [&world] { return long{::ftruncate(world.log.get(), 0)}; }},
      {"change into a folder", [&world] { return long{::fchdir(world.folder_fd.get())}; }},
      {"execute",
       [] {
         std::array<char*, 1> none = {nullptr};
         return long{::execve("/bin/true", none.data(), none.data())};
       }},
      {"execute a descriptor",
       [] {
         std::array<char*, 1> none = {nullptr};
         return call(SYS_execveat, -1, "", none.data(), none.data(), AT_EMPTY_PATH);
       }},
      {"fork",
       [] {
         const long pid = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
         if (pid == 0) {
           ::_exit(0);
         }
         return pid;
       }},
      {"memory for code",
       [] {
         void* got = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return got == MAP_FAILED ? -1L : 0L;
       }},
      {"turn memory into code",
       [] {
         void* got = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return long{::mprotect(got, 4096, PROT_READ | PROT_EXEC)};
       }},
      {"memory as a file", [] { return call(SYS_memfd_create, "x", 0); }},
      {"a socket", [] { return long{::socket(AF_INET, SOCK_STREAM, 0)}; }},
      {"a Unix socket", [] { return long{::socket(AF_UNIX, SOCK_STREAM, 0)}; }},
      {"a pair of sockets",
       [] {
         std::array<int, 2> pair = {};
         return long{::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data())};
       }},
      {"connect what was made before",
       [&world] {
         return long{::connect(world.unconnected.get(), reinterpret_cast<const sockaddr*>(&world.address),
                               sizeof world.address)};
       }},
      {"accept", [&world] { return long{::accept4(world.listener.get(), nullptr, nullptr, SOCK_NONBLOCK)}; }},
      {"see whether a process lives", [parent] { return long{::kill(parent, 0)}; }},
      {"signal everybody", [] { return long{::kill(-1, 0)}; }},
      {"signal a thread of another process", [parent] { return call(SYS_tgkill, parent, parent, 0); }},
      {"signal with a value", [parent] { return call(SYS_rt_sigqueueinfo, parent, 0, nullptr); }},
      {"hold a process", [parent] { return call(SYS_pidfd_open, parent, 0); }},
      {"take a descriptor", [] { return call(SYS_pidfd_getfd, -1, 0, 0); }},
      {"be sent signals for a descriptor", [&world] { return long{::fcntl(world.log.get(), F_SETOWN, 1)}; }},
      {"ptrace", [] { return long{::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)}; }},
      {"read another's memory",
       [parent] {
         std::array<char, 1> byte = {};
         iovec piece = {byte.data(), 1};
         return long{::process_vm_readv(parent, &piece, 1, &piece, 1, 0)};
       }},
      {"become readable", [] { return long{::prctl(PR_SET_DUMPABLE, 1)}; }},
      {"change the uid", [] { return call(SYS_setresuid, 0, 0, 0); }},
      {"change the gid", [] { return call(SYS_setresgid, 0, 0, 0); }},
      {"change the groups", [] { return call(SYS_setgroups, 0, nullptr); }},
      {"take capabilities", [] { return call(SYS_capset, nullptr, nullptr); }},
      {"mount", [] { return long{::mount(nullptr, "/nowhere", nullptr, 0, nullptr)}; }},
      {"the new mount interface", [] { return call(SYS_open_tree, -1, "", 0); }},
      {"a new namespace", [] { return long{::unshare(0)}; }},
      {"another's namespace", [] { return long{::setns(-1, 0)}; }},
      {"chroot", [] { return long{::chroot("/nowhere")}; }},
      {"bpf", [] { return call(SYS_bpf, 0, nullptr, 0); }},
      {"io_uring", [] { return call(SYS_io_uring_setup, 0, nullptr); }},
      {"perf", [] { return call(SYS_perf_event_open, nullptr, 0, 0, -1, 0); }},
      {"userfaultfd", [] { return call(SYS_userfaultfd, ~0U); }},
      {"keys", [] { return call(SYS_keyctl, 0, 0, 0, 0, 0); }},
      {"open by handle", [] { return call(SYS_open_by_handle_at, -1, nullptr, 0); }},
      {"load a module", [] { return call(SYS_finit_module, -1, "", 0); }},
      {"another kernel", [] { return call(SYS_kexec_load, 0, 0, nullptr, 0); }},
      {"push into the terminal", [] { return long{::ioctl(0, TIOCSTI, "")}; }},
      {"other limits", [parent] { return call(SYS_prlimit64, parent, 0, nullptr, nullptr); }},
      {"a second filter", [] { return call(SYS_seccomp, 1, 0, nullptr); }},
  };
}

// One line for each attempt that was not refused with `wanted` (0: with whatever error).
std::string refused(const std::vector<Attempt>& attempts, int wanted) {
  std::string wrong;
  for (const Attempt& attempt : attempts) {
    errno = 0;
    const long result = attempt.act();
    const int error = errno;
    if (result >= 0 || (wanted != 0 && error != wanted)) {
      wrong += text::cat(attempt.name, ": ", result >= 0 ? "worked" : std::strerror(error), "\n");
    }
  }
  return wrong;
}

OwnNeeds needs_here(Signals signals = Signals::nobody, pid_t child = -1) {
  OwnNeeds needs;
  needs.signals = signals;
  needs.child = child;
  if (::geteuid() == 0) {
    needs.become = Identity{65534, 65534};
  }
  return needs;
}

std::string confined(const OwnNeeds& needs) {
  const Result<OwnLimits> limits = confine_self(needs);
  return limits ? std::string() : text::cat("not confined: ", limits.error().to_string(), "\n");
}

// As root, if we are, and as an ordinary user.
template <typename Body>
void as_both(Body body) {
  CHECK(in_child(body) == "");
  CHECK(in_child(body, true) == "");
}

std::string file_uid_of_status() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Uid:")) {
      return line;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("without anything given up the attempts on files work, so that their failure means something") {
  const World world;
  CHECK(in_child([&] {
          std::string wrong;
          for (const Attempt& attempt : file_attempts(world)) {
            if (attempt.act() < 0) {
              wrong += text::cat(attempt.name, ": ", std::strerror(errno), "\n");
            }
          }
          return wrong;
        }) == "rename the log: No such file or directory\n");  // it was removed before
}

TEST_CASE("a confined process opens, makes, starts, connects and signals nothing") {
  const World world;
  as_both([&] {
    std::string wrong = confined(needs_here());
    wrong += refused(file_attempts(world), 0);
    wrong += refused(call_attempts(world), EPERM);
    return wrong;
  });
}

TEST_CASE("with hosts a confined process looks names up and connects, and gives up all else") {
  const World world;
  as_both([&] {
    OwnNeeds needs = needs_here();
    needs.hosts = true;
    std::string wrong = confined(needs);
    wrong += refused(file_attempts(world), 0);
    std::vector<Attempt> others = call_attempts(world);
    std::erase_if(others, [](const Attempt& attempt) {
      const std::string_view name = attempt.name;
      return name == "a socket" || name == "a pair of sockets" || name == "connect what was made before" ||
             name == "accept";
    });
    wrong += refused(others, EPERM);
    wrong += refused({{"listen", [&world] { return long{::listen(world.unconnected.get(), 1)}; }},
                      {"a raw socket", [] { return long{::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)}; }},
                      {"a packet socket", [] { return long{::socket(AF_PACKET, SOCK_DGRAM, 0)}; }},
                      {"read where names are not kept", [] { return long{::open("/etc/shadow", O_RDONLY)}; }},
                      {"change where they are", [] { return long{::open("/etc/hosts", O_WRONLY)}; }}},
                     0);
    // The C library reads /etc/nsswitch.conf and /etc/hosts for it, in a thread that starts now.
    int found = -1;
    std::thread([&found] {
      addrinfo* list = nullptr;
      found = ::getaddrinfo("localhost", nullptr, nullptr, &list);
      if (found == 0) {
        ::freeaddrinfo(list);
      }
    }).join();
    wrong += found == 0 ? "" : text::cat("getaddrinfo: ", ::gai_strerror(found), "\n");
    const UniqueFd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool connected =
        ::connect(made.get(), reinterpret_cast<const sockaddr*>(&world.address), sizeof world.address) == 0;
    wrong += connected ? "" : text::cat("connect: ", std::strerror(errno), "\n");
    const UniqueFd accepted(::accept4(world.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    wrong += accepted ? "" : text::cat("accept: ", std::strerror(errno), "\n");
    return wrong;
  });
}

TEST_CASE("a confined process still moves bytes, waits, writes its log and ends its child") {
  const World world;
  as_both([&] {
    std::string wrong;
    std::array<int, 2> pipe = {-1, -1};
    REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        ::pause();
      }
    }
    const pid_t spare = ::fork();
    if (spare == 0) {
      for (;;) {
        ::pause();
      }
    }
    // Whoever gives up being root may end only what has the same new identity.
    OwnNeeds needs = needs_here(Signals::child, child);
    needs.spare = spare;
    needs.become = {};
    wrong += confined(needs);
    const auto want = [&wrong](bool fine, std::string_view what) {
      wrong += fine ? std::string() : text::cat(what, ": ", std::strerror(errno), "\n");
    };
    want(::write(world.log.get(), "line\n", 5) == 5, "append to the log");
    struct stat info = {};
    want(::fstatat(world.folder_fd.get(), "log", &info, AT_SYMLINK_NOFOLLOW) == 0, "look the log up");
    want(::write(pipe[1], "x", 1) == 1, "write to a pipe");
    char byte = 0;
    want(::read(pipe[0], &byte, 1) == 1, "read from a pipe");
    const UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    const itimerspec soon = {{}, {0, 1'000'000}};
    std::uint64_t times = 0;
    want(timer && ::timerfd_settime(timer.get(), 0, &soon, nullptr) == 0 &&
             ::read(timer.get(), &times, sizeof times) == sizeof times,
         "wait for a timer");
    want(std::string(1 << 22, 'x').size() == 1 << 22, "memory");
    want(::kill(child, SIGKILL) == 0, "end the child");
    int status = 0;
    want(::waitpid(child, &status, 0) == child && WIFSIGNALED(status), "wait for the child");
    want(::kill(spare, SIGKILL) == 0 && ::waitpid(spare, &status, 0) == spare, "end the spare one");
    want(::kill(::getppid(), 0) != 0, "no signal to anybody else");
    return wrong;
  });
}

TEST_CASE("files alone: Landlock refuses them where the list of calls would let them through") {
  if (running_landlock_abi() == 0) {
    MESSAGE("this kernel has no Landlock");
    return;
  }
  const World world;
  as_both([&]() -> std::string {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const Result<int> closed = close_files(running_landlock_abi());
    if (!closed) {
      return closed.error().to_string();
    }
    std::string wrong = refused(file_attempts(world), EACCES);
    if (running_landlock_abi() >= 4) {
      wrong +=
          refused({{"connect",
                    [&world] {
                      return long{::connect(world.unconnected.get(), reinterpret_cast<const sockaddr*>(&world.address),
                                            sizeof world.address)};
                    }}},
                  EACCES);
    }
    return wrong;
  });
}

TEST_CASE("root alone: every uid goes, the one for files where they are closed stays") {
  if (::geteuid() != 0) {
    return;
  }
  const auto uids_after = [](FileUid file_uid) {
    return in_child([file_uid] {
      const Status left = leave_root({65534, 65533}, file_uid);
      // Of the process's own capabilities nothing is lost yet, so that what it can read is not the question here.
      return left ? file_uid_of_status() : left.error().to_string();
    });
  };
  CHECK(uids_after(FileUid::goes) == "Uid:\t65534\t65534\t65534\t65534");
  CHECK(uids_after(FileUid::stays) == "Uid:\t65534\t65534\t65534\t0");
}

TEST_CASE("capabilities alone: every set is empty, the bounding set too where that is allowed") {
  const bool root = ::geteuid() == 0;
  CHECK(in_child([root]() -> std::string {
          if (const Status dropped = drop_all_capabilities(); !dropped) {
            return dropped.error().to_string();
          }
          for (int capability = 0; root && capability < 64; ++capability) {
            if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) {
              return text::cat("still bounded by ", capability);
            }
          }
          __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
          std::array<__user_cap_data_struct, 2> sets = {};
          ::syscall(SYS_capget, &header, sets.data());
          return (sets[0].effective | sets[0].permitted | sets[1].effective | sets[1].permitted) == 0 ? ""
                                                                                                      : "some left";
        }) == "");
}

TEST_CASE("each step that is left out is noticed") {
  const OwnLimits all = {.landlock_abi = running_landlock_abi(), .calls = true};
  if (::geteuid() == 0) {
    CHECK(in_child([&] { return check_confined(needs_here(), all).error().detail; }).ends_with("a capability"));
    CHECK(in_child([&] {
            const bool ready = drop_all_capabilities() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                               filter_own_calls({}).has_value();
            const Status held = check_confined(needs_here(), all);
            return ready && !held ? held.error().detail : "not noticed";
          }).ends_with("root"));
  }
  CHECK(in_child([&] {
          [[maybe_unused]] const Status dropped = drop_all_capabilities();
          return check_confined({}, all).error().detail;
        }).ends_with("new privileges by execve"));
  CHECK(in_child([&] {
          [[maybe_unused]] const Status dropped = drop_all_capabilities();
          ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          return check_confined({}, all).error().detail;
        }).ends_with("every system call"));
  CHECK(in_child([&] {
          [[maybe_unused]] const Status dropped = drop_all_capabilities();
          ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          return check_confined({}, {.landlock_abi = 1, .calls = false}).error().detail;
        }).ends_with("opening files"));
}

TEST_CASE("a foreign architecture kills, and what a later kernel brings is absent") {
  CHECK(in_child([]() -> std::string {
          if (const std::string wrong = confined(needs_here()); !wrong.empty()) {
            return wrong;
          }
          return call(470) == -1 && errno == ENOSYS ? "" : "a number above the table is not absent";
        }) == "");
#if defined(__x86_64__)
  const std::string end = in_child([]() -> std::string {
    if (const std::string wrong = confined(needs_here()); !wrong.empty()) {
      return wrong;
    }
    call(0x40000000L | SYS_getpid);
    return "not killed";
  });
  CHECK(end == text::cat("ended with wait status ", SIGSYS));
#endif
}
