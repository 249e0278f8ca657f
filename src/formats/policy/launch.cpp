// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

void read_command(Faults& faults, const yaml::Node& node, policy::Launch& launch) {
  const auto* items = read_list(faults, node, "launch.command", ListEmptiness::refused);
  if (items == nullptr) {
    return;
  }
  for (const yaml::Node& item : *items) {
    // An empty argument may mean something; an empty program cannot.
    const Emptiness empty = &item == items->data() ? Emptiness::refused : Emptiness::allowed;
    if (auto text = read_text(faults, item, "an item of launch.command", {TextForm::free, empty})) {
      launch.command.push_back(std::move(*text));
    }
  }
}

}  // namespace

policy::Launch read_launch(Faults& faults, const yaml::Member& member) {
  using policy::HomeMode;
  using policy::StderrMode;
  policy::Launch launch;
  launch.position = member.position;
  const Section section(faults, member.value, "launch",
                        {"command", "command_from_client", "cwd", "home", "environment", "source", "stderr"});
  if (const yaml::Member* command = section.find("command")) {
    read_command(faults, command->value, launch);
  }
  section.boolean("command_from_client", launch.command_from_client);
  if (const yaml::Member* cwd = section.find("cwd")) {
    launch.cwd = read_path(faults, cwd->value, "launch.cwd").value_or("");
  }
  section.choice<HomeMode>("home", launch.home, {{"kept", HomeMode::kept}, {"temporary", HomeMode::temporary}});
  section.choice<StderrMode>("stderr", launch.stderr_mode,
                             {{"relay", StderrMode::relay}, {"file", StderrMode::file}, {"drop", StderrMode::drop}});
  if (const yaml::Member* environment = section.find("environment")) {
    read_environment(faults, environment->value, launch);
  }
  if (const yaml::Member* source = section.find("source")) {
    launch.source = read_source(faults, *source);
    check_source(faults, launch, *source);
  }
  if (section.find("command") == nullptr && !launch.command_from_client && member.value.kind == yaml::Kind::mapping) {
    faults.add(member.position, "launch.command is missing", "write command: [PROGRAM, ARGUMENT, ...]");
  }
  if (launch.command_from_client && !launch.secrets.empty()) {
    faults.add(section.find("command_from_client")->position,
               "launch.command_from_client: true would hand the secrets to whatever command the client names",
               "write launch.command and leave command_from_client out, or remove launch.environment.secrets");
  }
  return launch;
}

}  // namespace cordon::formats
