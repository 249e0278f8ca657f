// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way that the kernel takes to a path: who can write to a place on it decides where the path leads.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/spec.hpp"

namespace cordon::app {

// Each symlink on the way to an absolute path, by its own name in a folder without symlinks, and last where the way
// ends, whether something is there or not. ".." is what it is for the kernel: the folder above where a symlink led.
// With mounts `path` is an inside path, symlinks lead to inside paths, and what is given are the places outside.
std::vector<std::string> way_to(std::string_view path, const std::vector<sandbox::Mount>& mounts = {});

// `path` as the kernel understands it, its last component untouched: a path without ".." stays as it is spelled.
std::string without_dots(std::string_view path);

}  // namespace cordon::app
