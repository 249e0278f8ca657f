// SPDX-License-Identifier: Apache-2.0
// Starts a tool with this program inside. What bubblewrap is told travels through a descriptor, so that nobody reads
// the policy in a process list; others cannot be told so. A tool's own complaints come to us and not to the server's
// stderr.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/text.hpp"
#include "sandbox/stage/egress.hpp"
#include "sandbox/stage/groups.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

std::expected<UniqueFd, Failure> park(int fd) {
  UniqueFd parked(::fcntl(fd, F_DUPFD_CLOEXEC, kToolParkingFd));
  if (!parked) {
    return failed("F_DUPFD");
  }
  return parked;
}

std::expected<UniqueFd, Failure> memory_file(const char* label, std::string_view content) {
  const UniqueFd file(::memfd_create(label, MFD_CLOEXEC));
  if (!file || ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return failed("memfd");
  }
  return park(file.get());
}

struct Command {
  std::string arguments = {};           // NUL after each
  std::vector<UniqueFd> contents = {};  // handed down
};

void add(Command& command, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    command.arguments += word;
    command.arguments += '\0';
  }
}

void add_cover(const Stage& stage, std::size_t index, Command& command) {
  const ViewEntry& entry = stage.plan.view[index];
  const UniqueFd& source = stage.sources.at(index);
  struct stat status = {};
  if (!source || ::fstat(source.get(), &status) != 0) {
    return;  // optional, and this kernel does not have it
  }
  if (S_ISDIR(status.st_mode)) {
    add(command, {"--perms", "0555", "--size", "4096", "--tmpfs", entry.target, "--remount-ro", entry.target});
  } else {
    // On a mount without devices even root cannot open it.
    add(command, {"--ro-bind", "/dev/null", entry.target});
  }
}

Outcome add_argument(const Stage& stage, const ToolArgument& argument, Command& command) {
  switch (argument.kind) {
    case ToolArgumentKind::literal:
      add(command, {argument.text});
      return {};
    case ToolArgumentKind::source:
      add(command, {stage.plan.view.at(argument.entry).source});
      return {};
    case ToolArgumentKind::content: {
      auto content = memory_file("content", stage.plan.view.at(argument.entry).text);
      if (!content) {
        return std::unexpected(content.error());
      }
      add(command, {std::to_string(content->get())});
      command.contents.push_back(std::move(*content));
      return {};
    }
    case ToolArgumentKind::freeze:
      if (stage.sources.at(argument.entry)) {
        const ViewEntry& entry = stage.plan.view[argument.entry];
        add(command, {"--ro-bind", entry.source, entry.target});
      }
      return {};
    case ToolArgumentKind::bind: {
      const ViewEntry& entry = stage.plan.view.at(argument.entry);
      add(command, {entry.writable ? "--bind" : "--ro-bind", entry.source, entry.target});
      return {};
    }
    case ToolArgumentKind::cover:
      add_cover(stage, argument.entry, command);
      return {};
    case ToolArgumentKind::stage:
      return {};  // comes after the arguments
    case ToolArgumentKind::mount:
    case ToolArgumentKind::launch:
      return refuse("an argument for a container");
    case ToolArgumentKind::memory: {
      auto content = memory_file("settings", argument.text);
      if (!content) {
        return std::unexpected(content.error());
      }
      add(command, {text::cat("/proc/self/fd/", content->get())});
      command.contents.push_back(std::move(*content));
      return {};
    }
  }
  return {};
}

// In the child: everything at its number, everything else closed by exec.
bool arrange(const std::vector<std::pair<int, int>>& moves, const std::vector<int>& kept) {
  for (const auto& [from, to] : moves) {
    if (::dup2(from, to) != to) {
      return false;
    }
  }
  for (const int fd : kept) {
    if (::fcntl(fd, F_SETFD, 0) != 0) {
      return false;
    }
  }
  return true;
}

// Where each descriptor goes in the child, from parked copies, so that no move overwrites another's source.
struct Layout {
  std::vector<UniqueFd> parked = {};
  std::vector<std::pair<int, int>> moves = {};

  Outcome add(int from, int to) {
    auto copy = park(from);
    if (!copy) {
      return std::unexpected(copy.error());
    }
    moves.emplace_back(copy->get(), to);
    parked.push_back(std::move(*copy));
    return {};
  }
};

