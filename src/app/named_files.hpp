// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that a command runs besides its program: those that its words name, and the interpreters of a script.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/spec.hpp"

namespace cordon::app {

struct NamedFile {
  std::string inside = {};            // as the command has it, absolute
  std::string outside = {};           // the regular file that it leads to
  std::vector<std::string> way = {};  // symlinks on the way to it, outside; `outside` is the last
};

// Where a command sees its files.
struct View {
  const std::vector<sandbox::Mount>& mounts;  // none: inside and outside are the same
  std::string cwd = {};                       // inside; empty: relative words name nothing that a policy can mean
  std::string search_path = {};               // PATH inside, for `#!/usr/bin/env NAME`
};

// A word names files as sandbox::names_in_word says, also by a file:// URL. The first word is the program and is passed
// over.
std::vector<NamedFile> named_files(const std::vector<std::string>& command, const View& view);

// What the arguments of a program in an image name: of this machine, only files that a grant shows. All words count.
std::vector<NamedFile> granted_files(const std::vector<std::string>& arguments, const View& view);

// What runs the file when it begins with "#!": its interpreter, that one's interpreter if it is a script too, and the
// program that /usr/bin/env is told to look for.
std::vector<NamedFile> interpreters(const std::string& outside, const View& view);

}  // namespace cordon::app
