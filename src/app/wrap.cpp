// SPDX-License-Identifier: Apache-2.0
#include "app/wrap.hpp"

#include <algorithm>
#include <set>

#include "app/inventory.hpp"
#include "app/wrap_names.hpp"
#include "app/wrap_places.hpp"
#include "base/text.hpp"
#include "clients/secrets.hpp"
#include "clients/starter_policy.hpp"

namespace cordon::app {
namespace {

using clients::Entry;
using clients::Transport;

bool selects(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

std::vector<std::string> environment_of(const Entry& entry) {
  std::vector<std::string> out;
  for (const clients::Variable& variable : entry.environment) {
    out.push_back(variable.name);
  }
  out.insert(out.end(), entry.environment_names.begin(), entry.environment_names.end());
  return out;
}

// Chooses a policy for each command of one run: the same command gets the same one.
class PolicyChooser {
 public:
  explicit PolicyChooser(const Caller& caller) : caller_(caller) {}

  Status choose(const Entry& entry, WrapStep& step) {
    const std::string wanted = policy_name_for(entry.name);
    constexpr int kMost = 100;
    for (int i = 1; i <= kMost; ++i) {
      const std::string name = i == 1 ? wanted : text::cat(wanted, '-', i);
      if (const auto planned = planned_.find(name); planned != planned_.end()) {
        if (planned->second.command == step.command) {
          step.policy = name;
          step.new_policy = planned->second.policy;  // the entry that it was planned for may be declined
          missing_names(entry, planned->second.environment, step);
          return {};
        }
        step.notes.push_back(text::cat("the policy '", name, "' is for another command, so it is not used here"));
        continue;
      }
      const PolicyMatch match = match_policy(caller_, name, step.command);
      if (match.fit == PolicyFit::same) {
        step.policy = name;
        missing_names(entry, match.environment, step);
        return {};
      }
      if (name_is_free(caller_, name, step.command)) {
        return make(entry, name, step);
      }
      step.notes.push_back(text::cat("the policy '", name, "' ",
                                     match.detail.empty() ? "is there already" : text::printable(match.detail, 500),
                                     ", so it is not used here"));
    }
    return fail(Errc::policy_invalid, text::cat("no name is free for a policy like '", wanted, "'"), {},
                "make one with mcp-cordon init, and edit the config by hand");
  }

 private:
  Status make(const Entry& entry, const std::string& name, WrapStep& step) {
    Result<NewPolicy> policy =
        prepare_policy(caller_, {name, step.command, environment_of(entry), entry.environment_file, entry.cwd});
    if (!policy) {
      return std::unexpected(policy.error());
    }
    step.policy = name;
    step.new_policy = std::move(*policy);
    const std::vector<std::string> places = places_not_shown(entry, *step.new_policy);
    step.notes.insert(step.notes.end(), places.begin(), places.end());
    planned_.emplace(name, Planned{step.command, environment_of(entry), *step.new_policy});
    return {};
  }

  struct Planned {
    std::vector<std::string> command = {};
    std::vector<std::string> environment = {};
    NewPolicy policy = {};
  };

  static void missing_names(const Entry& entry, const std::vector<std::string>& has, WrapStep& step) {
    for (const std::string& name : environment_of(entry)) {
      if (clients::may_pass(name) && std::ranges::find(has, name) == has.end()) {
        step.notes.push_back(
            text::cat("the policy '", step.policy, "' does not let ", name, " through: if the server needs it, add ",
                      clients::names_secret(name) ? text::cat("secrets: {", name, ": {from_env: ", name, "}}")
                                                  : text::cat("pass: [", name, ']'),
                      " to launch.environment, in the place of what that says of it now"));
      }
    }
  }

  const Caller& caller_;
  std::map<std::string, Planned> planned_ = {};
};

// Is there any reason not to look at the file's entries?
bool file_fails(WrapPlan& plan, std::size_t index) {
  const ConfigFile& file = plan.files[index];
  if (file.syntax == clients::FileSyntax::named) {
    plan.untouched.push_back({index, {}, "is kept in a form that is not edited; edit it by hand", false});
    return true;
  }
  if (!file.fault.empty()) {
    plan.untouched.push_back({index, {}, text::printable(file.fault, 1000), true});
    return true;
  }
  return false;
}

void wrap_entry(const Caller& caller, PolicyChooser& chooser, WrapPlan& plan, std::size_t file_index,
                std::size_t index) {
  const ConfigFile& file = plan.files[file_index];
  const Entry& entry = file.entries[index];
  const auto leave = [&](std::string why, bool failed) {
    plan.untouched.push_back({file_index, index, std::move(why), failed});
  };
  if (!entry.fault.empty()) {
    return leave(entry.fault, true);
  }
  if (entry.transport != Transport::stdio) {
    return leave(entry.transport == Transport::remote ? "is a remote server, which mcp-cordon does not stand before"
                                                      : "starts nothing",
                 false);
  }
  if (const std::vector<std::string> steering = clients::steering_variables(entry); !steering.empty()) {
    return leave(text::cat("sets ", text::printable(text::join(steering, ", "), 500),
                           ", which steers mcp-cordon itself: take it out of the config, and write it in "
                           "launch.environment.set of the policy if the server needs it"),
                 true);
  }
  if (entry.wrapping) {
    const bool ours = is_our_program(caller, entry.wrapping->program);
    return leave(ours ? text::cat("is wrapped already, by policy ", entry.wrapping->by_file ? "file " : "",
                                  text::printable(entry.wrapping->policy, 200),
                                  entry.wrapping->by_file ? ", which the config itself chooses" : "")
                      : text::cat("is started by ", text::printable(entry.wrapping->program, 300),
                                  ", which is not this program: unwrap it first"),
                 !ours);
  }
  if (const Status allowed = may_write_config(file); !allowed) {
    return leave(text::printable(allowed.error().to_string(), 1000), true);
  }
  WrapStep step;
  step.file = file_index;
  step.entry = index;
  step.command = entry.command;
  if (const Status chosen = chooser.choose(entry, step); !chosen) {
    return leave(text::printable(chosen.error().to_string(), 1000), true);
  }
  Result<clients::WrapEdits> edits = clients::wrap_edits(file.text, file.tree, entry, {caller.executable, step.policy});
  if (!edits) {
    return leave(text::printable(edits.error().to_string(), 1000), true);
  }
  const std::vector<std::string> warnings =
      step.new_policy ? step.new_policy->warnings
                      : command_warnings({step.policy, step.command, {}, entry.environment_file, entry.cwd});
  step.notes.insert(step.notes.end(), warnings.begin(), warnings.end());
  if (!entry.environment_file.empty()) {
    step.notes.push_back(text::cat("the client sets what ", text::printable(entry.environment_file, 500),
                                   " says for mcp-cordon, too: nobody else may write that file"));
  }
  step.edits = std::move(edits->edits);
  step.record = std::move(edits->record);
  plan.steps.push_back(std::move(step));
}

void unwrap_entry(WrapPlan& plan, std::size_t file_index, std::size_t index, const Result<WrapState>& state) {
  const ConfigFile& file = plan.files[file_index];
  const Entry& entry = file.entries[index];
  if (!entry.wrapping) {
    return;  // nothing to take away
  }
  if (const Status allowed = may_write_config(file); !allowed) {
    plan.untouched.push_back({file_index, index, text::printable(allowed.error().to_string(), 1000), true});
    return;
  }
  const clients::Wrapped* record = state ? state->find(entry.path) : nullptr;
  Result<clients::UnwrapEdits> edits = clients::unwrap_edits(
      file.text, file.tree, entry, record == nullptr ? std::nullopt : std::optional<clients::Wrapped>(*record));
  if (!edits) {
    plan.untouched.push_back({file_index, index, text::printable(edits.error().to_string(), 1000), true});
    return;
  }
  WrapStep step;
  step.file = file_index;
  step.entry = index;
  step.policy = entry.wrapping->policy;
  step.command = clients::real_command(entry);
  step.edits = std::move(edits->edits);
  step.how = edits->how;
  if (!state) {
    step.notes.push_back(
        text::cat("what was recorded cannot be read: ", text::printable(state.error().to_string(), 500)));
  }
  if (step.how == clients::Unwrapping::reconstructed) {
    step.notes.emplace_back(record == nullptr
                                ? "nothing is recorded of what stood here: the command is taken from the entry"
                                : "the entry was written anew since: the command is taken from it");
  }
  plan.steps.push_back(std::move(step));
}

template <typename Each>
WrapPlan plan_each(std::vector<ConfigFile> files, const WrapSelection& selection, const Each& each) {
  WrapPlan plan;
  plan.files = std::move(files);
  std::set<std::string> edited;  // a file that two clients read is edited once
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const ConfigFile& file = plan.files[i];
    if (!selects(selection.clients, file.client) || file_fails(plan, i)) {
      continue;
    }
    if (!edited.insert(file.real).second) {
      plan.untouched.push_back({i, {}, "is the same file as above", false});
      continue;
    }
    for (std::size_t k = 0; k < file.entries.size(); ++k) {
      if (selects(selection.servers, file.entries[k].name)) {
        each(plan, i, k);
      }
    }
  }
  return plan;
}

// The edits of all agreed steps of one file, and what is to be recorded of them.
struct FileEdits {
  std::vector<clients::Edit> edits = {};
  std::size_t entries = 0;
};

FileEdits edits_of(const WrapPlan& plan, std::span<const std::size_t> agreed, std::size_t file, WrapState& state,
                   Direction direction) {
  FileEdits out;
  for (const std::size_t index : agreed) {
    const WrapStep& step = plan.steps[index];
    if (step.file != file) {
      continue;
    }
    out.edits.insert(out.edits.end(), step.edits.begin(), step.edits.end());
    ++out.entries;
    const std::vector<std::string>& path = plan.files[file].entries[step.entry].path;
    if (direction == Direction::wrap) {
      state.set(path, step.record);
    } else {
      state.drop(path);
    }
  }
  std::ranges::sort(out.edits, {}, &clients::Edit::at);
  return out;
}

Result<WrittenFile> write_file(const Caller& caller, const WrapPlan& plan, std::span<const std::size_t> agreed,
                               std::size_t index, Direction direction) {
  const ConfigFile& file = plan.files[index];
  Result<WrapState> state = load_wrap_state(caller, file.real);
  if (!state && direction == Direction::wrap) {
    return std::unexpected(state.error());
  }
  WrapState next = state ? *state : WrapState{};
  const FileEdits edits = edits_of(plan, agreed, index, next, direction);
  // Before the config: a record of what is not there is never used, but one that is missing would be missed.
  if (direction == Direction::wrap) {
    if (const Status stored = store_wrap_state(caller, file.real, next); !stored) {
      return std::unexpected(stored.error());
    }
  }
  Result<std::string> backup = back_up(caller, file);
  if (!backup) {
    return std::unexpected(backup.error());
  }
  if (const Status written = write_config(file, clients::apply_edits(file.text, edits.edits)); !written) {
    return std::unexpected(written.error());
  }
  if (direction == Direction::unwrap && state) {
    if (const Status stored = store_wrap_state(caller, file.real, next); !stored) {
      return std::unexpected(stored.error());
    }
  }
  return WrittenFile{file.path, *backup, edits.entries};
}

}  // namespace

WrapPlan plan_wrap(const Caller& caller, std::vector<ConfigFile> files, const WrapSelection& selection) {
  PolicyChooser chooser(caller);
  return plan_each(std::move(files), selection, [&](WrapPlan& plan, std::size_t file, std::size_t entry) {
    wrap_entry(caller, chooser, plan, file, entry);
  });
}

WrapPlan plan_unwrap(const Caller& caller, std::vector<ConfigFile> files, const WrapSelection& selection) {
  std::map<std::string, Result<WrapState>> states;
  return plan_each(std::move(files), selection, [&](WrapPlan& plan, std::size_t file, std::size_t entry) {
    const std::string& real = plan.files[file].real;
    auto found = states.find(real);
    if (found == states.end()) {
      found = states.emplace(real, load_wrap_state(caller, real)).first;
    }
    unwrap_entry(plan, file, entry, found->second);
  });
}

std::vector<std::string> unknown_selections(const std::vector<ConfigFile>& files, const WrapSelection& selection) {
  std::vector<std::string> out;
  for (const std::string& id : selection.clients) {
    const std::vector<clients::Client> table = clients::client_table();
    if (std::ranges::find(table, id, &clients::Client::id) == table.end()) {
      std::vector<std::string_view> ids;
      std::ranges::transform(table, std::back_inserter(ids), &clients::Client::id);
      const auto meant = text::nearest(id, ids);
      out.push_back(text::cat("there is no client '", text::printable(id, 100), '\'',
                              meant ? text::cat(" (did you mean '", *meant, "'?)") : std::string()));
    }
  }
  for (const std::string& name : selection.servers) {
    const auto has = [&](const ConfigFile& file) {
      return selects(selection.clients, file.client) &&
             std::ranges::find(file.entries, name, &Entry::name) != file.entries.end();
    };
    if (std::ranges::none_of(files, has)) {
      out.push_back(text::cat("no config has a server '", text::printable(name, 100), '\''));
    }
  }
  return out;
}

WrapOutcome carry_out(const Caller& caller, const WrapPlan& plan, std::span<const std::size_t> agreed,
                      Direction direction) {
  WrapOutcome out;
  std::set<std::string> tried;
  std::set<std::string> failed;
  std::vector<std::size_t> usable;
  for (const std::size_t index : agreed) {
    const WrapStep& step = plan.steps[index];
    if (step.new_policy && tried.insert(step.policy).second) {
      if (const Status stored = store_policy(caller, *step.new_policy); stored) {
        out.policies.push_back(step.new_policy->path);
      } else {
        out.errors.push_back(stored.error());
        failed.insert(step.policy);
      }
    }
  }
  for (const std::size_t index : agreed) {
    if (!failed.contains(plan.steps[index].policy)) {
      usable.push_back(index);
    }
  }
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    if (std::ranges::none_of(usable, [&](std::size_t index) { return plan.steps[index].file == i; })) {
      continue;
    }
    Result<WrittenFile> written = write_file(caller, plan, usable, i, direction);
    if (written) {
      out.files.push_back(std::move(*written));
    } else {
      out.errors.push_back(written.error());
    }
  }
  return out;
}

}  // namespace cordon::app
