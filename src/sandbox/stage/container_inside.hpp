// SPDX-License-Identifier: Apache-2.0
#pragma once
// What init and server look at inside a container: an image of which we know the digest only, and an engine that may
// have been told by somebody else to add to it.

#include <string>
#include <vector>

#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// Folders and files of the image that may be read and executed, each as high up as possible without taking in what is
// not the image's: devices, /proc, /sys, and what can be written.
std::vector<std::string> image_places(const Plan& plan);

// Every mount is one that the plan knows, or one that engines make by themselves.
Outcome attest_container_mounts(const Plan& plan);

}  // namespace cordon::sandbox::stage
