// SPDX-License-Identifier: Apache-2.0
// Looks below the write grants for what steers other programs: in the granted folders themselves and in the
// repositories that lie in them. The look is bounded; where a bound is met it says so, and the plan does with it.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/git_config.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/steering.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::size_t kMostEntries = 200'000;  // of folders that are read
constexpr std::size_t kMostPlaces = 2048;
constexpr int kDeepest = 32;
constexpr int kDeepestModules = 4;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool look(const std::string& path, struct stat& status) { return ::lstat(path.c_str(), &status) == 0; }

bool is_folder(const std::string& path) {
  struct stat status = {};
  return look(path, status) && S_ISDIR(status.st_mode);
}

bool is_there(const std::string& path) {
  struct stat status = {};
  return look(path, status);
}

// Git's own folder of a repository or of a linked working folder.
bool is_git_folder(const std::string& path) {
  return is_there(path + "/HEAD") &&
         (is_there(path + "/commondir") || (is_folder(path + "/objects") && is_folder(path + "/refs")));
}

// By us, and so by the server, which has our rights or those of root's grants. Where a folder is ours and closed, it
// could open it: that counts as yes.
bool can_be_made(const std::string& path) {
  const std::string folder(parent_path(path));
  struct stat status = {};
  if (!look(folder, status)) {
    return false;
  }
  return ::access(folder.c_str(), W_OK) == 0 || (errno == EACCES && status.st_uid == ::geteuid());
}

