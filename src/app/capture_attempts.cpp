// SPDX-License-Identifier: Apache-2.0
#include "app/capture_attempts.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

void set_variable(policy::Launch& launch, const std::string& name, const std::string& value) {
  std::erase(launch.pass, name);
  if (!launch.secrets.contains(name)) {
    launch.set[name] = value;
  }
}

// The caller's own zone or language could be the one that is tried.
std::string other_than(const Caller& caller, const std::string& name, const char* first, const char* second) {
  const auto own = caller.environment.find(name);
  return own != caller.environment.end() && own->second == first ? second : first;
}

// A folder that the command names and the policy grants, shown at another place: the same content under another name.
// Whatever lies below it moves along. Nothing where the program itself lies there.
std::optional<Attempt> moved_folders(const CaptureRequest& request) {
  Attempt out{"other places for granted folders that the command names", request.loaded, {}};
  policy::Policy& policy = out.loaded.policy;
  const bool given = policy.launch.command_from_client && !request.client_command.empty();
  std::vector<std::string> command = given ? request.client_command : policy.launch.command;
  if (command.empty()) {
    return std::nullopt;
  }
  const auto move = [](std::string& text, const std::string& from, const std::string& to) {
    if (text.starts_with('/') && is_within(normalised(text), from)) {
      text = rebased(normalised(text), from, to);
    }
  };
  std::size_t moved = 0;
  for (auto* list : {&policy.isolation.read, &policy.isolation.write}) {
    for (policy::Grant& grant : *list) {
      const std::string place = grant.at.empty() ? grant.path : grant.at;
      const bool named = std::find(command.begin() + 1, command.end(), place) != command.end();
      if (!named || !place.starts_with('/') || is_within(command.front(), normalised(place))) {
        continue;
      }
      const std::string from = normalised(place);
      grant.at = text::cat("/cordon-elsewhere/", ++moved, '/', file_name_of(from));
      for (std::size_t i = 1; i < command.size(); ++i) {
        move(command[i], from, grant.at);
      }
      move(policy.launch.cwd, from, grant.at);
      for (auto& [name, value] : policy.launch.set) {
        move(value, from, grant.at);
      }
    }
  }
  if (moved == 0) {
    return std::nullopt;
  }
  (given ? out.client_command : policy.launch.command) = std::move(command);
  return out;
}

}  // namespace

std::vector<Attempt> attempts(const CaptureRequest& request) {
  std::vector<Attempt> out;
  out.push_back({"a second launch", request.loaded, request.client_command});
  Attempt place{"another HOME and working directory", request.loaded, request.client_command};
  // Backends without a view of their own know no other HOME than the kept one.
  using policy::Backend;
  const Backend backend = place.loaded.policy.isolation.backend;
  if (backend == Backend::automatic || backend == Backend::native || backend == Backend::bubblewrap) {
    place.loaded.policy.launch.home = policy::HomeMode::temporary;
    place.loaded.policy.launch.cwd = place.loaded.policy.launch.cwd == "/tmp" ? "" : "/tmp";
    out.push_back(std::move(place));
    if (std::optional<Attempt> moved = moved_folders(request)) {
      out.push_back(std::move(*moved));
    }
  }
  Attempt time{"another time zone and language", request.loaded, request.client_command};
  // Half the globe away, so that the date differs for most of the day.
  set_variable(time.loaded.policy.launch, "TZ", other_than(request.caller, "TZ", "Etc/GMT+12", "Etc/GMT-14"));
  for (const char* name : {"LANG", "LC_ALL"}) {
    set_variable(time.loaded.policy.launch, name, other_than(request.caller, name, "de_DE.UTF-8", "ja_JP.UTF-8"));
  }
  out.push_back(std::move(time));
  return out;
}

std::vector<std::string> spellings_of_day(std::int64_t unix_seconds) {
  constexpr std::array<const char*, 12> kForms = {"%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y",    "%d/%m/%Y",
                                                  "%m/%d/%Y", "%Y%m%d",   "%B %d, %Y",   "%b %d, %Y",
                                                  "%d %B %Y", "%d %b %Y", "%a %b %d %Y", "%B %e, %Y"};
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::vector<std::string> out;
  for (const char* form : kForms) {
    std::array<char, 64> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), form, &parts);
    if (std::string one(text.data(), length); std::ranges::find(out, one) == out.end()) {
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace cordon::app
