// SPDX-License-Identifier: Apache-2.0
#include "app/fingerprint.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "app/named_files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

std::string set_values_digest(const policy::Launch& launch) {
  std::string lines;
  for (const auto& [name, value] : launch.set) {
    lines += text::cat(name, '=', value, '\n');
  }
  return sha256_text(lines);
}

std::vector<std::string> environment_names(const policy::Launch& launch) {
  std::set<std::string> names(launch.pass.begin(), launch.pass.end());
  for (const auto& [name, value] : launch.set) {
    names.insert(name);
  }
  for (const auto& [name, secret] : launch.secrets) {
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string shown_command(const std::vector<std::string>& command) {
  return text::printable(text::join(command, " "), 512);
}

void compare_files(const catalog::LaunchFingerprint& reviewed, const catalog::LaunchFingerprint& now,
                   std::vector<std::string>& out) {
  for (const auto& [path, digest] : reviewed.files) {
    const auto other = now.files.find(path);
    if (other == now.files.end()) {
      out.push_back(text::cat("the file ", text::printable(path), " is gone"));
    } else if (other->second != digest) {
      out.push_back(text::cat("the content of ", text::printable(path), " changed"));
    }
  }
  for (const auto& [path, digest] : now.files) {
    if (!reviewed.files.contains(path)) {
      out.push_back(text::cat("the file ", text::printable(path), " is new in the command"));
    }
  }
}

void compare_packages(const catalog::PackagePin& reviewed, const catalog::PackagePin& now,
                      std::vector<std::string>& out) {
  const auto shown = [](const catalog::PackagePin& pin) {
    return pin.source.empty() ? std::string("none") : text::printable(pin.source, 512);
  };
  if (reviewed.source != now.source) {
    out.push_back(text::cat("the package was ", shown(reviewed), " and is ", shown(now)));
  } else if (reviewed.lock != now.lock) {
    out.push_back(text::cat("the packages below ", shown(now), " changed (another lock file)"));
  } else if (reviewed.tree != now.tree) {
    out.push_back(text::cat("the installed files of ", shown(now), " changed"));
  }
}

}  // namespace

Result<catalog::LaunchFingerprint> fingerprint(const FingerprintInput& input, std::vector<WitnessedFile>* witnessed) {
  catalog::LaunchFingerprint out;
  out.command = input.command;
  const View view{input.mounts, input.cwd, input.search_path};
  std::vector<NamedFile> files;
  if (!input.image_digest.empty()) {
    out.executable = input.image_digest;
    files = granted_files(input.arguments, view);
  } else {
    const Result<std::string> executable = input.digests.digest(input.executable);
    if (!executable) {
      return std::unexpected(executable.error());
    }
    out.executable = *executable;
    files = interpreters(input.executable, view);
    std::ranges::move(named_files(input.command, view), std::back_inserter(files));
  }
  for (const NamedFile& file : files) {
    if (witnessed != nullptr) {
      witnessed->push_back({file.outside, witness(file.outside)});
    }
    const Result<std::string> digest = input.digests.digest(file.outside);
    if (!digest) {
      return std::unexpected(digest.error());
    }
    out.files.emplace(file.inside, *digest);
  }
  out.package = input.package;
  out.set_values = set_values_digest(input.policy.launch);
  out.environment_names = environment_names(input.policy.launch);
  return out;
}

FileWitness witness(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  return {info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size),
          static_cast<std::int64_t>(info.st_ctim.tv_sec) * 1'000'000'000 + info.st_ctim.tv_nsec};
}

std::vector<std::string> launch_differences(const catalog::LaunchFingerprint& reviewed,
                                            const catalog::LaunchFingerprint& now) {
  if (reviewed.command.empty()) {
    return {"the snapshot is bound to no launch"};
  }
  std::vector<std::string> out;
  if (reviewed.command != now.command) {
    out.push_back(text::cat("the command was \"", shown_command(reviewed.command), "\" and is \"",
                            shown_command(now.command), "\""));
  }
  if (reviewed.executable != now.executable) {
    out.emplace_back("the program that the command starts changed");
  }
  compare_packages(reviewed.package, now.package, out);
  compare_files(reviewed, now, out);
  if (reviewed.set_values != now.set_values) {
    out.emplace_back("values of launch.environment.set changed");
  }
  if (reviewed.environment_names != now.environment_names) {
    out.push_back(text::cat("the environment held ", text::printable(text::join(reviewed.environment_names, ", ")),
                            " and holds ", text::printable(text::join(now.environment_names, ", "))));
  }
  return out;
}

}  // namespace cordon::app