// Everything that is ours inside: bubblewrap keeps the numbers, the others get high ones.
std::expected<Layout, Failure> lay_out(const Stage& stage, int status, int plan, int errors) {
  const int base = stage.plan.shared_host ? kHighBase : 0;
  Layout layout;
  for (const auto& [from, to] : {std::pair(status, int{kStatusFd}),
                                 {stage.lifeline.get(), kLifelineFd},
                                 {plan, kPlanFd},
                                 {stage.leash_in.get(), kLeashFd},
                                 {stage.ready_out.get(), kReadyFd},
                                 {STDERR_FILENO, kErrorFd},
                                 {stage.binary.get(), kBinaryFd},
                                 {errors, STDERR_FILENO}}) {
    if (auto outcome = layout.add(from, to == STDERR_FILENO ? to : base + to); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  return layout;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) {
    list.push_back(word.data());
  }
  list.push_back(nullptr);
  return list;
}

// The tool's command line; `arguments`: the descriptor that holds what it is told, -1: it stands in the line.
std::vector<std::string> command_line(const Stage& stage, const Command& command, int arguments,
                                      const Doorkeeper& doorkeeper) {
  if (arguments >= 0) {
    std::vector<std::string> words = {"bwrap", "--args", std::to_string(arguments)};
    if (doorkeeper.info_out) {
      words.insert(words.end(), {"--info-fd", std::to_string(doorkeeper.info_out.get()), "--block-fd",
                                 std::to_string(doorkeeper.block_in.get())});
    }
    words.insert(words.end(), {"--", text::cat("/proc/self/fd/", int{kBinaryFd}), kInsideWord});
    return words;
  }
  std::vector<std::string> words = {stage.plan.tool};
  std::string_view rest = command.arguments;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return words;
}

[[noreturn]] void become_tool(Stage& stage, const Layout& layout, const std::vector<int>& kept,
                              std::vector<std::string> words) {
  (void)die_with_parent();
  if (const Outcome outcome = enter_groups(stage); !outcome) {
    report_and_exit(stage, name(Step::groups), outcome.error());
  }
  std::vector<char*> argv = pointers(words);
  std::vector<char*> environment = pointers(stage.plan.tool_environment);
  sigset_t none;
  ::sigemptyset(&none);
  if (stage.plan.shared_host) {
    ::umask(077);  // what it makes for itself, in /tmp too, is nobody else's
  }
  if (::chdir("/") == 0 && arrange(layout.moves, kept)) {
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::execve(stage.plan.tool.c_str(), argv.data(), environment.data());
  }
  report_and_exit(stage, stage.plan.backend, {.detail = errno_text(stage.plan.tool, errno)});
}

}  // namespace

std::expected<ToolProcess, Failure> start_tool(Stage& stage) {
  const auto outside = namespace_inodes();
  if (!outside) {
    return std::unexpected(outside.error());
  }
  stage.witness.namespaces = *outside;
  Command command;
  for (const ToolArgument& argument : stage.plan.tool_arguments) {
    if (auto outcome = add_argument(stage, argument, command); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  std::array<int, 2> errors = {-1, -1};
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  ToolProcess process{.errors = UniqueFd(errors[0])};
  const UniqueFd errors_out(errors[1]);
  const auto plan = memory_file("plan", encode(stage.plan, stage.witness));
  const auto arguments = memory_file("arguments", command.arguments);
  if (!plan || !arguments) {
    return std::unexpected(plan ? arguments.error() : plan.error());
  }
  UniqueFd reports_out;
  if (stage.plan.shared_host) {
    std::array<int, 2> reports = {-1, -1};
    if (::pipe2(reports.data(), O_CLOEXEC) != 0) {
      return failed("pipe2");
    }
    process.reports = UniqueFd(reports[0]);
    reports_out = UniqueFd(reports[1]);
  }
  const int status = reports_out ? reports_out.get() : stage.status.get();
  const auto layout = lay_out(stage, status, plan->get(), errors_out.get());
  if (!layout) {
    return std::unexpected(layout.error());
  }
  const bool plain = stage.plan.shared_host;
  std::vector<int> kept = {arguments->get()};
  for (const UniqueFd& content : command.contents) {
    kept.push_back(content.get());
  }
  Doorkeeper doorkeeper;
  if (stage.plan.network.hosts()) {
    if (auto outcome = doorkeeper.open(); !outcome) {
      return std::unexpected(outcome.error());
    }
    kept.insert(kept.end(), {doorkeeper.info_out.get(), doorkeeper.block_in.get()});
  }
  process.pid = fork_or_exit(stage, stage.plan.backend);
  if (process.pid == 0) {
    become_tool(stage, *layout, kept, command_line(stage, command, plain ? -1 : arguments->get(), doorkeeper));
  }
  if (stage.plan.network.hosts()) {
    if (auto outcome = keep_doors(stage, std::move(doorkeeper), process.pid); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  return process;
}

}  // namespace cordon::sandbox::stage
