// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/container.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>

#include "base/text.hpp"
#include "sandbox/container_client.hpp"
#include "sandbox/stage/descriptor_set.hpp"
#include "sandbox/stage/egress.hpp"

namespace cordon::sandbox::stage {
namespace {

// From the end of the server to the end of the engine's processes; they tidy up in that time.
constexpr std::int64_t kEngineGraceMs = 2000;
constexpr std::int64_t kRemovalMs = 8000;

std::string filled_in(const Stage& stage, std::string text, const std::string& own_path) {
  for (const auto& [mark, value] : {std::pair<std::string_view, std::string_view>("{name}", stage.container_name),
                                    {"{folder}", stage.container_path},
                                    {"{stage}", own_path}}) {
    if (const std::size_t at = text.find(mark); at != std::string::npos) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

// The value of --mount for an entry of the view.
std::expected<std::string, Failure> mount_text(const Stage& stage, std::size_t index) {
  const ViewEntry& entry = stage.plan.view.at(index);
  switch (entry.kind) {
    case EntryKind::tmpfs:
      // Modes are octal.
      return text::cat("type=tmpfs,destination=", entry.target, ",tmpfs-size=", entry.size_bytes,
                       ",tmpfs-mode=", (entry.mode & S_ISVTX) != 0 ? "1777" : "755",
                       // Else it would begin with what the image has there, and with its mode.
                       stage.plan.backend == "podman" ? ",notmpcopyup" : "");
    case EntryKind::bind:
      return text::cat("type=bind,source=", entry.source, ",target=", entry.target,
                       // What else is mounted below a read-only grant would stay writable. Prepared mounts are
                       // read-only all the way down.
                       entry.writable                    ? ""
                       : stage.plan.container.map_owners ? ",readonly"
                                                         : ",readonly,bind-nonrecursive=true");
    case EntryKind::cover: {
      struct stat status = {};
      if (!stage.sources.at(index) || ::fstat(stage.sources[index].get(), &status) != 0) {
        return failed(entry.source);
      }
      return text::cat("type=bind,source=", stage.container_path, S_ISDIR(status.st_mode) ? "/empty" : "/nothing",
                       ",target=", entry.target, ",readonly");
    }
    case EntryKind::freeze:
    case EntryKind::directory:
    case EntryKind::device:
    case EntryKind::file:
    case EntryKind::symlink:
    case EntryKind::link:
    case EntryKind::proc:
      break;
  }
  return refuse(text::cat(entry.target, ": a container cannot show this"));
}

std::expected<std::vector<std::string>, Failure> client_words(const Stage& stage) {
  std::array<char, PATH_MAX> self = {};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= self.size()) {
    return failed("/proc/self/exe");
  }
  const std::string own_path(self.data(), static_cast<std::size_t>(length));
  if (own_path.find_first_of(",\"\n") != std::string::npos) {
    return refuse(text::cat(own_path, ": a path with a comma or a quote cannot be given to a container"));
  }
  std::vector<std::string> words = {stage.plan.tool};
  for (const ToolArgument& argument : stage.plan.tool_arguments) {
    if (argument.kind == ToolArgumentKind::mount) {
      auto mount = mount_text(stage, argument.entry);
      if (!mount) {
        return std::unexpected(mount.error());
      }
      words.push_back(std::move(*mount));
    } else {
      words.push_back(argument.kind == ToolArgumentKind::launch ? filled_in(stage, argument.text, own_path)
                                                                : argument.text);
    }
  }
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

// In a child of ours: becomes the client, with `output` for all that it says.
[[noreturn]] void become_client(const Stage& stage, std::vector<std::string> words, int output) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (::dup2(null.get(), STDIN_FILENO) == STDIN_FILENO && ::dup2(output, STDOUT_FILENO) == STDOUT_FILENO &&
      ::dup2(output, STDERR_FILENO) == STDERR_FILENO) {
    std::vector<std::string> environment = container_client_environment(stage.plan.container.client_home);
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> variables = pointers(environment);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::umask(022);
    ::execve(argv.front(), argv.data(), variables.data());
  }
  ::_exit(127);
}

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

// Reaps until there is no child left, or `one` is gone if it is not -1, at most until then. SIGCHLD is blocked.
struct Reaped {
  bool all = false;
  int status = -1;  // of `wanted`
};
Reaped reap(pid_t wanted, bool only_it, std::int64_t until) {
  Reaped out;
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (;;) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == wanted) {
        out.status = status;
        if (only_it) {
          return out;
        }
      }
    }
    out.all = ended < 0 && errno == ECHILD;
    const std::int64_t left = until - now_ms();
    if (out.all || left <= 0) {
      return out;
    }
    const timespec patience = {left / 1000, (left % 1000) * 1'000'000};
    (void)::sigtimedwait(&set, nullptr, &patience);
  }
}

}  // namespace

