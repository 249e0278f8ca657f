// SPDX-License-Identifier: Apache-2.0
// Starts bubblewrap with this program as pid 1 inside. Its arguments travel through a descriptor, so that nobody reads
// the policy in a process list; its own complaints come to us and not to the server's stderr.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/text.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

// Above every fixed number, so that moving descriptors to those cannot hit one that is still needed.
constexpr int kParkingFd = 64;

std::expected<UniqueFd, Failure> park(int fd) {
  UniqueFd parked(::fcntl(fd, F_DUPFD_CLOEXEC, kParkingFd));
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

std::expected<Layout, Failure> lay_out(const Stage& stage, int plan, int errors) {
  Layout layout;
  for (const auto& [from, to] : {std::pair(stage.status.get(), int{kStatusFd}),
                                 {stage.lifeline.get(), kLifelineFd},
                                 {plan, kPlanFd},
                                 {stage.leash_in.get(), kLeashFd},
                                 {stage.ready_out.get(), kReadyFd},
                                 {STDERR_FILENO, kErrorFd},
                                 {stage.binary.get(), kBinaryFd},
                                 {errors, STDERR_FILENO}}) {
    if (auto outcome = layout.add(from, to); !outcome) {
      return std::unexpected(outcome.error());
    }
  }
  return layout;
}

[[noreturn]] void become_tool(Stage& stage, const Layout& layout, const std::vector<int>& kept, int arguments) {
  (void)die_with_parent();
  std::array<std::string, 6> words = {
      "bwrap", "--args", std::to_string(arguments), "--", text::cat("/proc/self/fd/", int{kBinaryFd}), kInsideWord};
  std::array<char*, words.size() + 1> argv = {};
  std::transform(words.begin(), words.end(), argv.begin(), [](std::string& word) { return word.data(); });
  std::array<char*, 1> environment = {nullptr};
  sigset_t none;
  ::sigemptyset(&none);
  if (arrange(layout.moves, kept)) {
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
  const auto layout = lay_out(stage, plan->get(), errors_out.get());
  if (!layout) {
    return std::unexpected(layout.error());
  }
  std::vector<int> kept = {arguments->get()};
  for (const UniqueFd& content : command.contents) {
    kept.push_back(content.get());
  }
  process.pid = fork_or_exit(stage, stage.plan.backend);
  if (process.pid == 0) {
    become_tool(stage, *layout, kept, arguments->get());
  }
  return process;
}

}  // namespace cordon::sandbox::stage
