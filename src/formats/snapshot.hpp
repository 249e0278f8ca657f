// SPDX-License-Identifier: Apache-2.0
#pragma once
// The snapshot file (docs/formats/snapshot.md): a reviewed catalog, or a candidate for one, as JSON that diffs well.

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/json/limits.hpp"

namespace cordon::formats {

// For catalogs from files. Indented, escaped text is several times as long as what a server may send.
inline constexpr json::Limits kCatalogFileLimits = {.max_bytes = 128'000'000, .max_depth = 128};

// The whole file. Tools are put in order and digests computed anew, so that it can always be read again, as long as the
// names and texts in `snapshot` are such as read_snapshot() accepts.
std::string write_snapshot(const catalog::Snapshot& snapshot);

// snapshot_invalid for whatever the format document does not allow, and where a digest is not that of its content.
// `file` is for messages only. `where` of an error is "file:line:column".
Result<catalog::Snapshot> read_snapshot(std::string_view text, std::string file,
                                        json::Limits limits = kCatalogFileLimits);

// For `diff OLD NEW` and `effects FILE`: a snapshot, a candidate, or a plain {"tools":[…]} or {"result":{"tools":[…]}}.
// Plain tools need only a name, used once (else catalog_invalid); the result then has `tools_only`.
Result<catalog::Snapshot> read_any_catalog(std::string_view text, std::string file);

}  // namespace cordon::formats
