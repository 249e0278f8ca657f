// SPDX-License-Identifier: Apache-2.0
#include "core/schema/uri.hpp"

#include <charconv>
#include <cstddef>
#include <vector>

#include "base/text.hpp"

namespace cordon::schema {
namespace {

struct Parts {
  std::string_view scheme = {};     // with its colon
  std::string_view authority = {};  // with its slashes
  std::string_view path = {};
  std::string_view query = {};  // with its question mark
};

Parts parts_of(std::string_view uri) {
  Parts parts;
  const std::size_t colon = uri.find(':');
  if (colon != std::string_view::npos && colon > 0 && uri.substr(0, colon).find_first_of("/?") == std::string::npos) {
    parts.scheme = uri.substr(0, colon + 1);
    uri.remove_prefix(colon + 1);
  }
  if (uri.starts_with("//")) {
    const std::size_t end = std::min(uri.find_first_of("/?", 2), uri.size());
    parts.authority = uri.substr(0, end);
    uri.remove_prefix(end);
  }
  const std::size_t question = std::min(uri.find('?'), uri.size());
  parts.path = uri.substr(0, question);
  parts.query = uri.substr(question);
  return parts;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool absolute = path.starts_with('/');
  bool folder = false;
  for (const std::string_view segment : text::split(absolute ? path.substr(1) : path, '/')) {
    folder = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    } else if (!folder) {
      kept.push_back(segment);
    }
  }
  if (folder) {
    kept.emplace_back();
  }
  std::string result = absolute ? "/" : "";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    result += i == 0 ? "" : "/";
    result += kept[i];
  }
  return result;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string merged_path(const Parts& base, std::string_view path) {
  if (path.starts_with('/')) {
    return without_dots(path);
  }
  if (!base.authority.empty() && base.path.empty()) {
    return without_dots(text::cat("/", path));
  }
  const std::size_t slash = base.path.rfind('/');
  return without_dots(text::cat(slash == std::string_view::npos ? "" : base.path.substr(0, slash + 1), path));
}

}  // namespace

Reference resolve(std::string_view base, std::string_view reference) {
  Reference result;
  const std::size_t hash = std::min(reference.find('#'), reference.size());
  if (hash < reference.size()) {
    result.fragment = percent_decoded(reference.substr(hash + 1));
  }
  const std::string_view uri = reference.substr(0, hash);
  if (uri.empty()) {
    result.uri = base;
    return result;
  }
  const Parts given = parts_of(uri);
  const Parts from = parts_of(base);
  if (!given.scheme.empty()) {
    result.uri = uri;
  } else if (!given.authority.empty()) {
    result.uri = text::cat(from.scheme, uri);
  } else if (given.path.empty()) {
    result.uri = text::cat(from.scheme, from.authority, from.path, given.query);
  } else {
    result.uri = text::cat(from.scheme, from.authority, merged_path(from, given.path), given.query);
  }
  return result;
}

json::Value at_pointer(const json::Value& root, std::string_view pointer) {
  json::Value at = root;
  if (pointer.empty()) {
    return at;
  }
  for (const std::string_view raw : text::split(pointer.substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const bool escape = raw[i] == '~' && i + 1 < raw.size() && (raw[i + 1] == '0' || raw[i + 1] == '1');
      token += escape ? (raw[i + 1] == '0' ? '~' : '/') : raw[i];
      i += escape ? 1 : 0;
    }
    if (at.is(json::Kind::array)) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
      const bool number = error == std::errc() && end == token.data() + token.size();
      at = number ? at.at(index) : json::Value();
    } else {
      at = at.find(token);
    }
    if (!at) {
      return {};
    }
  }
  return at;
}

}  // namespace cordon::schema
