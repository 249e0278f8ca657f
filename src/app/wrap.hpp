// SPDX-License-Identifier: Apache-2.0
#pragma once
// wrap and unwrap: which entries of which configs change, and how; then writing that. Nothing is written before a
// person, or --yes, agreed to an entry.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "app/config_files.hpp"
#include "app/init.hpp"
#include "app/wrap_state.hpp"
#include "base/error.hpp"
#include "clients/edit.hpp"

namespace cordon::app {

struct WrapSelection {
  std::vector<std::string> clients = {};  // ids; empty: all
  std::vector<std::string> servers = {};  // names in the configs; empty: all
};

// One entry that would change.
struct WrapStep {
  std::size_t file = 0;   // index in the plan's files
  std::size_t entry = 0;  // index in the file's entries
  std::string policy = {};
  std::vector<std::string> command = {};     // of the server, exact
  std::optional<NewPolicy> new_policy = {};  // that would be made
  std::vector<std::string> notes = {};       // printable
  std::vector<clients::Edit> edits = {};
  clients::Wrapped record = {};                          // wrap
  clients::Unwrapping how = clients::Unwrapping::exact;  // unwrap
};

// One that would not, and why. Not an error: remote servers, those that are wrapped already.
struct Untouched {
  std::size_t file = 0;
  std::optional<std::size_t> entry = {};  // none: the whole file
  std::string why = {};                   // printable
  bool failed = false;                    // it should have changed, but cannot
};

struct WrapPlan {
  std::vector<ConfigFile> files = {};
  std::vector<WrapStep> steps = {};
  std::vector<Untouched> untouched = {};
};

WrapPlan plan_wrap(const Caller& caller, std::vector<ConfigFile> files, const WrapSelection& selection);
WrapPlan plan_unwrap(const Caller& caller, std::vector<ConfigFile> files, const WrapSelection& selection);

// Names of --client and --server that select nothing: "no client 'x' …". Printable.
std::vector<std::string> unknown_selections(const std::vector<ConfigFile>& files, const WrapSelection& selection);

enum class Direction { wrap, unwrap };

struct WrittenFile {
  std::string path = {};
  std::string backup = {};
  std::size_t entries = 0;
};
struct WrapOutcome {
  std::vector<WrittenFile> files = {};
  std::vector<std::string> policies = {};  // paths of new ones
  std::vector<Error> errors = {};          // files that stay as they were
};

// Carries out the steps that were agreed to (indices), file by file: policies first, then the record, a backup, and
// the config last.
WrapOutcome carry_out(const Caller& caller, const WrapPlan& plan, std::span<const std::size_t> agreed,
                      Direction direction);

}  // namespace cordon::app
