// SPDX-License-Identifier: Apache-2.0
// launch.source: the package that a server is started from.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"
#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

using policy::Source;

constexpr std::array<std::string_view, 3> kKinds = {"npm", "pypi", "oci"};

void read_npm(Faults& faults, const yaml::Node& node, Source& out) {
  const auto text = read_text(faults, node, "launch.source.npm");
  if (!text) {
    return;
  }
  auto name = policy::read_npm_name(*text);
  if (!name) {
    faults.add(node.position, text::cat(quote(*text), " is no package of the npm registry"),
               "write \"pkg@1.2.3\" or \"@scope/pkg@1.2.3\"; folders, URLs and git are not fetched");
    return;
  }
  out.package = std::move(name->package);
  out.version = std::move(name->version);
}

void read_pypi(Faults& faults, const yaml::Node& node, Source& out) {
  const auto text = read_text(faults, node, "launch.source.pypi");
  if (!text) {
    return;
  }
  auto name = policy::read_pypi_name(*text);
  if (!name) {
    faults.add(node.position, text::cat(quote(*text), " is no package of PyPI"),
               "write \"pkg==1.2.3\" or \"pkg[extra]==1.2.3\", without blanks; folders, URLs and git are not fetched");
    return;
  }
  out.kind = Source::Kind::pypi;
  out.package = std::move(name->package);
  out.version = std::move(name->version);
}

void read_oci(Faults& faults, const yaml::Node& node, Source& out) {
  const auto text = read_text(faults, node, "launch.source.oci");
  if (!text) {
    return;
  }
  auto name = policy::read_image_name(*text);
  if (!name) {
    faults.add(node.position, text::cat(quote(*text), " is no name of an image"),
               "write \"registry/image:tag\", which install makes exact, or \"registry/image@sha256:…\"");
    return;
  }
  out.package = std::move(name->package);
  out.version = std::move(name->version);
}

// `deny`, or {allow: [package, …]}: which packages may run code of theirs while they are installed.
void read_scripts(Faults& faults, const yaml::Node& node, Source& out) {
  if (node.kind != yaml::Kind::mapping) {
    if (node.kind == yaml::Kind::plain && node.text == "allow") {
      faults.add(node.position, "launch.source.scripts: allow has to say of which packages",
                 "write {allow: [better-sqlite3]}, or deny");
      return;
    }
    read_choice<Source::Scripts>(faults, node, "launch.source.scripts", {{"deny", Source::Scripts::deny}});
    return;
  }
  const Section section(faults, node, "launch.source.scripts", {"allow"});
  section.texts("allow", out.script_packages, ListEmptiness::refused);
  for (const std::string& package : out.script_packages) {
    const auto name = policy::read_npm_name(package);
    if (!name || !name->version.empty()) {
      faults.add(node.position, text::cat(quote(package), " is no name of a package"), "write names without versions");
    }
  }
  std::ranges::sort(out.script_packages);
  const auto again = std::ranges::unique(out.script_packages);
  out.script_packages.erase(again.begin(), again.end());
  out.scripts = Source::Scripts::allow;
}

// Which kind it is; nothing and a fault unless exactly one is named.
const yaml::Member* kind_of(Faults& faults, const Section& section, Position position) {
  const yaml::Member* found = nullptr;
  for (const std::string_view kind : kKinds) {
    const yaml::Member* member = section.find(kind);
    if (member != nullptr && found != nullptr) {
      faults.add(member->position, text::cat("launch.source names both ", found->key, " and ", kind),
                 "leave one of them");
      return nullptr;
    }
    found = member != nullptr ? member : found;
  }
  if (found == nullptr && !section.has_faulty_key()) {
    faults.add(position, "launch.source names no package",
               "write {npm: \"pkg@1.2.3\"}, {pypi: \"pkg==1.2.3\"} or {oci: \"image@sha256:…\"}");
  }
  return found;
}

void check_image_keys(Faults& faults, const Section& section) {
  if (const yaml::Member* member = section.find("scripts")) {
    faults.add(member->position, "launch.source.scripts does not apply to an image", "take it out");
  }
}

}  // namespace

std::optional<Source> read_source(Faults& faults, const yaml::Member& member) {
  const Section section(faults, member.value, "launch.source",
                        {"npm", "pypi", "oci", "bin", "scripts", "allow_unpinned"});
  const yaml::Member* kind = kind_of(faults, section, member.position);
  if (kind == nullptr) {
    return std::nullopt;
  }
  Source out;
  out.position = kind->value.position;
  section.text("bin", out.bin);
  if (kind->key == "oci") {
    out.kind = Source::Kind::oci;
    read_oci(faults, kind->value, out);
    check_image_keys(faults, section);
    section.boolean("allow_unpinned", out.allow_unpinned);
    return out;
  }
  if (kind->key == "pypi") {
    read_pypi(faults, kind->value, out);
  } else {
    read_npm(faults, kind->value, out);
  }
  section.boolean("allow_unpinned", out.allow_unpinned);
  if (const yaml::Member* scripts = section.find("scripts")) {
    if (kind->key == "pypi" && scripts->value.kind == yaml::Kind::mapping) {
      faults.add(scripts->position, "launch.source.scripts: {allow: …} does not apply to a package of PyPI",
                 "take it out: only wheels are installed, and those run nothing while they are");
    } else {
      read_scripts(faults, scripts->value, out);
    }
  }
  return out;
}

void check_source(Faults& faults, const policy::Launch& launch, const yaml::Member& source) {
  if (launch.command_from_client) {
    faults.add(source.position, "launch.source and launch.command_from_client exclude each other",
               "leave out command_from_client: the package decides what is started");
  }
  if (!launch.source || launch.command.empty()) {
    return;
  }
  const std::string& program = launch.command.front();
  if (launch.source->kind != Source::Kind::oci && program.find('/') != std::string::npos) {
    faults.add(source.position,
               text::cat("launch.command begins with the path ", quote(program),
                         ", but with launch.source it begins with the name of a program of the package"),
               "write command: [BIN, ARGUMENT, ...]");
  } else if (!launch.source->bin.empty() && launch.source->bin != program) {
    faults.add(source.position,
               text::cat("launch.source.bin is ", quote(launch.source->bin), ", but launch.command begins with ",
                         quote(program)),
               "write the same name in both, or leave bin out");
  }
}

}  // namespace cordon::formats
