// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must not be reached from inside, planted outside, in a new folder that nobody else has, and gone again at the
// end. No file of a user is ever opened, changed or removed for it.

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox::boundary {

// What is granted of the canaries' own folder, besides what the policy grants.
enum class Grants : std::uint8_t {
  plain,   // a folder to read (with a socket and a FIFO in it) and one to write
  masked,  // and masks in both
  nested,  // and a folder to read in the one to write
};

// Set in our own environment while canaries are planted.
inline constexpr const char* kCanaryVariable = "MCP_CORDON_CANARY";

// For a server that is tried through its own tools, what lies outside is enough: no process of ours and nothing leaked.
enum class Parts : std::uint8_t { all, outside };

class Canaries {
 public:
  // `parent`: an existing folder of ours, absolute, without a symlink in it. `probe`: the probe program. What runs of
  // earlier processes have left there because they were killed is removed first. launch_failed, file_unreadable.
  static Result<std::unique_ptr<Canaries>> plant(const std::string& parent, const std::string& probe,
                                                 Parts parts = Parts::all);
  ~Canaries();
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;

  // `spec` with grants of ours, and a home of ours in place of a kept one.
  LaunchSpec beside(LaunchSpec spec, Grants grants) const;
  // The plan that a backend makes for such a spec, with the probe in place of the server. What select() says.
  // `lingering`: "at_end" or "killed": the probe does nothing but leave a process behind, see left_behind().
  Result<Plan> plan(LaunchSpec spec, const HostFacts& facts, std::string_view lingering = {}) const;

  // For a backend that shows our folder as it is: the account of the server may write where it is meant to.
  Status give_to(uid_t uid, gid_t gid) const;

  const std::string& folder() const { return folder_; }
  const std::string& probe() const { return probe_; }
  const std::string& secret() const { return secret_; }  // content of the key
  const std::string& token() const { return token_; }    // what the probe wants to hear on its standard input
  std::string key_path() const { return folder_ + "/outside/key"; }
  std::string unwritten_path() const { return folder_ + "/outside/written"; }
  std::string url() const;  // of the listener

  // What changed outside that must not: one line each; empty: nothing.
  std::vector<std::string> changed() const;
  // Did somebody connect to the listener since it was asked last?
  bool contacted() const;

 private:
  Canaries() = default;
  Status plant_folder(const std::string& parent);
  Status plant_files();
  Status plant_steering();
  Status plant_sockets();
  Status plant_process();
  Status plant_in_us();
  Status folder_at(const char* name) const;
  Status file_at(const char* name, std::string_view content) const;
  std::vector<std::string> arguments(const Plan& plan, bool from_template) const;

  std::string folder_ = {};
  std::string secret_ = {};
  std::string token_ = {};
  std::string abstract_ = {};
  std::string probe_ = {};
  FileIdentity probe_identity_ = {};
  UniqueFd root_ = {};  // of folder_
  UniqueFd lock_ = {};
  std::vector<UniqueFd> sockets_ = {};
  UniqueFd granted_fifo_ = {};
  UniqueFd listener_ = {};
  UniqueFd leak_ = {};
  UniqueFd process_input_ = {};
  pid_t process_ = -1;
  int shared_memory_ = -1;
  void* shared_memory_at_ = nullptr;
  int port_ = 0;
};

// Removes folders of canaries below `parent` whose process is gone.
void remove_abandoned_canaries(const std::string& parent);

}  // namespace cordon::sandbox::boundary
