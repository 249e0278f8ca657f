// SPDX-License-Identifier: Apache-2.0
#pragma once
// podman and docker, asked for images: which they have, and to fetch them. Registries, mirrors, plain HTTP and logins
// are those that the user's engine is configured for.

#include <string>

#include "app/caller.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct ImageEngine {
  std::string name = {};  // "podman"
  std::string path = {};
};

// policy_invalid when the policy's backend starts no images, unsupported_isolation when it is not installed.
Result<ImageEngine> image_engine(const LoadedPolicy& loaded);

// "image@sha256:…", without the tag, which engines refuse beside a digest.
std::string image_reference(std::string_view package, std::string_view digest);

// Does the engine have it? False also when it cannot be asked.
bool has_image(const Caller& caller, const ImageEngine& engine, const std::string& reference);

// launch_failed with what the engine said, and what to do about it.
Status pull_image(const Caller& caller, const ImageEngine& engine, const std::string& reference);

// Fetches what a tag means today.
struct ResolvedImage {
  std::string package = {};  // with the registry that the engine found it at, and the tag
  std::string digest = {};   // of the index, where the image is there for several platforms
};
Result<ResolvedImage> resolve_image(const Caller& caller, const ImageEngine& engine, const std::string& package);

}  // namespace cordon::app
