// SPDX-License-Identifier: Apache-2.0
#include "cli/install_talk.hpp"

#include <unistd.h>

#include "app/package_launch.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "core/policy/source.hpp"

namespace cordon::cli {
namespace {

bool shows_count() { return ::isatty(STDERR_FILENO) == 1; }

void say(std::string_view line) {
  print_err(text::cat(shows_count() ? "\r\x1b[K" : "", "mcp-cordon: ", text::printable(line, 2000), '\n'));
}

std::string name_of(const formats::PackageRecord& record) {
  return text::cat(policy::name(record.kind), ' ', policy::spelled(record.kind, record.package, record.version));
}

}  // namespace

app::InstallProgress progress_on_stderr() {
  app::InstallProgress out;
  out.say = say;
  if (shows_count()) {
    out.fetched = [](std::size_t count) { print_err(text::cat("\r\x1b[K", count, " files fetched")); };
  }
  return out;
}

Status install_and_record(const app::Caller& caller, const app::LoadedPolicy& loaded) {
  const Result<std::string> before = app::recorded_before(caller, loaded);
  if (!before) {
    return std::unexpected(before.error());
  }
  const Result<app::Installed> installed =
      app::install_package(caller, loaded, app::InstallFrom::record, progress_on_stderr());
  if (!installed) {
    if (shows_count()) {
      print_err("\r\x1b[K");
    }
    return std::unexpected(installed.error());
  }
  const formats::PackageRecord& record = installed->record;
  if (installed->was_there) {
    say(text::cat(name_of(record), " is installed already"));
  } else if (record.kind != policy::Source::Kind::oci) {
    say(text::cat("installed ", name_of(record), " (", installed->packages, " packages)"));
  } else {
    say(text::cat("installed ", name_of(record)));
  }
  const Result<app::Pinned> pinned = app::keep_record(caller, loaded, record, *before);
  if (!pinned) {
    return std::unexpected(pinned.error());
  }
  say(text::cat("recorded in ", pinned->record_path));
  if (pinned->policy_written) {
    say(text::cat(loaded.location.path, " now says ", policy::spelled(record.kind, record.package, record.version)));
  }
  return {};
}

Status install_if_missing(const app::Caller& caller, const app::PolicyChoice& choice) {
  const Result<app::LoadedPolicy> loaded = app::load_policy(caller, choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  if (!loaded->policy.launch.source) {
    return {};
  }
  const auto record = app::load_record(caller, *loaded);
  if (!record) {
    return std::unexpected(record.error());
  }
  const bool fits = *record && app::check_record(*loaded->policy.launch.source, **record, "", "");
  const bool there = fits && app::is_installed(caller, *loaded, **record);
  return there ? Status() : install_and_record(caller, *loaded);
}

}  // namespace cordon::cli