void remove_container(const Stage& stage, const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    // docker knows no -t here; both kill at once with -f, podman only when told not to wait.
    std::vector<std::string> words = {stage.plan.tool, "rm", "-f"};
    if (stage.plan.backend == "podman") {
      words.insert(words.end(), {"-t", "0", "--ignore"});
    }
    words.push_back(name);
    become_client(stage, std::move(words), null.get());
  }
  if (child > 0 && reap(child, true, now_ms() + kRemovalMs).status < 0) {
    ::kill(child, SIGKILL);
  }
}

namespace {

bool is_orderly(int status) { return WIFEXITED(status) && WEXITSTATUS(status) != kFailureStatus; }

}  // namespace

std::expected<ToolProcess, Failure> start_container(Stage& stage) {
  const auto outside = namespace_inodes();
  if (!outside) {
    return std::unexpected(outside.error());
  }
  stage.witness.namespaces = *outside;
  auto words = client_words(stage);
  if (!words) {
    return std::unexpected(words.error());
  }
  std::array<int, 2> errors = {-1, -1};
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  ToolProcess process{.errors = UniqueFd(errors[0])};
  const UniqueFd errors_out(errors[1]);
  if (auto kept = keep_for_init(stage); !kept) {
    return std::unexpected(kept.error());
  }
  process.pid = fork_or_exit(stage, stage.plan.backend);
  if (process.pid == 0) {
    become_client(stage, std::move(*words), errors_out.get());
  }
  return process;
}

Outcome hand_over(Stage& stage) {
  const UniqueFd peer(::accept4(stage.container_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer) {
    return failed("accept");
  }
  ucred who = {};
  socklen_t size = sizeof who;
  if (::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return failed("SO_PEERCRED");
  }
  if (who.uid != stage.plan.uid) {
    return refuse(text::cat("uid ", who.uid, " asked for the server's descriptors"));
  }
  if (stage.plan.network.hosts()) {
    // Before there is anything that could use the namespace.
    if (auto opened = open_container_doors(stage, peer.get(), who.pid); !opened) {
      return opened;
    }
  }
  if (auto sent = send_to_init(stage, peer.get()); !sent) {
    return sent;
  }
  stage.container_listener.reset();
  stage.for_init.clear();
  (void)::unlinkat(stage.container_folder.get(), "socket", 0);
  return {};
}

int end_container(Stage& stage, pid_t client, int status) {
  stage.leash_out.reset();
  stage.container_listener.reset();
  stage.for_init.clear();  // nobody will ask for them any more, and an end of ours would keep us waiting
  const Reaped rest = reap(client, false, now_ms() + kEngineGraceMs);
  status = rest.status >= 0 ? rest.status : status;
  if (!rest.all || status < 0 || !is_orderly(status)) {
    remove_container(stage, stage.container_name);
  }
  remove_container_folder(stage);
  return status;
}

}  // namespace cordon::sandbox::stage
