// SPDX-License-Identifier: Apache-2.0
#include "app/compare_catalogs.hpp"

#include "app/plain_file.hpp"
#include "app/session_context.hpp"
#include "formats/reports/report.hpp"
#include "formats/snapshot.hpp"

namespace cordon::app {
namespace {

Result<catalog::Snapshot> read_catalog(const std::string& path) {
  const Result<std::string> text = read_plain(path, formats::kCatalogFileLimits.max_bytes);
  if (!text) {
    Error error = text.error();
    if (error.remedy.empty()) {
      error.remedy = "two words are two catalog files; the NAME of a policy stands alone";
    }
    return std::unexpected(std::move(error));
  }
  return formats::read_any_catalog(*text, path);
}

}  // namespace

Result<catalog::Diff> compare_files(const std::string& before, const std::string& after) {
  const Result<catalog::Snapshot> old_catalog = read_catalog(before);
  if (!old_catalog) {
    return std::unexpected(old_catalog.error());
  }
  const Result<catalog::Snapshot> new_catalog = read_catalog(after);
  if (!new_catalog) {
    return std::unexpected(new_catalog.error());
  }
  return catalog::diff(*old_catalog, *new_catalog);
}

Result<catalog::Diff> compare_live(const LiveComparison& request) {
  const Result<LoadedPolicy> loaded = load_policy(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Result<LoadedSnapshot> found = load_snapshot(request.caller, *loaded);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (!found->snapshot) {
    return fail(Errc::snapshot_missing, "nobody has reviewed this server's catalog yet", found->location.path,
                review_command(*loaded));
  }
  if (found->unsigned_because) {  // "no drift" from what `run` refuses would be no answer
    return std::unexpected(*found->unsigned_because);
  }
  const Result<catalog::Snapshot> live =
      capture_candidate({request.caller, *loaded, request.client_command, request.version, &*found->snapshot});
  if (!live) {
    return std::unexpected(live.error());
  }
  return catalog::diff(*found->snapshot, *live);
}

std::string render(const catalog::Diff& diff, std::string_view format, Style style, const Rendering& rendering) {
  const formats::Report* report = formats::find_report(format);
  CORDON_ASSERT(report != nullptr);
  formats::RenderOptions options = {.colour = style.colour, .width = rendering.width};
  if (!rendering.artifact.empty()) {
    options.artifact = rendering.artifact;
  }
  return report->render(diff, options);
}

bool knows_format(std::string_view format) { return formats::find_report(format) != nullptr; }

}  // namespace cordon::app
