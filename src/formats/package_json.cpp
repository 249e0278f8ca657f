// SPDX-License-Identifier: Apache-2.0
#include "formats/package_json.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "formats/json_place.hpp"

namespace cordon::formats {
namespace {

constexpr json::Limits kLimits = {.max_bytes = 16'000'000, .max_depth = 128};

std::string_view without_scope(std::string_view package) {
  const std::size_t slash = package.rfind('/');
  return slash == std::string_view::npos ? package : package.substr(slash + 1);
}

// "./dist/../index.js" without what leads nowhere else; empty for what leads out of the package. Written on Windows, it
// may have "\\" for "/", as npm knows.
std::string inside_package(std::string path) {
  std::vector<std::string_view> parts;
  if (path.find('\0') != std::string::npos) {
    return {};
  }
  std::ranges::replace(path, '\\', '/');
  for (const std::string_view part : text::split(path, '/')) {
    if (part == "..") {
      if (parts.empty()) {
        return {};
      }
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view part : parts) {
    out += text::cat(out.empty() ? "" : "/", part);
  }
  return out;
}

std::map<std::string, std::string> programs_of(const json::Value& bin, std::string_view package) {
  std::map<std::string, std::string> out;
  if (bin.is(json::Kind::string)) {
    out.emplace(without_scope(package), inside_package(bin.string()));
  }
  for (const json::Member member : bin.members()) {
    if (member.value.is(json::Kind::string)) {
      // "@scope/name" is the program "name" for npm.
      out.emplace(without_scope(member.key.string()), inside_package(member.value.string()));
    }
  }
  std::erase_if(out, [](const auto& one) { return one.second.empty(); });
  return out;
}

}  // namespace

Result<std::string> package_program(std::string_view text, std::string_view file, std::string_view package,
                                    std::string_view bin) {
  const Result<json::Document> document = json::read(std::string(text), kLimits);
  if (!document) {
    return fail(Errc::launch_failed, document.error().detail, place_of_read_error(file, text, document.error().where));
  }
  const std::map<std::string, std::string> programs = programs_of(document->root().find("bin"), package);
  if (const auto found = programs.find(std::string(bin)); found != programs.end()) {
    return found->second;
  }
  std::set<std::string> paths;
  std::vector<std::string> names;
  for (const auto& [name, path] : programs) {
    paths.insert(path);
    names.push_back(text::printable(name, 100));
  }
  if (paths.size() == 1 && bin == without_scope(package)) {
    return *paths.begin();
  }
  return fail(
      Errc::launch_failed,
      text::cat("the package ", text::printable(package, 300), " has no program '", text::printable(bin, 100), "'"),
      std::string(file),
      names.empty() ? "it has none at all, and so is no server that can be started"
                    : text::cat("it has: ", text::join(names, ", ")));
}

}  // namespace cordon::formats
