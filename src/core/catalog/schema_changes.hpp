// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changed between two JSON Schemas, in the words of change.hpp. Complete: schemas whose comparison forms differ
// give at least one change.

#include "core/catalog/change_list.hpp"

namespace cordon::catalog {

// Two objects at `inputSchema` or `outputSchema`, in the comparison form; the place in `list` is that of the schema.
void schema_changes(const Sides& roots, ChangeList& list);

}  // namespace cordon::catalog
