// SPDX-License-Identifier: Apache-2.0
#pragma once
// Path arithmetic that the other files share. Only `resolved` looks at the file system.

#include <string>
#include <string_view>

namespace cordon::app {

// Without doubled or trailing slashes and without "." and ".." components; absolute paths only.
std::string normalised(std::string_view absolute);

// realpath of the longest part that exists, the rest appended: what a path will mean once it is created.
std::string resolved(std::string_view absolute);

// Is `path` the folder `folder` or below it? Both normalised.
bool is_within(std::string_view path, std::string_view folder);

// `path` with the prefix `from` replaced by `to`; `path` must be within `from`.
std::string rebased(std::string_view path, std::string_view from, std::string_view to);

std::string parent_of(std::string_view path);
std::string file_name_of(std::string_view path);

}  // namespace cordon::app
