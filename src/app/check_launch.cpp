// SPDX-License-Identifier: Apache-2.0
#include "app/check_launch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "app/expand.hpp"
#include "app/grants.hpp"
#include "app/init.hpp"
#include "app/paths.hpp"
#include "app/planned_launch.hpp"
#include "app/secrets.hpp"
#include "app/server_view.hpp"
#include "base/text.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/idle.hpp"
#include "core/policy/judge_call.hpp"
#include "formats/ceiling_yaml.hpp"
#include "formats/yaml.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::uint64_t kMaxPolicyBytes = 16'000'000;  // the reader of the text has refused a longer one

// May users of this class (bits of group, or of others) read the file, with the folders that it lies in?
bool readable_for(const std::string& path, mode_t file_bit, mode_t folder_bit) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & file_bit) == 0) {
    return false;
  }
  for (std::string folder = parent_of(path); folder != "/"; folder = parent_of(folder)) {
    if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & folder_bit) == 0) {
      return false;
    }
  }
  return true;
}

class LaunchCheck {
 public:
  LaunchCheck(const Caller& caller, const LoadedPolicy& loaded) : caller_(caller), loaded_(loaded) {}

  std::vector<CheckFinding> run() {
    if (const auto trusted = run::open_trusted(loaded_.location.path, {.max_bytes = kMaxPolicyBytes}); !trusted) {
      add(trusted.error());
    }
    grants();
    launch();
    secrets();
    snapshot();
    return std::move(out_);
  }

 private:
  void add(Error error, bool stops = true) {
    CheckFinding finding{std::move(error), stops};
    const auto same = [&](const CheckFinding& other) { return other.error == finding.error; };
    if (std::ranges::none_of(out_, same)) {
      out_.push_back(std::move(finding));
    }
  }
  void note(std::string detail, std::string where, std::string remedy) {
    add({Errc::launch_failed, text::cat("note: ", detail), std::move(where), std::move(remedy)}, false);
  }
  std::string file() const { return loaded_.policy.file; }

  void grants();
  void launch();
  void script(const PlannedLaunch& planned);
  void secrets();
  void snapshot();
  void rules(const catalog::Snapshot& snapshot);

  const Caller& caller_;
  const LoadedPolicy& loaded_;
  std::set<std::string> faulty_grants_ = {};  // by their place
  std::optional<catalog::LaunchFingerprint> launch_ = {};
  std::vector<CheckFinding> out_ = {};
};

void LaunchCheck::grants() {
  std::vector<Error> faults;
  resolve_grants(loaded_.policy, caller_, faults);
  for (Error& fault : faults) {
    faulty_grants_.insert(fault.where);
    add(std::move(fault));
  }
}

// Planned without the grants that are faulty, so that one missing folder does not hide a missing program.
void LaunchCheck::launch() {
  LoadedPolicy sound = loaded_;
  policy::Isolation& isolation = sound.policy.isolation;
  for (auto* list : {&isolation.read, &isolation.write, &isolation.deny, &isolation.unix_sockets}) {
    std::erase_if(*list, [&](const policy::Grant& grant) {
      return faulty_grants_.contains(place_in(loaded_.policy, grant.position));
    });
  }
  if (sound.policy.launch.command.empty()) {
    note("the command comes from the client, so what it starts was not looked at",
         place_in(loaded_.policy, loaded_.policy.launch.position),
         text::cat("mcp-cordon facts ", spelled_name(loaded_), " -- CMD ARGS"));
    return;
  }
  const Result<PlannedLaunch> planned =
      plan_launch({.caller = caller_, .loaded = sound, .depth = LaunchRequest::Depth::judge});
  if (!planned) {
    // What the command asks for, or where it starts, may be in a grant that was left out.
    const bool follows = !faulty_grants_.empty() && (planned.error().code == Errc::isolation_conflict ||
                                                     planned.error().code == Errc::policy_invalid);
    if (!follows) {
      add(planned.error());
    }
    return;
  }
  script(*planned);
  if (const Status judged = admit_path_rules(sound.policy, planned->plan); !judged) {
    add(judged.error());
  }
  if (faulty_grants_.empty()) {
    launch_ = planned->prepared.fingerprint;
  }
}

