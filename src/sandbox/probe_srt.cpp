// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/srt.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kLeast = "0.0.83";  // earlier ones are not known to hold
constexpr std::string_view kInstall = "install @anthropic-ai/sandbox-runtime and name its dist/cli.js in isolation.srt";

#if defined(__x86_64__)
constexpr std::string_view kVendor = "x64";
#else
constexpr std::string_view kVendor = "arm64";
#endif

// Root's or ours, writable by nobody else, and so all the way up (a sticky folder may be a parent).
bool is_trusted(std::string path, std::uint32_t uid) {
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  for (;; path = std::string(parent_path(path))) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0 || (status.st_uid != 0 && status.st_uid != uid) ||
        S_ISLNK(status.st_mode)) {
      return false;
    }
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & kOthersWrite) != 0 && !sticky) {
      return false;
    }
    if (path == "/") {
      return true;
    }
  }
}

std::string first_kilobytes(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string content(8192, '\0');
  const ssize_t length = file ? ::read(file.get(), content.data(), content.size()) : 0;
  content.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return content;
}

// The "version" of a package.json, without reading more of it than that.
std::string package_version(const std::string& manifest) {
  const std::string content = first_kilobytes(manifest);
  const std::size_t key = content.find("\"version\"");
  return key == std::string::npos ? std::string() : version_in(std::string_view(content).substr(key, 40));
}

Trial lacks(std::string_view step, std::string_view reason, std::string hint) {
  return {.step = std::string(step), .error_number = ENOENT, .reason = std::string(reason), .hint = std::move(hint)};
}

Trial find_parts(SrtFacts& found, const HostFacts& facts) {
  if (found.cli.empty()) {
    return lacks("find", "backend_missing", std::string(kInstall));
  }
  const std::string package(parent_path(parent_path(found.cli)));
  for (const std::string& path : {found.cli, package + "/dist/index.js", package + "/package.json"}) {
    if (!is_trusted(path, facts.uid)) {
      return {.step = "find",
              .reason = "backend_missing",
              .hint = text::cat(text::printable(path),
                                " is not there, or is or lies behind something that others can change or a symlink; ",
                                kInstall)};
    }
  }
  found.version = package_version(package + "/package.json");
  if (!version_reaches(found.version, kLeast)) {
    return {.step = "version",
            .reason = "backend_version",
            .hint = text::cat("srt ", text::printable(found.version), " was found; ", kLeast, " or later is needed")};
  }
  found.helper = text::cat(package, "/vendor/seccomp/", kVendor, "/apply-seccomp");
  if (!is_trusted(found.helper, facts.uid) || ::access(found.helper.c_str(), X_OK) != 0) {
    found.helper.clear();
    // srt itself only warns and goes on without.
    return lacks("find", "backend_missing", "the package lacks its apply-seccomp: install it again");
  }
  struct Part {
    std::string& place;
    std::string_view name;
  };
  for (const Part& part : std::array<Part, 4>{
           {{found.node, "node"}, {found.bwrap, "bwrap"}, {found.socat, "socat"}, {found.ripgrep, "rg"}}}) {
    part.place = find_system_tool(part.name);
    if (part.place.empty()) {
      return lacks("find", "backend_missing",
                   text::cat("srt needs ", part.name,
                             " in a system directory (apt-get install nodejs bubblewrap socat ripgrep)"));
    }
  }
  return {.works = true};
}

Trial try_srt(const SrtFacts& found, const HostFacts& facts) {
  const std::string settings = srt_settings(found, {"/usr"}, {});
  // Inherited by the child alone, and closed when we return.
  const UniqueFd file(::memfd_create("settings", 0));
  if (!file || ::write(file.get(), settings.data(), settings.size()) != static_cast<ssize_t>(settings.size())) {
    return {.step = "run", .error_number = errno, .reason = "resources"};
  }
  const std::vector<std::string> argv = {
      found.node, found.cli, "--settings", text::cat("/proc/self/fd/", file.get()), "-c", "exec /usr/bin/true"};
  const ToolOutput ran = run_tool(argv, facts, {"PATH=/usr/bin:/bin", "HOME=/", "TMPDIR=/tmp"});
  if (ran.status == 0) {
    return {.works = true, .step = "done"};
  }
  return {.step = "run", .reason = "backend_refused", .hint = text::cat("srt says: ", text::printable(ran.text, 300))};
}

void write_list(json::Writer& out, std::string_view key, const std::vector<std::string>& items) {
  out.key(key).begin_array();
  for (const std::string& item : items) {
    out.string(item);
  }
  out.end_array();
}

}  // namespace

std::string srt_settings(const SrtFacts& srt, const std::vector<std::string>& readable,
                         const std::vector<std::string>& writable) {
  std::vector<std::string> shown = readable;
  shown.emplace_back(parent_path(srt.helper));
  json::Writer out;
  out.begin_object().key("network").begin_object();
  write_list(out, "allowedDomains", {});
  write_list(out, "deniedDomains", {});
  out.end_object().key("filesystem").begin_object();
  write_list(out, "denyRead", {"/"});
  write_list(out, "allowRead", shown);
  write_list(out, "allowWrite", writable);
  write_list(out, "denyWrite", {});
  out.end_object().member("bwrapPath", srt.bwrap).member("socatPath", srt.socat);
  out.key("seccomp").begin_object().member("applyPath", srt.helper).end_object();
  out.key("ripgrep").begin_object().member("command", srt.ripgrep).end_object();
  // It looks for files to protect below its working directory, which is "/".
  out.member_int("mandatoryDenySearchDepth", 1).end_object();
  return out.take();
}

SrtFacts probe_srt(const std::string& cli, const HostFacts& facts) {
  SrtFacts found;
  found.cli = cli;
  found.trial = find_parts(found, facts);
  if (found.trial.works) {
    found.trial = try_srt(found, facts);
  }
  return found;
}

}  // namespace cordon::sandbox
