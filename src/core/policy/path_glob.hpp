// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paths against the path globs of a ceiling. Compared component by component, so /data says nothing about /database.

#include <string_view>

namespace cordon::policy {

// Does `glob` admit `path`: does it match the path or a folder above it? (Who may have a folder may have what is in
// it.) In a component of the glob * stands for any characters and ? for one, a leading dot included; the component **
// stands for any number of components, none included. Both absolute and without `.`, `..` and doubled slashes; in
// `path` no character is special.
bool path_admitted(std::string_view glob, std::string_view path);

}  // namespace cordon::policy