// An interpreter starts, and fails by itself.
void LaunchCheck::script(const PlannedLaunch& planned) {
  constexpr auto kEndings =
      std::to_array<std::string_view>({".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".rb", ".sh"});
  const sandbox::LaunchSpec& spec = planned.prepared.spec;
  // What counts may be the client's command, which stands elsewhere.
  if (!spec.image.reference.empty() || loaded_.policy.launch.command_from_client) {
    return;
  }
  for (std::size_t i = 1; i < spec.argv.size(); ++i) {
    const std::string& word = spec.argv[i];
    const bool file = std::ranges::any_of(kEndings, [&](std::string_view ending) { return word.ends_with(ending); });
    const bool named = file && word.starts_with('/');
    struct stat info{};
    if (named && ::stat(outside_path(spec.mounts, word).c_str(), &info) != 0) {
      note(text::cat("the command names '", text::printable(word, 1024), "', which is not there"),
           place_in(loaded_.policy, loaded_.policy.launch.position), "correct it here and in the client's config");
    }
    if (file && relative_file(word) && loaded_.policy.launch.cwd.empty()) {
      note(text::cat("the command names '", text::printable(word, 1024),
                     "', a relative path, and the server starts in its private home"),
           place_in(loaded_.policy, loaded_.policy.launch.position),
           "write the absolute path, here and in the client's config");
    }
  }
}

void LaunchCheck::secrets() {
  const policy::Places places = formats::policy_places(loaded_.text, file());
  for (const auto& [name, secret] : loaded_.policy.launch.secrets) {
    const auto place = places.find(text::cat("launch.environment.secrets.", name));
    const std::string where = place == places.end() ? file() : yaml::where(file(), place->second);
    if (Status looked = look_at_secret(name, secret, caller_, trusted_secret_files()); !looked) {
      looked.error().where = text::cat(where, ": ", looked.error().where);
      add(std::move(looked.error()));
      continue;
    }
    if (secret.source == policy::Secret::Source::env && !caller_.environment.contains(secret.from)) {
      note(text::cat("secret ", name, ": the environment variable ", secret.from, " is not set here"), where,
           "the client's configuration of this server has to set it");
    }
    if (secret.source == policy::Secret::Source::file) {
      const Result<std::string> path = expand_home(secret.from, caller_.home);
      const std::string real = path ? resolved(*path) : std::string();
      if (path && (readable_for(real, S_IRGRP, S_IXGRP) || readable_for(real, S_IROTH, S_IXOTH))) {
        note(text::cat("secret ", name, ": others can read '", text::printable(*path), "'"), where,
             text::cat("chmod 600 ", run::shell_word(*path)));
      }
    }
  }
}

// What the text of the policy alone does not show: rules that speak of nothing that was reviewed.
void LaunchCheck::rules(const catalog::Snapshot& snapshot) {
  const policy::Tools& tools = loaded_.policy.tools;
  for (const std::string& place : policy::idle_rules(tools, snapshot)) {
    note(text::cat(place, " names no tool of the snapshot, so it does nothing"), file(),
         "correct the name, or remove the rule");
  }
  for (const policy::IdleCondition& idle : policy::idle_conditions(tools, snapshot)) {
    note(text::cat(policy::rule_place(tools, idle.rule), " looks at ", text::printable(idle.pointer, 256),
                   ", which no tool that it names was reviewed with"),
         place_in(loaded_.policy, idle.position), "correct the pointer, or review the tool again");
  }
}

void LaunchCheck::snapshot() {
  const Result<LoadedSnapshot> found = load_snapshot(caller_, loaded_);
  if (!found) {
    add(found.error());
    return;
  }
  if (const Status admitted = admit_snapshot(loaded_, *found); !admitted) {
    add(admitted.error());
  }
  if (found->snapshot) {
    rules(*found->snapshot);
  }
  if (!found->snapshot || !launch_ || loaded_.policy.catalog.drift.launch == policy::DriftAction::flag) {
    return;
  }
  const std::vector<std::string> differences = launch_differences(found->snapshot->launch, *launch_);
  if (!differences.empty()) {
    add(other_launch(loaded_, *found, differences).error());
  }
}

}  // namespace

std::vector<CheckFinding> check_launch(const Caller& caller, const LoadedPolicy& loaded) {
  return LaunchCheck(caller, loaded).run();
}

}  // namespace cordon::app
