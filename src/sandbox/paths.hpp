// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparing path texts. Nothing here looks at the file system.

#include <string>
#include <string_view>
#include <vector>

namespace cordon::sandbox {

// Absolute, no empty, "." or ".." component, no slash at the end (but "/" itself), no NUL.
bool is_normal_path(std::string_view path);

// True when `path` is `folder` or lies below it. Both normal.
bool is_within(std::string_view path, std::string_view folder);

// The path without its last component; "/" for "/" and its children.
std::string_view parent_path(std::string_view path);
std::string_view last_component(std::string_view path);

// `path`, which is within `from`, with `from` replaced by `to`.
std::string rebase(std::string_view path, std::string_view from, std::string_view to);

// What in a word of a command may be the path of a file: the word itself, what follows its first "=", and each part of
// a list with ":", "=" or "," (class paths, -javaagent:FILE=OPTIONS), without the "@" of an argument file or the
// letters of an option before an absolute path (-r/FILE).
std::vector<std::string_view> names_in_word(std::string_view word);

}  // namespace cordon::sandbox
