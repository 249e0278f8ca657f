// SPDX-License-Identifier: Apache-2.0
// Finds the real executable behind a command word and what it needs around it. What is found here is shown to the
// server read-only without being asked for, so it errs on the small side: never a home folder, never its parents.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

bool is_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_folder(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::vector<std::string> folder_names(const std::string& path) {
  std::vector<std::string> names;
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..") {
      names.emplace_back(entry->d_name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// PREFIX of PREFIX/bin/PROGRAM when an interpreter keeps its library there.
std::string interpreter_prefix(const std::string& program, const std::string& home) {
  const std::string_view bin = parent_path(program);
  if (last_component(bin) != "bin") {
    return {};
  }
  std::string prefix(parent_path(bin));
  if (!may_show_unasked(prefix, home)) {
    return {};
  }
  if (is_folder(text::cat(prefix, "/lib/node_modules")) || is_folder(text::cat(prefix, "/include/node"))) {
    return prefix;
  }
  if (is_file(text::cat(prefix, "/lib/server/libjvm.so"))) {
    return prefix;
  }
  for (const std::string& name : folder_names(text::cat(prefix, "/lib"))) {
    if (name.starts_with("python3") && is_file(text::cat(prefix, "/lib/", name, "/os.py"))) {
      return prefix;
    }
  }
  return {};
}

// The folder around a script without which it does not run: the outermost node_modules, or the package it lies in.
std::string package_root(const std::string& script, const std::string& home) {
  const std::size_t modules = script.find("/node_modules/");
  if (modules != std::string::npos) {
    std::string folder = script.substr(0, modules + std::string_view("/node_modules").size());
    return may_show_unasked(folder, home) ? folder : script;
  }
  for (std::string folder(parent_path(script)); may_show_unasked(folder, home);
       folder = std::string(parent_path(folder))) {
    if (is_file(text::cat(folder, "/package.json")) || is_file(text::cat(folder, "/pyproject.toml"))) {
      return folder;
    }
  }
  return script;
}

// A python environment is recognised by how it is called: its python is a symlink to the one it was made with, and the
// programs that were installed into it lie beside that.
std::string python_environment(const std::string& called, const std::string& home) {
  if (!is_normal_path(called)) {
    return {};
  }
  std::string around = real_path(std::string(parent_path(parent_path(called))));
  return is_file(text::cat(around, "/pyvenv.cfg")) && may_show_unasked(around, home) ? around : std::string();
}

// Without them a path that was written through one would lead nowhere inside.
std::vector<ProgramLink> links_on_the_way(const std::vector<std::string>& called) {
  std::vector<ProgramLink> links;
  for (const std::string& path : called) {
    const std::vector<std::string> places = is_normal_path(path) ? trail(path) : std::vector<std::string>();
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {  // the last is the end
      std::array<char, PATH_MAX> target = {};
      const ssize_t length = ::readlink(places[i].c_str(), target.data(), target.size());
      ProgramLink link{places[i], std::string(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0)};
      if (length > 0 && std::ranges::find(links, link) == links.end()) {
        links.push_back(std::move(link));
      }
    }
  }
  return links;
}

void find_entry(const LaunchSpec& spec, const std::string& home, bool is_script, ProgramFacts& facts) {
  const auto runs_scripts = [](const std::string& preset) {
    return preset == "node" || preset == "python" || preset == "java";
  };
  if (std::none_of(spec.runtime.begin(), spec.runtime.end(), runs_scripts)) {
    return;
  }
  std::string written;
  if (is_script) {
    written = spec.argv.front();
  } else {
    const auto first = std::find_if(spec.argv.begin() + 1, spec.argv.end(),
                                    [](const std::string& argument) { return !argument.starts_with("-"); });
    written = first == spec.argv.end() ? std::string() : *first;
  }
  if (!is_normal_path(written) || !is_file(written)) {
    return;
  }
  facts.entry_link = written;
  facts.entry = real_path(written);
  facts.entry_root = package_root(facts.entry, home);
}

}  // namespace

std::string real_path(const std::string& path) {
  std::array<char, PATH_MAX> resolved = {};
  return ::realpath(path.c_str(), resolved.data()) == nullptr ? std::string() : std::string(resolved.data());
}

bool is_program(const std::string& path) { return is_file(path) && ::access(path.c_str(), X_OK) == 0; }

SourceFacts probe_source(const std::string& path) {
  SourceFacts source{.path = path};
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) {
    return source;
  }
  source.resolved = real_path(path);
  if (S_ISLNK(status.st_mode) || source.resolved != path) {
    source.kind = PathKind::symlink;
  } else if (S_ISDIR(status.st_mode)) {
    source.kind = PathKind::directory;
  } else {
    source.kind = S_ISREG(status.st_mode)    ? PathKind::file
                  : S_ISSOCK(status.st_mode) ? PathKind::socket
                                             : PathKind::other;
  }
  return source;
}

ProgramFacts probe_program(const LaunchSpec& spec, const std::string& home) {
  ProgramFacts facts;
  if (spec.argv.empty()) {
    return facts;
  }
  facts.path = real_path(spec.executable.empty() ? spec.argv.front() : spec.executable);
  struct stat status = {};
  facts.found = !facts.path.empty() && is_program(facts.path) && ::stat(facts.path.c_str(), &status) == 0;
  if (!facts.found) {
    return facts;
  }
  facts.identity = {status.st_dev, status.st_ino};
  const ScriptPrograms script = script_programs(facts.path, spec);
  const std::string& program = script.interpreter.empty() ? facts.path : script.interpreter;
  if (!is_system_program(program)) {
    facts.prefix = interpreter_prefix(program, home);
    if (facts.prefix.empty() && program != facts.path) {
      facts.prefix = program;  // an interpreter by itself
    }
  }
  std::vector<std::string> called = {spec.argv.front(), facts.path};
  called.insert(called.end(), script.spelled.begin(), script.spelled.end());
  for (const std::string& one : called) {
    facts.venv = facts.venv.empty() ? python_environment(one, home) : facts.venv;
  }
  facts.links = links_on_the_way(called);
  find_entry(spec, home, !script.interpreter.empty(), facts);
  facts.exposed = find_exposed(spec, script.spelled);
  return facts;
}

Result<std::string> resolve_executable(const std::string& word, const std::string& path, const std::string& cwd) {
  std::vector<std::string> candidates;
  if (word.empty() || word.find('\0') != std::string::npos) {
    return fail(Errc::launch_failed, "the command is empty", "launch.command");
  }
  if (word.find('/') != std::string::npos) {
    candidates.push_back(word.front() == '/' ? word : text::cat(cwd, "/", word));
  } else {
    for (const std::string_view folder : text::split(path, ':')) {
      if (folder.starts_with('/')) {  // a relative entry would depend on where we were started
        candidates.push_back(text::cat(folder, "/", word));
      }
    }
  }
  for (const std::string& candidate : candidates) {
    if (!is_program(candidate)) {
      continue;
    }
    const Result<std::string> program = behind_shim(candidate);
    return program ? Result<std::string>(real_path(*program)) : program;
  }
  return fail(Errc::launch_failed, text::cat("no program '", text::printable(word), "'"),
              word.find('/') != std::string::npos ? "launch.command" : text::cat("PATH=", text::printable(path)),
              "install it or name it by its full path");
}

}  // namespace cordon::sandbox
