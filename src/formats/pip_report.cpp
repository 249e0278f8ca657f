// SPDX-License-Identifier: Apache-2.0
#include "formats/pip_report.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/policy/pypi_name.hpp"
#include "formats/json_place.hpp"

namespace cordon::formats {
namespace {

using json::Kind;
using json::Value;

constexpr json::Limits kLimits = {.max_bytes = kMaxPipReport, .max_depth = 64};

std::string text_of(const Value& value) { return value.is(Kind::string) ? value.string() : std::string(); }
bool is_true(const Value& value) { return value.is(Kind::boolean) && value.boolean(); }

// `hashes` since pip 23; `hash` ("sha256=…") before.
std::string digest_of(const Value& archive) {
  constexpr std::string_view kOld = "sha256=";
  std::string out = text_of(archive.find("hashes").find("sha256"));
  if (const std::string old = text_of(archive.find("hash")); out.empty() && old.starts_with(kOld)) {
    out = old.substr(kOld.size());
  }
  return out.size() == 64 && out.find_first_not_of("0123456789abcdef") == std::string::npos ? out : std::string();
}

std::optional<std::string> why_not(const Value& item, const PipChoice& choice) {
  const auto name = policy::read_pypi_name(choice.package.name);
  if (!name || !name->version.empty() || !policy::is_exact_pypi_version(choice.package.version)) {
    return "has no proper name and version";
  }
  if (is_true(item.find("is_direct")) || item.find("download_info").find("vcs_info") ||
      item.find("download_info").find("dir_info")) {
    return "comes from an address and not from the index";
  }
  if (!choice.url.ends_with(".whl")) {
    return "is no wheel, and building it would run its code";
  }
  return choice.package.sha256.empty() ? std::optional<std::string>("has no sha256 digest") : std::nullopt;
}

}  // namespace

Result<std::vector<PipChoice>> read_pip_report(std::string_view text, std::string_view file) {
  const Result<json::Document> document = json::read(std::string(text), kLimits);
  if (!document) {
    return fail(Errc::launch_failed, document.error().detail, place_of_read_error(file, text, document.error().where));
  }
  const Value root = document->root();
  const Value items = root.find("install");
  if (!items.is(Kind::array) || !text_of(root.find("version")).starts_with('1')) {
    return fail(Errc::launch_failed, "is no report of pip as this version knows them", std::string(file),
                "use another version of pip");
  }
  std::vector<PipChoice> out;
  for (const Value item : items.elements()) {
    const Value source = item.find("download_info");
    const Value metadata = item.find("metadata");
    const std::string spelled = text_of(metadata.find("name"));
    PipChoice choice;
    choice.package = {policy::distribution_name(spelled), text_of(metadata.find("version")),
                      digest_of(source.find("archive_info"))};
    choice.url = text_of(source.find("url"));
    choice.url.resize(std::min(choice.url.find('#'), choice.url.size()));
    choice.yanked = is_true(item.find("is_yanked"));
    if (const auto why = why_not(item, choice)) {
      return fail(Errc::launch_failed, text::cat("'", text::printable(spelled, 200), "' ", *why),
                  place_of_value(file, *document, item),
                  "only wheels of an index, each with its sha256 digest, are installed; choose another version");
    }
    if (std::ranges::any_of(out, [&](const PipChoice& other) { return other.package.name == choice.package.name; })) {
      return fail(Errc::launch_failed, text::cat("names '", choice.package.name, "' twice"), std::string(file));
    }
    out.push_back(std::move(choice));
  }
  return out;
}

}  // namespace cordon::formats