// The content of a short file; empty when it is none.
std::string short_text(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  std::string content(65'536, '\0');
  const ssize_t length = ::read(file.get(), content.data(), content.size());
  content.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return content;
}

// Where a symlink leads; empty when it is none.
std::string link_text(const std::string& path) {
  std::array<char, 4096> buffer = {};
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return length > 0 && static_cast<std::size_t>(length) < buffer.size()
             ? std::string(buffer.data(), static_cast<std::size_t>(length))
             : std::string();
}

std::string_view first_line(std::string_view content) {
  return content.substr(0, std::min(content.find('\n'), content.size()));
}

class Search {
 public:
  Search(const LaunchSpec& spec, HostFacts& facts) : spec_(spec), facts_(facts) {}

  void run() {
    for (const Mount& mount : spec_.mounts) {
      if (!mount.writable || !is_normal_path(mount.source) || !is_folder(mount.source)) {
        continue;
      }
      const bool home = !facts_.home.empty() && is_within(facts_.home, mount.source);
      if (home) {
        look_at_home();
      }
      add_folder(mount.source, !home);
      walk(mount.source);
    }
    std::ranges::sort(facts_.steering, {}, &SteeringPlace::path);
  }

 private:
  struct Visit {
    std::string path = {};
    int depth = 0;
  };

  void gap(std::string_view reason, const std::string& path, bool link = false) {
    const bool accepted = is_accepted(path);
    const auto same = [&](const SteeringGap& one) {
      return one.reason == reason && one.accepted == accepted && one.link == link;
    };
    // One of a kind is enough to say so.
    if (std::ranges::none_of(facts_.steering_gaps, same)) {
      facts_.steering_gaps.push_back({std::string(reason), path, accepted, link});
    }
  }

  // By the innermost write grant that shows it.
  bool is_accepted(const std::string& path) const {
    const Mount* innermost = nullptr;
    for (const Mount& mount : spec_.mounts) {
      if (mount.writable && is_within(path, mount.source) &&
          (innermost == nullptr || mount.source.size() > innermost->source.size())) {
        innermost = &mount;
      }
    }
    return innermost != nullptr && innermost->reasoned;
  }

  bool writable(const std::string& path) const { return !writable_place(path).empty(); }
  std::string writable_place(const std::string& path) const {
    for (const Mount& mount : spec_.mounts) {
      if (mount.writable && is_within(path, mount.source)) {
        return mount.source;
      }
    }
    return {};
  }

  void add(SteeringPlace place) {
    if (!seen_.insert(place.path).second) {
      return;
    }
    if (facts_.steering.size() >= kMostPlaces) {
      gap("too_many_places", place.path);
      return;
    }
    facts_.steering.push_back(std::move(place));
  }

  void add_present(const std::string& path, const struct stat& status) {
    if (!S_ISLNK(status.st_mode)) {
      add({.path = path, .file = !S_ISDIR(status.st_mode)});
      return;
    }
    // Not everybody can mount on a symlink. Whoever cannot covers what it leads to, and the link can be replaced.
    const std::string real = real_path(path);
    const std::string named = link_text(path);
    const std::string place = writable_place(real);
    // Through another symlink the server could lead it elsewhere; a whole grant cannot be covered.
    const std::string folder(parent_path(path));
    const std::string leads_to = named.starts_with('/') ? named : text::cat(folder, "/", named);
    const bool steady = !real.empty() && !named.empty() && place != real && real_path(folder) == folder &&
                        real == std::filesystem::path(leads_to).lexically_normal().string();
    gap("symlink", path, steady);
    if (steady) {
      add({.path = path, .link = true, .text = named});
    }
    if (struct stat target = {}; !place.empty() && place != real && look(real, target)) {
      add({.path = real, .file = !S_ISDIR(target.st_mode)});
    }
  }

  // What an earlier launch has put there and not taken away again counts as absent.
  static bool is_held(const SteeringName& name, const struct stat& status) {
    const bool kind = name.absent == WhenAbsent::hold_folder
                          ? S_ISDIR(status.st_mode)
                          : name.absent == WhenAbsent::hold_file && S_ISREG(status.st_mode) &&
                                static_cast<std::size_t>(status.st_size) == name.text.size();
    return kind && status.st_mtim.tv_sec == kHeldMark;
  }

  void add_name(const std::string& folder, const SteeringName& name, bool hold) {
    const std::string path = text::cat(folder, "/", name.path);
    struct stat status = {};
    if (look(path, status)) {
      if (!hold || !is_held(name, status)) {
        add_present(path, status);
        return;
      }
    } else if (errno != ENOENT && errno != ENOTDIR) {
      gap("unreadable", path);
      return;
    }
    if (hold && name.absent != WhenAbsent::leave && can_be_made(path)) {
      add({.path = path, .absent = true, .file = name.absent == WhenAbsent::hold_file, .text = std::string(name.text)});
    }
  }

  void add_folder(const std::string& folder, bool hold) {
    if (is_git_folder(folder)) {
      add_git(folder, folder, 0);  // a bare repository, or .git itself
      return;
    }
    if (!folders_.insert(folder).second) {
      return;
    }
    for (const SteeringName& name : folder_names()) {
      const std::string path = text::cat(folder, "/", name.path);
      if (name.path == ".git" && is_git_folder(path)) {
        add_git(path, folder, 0);
        continue;
      }
      if (name.path == ".git" && !is_folder(path)) {
        follow_git_file(path, folder);
      }
      add_name(folder, name, hold);
    }
  }

  // .git may be a file that says where git's folder is: that of a submodule or of a linked working folder.
  void follow_git_file(const std::string& file, const std::string& folder) {
    constexpr std::string_view kWord = "gitdir: ";
    const std::string content = short_text(file);
    if (!content.starts_with(kWord)) {
      return;
    }
    add_git_at(first_line(std::string_view(content).substr(kWord.size())), folder, folder);
  }

  // The git folder that `named`, seen from `base`, leads to, when the server can write there.
  void add_git_at(std::string_view named, const std::string& base, const std::string& working) {
    const std::string real = real_path(named.starts_with('/') ? std::string(named) : text::cat(base, "/", named));
    if (!real.empty() && writable(real)) {
      add_git(real, working, 0);
    }
  }

  void add_git(const std::string& git, const std::string& working, int depth) {
    if (!gits_.insert(git).second) {
      return;
    }
    for (const SteeringName& name : git_names()) {
      add_name(git, name, true);
    }
    const std::string config = short_text(git + "/config");
    for (const std::string& named : paths_of_git_config(config, git, working, facts_.home)) {
      add_named(named);
    }
    if (uses_worktree_config(config)) {
      add_name(git, {"config.worktree", WhenAbsent::hold_file}, true);
    }
    if (const std::string common = short_text(git + "/commondir"); !common.empty()) {
      add_git_at(first_line(common), git, working);
    }
    for (const std::string& name : folders_in(git + "/worktrees")) {
      add_git(text::cat(git, "/worktrees/", name), working, depth);
    }
    add_modules(git + "/modules", depth);
  }

  // Of submodules; a name may hold slashes.
  void add_modules(const std::string& folder, int depth) {
    const std::vector<std::string> names = folders_in(folder);
    if (!names.empty() && depth >= kDeepestModules) {
      gap("too_deep", folder);
      return;
    }
    for (const std::string& name : names) {
      const std::string path = text::cat(folder, "/", name);
      if (is_git_folder(path)) {
        add_git(path, path, depth + 1);
      } else {
        add_modules(path, depth + 1);
      }
    }
  }

  // Hooks and settings that a repository's config names. One that does not exist can be made by the server.
  void add_named(const std::string& path) {
    const std::string real = real_path(path);
    if (real.empty()) {
      if (writable(path)) {
        gap("named_by_config", path);
      }
      return;
    }
    if (struct stat status = {}; writable(real) && look(real, status)) {
      if (writable_place(real) == real) {
        gap("named_by_config", path);  // the whole grant
      } else {
        add({.path = real, .file = !S_ISDIR(status.st_mode)});
      }
    }
  }

  void look_at_home() {
    gap("home", facts_.home);
    for (const std::string_view name : home_names()) {
      add_name(facts_.home, {name}, false);
    }
    add_folder(facts_.home, false);
  }

  std::vector<std::string> folders_in(const std::string& path) {
    std::vector<std::string> names;
    read_folder(path, [&](std::string_view name, bool folder) {
      if (folder) {
        names.emplace_back(name);
      }
    });
    return names;
  }

  template <typename Each>
  void read_folder(const std::string& path, Each&& each) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      if (errno != ENOENT) {
        gap("unreadable", path);
      }
      return;
    }
    const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(fd.release()));
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") {
        continue;
      }
      if (++entries_ > kMostEntries) {
        gap("too_many_entries", path);
        return;
      }
      each(name, entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN && is_folder(text::cat(path, "/", name))));
    }
  }

  // Breadth first, so that a bound leaves out what lies deepest. What a package manager puts into node_modules is not
  // looked at: it holds thousands of folders and, as a rule, no repository.
  void walk(const std::string& root) {
    std::deque<Visit> queue = {{root, 0}};
    while (!queue.empty() && entries_ <= kMostEntries) {
      const Visit here = queue.front();
      queue.pop_front();
      bool repository = false;
      std::vector<std::string> below;
      read_folder(here.path, [&](std::string_view name, bool folder) {
        repository = repository || name == ".git";
        if (folder && name != ".git" && name != "node_modules") {
          below.emplace_back(name);
        }
      });
      if (is_git_folder(here.path)) {
        add_git(here.path, here.path, 0);
        continue;
      }
      if (repository) {
        add_folder(here.path, true);
      }
      if (!below.empty() && here.depth >= kDeepest) {
        gap("too_deep", here.path);
        continue;
      }
      std::ranges::sort(below);
      for (const std::string& name : below) {
        queue.push_back({text::cat(here.path == "/" ? "" : here.path, "/", name), here.depth + 1});
      }
    }
  }

  const LaunchSpec& spec_;
  HostFacts& facts_;
  std::size_t entries_ = 0;
  std::set<std::string> seen_ = {};
  std::set<std::string> folders_ = {};
  std::set<std::string> gits_ = {};
};

}  // namespace

void find_steering(const LaunchSpec& spec, HostFacts& facts) { Search(spec, facts).run(); }

}  // namespace cordon::sandbox
