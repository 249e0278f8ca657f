// SPDX-License-Identifier: Apache-2.0
#include "app/package_users.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "app/package_store.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/source.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::uint64_t kMaxBytes = 4'000'000;

std::string users_path(const std::string& folder) { return place_at(folder).users; }

// One JSON object a line.
std::string line_of(const PackageUser& user) {
  json::Writer writer;
  writer.begin_object();
  writer.member("record", user.record).member("policy", user.policy).member("package", user.package);
  writer.end_object();
  return writer.take() + '\n';
}

std::optional<PackageUser> user_of(std::string_view line) {
  const Result<json::Document> document = json::read(std::string(line), {.max_bytes = kMaxBytes, .max_depth = 4});
  if (!document || !document->root().is(json::Kind::object)) {
    return std::nullopt;
  }
  PackageUser out;
  for (const auto& [name, into] :
       {std::pair{std::string_view("record"), &out.record}, std::pair{std::string_view("policy"), &out.policy},
        std::pair{std::string_view("package"), &out.package}}) {
    const json::Value value = document->root().find(name);
    if (!value.is(json::Kind::string)) {
      return std::nullopt;
    }
    *into = value.string();
  }
  return out;
}

UniqueFd open_folder(const std::string& folder) {
  return UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

Result<std::optional<std::vector<PackageUser>>> package_users(const std::string& folder) {
  const auto file = run::read_trusted_if_present(users_path(folder), {.max_bytes = kMaxBytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  if (!*file) {
    return std::nullopt;
  }
  std::vector<PackageUser> out;
  for (const std::string_view line : text::split((*file)->content, '\n')) {
    if (line.empty()) {
      continue;
    }
    std::optional<PackageUser> user = user_of(line);
    if (!user) {
      return fail(Errc::file_unreadable, "holds a line that is none of ours", users_path(folder));
    }
    out.push_back(std::move(*user));
  }
  return out;
}

Status add_package_user(const Caller& caller, const formats::PackageRecord& record, std::string record_path,
                        std::string policy_path) {
  if (record.kind == policy::Source::Kind::oci) {
    return {};
  }
  const std::string folder = store_place(caller, record).folder;
  const PackageUser user{std::move(record_path), std::move(policy_path),
                         text::cat(policy::name(record.kind), ':', record.package, '@', record.version)};
  const auto known = package_users(folder);
  if (known && *known && std::ranges::find(**known, user) != (*known)->end()) {
    return {};
  }
  // In one write at the end, so that of two at once neither is lost; behind a line that was cut off, on a new one.
  const UniqueFd file(
      ::open(users_path(folder).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  const std::string line = (known ? "" : "\n") + line_of(user);
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail(Errc::file_unreadable, errno_text("write", errno), users_path(folder));
  }
  ::fdatasync(file.get());
  return {};
}

Result<UniqueFd> hold_package(const Caller& caller, const formats::PackageRecord& record) {
  if (record.kind == policy::Source::Kind::oci) {
    return UniqueFd();
  }
  const std::string path = store_place(caller, record).folder;
  UniqueFd folder = open_folder(path);
  if (folder && ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0) {
    return fail(Errc::launch_failed, "the package is being removed from the store", path,
                "wait for mcp-cordon prune to end, then install it again");
  }
  return folder;
}

std::optional<UniqueFd> hold_alone(const std::string& folder) {
  UniqueFd held = open_folder(folder);
  if (!held || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::nullopt;
  }
  return held;
}

}  // namespace cordon::app
