// SPDX-License-Identifier: Apache-2.0
// What is shown without a grant because the program does not run without it. Nobody wrote it down, so it is refused
// wherever the server had a hand in choosing it.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// Hold more than one program, or what belongs to several people.
constexpr std::array<std::string_view, 20> kShared = {
    "/",     "/bin", "/boot", "/etc", "/home",    "/lib",     "/lib64",     "/media",   "/mnt", "/opt",
    "/sbin", "/srv", "/tmp",  "/usr", "/usr/lib", "/usr/bin", "/usr/local", "/var/tmp", "/var", "/var/lib"};
// The machine's own, with all that is in them.
constexpr std::array<std::string_view, 6> kMachine = {"/boot", "/dev", "/etc", "/proc", "/run", "/sys"};

constexpr std::string_view kRemedy =
    "move it out of what the server may write, or grant the folder it lies in for reading";

Status check_exposed(const ProgramFacts& program) {
  if (program.exposed.empty()) {
    return {};
  }
  const ExposedFile& file = program.exposed.front();
  std::string detail = text::cat(file.role, " lies below the write grant ", text::printable(file.grant));
  if (file.place != file.path) {
    detail = text::cat(file.role, " is reached through ", text::printable(file.place), ", below the write grant ",
                       text::printable(file.grant));
  }
  return fail(Errc::policy_invalid, text::cat(detail, ": the server could change what its next start runs"),
              text::printable(file.path), std::string(kRemedy));
}

// Adds what the program needs unless a grant or a preset already shows it at its own place.
Status add_needed(std::vector<ViewEntry>& extra, const LaunchSpec& spec, const HostFacts& facts,
                  const std::string& path) {
  if (path.empty() || (shows_system(spec) && is_system_program(path))) {
    return {};
  }
  const auto shown = [&](const Mount& grant) {
    return is_within(path, grant.target) && rebase(path, grant.target, grant.source) == path;
  };
  const auto covered = [&](const ViewEntry& entry) {
    return entry.kind == EntryKind::bind && is_within(path, entry.target);
  };
  if (const std::string grant = writable_grant(spec, path); !grant.empty()) {
    return fail(Errc::policy_invalid,
                text::cat("the command needs it, and it lies below the write grant ", text::printable(grant),
                          ": the server could change what its next start runs"),
                text::printable(path), std::string(kRemedy));
  }
  if (std::any_of(spec.mounts.begin(), spec.mounts.end(), shown) || std::any_of(extra.begin(), extra.end(), covered)) {
    return {};
  }
  if (!may_show_unasked(path, facts.home)) {
    return fail(Errc::policy_invalid, "the command needs it, but it is not shown without a grant",
                text::printable(path), "grant it for reading, or move the program");
  }
  extra.push_back({.kind = EntryKind::bind,
                   .target = path,
                   .source = path,
                   .executable = true,
                   .owners = Owners::mapped_if_possible});
  return {};
}

// By a preset, a grant, or what the program needs anyway.
bool shown_already(const std::vector<ViewEntry>& extra, const LaunchSpec& spec, const HostFacts& facts,
                   const std::string& path) {
  const auto holds = [&path](const ViewEntry& entry) {
    return entry.target == path || (entry.kind == EntryKind::bind && is_within(path, entry.target));
  };
  const auto is_system = [&path](const SystemPath& one) { return is_within(path, one.path); };
  const auto grants = [&path](const Mount& grant) {
    return is_within(path, grant.target) || is_within(grant.target, path);
  };
  // What the sandbox has of its own is not replaced, either.
  constexpr std::array<std::string_view, 5> kOwn = {"/dev", "/proc", "/sys", "/etc", kHomeInside};
  constexpr std::array<std::string_view, 6> kOwnFolders = {"/home", "/run", "/tmp", "/usr", "/var", "/var/tmp"};
  const auto own = [&path](std::string_view folder) { return is_within(path, folder); };
  return std::ranges::any_of(extra, holds) || std::ranges::any_of(spec.mounts, grants) ||
         std::ranges::any_of(kOwn, own) || std::ranges::find(kOwnFolders, path) != kOwnFolders.end() ||
         (shows_system(spec) && std::ranges::any_of(facts.system_paths, is_system));
}

}  // namespace

bool may_show_unasked(std::string_view path, std::string_view home) {
  if (!is_normal_path(path) || std::find(kShared.begin(), kShared.end(), path) != kShared.end() || path == "/root" ||
      std::any_of(kMachine.begin(), kMachine.end(), [path](std::string_view own) { return is_within(path, own); })) {
    return false;
  }
  return home.empty() ||
         !(is_within(home, path) || path == text::cat(home, "/.local") || path == text::cat(home, "/bin"));
}

std::string writable_grant(const LaunchSpec& spec, std::string_view place) {
  std::vector<Mount> mounts = spec.mounts;
  if (!spec.home_source.empty()) {
    mounts.push_back({.source = spec.home_source, .target = std::string(kHomeInside), .writable = true});
  }
  for (const Mount& mount : mounts) {
    if (!mount.writable || !is_within(place, mount.source)) {
      continue;
    }
    // A grant that lies deeper covers it here.
    const std::string inside = rebase(place, mount.source, mount.target);
    const auto deeper = [&](const Mount& other) {
      return is_within(inside, other.target) && other.target.size() > mount.target.size();
    };
    if (std::none_of(mounts.begin(), mounts.end(), deeper)) {
      return mount.source;
    }
  }
  return {};
}

Result<std::vector<ViewEntry>> program_view(const LaunchSpec& spec, const HostFacts& facts) {
  if (!spec.image.reference.empty()) {
    return std::vector<ViewEntry>();  // the image brings its own
  }
  const ProgramFacts& program = facts.program;
  if (auto status = check_exposed(program); !status) {
    return std::unexpected(status.error());
  }
  std::vector<ViewEntry> extra;
  for (const std::string* path : {&program.prefix, &program.venv, &program.path, &program.entry_root, &program.entry}) {
    if (auto status = add_needed(extra, spec, facts, *path); !status) {
      return std::unexpected(status.error());
    }
  }
  // As in node_modules/.bin, which the package's own root shows.
  const auto shows_link = [&](const auto& shown) { return is_within(program.entry_link, shown.target); };
  if (!program.entry_link.empty() && program.entry_link != program.entry &&
      !(shows_system(spec) && is_system_program(program.entry_link)) && std::ranges::none_of(extra, shows_link) &&
      std::ranges::none_of(spec.mounts, shows_link)) {
    extra.push_back({.kind = EntryKind::symlink, .target = program.entry_link, .text = program.entry});
  }
  for (const ProgramLink& link : program.links) {
    if (!shown_already(extra, spec, facts, link.path)) {
      extra.push_back({.kind = EntryKind::symlink, .target = link.path, .text = link.text});
    }
  }
  return extra;
}

}  // namespace cordon::sandbox
