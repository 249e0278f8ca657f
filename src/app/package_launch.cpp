// SPDX-License-Identifier: Apache-2.0
#include "app/package_launch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "formats/package_json.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxPackageJson = 16'000'000;

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(Errc::launch_failed, file ? "is no regular file" : errno_text("open", errno), text::printable(path));
  }
  std::string out(std::min<std::size_t>(static_cast<std::size_t>(info.st_size), max_bytes), '\0');
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(file.get(), out.data() + done, out.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(Errc::launch_failed, errno_text("read", errno), text::printable(path));
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  out.resize(done);
  return out;
}

// The words of a first line "#!…", without blanks.
std::vector<std::string> script_words(std::string_view start) {
  std::vector<std::string> out;
  if (!start.starts_with("#!")) {
    return out;
  }
  std::string line(start.substr(2, start.find('\n') - 2));
  for (char& c : line) {
    c = c == '\t' || c == '\r' ? ' ' : c;
  }
  for (const std::string_view word : text::split(line, ' ')) {
    if (!word.empty()) {
      out.emplace_back(word);
    }
  }
  return out;
}

// `#!/usr/bin/env -S NAME=value node --flag` means: the node of PATH, with the flag.
std::vector<std::string> without_env(std::vector<std::string> words) {
  if (words.empty() || file_name_of(words.front()) != "env") {
    return words;
  }
  auto first = words.begin() + 1;
  while (first != words.end() && (first->starts_with('-') || first->find('=') != std::string::npos)) {
    ++first;
  }
  return {first, words.end()};
}

bool is_node_script(const std::string& path) {
  return path.ends_with(".js") || path.ends_with(".mjs") || path.ends_with(".cjs");
}

// What has to be started to run this file; empty: the file itself.
Result<std::vector<std::string>> interpreter_of(const std::string& path) {
  constexpr std::size_t kStart = 512;
  const Result<std::string> start = read_file(path, kStart);
  if (!start) {
    return std::unexpected(start.error());
  }
  std::vector<std::string> words = without_env(script_words(*start));
  if (words.empty() && (is_node_script(path) || start->starts_with("#!"))) {
    words = {"node"};
  }
  // A path of somebody's machine (/usr/local/bin/node): the program of that name is meant. Also where there is one:
  // what is started is shown to the server, and a package does not choose among the user's own files.
  if (!words.empty() && words.front().starts_with('/')) {
    const std::string named = normalised(words.front());
    const bool is_system = is_within(named, "/usr") || is_within(named, "/bin");
    if (!is_system || ::access(named.c_str(), X_OK) != 0) {
      words.front() = file_name_of(words.front());
    }
  }
  return words;
}

}  // namespace

std::string not_installed(const policy::Source& source) {
  return source.kind == policy::Source::Kind::oci
             ? text::cat("the image ", policy::spelled(source), " is not fetched")
             : text::cat("the package ", policy::spelled(source), " is not installed");
}

std::string install_command(std::string_view spelled) { return text::cat("mcp-cordon install ", spelled); }

Status check_record(const policy::Source& source, const formats::PackageRecord& record, const std::string& where,
                    const std::string& install) {
  if (!policy::is_pinned(source) && !source.allow_unpinned) {
    return fail(Errc::policy_invalid,
                text::cat("launch.source names no exact version: ", text::printable(policy::spelled(source), 300)),
                where,
                text::cat("write ", policy::spelled(record.kind, record.package, record.version),
                          ", which is what is installed; ", install, " does it"));
  }
  const std::vector<std::string> scripts =
      source.scripts == policy::Source::Scripts::allow ? source.script_packages : std::vector<std::string>();
  const bool version_fits = !policy::is_pinned(source) || source.version == record.version;
  if (!policy::same_package(source, record.kind, record.package) || !version_fits || record.scripts != scripts) {
    return fail(
        Errc::launch_failed,
        text::cat("the policy wants ", text::printable(policy::spelled(source), 300), ", and what is installed is ",
                  text::printable(policy::spelled(record.kind, record.package, record.version), 400),
                  record.scripts != scripts ? " with other scripts" : ""),
        where, install);
  }
  return {};
}

Result<PackageProgram> package_program(const Caller& caller, const formats::PackageRecord& record,
                                       const std::vector<std::string>& command) {
  if (record.kind == policy::Source::Kind::pypi) {
    return python_program(caller, record, command);
  }
  // A data folder may well lie behind a symlink; what is shown to a server may not.
  const std::string tree = resolved(store_place(caller, record).tree);
  const std::string folder = text::cat(tree, "/node_modules/", record.package);
  const std::string manifest = folder + "/package.json";
  const Result<std::string> text = read_file(manifest, kMaxPackageJson);
  if (!text) {
    return std::unexpected(text.error());
  }
  const Result<std::string> entry = formats::package_program(*text, manifest, record.package, command.at(0));
  if (!entry) {
    return std::unexpected(entry.error());
  }
  const std::string path = text::cat(folder, '/', *entry);
  // Links within the tree are the package's own; what they lead to lies in it, too.
  const std::string real = resolved(path);
  if (!is_within(real, tree)) {
    return fail(Errc::launch_failed, "the program lies outside of the package", text::printable(path));
  }
  const Result<std::vector<std::string>> interpreter = interpreter_of(real);
  if (!interpreter) {
    return std::unexpected(interpreter.error());
  }
  PackageProgram out;
  out.tree = tree;
  out.folders = {tree + "/node_modules/.bin"};
  out.executable = real;
  if (!interpreter->empty()) {
    const Result<Program> program = find_program(interpreter->front(), caller);
    if (!program) {
      return fail(Errc::launch_failed,
                  text::cat("the package's program is run by '", text::printable(interpreter->front(), 200),
                            "': ", program.error().detail),
                  text::printable(real), text::cat("install ", text::printable(interpreter->front(), 200)));
    }
    out.executable = program->real;
    out.argv = *interpreter;
    out.argv.front() = program->path;
  }
  out.argv.push_back(real);
  out.argv.insert(out.argv.end(), command.begin() + 1, command.end());
  return out;
}

catalog::PackagePin package_pin(const formats::PackageRecord& record) {
  return {text::cat(policy::name(record.kind), ':', policy::spelled(record.kind, record.package, record.version)),
          record.lock_digest, record.tree_digest};
}

}  // namespace cordon::app
