// SPDX-License-Identifier: Apache-2.0
#include "app/store_check.hpp"

#include <unistd.h>

#include <optional>
#include <system_error>
#include <utility>

#include "app/package_tree.hpp"
#include "app/tree_table.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "run/files.hpp"
#include "run/trust.hpp"

namespace cordon::app {
namespace {

// One line, then the table that its second digest is of.
constexpr std::string_view kFormat = "v2 ";
constexpr std::uint64_t kMaxWitnessBytes = 512'000'000;

std::string first_line(const std::string& tree_digest, std::string_view table) {
  return text::cat(kFormat, tree_digest, ' ', sha256_text(table), '\n');
}

// The table that was made of these files. Nothing for one that was damaged: it must not leave a file out.
std::optional<std::string> kept_table(const StorePlace& place, const std::string& tree_digest) {
  auto kept = run::read_trusted_if_present(place.witness, {.max_bytes = kMaxWitnessBytes});
  if (!kept || !*kept) {
    return std::nullopt;
  }
  std::string table = std::move((*kept)->content);
  const std::size_t end = table.find('\n');
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const std::string line = table.substr(0, end + 1);
  table.erase(0, end + 1);
  return line == first_line(tree_digest, table) ? std::optional(std::move(table)) : std::nullopt;
}

// `compiled`: empty where nothing is kept apart.
bool is_as_compiled(const StorePlace& place, const std::string& compiled) {
  if (compiled.empty()) {
    return true;
  }
  const auto kept = run::read_trusted_if_present(place.compiled, {.max_bytes = 1024});
  return kept && *kept && (*kept)->content == compiled + '\n';
}

std::string shown(const formats::PackageRecord& record) {
  return text::printable(policy::spelled(record.kind, record.package, record.version), 400);
}

}  // namespace

Status remember_tree(const StorePlace& place, const std::string& tree_digest, const std::string& table) {
  if (!outlast_table(table) || !is_as_in_table(place.tree, table)) {
    return {};
  }
  return run::write_atomic(place.witness, first_line(tree_digest, table) + table);
}

Result<Looked> look_at_store(const StorePlace& place, const formats::PackageRecord& record, TreeCheck check,
                             std::string_view install_command) {
  if (!is_folder(place.tree)) {
    return fail(Errc::launch_failed, text::cat("the package ", shown(record), " is not installed"), place.folder,
                std::string(install_command));
  }
  const Result<run::TrustedPlace> way = run::walk_to_folder(place.tree, ::geteuid(), run::Missing::refuse);
  if (!way) {
    return std::unexpected(way.error());
  }
  const std::optional<std::string> kept = kept_table(place, record.tree_digest);
  if (check == TreeCheck::quick && kept && is_as_in_table(place.tree, *kept)) {
    return Looked::at_facts;
  }
  const Result<std::string> before = tree_table(place.tree);
  // What is larger is another content, and may be too large to be read.
  const Result<TreeDigest> now = record_digest(record, place.tree, kept ? bytes_in_table(*kept) : kAnyBytes);
  if (!now) {
    Error error = now.error();
    error.remedy = text::cat(install_command, " fetches the files again");
    return std::unexpected(std::move(error));
  }
  if (now->digest != record.tree_digest || !is_as_compiled(place, now->compiled)) {
    return fail(Errc::launch_changed,
                text::cat("the installed files of ", shown(record), " are not those that were recorded"), place.tree,
                text::cat(install_command, " fetches them again"));
  }
  if (before) {
    // Not remembering costs time, never the answer.
    [[maybe_unused]] const Status remembered = remember_tree(place, record.tree_digest, *before);
  }
  return Looked::at_contents;
}

Status check_store(const Caller& caller, const formats::PackageRecord& record, TreeCheck check,
                   std::string_view install_command) {
  const Result<Looked> looked = look_at_store(store_place(caller, record), record, check, install_command);
  return looked ? Status() : std::unexpected(looked.error());
}

void StoreCheck::begin(const Caller& caller, const formats::PackageRecord& record, std::string install_command) {
  // Whatever becomes of the thread: what has not been found to be well is not.
  found_ = fail(Errc::internal, "the installed files were not looked at", "package");
  const auto work = [this, &record, place = store_place(caller, record), command = std::move(install_command)] {
    found_ = look_at_store(place, record, TreeCheck::quick, command);
  };
  try {
    thread_ = std::jthread(work);
  } catch (const std::system_error&) {
    work();  // no room for a thread
  }
}

const Result<Looked>& StoreCheck::wait() {
  if (thread_.joinable()) {
    thread_.join();
  }
  return found_;
}

}  // namespace cordon::app
