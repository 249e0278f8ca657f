// SPDX-License-Identifier: Apache-2.0
#include "app/tree_table.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "app/package_tree.hpp"
#include "base/fd.hpp"

namespace cordon::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// More threads than this gain nothing, and fewer entries than this are done before another one has begun.
constexpr std::size_t kMostThreads = 4;
constexpr std::size_t kEntriesPerThread = 1'000;

static_assert(std::is_trivially_copyable_v<EntryFacts> && std::has_unique_object_representations_v<EntryFacts>);

struct Line {
  EntryFacts facts = {};
  const char* path = nullptr;  // in the table, with a zero byte behind it
};

std::int64_t ns_of(const timespec& time) { return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec; }

// nullopt: it is cut off, or no table.
std::optional<std::vector<Line>> lines_of(std::string_view table) {
  std::vector<Line> out;
  while (!table.empty()) {
    Line line;
    if (table.size() < sizeof line.facts) {
      return std::nullopt;
    }
    std::memcpy(&line.facts, table.data(), sizeof line.facts);
    table.remove_prefix(sizeof line.facts);
    if (table.size() <= line.facts.path_bytes || std::memchr(table.data(), '\0', line.facts.path_bytes) != nullptr ||
        table[line.facts.path_bytes] != '\0') {
      return std::nullopt;
    }
    line.path = table.data();
    table.remove_prefix(std::size_t{line.facts.path_bytes} + 1);
    out.push_back(line);
  }
  if (out.empty() || *out.front().path != '\0') {
    return std::nullopt;  // the root's own entry says what lies in it
  }
  return out;
}

// File systems of this kernel itself, which move a folder's time of change with its entries as POSIX wants it. Not
// those whose folders somebody else changes as well: a server (NFS, SMB, 9p), a program (FUSE), a layer (overlayfs).
bool keeps_times_of_folders(int folder) {
  struct statfs info{};
  if (::fstatfs(folder, &info) != 0) {
    return false;
  }
  constexpr std::uint32_t kXfs = 0x58465342;
  constexpr std::array<std::uint32_t, 5> kKnown = {EXT4_SUPER_MAGIC, kXfs, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                                   TMPFS_MAGIC};
  return std::ranges::find(kKnown, static_cast<std::uint32_t>(info.f_type)) != kKnown.end();
}

bool is_as_then(int root, const Line& line) {
  struct stat info{};
  const int flags = *line.path == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
  EntryFacts facts = line.facts;
  facts.path_bytes = 0;
  return ::fstatat(root, line.path, &info, flags) == 0 && EntryFacts::of(info) == facts;
}

void look(int root, std::span<const Line> lines, std::atomic<bool>& same) {
  for (const Line& line : lines) {
    if (!same.load(std::memory_order_relaxed) || !is_as_then(root, line)) {
      same = false;
      return;
    }
  }
}

bool all_as_then(int root, std::span<const Line> lines) {
  // One processor is left to the launch that this goes on beside.
  const std::size_t processors = std::max(std::thread::hardware_concurrency(), 2U) - 1;
  const std::size_t threads = std::min({processors, kMostThreads, lines.size() / kEntriesPerThread + 1});
  const std::size_t part = lines.size() / threads + 1;
  std::atomic<bool> same = true;
  std::vector<std::jthread> others;
  std::size_t begun = part;
  try {
    for (; begun < lines.size(); begun += part) {
      others.emplace_back([root, lines = lines.subspan(begun, std::min(part, lines.size() - begun)), &same] {
        look(root, lines, same);
      });
    }
  } catch (const std::system_error&) {
    look(root, lines.subspan(begun), same);  // no room for another thread: this one does the rest
  }
  look(root, lines.first(std::min(part, lines.size())), same);
  others.clear();  // waits for them
  return same;
}

}  // namespace

EntryFacts EntryFacts::of(const struct stat& info) {
  return {.inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = ns_of(info.st_mtim),
          .changed = ns_of(info.st_ctim),
          .mode = info.st_mode};
}

void add_to_table(std::string& table, std::string_view path, const struct stat& info) {
  EntryFacts facts = EntryFacts::of(info);
  facts.path_bytes = static_cast<std::uint32_t>(path.size());
  std::array<char, sizeof facts> bytes{};
  std::memcpy(bytes.data(), &facts, sizeof facts);
  table.append(bytes.data(), bytes.size());
  table.append(path);
  table.push_back('\0');
}

bool is_as_in_table(const std::string& folder, std::string_view table) {
  const std::optional<std::vector<Line>> lines = lines_of(table);
  const UniqueFd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!lines || !root) {
    return false;
  }
  if (!keeps_times_of_folders(root.get())) {
    const Result<std::string> now = tree_table(folder);
    return now && *now == table;
  }
  return all_as_then(root.get(), *lines);
}

std::uint64_t bytes_in_table(std::string_view table) {
  std::uint64_t out = 0;
  for (const Line& line : lines_of(table).value_or(std::vector<Line>())) {
    out += S_ISREG(line.facts.mode) ? line.facts.size : 0;
  }
  return out;
}

bool outlast_table(std::string_view table) {
  const std::optional<std::vector<Line>> lines = lines_of(table);
  if (!lines) {
    return false;
  }
  const auto changed = [](const Line& line) { return line.facts.changed; };
  const std::int64_t last = std::ranges::max(*lines, {}, changed).facts.changed;
  const bool whole_seconds =
      std::ranges::all_of(*lines, [](std::int64_t time) { return time % kSecond == 0; }, changed);
  // The kernel's clock for this moves with its tick, 10 ms at most.
  const std::int64_t step = whole_seconds ? 2 * kSecond : kSecond / 50;
  for (;;) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const std::int64_t left = last + step - ns_of(now);
    if (left <= 0 || left > 2 * step) {
      return left <= 0;
    }
    const timespec wait = {.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
    ::nanosleep(&wait, nullptr);
  }
}

}  // namespace cordon::app
