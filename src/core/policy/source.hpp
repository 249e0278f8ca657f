// SPDX-License-Identifier: Apache-2.0
#pragma once
// launch.source as text: "name@version" of a registry, "image@sha256:…", and when one of these names a single content.

#include <optional>
#include <string>
#include <string_view>

#include "core/policy/policy.hpp"

namespace cordon::policy {

// "npm", "pypi" or "oci".
std::string_view name(Source::Kind kind);

// A name and what stands behind the "@"; the version may be empty.
struct PackageName {
  std::string package = {};
  std::string version = {};
  bool operator==(const PackageName&) const = default;
};

// "pkg", "@scope/pkg", each with "@1.2.3", "@latest" or "@^1". Nothing for what npm would fetch from elsewhere (a URL,
// a folder, git, an alias), and for names that the registry does not know.
std::optional<PackageName> read_npm_name(std::string_view text);
// "image@sha256:…", with or without a registry and a tag before the "@".
std::optional<PackageName> read_image_name(std::string_view text);

// "ghcr.io/owner/image:1.2" in two: the tag is empty when there is none.
struct ImageParts {
  std::string repository = {};
  std::string tag = {};
  bool operator==(const ImageParts&) const = default;
};
ImageParts image_parts(std::string_view package);
// Could it be one? Also when it is empty.
bool is_tag(std::string_view tag);

// Do both mean the same image, whatever the tag? "mcp/time" is "docker.io/mcp/time"; a name without a registry is what
// an engine may have found at one.
bool same_image(std::string_view one, std::string_view other);

// Is this what a record may stand for: the same package; of images, the same image, and the same tag where no digest
// decides?
bool same_package(const Source& source, Source::Kind kind, std::string_view package);

// "1.2.3", "1.2.3-beta.1", "1.2.3+build": one version and no range or tag.
bool is_exact_version(std::string_view text);

// Does it name one content for good?
bool is_pinned(const Source& source);

// As it stands in a policy: "pkg@1.2.3", "pkg==1.2.3" of PyPI; without a version the name alone.
std::string spelled(const Source& source);
std::string spelled(Source::Kind kind, std::string_view package, std::string_view version);

}  // namespace cordon::policy
