// SPDX-License-Identifier: Apache-2.0
// The image half of install: the engine fetches it by its digest, and checks that digest itself.
#include <utility>

#include "app/image_engine.hpp"
#include "app/install.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {

Result<Installed> install_image(const Caller& caller, const LoadedPolicy& loaded, InstallFrom from,
                                const InstallProgress& progress) {
  const policy::Source& source = *loaded.policy.launch.source;
  const Result<ImageEngine> engine = image_engine(loaded);
  if (!engine) {
    return std::unexpected(engine.error());
  }
  Installed out;
  out.record = {.server = loaded.policy.server,
                .kind = policy::Source::Kind::oci,
                .package = source.package,
                .version = source.version};
  if (from == InstallFrom::record) {
    const auto recorded = load_record(caller, loaded);
    if (recorded && *recorded && policy::same_package(source, (*recorded)->kind, (*recorded)->package) &&
        (source.version.empty() || source.version == (*recorded)->version)) {
      out.record.package = (*recorded)->package;
      out.record.version = (*recorded)->version;
    }
  }
  if (out.record.version.empty()) {
    progress.say(text::cat("asking for what ", text::printable(source.package, 300), " is today, with ", engine->name));
    Result<ResolvedImage> resolved = resolve_image(caller, *engine, source.package);
    if (!resolved) {
      return std::unexpected(resolved.error());
    }
    out.record.package = std::move(resolved->package);
    out.record.version = std::move(resolved->digest);
    out.record.lock_digest = out.record.version;
    progress.say(text::cat(text::printable(source.package, 300), " is ", out.record.version));
    return out;
  }
  out.record.lock_digest = out.record.version;
  const std::string reference = image_reference(out.record.package, out.record.version);
  out.was_there = has_image(caller, *engine, reference);
  if (out.was_there) {
    return out;
  }
  progress.say(text::cat("fetching ", reference, " with ", engine->name));
  if (const Status fetched = pull_image(caller, *engine, reference); !fetched) {
    return std::unexpected(fetched.error());
  }
  if (!has_image(caller, *engine, reference)) {
    return fail(Errc::launch_failed, text::cat(engine->name, " fetched something else"), text::printable(reference));
  }
  return out;
}

}  // namespace cordon::app
