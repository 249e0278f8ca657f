// SPDX-License-Identifier: Apache-2.0
#include "sandbox/group_calls.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.hpp"

namespace cordon::sandbox {
namespace {

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

bool passes_on(const ControlGroup& group, const GroupCalls& calls, std::string_view controller) {
  const std::string list = trimmed(calls.read(group.folder + "/cgroup.subtree_control"));
  const std::vector<std::string_view> words = text::split(list, ' ');
  return std::ranges::find(words, controller) != words.end();
}

// Two rounds: what a process of ours starts meanwhile comes into being in the old place.
GroupFault move_into_leaf(const ControlGroup& group, const std::string& name, const GroupCalls& calls) {
  const std::string leaf = text::cat(group.folder, "/", name, "-leaf");
  if (const int error_number = calls.make(leaf); error_number != 0) {
    return {text::cat("make ", leaf), error_number};
  }
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    const std::string list = trimmed(calls.read(group.folder + "/cgroup.procs"));
    for (const std::string_view pid : text::split(list, '\n')) {
      const int error_number = pid.empty() ? 0 : calls.write(leaf + "/cgroup.procs", std::string(pid));
      if (error_number != 0) {
        return {text::cat("move process ", pid, " to ", leaf), error_number};
      }
    }
  }
  return {};
}

GroupFault pass_controllers_on(const ControlGroup& group, const GroupCalls& calls) {
  for (const std::string_view controller : {"memory", "pids"}) {
    const auto wants = [&](const GroupFile& file) { return file.name.starts_with(text::cat(controller, ".")); };
    if (std::ranges::none_of(group.files, wants) || passes_on(group, calls, controller)) {
      continue;
    }
    const std::string file = group.folder + "/cgroup.subtree_control";
    if (const int error_number = calls.write(file, text::cat("+", controller)); error_number != 0) {
      return {text::cat("write +", controller, " to ", file), error_number};
    }
  }
  return {};
}

bool holds(const std::string& read, const std::string& wanted) {
  std::uint64_t is = 0;
  std::uint64_t should = 0;
  const auto number = [](const std::string& text, std::uint64_t& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
  };
  // The kernel counts memory in whole pages, and rounds down.
  constexpr std::uint64_t kLargestPage = 65536;
  return number(read, is) && number(wanted, should) && is <= should && should - is < kLargestPage;
}

}  // namespace

GroupFault make_group(const ControlGroup& group, const std::string& name, const GroupCalls& calls) {
  if (group.leaf) {
    if (GroupFault fault = move_into_leaf(group, name, calls); !fault.what.empty()) {
      return fault;
    }
  }
  if (group.unified) {
    if (GroupFault fault = pass_controllers_on(group, calls); !fault.what.empty()) {
      return fault;
    }
  }
  const std::string made = text::cat(group.folder, "/", name);
  if (const int error_number = calls.make(made); error_number != 0) {
    return {text::cat("make ", made), error_number};
  }
  for (const GroupFile& file : group.files) {
    const std::string path = text::cat(made, "/", file.name);
    if (const int error_number = calls.write(path, file.value); error_number != 0) {
      if (file.optional) {
        continue;
      }
      return {text::cat("write ", path), error_number};
    }
    if (const std::string is = trimmed(calls.read(path)); !holds(is, file.value)) {
      return {text::cat(path, " is ", text::printable(is, 40), " and not ", file.value), 0};
    }
  }
  return {};
}

}  // namespace cordon::sandbox
