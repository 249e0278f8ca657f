// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, fits);
}

// Names of the environment inside, each allowed once over pass, set and secrets.
class Names {
 public:
  explicit Names(Faults& faults) : faults_(faults) {}

  bool take(const std::string& name, Position position, std::string_view what) {
    if (!is_variable_name(name)) {
      faults_.add(position, text::cat("no environment variable name in ", what, ": ", quote(name)),
                  "use letters, digits and _, not beginning with a digit");
      return false;
    }
    if (name == "PATH" || name == "HOME") {
      faults_.add(position, text::cat(what, " must not name ", name),
                  "PATH and a private HOME are always there; name programs and files by their full paths");
      return false;
    }
    const auto [first, inserted] = seen_.emplace(name, position);
    if (!inserted) {
      faults_.add(position,
                  text::cat(name, " is named twice in launch.environment (first in line ", first->second.line, ")"),
                  "keep it in one of pass, set and secrets");
    }
    return inserted;
  }

 private:
  Faults& faults_;
  std::map<std::string, Position> seen_ = {};
};

void read_pass(Faults& faults, const yaml::Node& node, Names& names, policy::Launch& launch) {
  constexpr std::string_view kWhat = "launch.environment.pass";
  const auto* items = read_list(faults, node, kWhat, ListEmptiness::allowed);
  if (items == nullptr) {
    return;
  }
  for (const yaml::Node& item : *items) {
    auto name = read_text(faults, item, "an item of launch.environment.pass");
    if (name && names.take(*name, item.position, kWhat)) {
      launch.pass.push_back(std::move(*name));
    }
  }
}

// The members of a mapping from names to something, or nothing and a fault.
const std::vector<yaml::Member>* read_named(Faults& faults, const yaml::Node& node, std::string_view what) {
  if (node.kind != yaml::Kind::mapping) {
    faults.add(node.position, text::cat(what, " must be a mapping of names to values, not ", kind_name(node)),
               "write {NAME: VALUE}, or leave it out");
    return nullptr;
  }
  return &node.members;
}

void read_set(Faults& faults, const yaml::Node& node, Names& names, policy::Launch& launch) {
  constexpr std::string_view kWhat = "launch.environment.set";
  const auto* members = read_named(faults, node, kWhat);
  if (members == nullptr) {
    return;
  }
  for (const yaml::Member& member : *members) {
    const bool taken = names.take(member.key, member.position, kWhat);
    auto value = read_text(faults, member.value, text::cat(kWhat, ".", text::printable(member.key, 80)),
                           {TextForm::free, Emptiness::allowed});
    if (taken && value) {
      launch.set.emplace(member.key, std::move(*value));
    }
  }
}

std::optional<policy::Secret> read_secret(Faults& faults, const yaml::Member& member) {
  using Source = policy::Secret::Source;
  const std::string path = text::cat("launch.environment.secrets.", text::printable(member.key, 80));
  const Section section(faults, member.value, path, {"from_env", "from_file", "from_command"});
  if (section.has_faulty_key()) {
    return std::nullopt;
  }
  if (member.value.members.size() != 1) {
    faults.add(member.position, text::cat(path, " must say where the value comes from, exactly once"),
               "write one of from_env: NAME, from_file: PATH and from_command: [PROGRAM, ARGUMENT, ...]");
    return std::nullopt;
  }
  policy::Secret secret;
  if (const yaml::Member* env = section.find("from_env")) {
    secret.source = Source::env;
    section.text("from_env", secret.from);
    if (!secret.from.empty() && !is_variable_name(secret.from)) {
      faults.add(env->value.position,
                 text::cat(path, ".from_env is no environment variable name: ", quote(secret.from)),
                 "use letters, digits and _, not beginning with a digit");
    }
  } else if (const yaml::Member* file = section.find("from_file")) {
    secret.source = Source::file;
    secret.from = read_path(faults, file->value, section.path("from_file")).value_or("");
  } else {
    secret.source = Source::command;
    section.texts("from_command", secret.command, ListEmptiness::refused);
  }
  return secret;
}

void read_secrets(Faults& faults, const yaml::Node& node, Names& names, policy::Launch& launch) {
  constexpr std::string_view kWhat = "launch.environment.secrets";
  const auto* members = read_named(faults, node, kWhat);
  if (members == nullptr) {
    return;
  }
  for (const yaml::Member& member : *members) {
    const bool taken = names.take(member.key, member.position, kWhat);
    auto secret = read_secret(faults, member);
    if (taken && secret) {
      launch.secrets.emplace(member.key, std::move(*secret));
    }
  }
}

}  // namespace

void read_environment(Faults& faults, const yaml::Node& node, policy::Launch& launch) {
  const Section section(faults, node, "launch.environment", {"pass", "set", "secrets"});
  Names names(faults);
  // In the order of the file, so that the second mention is the one that is reported.
  for (const yaml::Member& member : node.members) {
    if (member.key == "pass") {
      read_pass(faults, member.value, names, launch);
    } else if (member.key == "set") {
      read_set(faults, member.value, names, launch);
    } else if (member.key == "secrets") {
      read_secrets(faults, member.value, names, launch);
    }
  }
}

}  // namespace cordon::formats
