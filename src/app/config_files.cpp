// SPDX-License-Identifier: Apache-2.0
#include "app/config_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "app/paths.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxMatches = 10'000;  // of one pattern

// Paths that match a pattern with "*" in its components, sorted.
std::vector<std::string> expand_pattern(const std::string& pattern) {
  std::vector<std::string> found = {""};
  for (const std::string_view component : text::split(std::string_view(pattern).substr(1), '/')) {
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (component.find('*') == std::string_view::npos) {
        next.push_back(text::cat(folder, '/', component));
        continue;
      }
      std::error_code error;
      std::filesystem::directory_iterator entry(folder, error);
      for (const std::filesystem::directory_iterator end; !error && entry != end && next.size() < kMaxMatches;
           entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (clients::matches(component, name)) {
          next.push_back(text::cat(folder, '/', name));
        }
      }
    }
    found = std::move(next);
  }
  std::ranges::sort(found);
  return found;
}

std::string real_path(const std::string& path) {
  char* found = ::realpath(path.c_str(), nullptr);
  std::string out = found == nullptr ? std::string() : std::string(found);
  std::free(found);
  return out;
}

run::FileIdentity identity_of(const struct stat& info) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified_ns = info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec,
          .changed_ns = info.st_ctim.tv_sec * kSecond + info.st_ctim.tv_nsec,
          .owner = info.st_uid,
          .mode = info.st_mode};
}

