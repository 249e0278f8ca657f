// SPDX-License-Identifier: Apache-2.0
#pragma once
// What wrapping changed in a config, kept in the state folder, so that unwrap gives back the bytes that were there; and
// a copy of each config as it was before we wrote to it.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/config_files.hpp"
#include "base/error.hpp"
#include "clients/edit.hpp"

namespace cordon::app {

struct WrapRecord {
  std::vector<std::string> path = {};  // of the entry
  clients::Wrapped wrapped = {};
};

struct WrapState {
  std::vector<WrapRecord> records = {};
  const clients::Wrapped* find(const std::vector<std::string>& path) const;
  void set(const std::vector<std::string>& path, clients::Wrapped wrapped);
  void drop(const std::vector<std::string>& path);
};

// Empty when nothing is recorded of this file. file_untrusted and file_unreadable as for all state; catalog_invalid
// for a state file that we did not write.
Result<WrapState> load_wrap_state(const Caller& caller, const std::string& real_path);
Status store_wrap_state(const Caller& caller, const std::string& real_path, const WrapState& state);

// Writes the file's present content into STATE/configs/backups; gives the path.
Result<std::string> back_up(const Caller& caller, const ConfigFile& file);

}  // namespace cordon::app
