// SPDX-License-Identifier: Apache-2.0
#include "core/policy/source.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"

namespace cordon::policy {
namespace {

constexpr std::size_t kMaxName = 214;  // the registry's own limit
constexpr std::size_t kMaxVersion = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Names of today are in small letters; a few old ones are not.
bool is_name_part(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '~';
  };
  return !text.empty() && text.front() != '.' && text.front() != '_' && text.front() != '-' &&
         std::ranges::all_of(text, allowed);
}

bool is_npm_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxName || text == "node_modules") {
    return false;
  }
  if (text.front() != '@') {
    return is_name_part(text);
  }
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && is_name_part(text.substr(1, slash - 1)) &&
         is_name_part(text.substr(slash + 1));
}

// A version, a range or a tag. ":" and "/" would make a URL, a path or an alias of it.
bool is_version_text(std::string_view text) {
  constexpr std::string_view kMarks = ".-+^~<>=*|_ ";
  return text.size() <= kMaxVersion && text.find_first_not_of(' ') != std::string_view::npos && text.front() != '-' &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || is_digit(c) || kMarks.contains(c); });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit) && (text.size() == 1 || text.front() != '0');
}

bool is_identifiers(std::string_view text) {
  return std::ranges::all_of(text::split(text, '.'), [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
  });
}

// Is what stands before the first slash a host? So do engines decide it.
bool names_registry(std::string_view repository) {
  const std::size_t slash = repository.find('/');
  const std::string_view first = repository.substr(0, slash);
  return slash != std::string_view::npos &&
         (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
}

// Without what Docker lets people leave out.
std::string docker_name(std::string_view repository) {
  for (const std::string_view prefix : {"docker.io/", "index.docker.io/"}) {
    if (repository.starts_with(prefix)) {
      repository.remove_prefix(prefix.size());
    }
  }
  constexpr std::string_view kOwner = "library/";
  return std::string(repository.starts_with(kOwner) ? repository.substr(kOwner.size()) : repository);
}

}  // namespace

std::string_view name(Source::Kind kind) {
  switch (kind) {
    case Source::Kind::npm:
      return "npm";
    case Source::Kind::pypi:
      return "pypi";
    case Source::Kind::oci:
      return "oci";
  }
  return "";
}

std::optional<PackageName> read_npm_name(std::string_view text) {
  const std::size_t at = text.find('@', 1);
  const std::string_view package = text.substr(0, at);
  const std::string_view version = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  if (!is_npm_name(package) || (at != std::string_view::npos && !is_version_text(version))) {
    return std::nullopt;
  }
  return PackageName{std::string(package), std::string(version)};
}

std::optional<PackageName> read_image_name(std::string_view text) {
  constexpr std::string_view kDigest = "@sha256:";
  const std::size_t at = text.find(kDigest);
  const std::string_view image = text.substr(0, at);
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' || c == '/' || c == ':';
  };
  if (image.empty() || image.size() > 255 || !(is_letter(image.front()) || is_digit(image.front())) ||
      !std::ranges::all_of(image, allowed)) {
    return std::nullopt;
  }
  if (at == std::string_view::npos) {
    return PackageName{std::string(image), {}};
  }
  const std::string_view hex = text.substr(at + kDigest.size());
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 64 || !std::ranges::all_of(hex, is_hex)) {
    return std::nullopt;
  }
  return PackageName{std::string(image), std::string(text.substr(at + 1))};
}

ImageParts image_parts(std::string_view package) {
  const std::size_t slash = package.rfind('/');
  const std::size_t colon = package.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) {
    return {std::string(package), {}};
  }
  return {std::string(package.substr(0, colon)), std::string(package.substr(colon + 1))};
}

bool is_tag(std::string_view tag) {
  constexpr std::size_t kMaxTag = 128;
  return tag.size() <= kMaxTag && !tag.starts_with('.') && !tag.starts_with('-') &&
         std::ranges::all_of(tag,
                             [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-'; });
}

bool same_image(std::string_view one, std::string_view other) {
  const std::string first = docker_name(image_parts(one).repository);
  const std::string second = docker_name(image_parts(other).repository);
  return first == second || (!names_registry(first) && names_registry(second) && second.ends_with("/" + first)) ||
         (!names_registry(second) && names_registry(first) && first.ends_with("/" + second));
}

bool same_package(const Source& source, Source::Kind kind, std::string_view package) {
  if (source.kind != kind) {
    return false;
  }
  if (kind != Source::Kind::oci) {
    return source.package == package;
  }
  return same_image(source.package, package) &&
         (is_pinned(source) || image_parts(source.package).tag == image_parts(package).tag);
}

bool is_exact_version(std::string_view text) {
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos && !is_identifiers(text.substr(plus + 1))) {
    return false;
  }
  text = text.substr(0, plus);
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos && !is_identifiers(text.substr(dash + 1))) {
    return false;
  }
  const std::vector<std::string_view> numbers = text::split(text.substr(0, dash), '.');
  return numbers.size() == 3 && std::ranges::all_of(numbers, is_number);
}

bool is_pinned(const Source& source) {
  switch (source.kind) {
    case Source::Kind::npm:
      return is_exact_version(source.version);
    case Source::Kind::pypi:
      return is_exact_pypi_version(source.version);
    case Source::Kind::oci:
      return !source.version.empty();
  }
  return false;
}

std::string spelled(Source::Kind kind, std::string_view package, std::string_view version) {
  if (version.empty()) {
    return std::string(package);
  }
  if (kind == Source::Kind::pypi) {
    return text::cat(package, is_exact_pypi_version(version) ? "==" : "", version);
  }
  return text::cat(package, '@', version);
}

std::string spelled(const Source& source) { return spelled(source.kind, source.package, source.version); }

}  // namespace cordon::policy
