// SPDX-License-Identifier: Apache-2.0
#include "app/wheel_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "app/package_tree.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"
#include "formats/ini.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDistInfo = ".dist-info";
constexpr std::string_view kProgram = "../../bin/";  // as pip lists programs of --target
constexpr std::size_t kMaxFile = 64'000'000;

Result<std::string> text_at(const std::string& path) {
  const auto file = run::read_trusted_if_present(path, {.max_bytes = kMaxFile});
  if (!file) {
    return std::unexpected(file.error());
  }
  return *file ? (*file)->content : std::string();
}

std::vector<std::string> dist_infos(const std::string& site) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(site, error)) {
    if (entry.path().filename().string().ends_with(kDistInfo) && entry.is_directory(error) &&
        !entry.is_symlink(error)) {
      out.push_back(entry.path().string());
    }
  }
  std::ranges::sort(out);
  return out;
}

bool is_note_of_pip(std::string_view path) {
  for (const std::string_view name : {"/INSTALLER", "/REQUESTED", "/direct_url.json"}) {
    if (path.ends_with(name) && path.find(kDistInfo) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Path of a line of RECORD, "PATH,sha256=DIGEST,SIZE"; quoted when it holds a comma.
std::string_view path_of(std::string_view line) {
  if (line.starts_with('"')) {
    return line.substr(1, line.find('"', 1) - 1);
  }
  return line.substr(0, line.find(','));
}

// Removes what is listed as a program, and what is not to be kept from the list.
Status tidy_record(const std::string& site, const std::string& info, std::set<std::string>& programs) {
  const std::string path = info + "/RECORD";
  const Result<std::string> text = text_at(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  std::string kept;
  for (const std::string_view line : text::split(*text, '\n')) {
    const std::string_view file = path_of(line);
    if (file.starts_with(kProgram)) {
      const std::string name(file.substr(kProgram.size()));
      if (name.find('/') == std::string::npos && name != "." && name != "..") {
        ::unlink(text::cat(site, "/bin/", name).c_str());
        programs.insert(name);
      }
      continue;
    }
    const bool compiled = file.find("__pycache__/") != std::string_view::npos;
    if (!line.empty() && !compiled && !is_note_of_pip(file)) {
      kept += text::cat(line, '\n');
    }
  }
  for (const char* name : {"/INSTALLER", "/REQUESTED", "/direct_url.json"}) {
    ::unlink((info + name).c_str());
  }
  return text->empty() ? Status() : run::write_atomic(path, kept, {.replace = run::Replace::existing, .mode = 0644});
}

// Of another Python perhaps, and nobody could tell what they were made of.
Status remove_compiled(const std::string& site) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(site, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() == "__pycache__") {
      found.push_back(at->path().string());
      at.disable_recursion_pending();
    }
  }
  for (const std::string& path : found) {
    if (Status removed = remove_tree(path); !removed) {
      return removed;
    }
  }
  return error ? fail(Errc::launch_failed, text::cat("cannot be read: ", error.message()), site) : Status();
}

}  // namespace

std::string dist_info_of(const std::string& site, std::string_view package) {
  const std::string wanted = policy::distribution_name(package);
  for (const std::string& folder : dist_infos(site)) {
    const std::string name = file_name_of(folder);
    const std::size_t dash = name.find('-');
    if (dash != std::string::npos && policy::distribution_name(name.substr(0, dash)) == wanted) {
      return folder;
    }
  }
  return {};
}

Result<std::vector<std::string>> tidy_wheels(const std::string& site) {
  std::set<std::string> programs;
  std::set<std::string> entries;
  for (const std::string& info : dist_infos(site)) {
    if (Status tidied = tidy_record(site, info, programs); !tidied) {
      return std::unexpected(tidied.error());
    }
    const Result<std::string> text = text_at(info + "/entry_points.txt");
    if (!text) {
      return std::unexpected(text.error());
    }
    formats::Ini sections = formats::read_ini(*text, false);
    for (const char* section : {"console_scripts", "gui_scripts"}) {
      for (const auto& [name, entry] : sections[section]) {
        entries.insert(name);
      }
    }
  }
  ::rmdir((site + "/bin").c_str());  // unless something of a package's own lies there
  if (Status removed = remove_compiled(site); !removed) {
    return std::unexpected(removed.error());
  }
  std::vector<std::string> out;
  std::ranges::set_difference(programs, entries, std::back_inserter(out));
  return out;
}

}  // namespace cordon::app
