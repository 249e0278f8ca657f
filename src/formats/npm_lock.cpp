// SPDX-License-Identifier: Apache-2.0
#include "formats/npm_lock.hpp"

#include <algorithm>
#include <optional>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/json_place.hpp"

namespace cordon::formats {
namespace {

using json::Kind;
using json::Value;

constexpr std::string_view kModules = "node_modules/";
constexpr std::size_t kMaxPackages = 20'000;

std::string text_of(const Value& value) { return value.is(Kind::string) ? value.string() : std::string(); }

bool is_true(const Value& value) { return value.is(Kind::boolean) && value.boolean(); }

// "node_modules/a/node_modules/@b/c"
bool is_place(std::string_view place) {
  const auto normal = [](std::string_view part) { return !part.empty() && part != "." && part != ".."; };
  return place.starts_with(kModules) && place.find('\0') == std::string_view::npos &&
         place.find('\\') == std::string_view::npos && std::ranges::all_of(text::split(place, '/'), normal);
}

std::string name_at(std::string_view place) {
  const std::size_t last = place.rfind(kModules);
  return std::string(place.substr(last + kModules.size()));
}

// The one with SHA-512 among several, "sha512-" and 64 bytes in base64.
std::string strong_digest(std::string_view integrity) {
  constexpr std::string_view kPrefix = "sha512-";
  constexpr std::size_t kLength = 88;
  for (const std::string_view one : text::split(integrity, ' ')) {
    if (one.starts_with(kPrefix) && one.size() == kPrefix.size() + kLength) {
      return std::string(one);
    }
  }
  return {};
}

class Reader {
 public:
  Reader(const json::Document& document, std::string_view file) : document_(document), file_(file) {}

  Result<NpmLock> run() {
    const Value root = document_.root();
    const auto version = root.find("lockfileVersion");
    const Value packages = root.find("packages");
    if (!version.is(Kind::number) || (version.number_text() != "2" && version.number_text() != "3") ||
        !packages.is(Kind::object)) {
      return fail(Errc::launch_failed, "is no lock file of npm 7 or newer", std::string(file_), "use npm 7 or newer");
    }
    for (const json::Member member : packages.members()) {
      const std::string place = member.key.string();
      if (!place.empty()) {
        read_package(place, member);
      }
      if (error_) {
        return std::unexpected(std::move(*error_));
      }
    }
    out_.canonical = json::canonical(root);
    out_.digest = sha256_text(out_.canonical);
    return std::move(out_);
  }

 private:
  void refuse(const Value& at, const std::string& place, std::string_view why) {
    error_ =
        Error{Errc::launch_failed, text::cat("'", text::printable(place, 300), "' ", why),
              place_of_value(file_, document_, at), "only packages of a registry with a sha512 digest are installed"};
  }

  void read_package(const std::string& place, const json::Member& member) {
    const Value& entry = member.value;
    if (!entry.is(Kind::object) || !is_place(place) || out_.packages.size() >= kMaxPackages) {
      return refuse(member.key, place, "is no place for a package");
    }
    if (is_true(entry.find("link"))) {
      return refuse(member.key, place, "is a link to a folder");
    }
    const std::string resolved = text_of(entry.find("resolved"));
    if (!resolved.empty() && !resolved.starts_with("https://") && !resolved.starts_with("http://")) {
      return refuse(member.key, place, "does not come from a registry");
    }
    // Where `resolved` is a registry's address, it looks like any other: what was asked for tells.
    for (const std::string_view kind : {"dependencies", "optionalDependencies", "peerDependencies"}) {
      for (const json::Member wanted : entry.find(kind).members()) {
        const std::string spec = text::lower_ascii(text_of(wanted.value));
        if (spec.starts_with("http://") || spec.starts_with("https://")) {
          return refuse(wanted.key, place, "wants a package from an address and not from a registry");
        }
      }
    }
    LockedPackage package;
    package.place = place;
    package.name = entry.find("name") ? text_of(entry.find("name")) : name_at(place);
    package.version = text_of(entry.find("version"));
    package.integrity = strong_digest(text_of(entry.find("integrity")));
    package.wants_scripts = is_true(entry.find("hasInstallScript"));
    // Bundled is what came in another package's archive, below it; a shrinkwrap can say so of anything.
    const bool bundled = is_true(entry.find("inBundle")) && place.rfind(kModules) != 0;
    if (package.integrity.empty() && !bundled) {
      return refuse(member.key, place, "has no sha512 digest");
    }
    out_.packages.push_back(std::move(package));
  }

  const json::Document& document_;
  std::string_view file_;
  NpmLock out_ = {};
  std::optional<Error> error_ = {};
};

}  // namespace

const LockedPackage* NpmLock::find(std::string_view place) const {
  const auto found = std::ranges::find(packages, place, &LockedPackage::place);
  return found == packages.end() ? nullptr : &*found;
}

Result<NpmLock> read_npm_lock(std::string_view text, std::string_view file) {
  const Result<json::Document> document = json::read(std::string(text), kNpmLockLimits);
  if (!document) {
    return fail(Errc::launch_failed, document.error().detail, place_of_read_error(file, text, document.error().where));
  }
  return Reader(*document, file).run();
}

}  // namespace cordon::formats
