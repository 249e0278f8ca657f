// SPDX-License-Identifier: Apache-2.0
// What registries, npm and pip give: lock files, a package.json, entry points, a report, and the record that is made of
// them; and settings. A lock file that is accepted binds every package and reads back the same from its canonical form;
// a program's path stays in its package; a record that is accepted is written as text that reads back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"
#include "formats/netrc.hpp"
#include "formats/npm_lock.hpp"
#include "formats/npmrc.hpp"
#include "formats/package_json.hpp"
#include "formats/package_record.hpp"
#include "formats/pip_report.hpp"
#include "formats/pypi_lock.hpp"
#include "formats/pypi_program.hpp"
#include "formats/uv_settings.hpp"

using namespace cordon;

namespace {

void check_inside(std::string_view path) {
  CORDON_ASSERT(!path.empty() && path.front() != '/');
  for (const std::string_view part : text::split(path, '/')) {
    CORDON_ASSERT(!part.empty() && part != "." && part != "..");
  }
}

void check_lock(std::string_view input) {
  const auto lock = formats::read_npm_lock(input, "fuzz");
  if (!lock) {
    return;
  }
  for (const formats::LockedPackage& package : lock->packages) {
    check_inside(package.place);
    CORDON_ASSERT(package.place.starts_with("node_modules/"));
  }
  const auto again = formats::read_npm_lock(lock->canonical, "again");
  CORDON_ASSERT(again.has_value());
  CORDON_ASSERT(again->digest == lock->digest && again->packages.size() == lock->packages.size());
}

void check_record(std::string_view input) {
  const auto record = formats::read_package_record(input, "fuzz");
  if (record) {
    CORDON_ASSERT(formats::read_package_record(formats::write_package_record(*record), "again") == record);
  }
}

void check_python(std::string_view input) {
  if (const auto lock = formats::read_pypi_lock(input, "fuzz")) {
    CORDON_ASSERT(formats::write_pypi_lock(*lock) == input);
  }
  if (const auto report = formats::read_pip_report(input, "fuzz"); report && !report->empty()) {
    formats::PypiLock lock{"cpython-311-x86_64-linux-gnu", {}};
    for (const formats::PipChoice& choice : *report) {
      lock.packages.push_back(choice.package);
    }
    CORDON_ASSERT(formats::read_pypi_lock(formats::write_pypi_lock(lock), "again").has_value());
  }
  if (const auto entry = formats::pypi_program(input, "fuzz", "pkg", "pkg")) {
    CORDON_ASSERT(entry->module.find_first_of(" \n;()'\"") == std::string::npos && !entry->module.starts_with('-'));
  }
  if (const auto name = policy::read_pypi_name(input)) {
    CORDON_ASSERT(input.find_first_of(" \n@/;:\\") == std::string_view::npos && !input.starts_with('-'));
  }
  formats::read_netrc(input);
  [[maybe_unused]] const auto uv = formats::read_uv_settings(input, "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_lock(input);
  check_record(input);
  check_python(input);
  if (const auto program = formats::package_program(input, "fuzz", "@a/pkg", "pkg")) {
    check_inside(*program);
  }
  for (const auto& [key, value] : formats::read_npmrc(input, {{"A", "${B}"}})) {
    CORDON_ASSERT(!key.empty() && key.find('\n') == std::string::npos && value.find('\n') == std::string::npos);
  }
  if (const auto name = policy::read_image_name(input)) {
    CORDON_ASSERT(input.find_first_of(" \n\\") == std::string_view::npos && !input.starts_with('-'));
    const policy::ImageParts parts = policy::image_parts(name->package);
    CORDON_ASSERT(name->package.starts_with(parts.repository) && name->package.ends_with(parts.tag));
    CORDON_ASSERT(name->version.empty() || input == text::cat(name->package, '@', name->version));
  }
  if (const auto name = policy::read_npm_name(input)) {
    CORDON_ASSERT(std::ranges::none_of(input, [](char c) { return c == ':' || c == '\\' || c == '\n' || c == '\0'; }));
    CORDON_ASSERT(!name->package.starts_with('-') && std::ranges::count(name->package, '/') <= 1);
  }
  return 0;
}
