// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a review shows of one item. Nothing is cut: what is not shown cannot be reviewed.

#include <string>
#include <string_view>

#include "core/catalog/diff.hpp"
#include "formats/reports/paper.hpp"

namespace cordon::app {

// JSON as indented lines, each with `mark` in front.
void write_json(formats::Paper& paper, const std::string& json_text, std::string_view mark, formats::Tone tone);

// One place that differs, with its cues. A whole definition is a list of its parameters.
void write_place(formats::Paper& paper, const catalog::ItemChange& change, const catalog::Place& place);

}  // namespace cordon::app