Status read_content(ConfigFile& file) {
  // O_NONBLOCK: a pipe of that name must not hold us up.
  const UniqueFd fd(::open(file.real.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("open", errno), file.path);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Errc::file_unreadable, "is no regular file", file.path);
  }
  file.identity = identity_of(info);
  file.group = info.st_gid;
  file.links = info.st_nlink;
  if (file.identity.size > clients::kMaxConfigBytes) {
    return fail(Errc::file_unreadable, text::cat("is longer than ", clients::kMaxConfigBytes, " bytes"), file.path);
  }
  file.text.resize(file.identity.size);
  std::size_t done = 0;
  while (done < file.text.size()) {
    const ssize_t got = ::read(fd.get(), file.text.data() + done, file.text.size() - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return fail(Errc::file_unreadable, got < 0 ? errno_text("read", errno) : "became shorter", file.path);
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

void read_entries(ConfigFile& file, const std::vector<clients::MemberPath>& tables) {
  if (const Status read = read_content(file); !read) {
    file.fault = read.error().to_string();
    return;
  }
  const auto syntax = file.syntax == clients::FileSyntax::toml ? clients::Syntax::toml : clients::Syntax::json;
  Result<clients::Tree> tree = clients::read_tree(syntax, file.text, file.path);
  if (!tree) {
    file.fault = tree.error().to_string();
    return;
  }
  file.tree = std::move(*tree);
  file.entries = clients::find_entries(file.tree, tables);
  if (file.entries.size() > clients::kMaxServers) {
    file.fault = text::cat(file.path, ": names more than ", clients::kMaxServers, " servers");
    file.entries.clear();
  }
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return fail(Errc::file_unreadable, errno_text("write", errno), path);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// The new file with everything that the old one had; removed again when that fails.
Status fill(int fd, const ConfigFile& file, std::string_view content, const std::string& temporary) {
  if (const Status written = write_all(fd, content, temporary); !written) {
    return written;
  }
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return fail(Errc::file_unreadable, errno_text("fstat", errno), temporary);
  }
  if ((info.st_uid != file.identity.owner || info.st_gid != file.group) &&
      ::fchown(fd, file.identity.owner, file.group) != 0) {
    return fail(Errc::file_unreadable, errno_text("fchown", errno), file.real, "its owner or group could not be kept");
  }
  if (::fchmod(fd, file.identity.mode & 0777U) != 0 || ::fsync(fd) != 0) {
    return fail(Errc::file_unreadable, errno_text("fsync", errno), temporary);
  }
  // As late as can be: an app that wrote meanwhile must not lose what it wrote.
  struct stat now{};
  if (::lstat(file.real.c_str(), &now) != 0 || identity_of(now) != file.identity) {
    return fail(Errc::file_unreadable, "was changed by another program meanwhile", file.real, "run the command again");
  }
  return {};
}

// The first row that names a file has it. What lies in the home folder for every project is the user's, whoever happens
// to stand there.
std::vector<clients::ClientFile> in_order_of_claim(const std::vector<clients::ClientFile>& rows,
                                                   const clients::Folders& folders) {
  if (folders.project != folders.home) {
    return rows;
  }
  const auto of_project = [](const clients::ClientFile& row) { return row.scope == clients::Scope::project; };
  std::vector<clients::ClientFile> out;
  std::ranges::remove_copy_if(rows, std::back_inserter(out), of_project);
  std::ranges::copy_if(rows, std::back_inserter(out), of_project);
  return out;
}

}  // namespace

clients::Folders folders_of(const Caller& caller) {
  clients::Folders out;
  out.home = caller.home;
  out.config = {caller.config_home};
  if (const std::string usual = caller.home + "/.config"; usual != caller.config_home) {
    out.config.push_back(usual);
  }
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  out.project = error ? std::string() : here.string();
  return out;
}

std::vector<ConfigFile> find_configs(const clients::Folders& folders) {
  std::vector<ConfigFile> out;
  for (const clients::Client& client : clients::client_table()) {
    std::set<std::string> seen;
    for (const clients::ClientFile& row : in_order_of_claim(client.files, folders)) {
      for (const std::string& pattern : clients::path_patterns(row, folders)) {
        for (const std::string& path : expand_pattern(normalised(pattern))) {
          struct stat info{};
          if (::lstat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
            continue;
          }
          ConfigFile file;
          file.client = client.id;
          file.title = client.title;
          file.scope = row.scope;
          file.syntax = row.syntax;
          file.path = path;
          file.real = real_path(path);
          if (!seen.insert(file.real.empty() ? path : file.real).second) {
            continue;
          }
          if (file.real.empty()) {
            file.fault = Error{Errc::file_unreadable, errno_text("open", errno), path}.to_string();
          } else if (file.syntax != clients::FileSyntax::named) {
            read_entries(file, row.tables);
          }
          out.push_back(std::move(file));
        }
      }
    }
  }
  return out;
}

Status may_write_config(const ConfigFile& file) {
  if ((file.identity.mode & S_IWUSR) == 0) {
    return fail(Errc::file_unreadable, "is read-only", file.path, "make it writable first, if it is yours to change");
  }
  if (file.links > 1) {
    return fail(Errc::file_unreadable, "has a second name (hard link), which would keep the old content", file.path,
                "edit it by hand");
  }
  const uid_t me = ::geteuid();
  if (me != 0 && file.identity.owner != me) {
    return fail(Errc::file_unreadable, "belongs to another user", file.path, "run this as its owner");
  }
  if (::access(parent_of(file.real).c_str(), W_OK) != 0) {
    return fail(Errc::file_unreadable, errno_text("write in its folder", errno), file.path);
  }
  return {};
}

Status write_config(const ConfigFile& file, std::string_view content) {
  if (const Status allowed = may_write_config(file); !allowed) {
    return allowed;
  }
  const std::string folder = parent_of(file.real);
  std::string temporary = text::cat(folder, "/.", file_name_of(file.real), ".mcp-cordon-XXXXXX");
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    return fail(Errc::file_unreadable, errno_text("create a file beside it", errno), file.path);
  }
  Status done = fill(fd.get(), file, content, temporary);
  if (done && ::rename(temporary.c_str(), file.real.c_str()) != 0) {
    done = fail(Errc::file_unreadable, errno_text("rename", errno), file.real);
  }
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  const UniqueFd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) {
    ::fsync(directory.get());
  }
  return {};
}

}  // namespace cordon::app
