// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stage helper: carries a plan out, one step after the other, each fatal, and becomes the server.
// Processes: the outer one (child of the launcher, stays outside the pid namespace, watches the lifeline), init (pid 1
// inside: builds the view, reaps, forwards), server. With bubblewrap, init is this same program, started inside.
// Must stay single-threaded. Read stage.cpp for the course of things, then the file of each step.

#include <sys/types.h>

#include <array>
#include <expected>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/stage/descriptors.hpp"

namespace cordon::sandbox::stage {

inline constexpr int kFailureStatus = 125;

struct Failure {
  std::string detail = {};
  std::string reason = {};  // code of docs/isolation.md, when the machine cannot rather than something went wrong
  int error_number = 0;
};
using Outcome = std::expected<void, Failure>;

// Reads errno now.
std::unexpected<Failure> failed(std::string_view what, std::string_view reason = {});
std::unexpected<Failure> refuse(std::string detail, std::string_view reason = {});

struct Stage {
  Plan plan = {};
  Witness witness = {};
  bool inside = false;  // started by a tool
  bool held = false;    // the server is executed only when the launcher says so

  UniqueFd status = {};
  UniqueFd lifeline = {};
  UniqueFd leash_in = {};
  UniqueFd leash_out = {};
  UniqueFd ready_in = {};
  UniqueFd ready_out = {};
  UniqueFd held_out = {};              // open in guard and init: the places that were put somewhere are still needed
  UniqueFd swept_in = {};              // at its end when they are taken away again; the outermost guard alone has it
  UniqueFd binary = {};                // this program, for a tool to start it inside
  UniqueFd handover = {};              // to the launcher: the sockets of the allowed hosts
  pid_t agent = -1;                    // child of the guard that stays for them
  UniqueFd asking_in = {};             // init, connects.hpp
  UniqueFd asking_out = {};            // server
  UniqueFd go = {};                    // server, where it is held: where the launcher says so
  UniqueFd trace = {};                 // init: what the server touches is told here
  std::vector<UniqueFd> sources = {};  // parallel to plan.view: O_PATH, or a detached mount
  UniqueFd self_status = {};           // of /proc/self, from before Landlock closes it (shared_host)
  UniqueFd self_descriptors = {};
  std::array<std::uint64_t, 7> self_namespaces = {};
  UniqueFd root = {};                      // of the view while it is built
  std::string first_held = {};             // target of the first cover that holds something absent
  std::string group_name = {};             // of our control groups
  std::vector<UniqueFd> group_doors = {};  // to enter them
  std::vector<UniqueFd> group_locks = {};  // guard: while it holds them, they are not stale
  UniqueFd group_hold = {};                // guard: its end tells the watcher of the groups
  UniqueFd group_done = {};                // guard: at its end they are gone
  UniqueFd notes = {};                     // to the launcher: what was reached, in words
  std::vector<dev_t> own_devices = {};     // file systems that are private to the view

  // container.hpp
  std::string container_name = {};
  std::string container_path = {};   // of the folder of this launch
  UniqueFd container_folder = {};    // locked: as long as somebody has it, the launch lives
  UniqueFd container_listener = {};  // for its pid 1
  std::vector<UniqueFd> for_init = {};
};

// Writes the status line, tells the outer stage, and ends the process.
[[noreturn]] void report_and_exit(Stage& stage, std::string_view step, const Failure& failure);
// Runs steps in order; the first that fails ends the process.
void run_steps(Stage& stage, const std::vector<Step>& steps);

// outer
Outcome enter_session(Stage& stage);
Outcome close_descriptors(Stage& stage);
Outcome make_groups(Stage& stage);
Outcome put_places(Stage& stage);
Outcome open_sources(Stage& stage);
Outcome switch_identity(Stage& stage);
Outcome enter_namespaces(Stage& stage);
Outcome raise_loopback(Stage& stage);
Outcome open_egress(Stage& stage);
Outcome enter_process_namespace(Stage& stage);
// init
Outcome make_root(Stage& stage);
Outcome build_view(Stage& stage);
Outcome pivot_into_view(Stage& stage);
Outcome set_hostname(Stage& stage);
Outcome identify_sources(Stage& stage);
// server
Outcome enter_server_session(Stage& stage);
Outcome change_directory(Stage& stage);
Outcome set_limits(Stage& stage);
Outcome forbid_new_privileges(Stage& stage);
Outcome restrict_with_landlock(Stage& stage);
Outcome drop_capabilities(Stage& stage);
Outcome filter_syscalls(Stage& stage);
Outcome attest(Stage& stage);
Outcome attest_groups(const Stage& stage);

// Opens without following a symlink anywhere; says which component is one.
std::expected<UniqueFd, Failure> open_exactly(const std::string& path);

// A child of ours dies with us, whatever becomes of us. Has to be repeated after each change of credentials, which
// clears it.
Outcome die_with_parent();

// The end of the launcher is then told by the lifeline alone, and what was made outside can be removed first.
Outcome outlive_parent();

// Inode numbers of the namespaces that /proc/self shows.
std::expected<std::array<std::uint64_t, 7>, Failure> namespace_inodes();

// Forks; on failure the process ends. Flushes nothing: there is nothing to flush.
pid_t fork_or_exit(Stage& stage, std::string_view step);

struct ToolProcess {
  pid_t pid = -1;
  UniqueFd errors = {};
  UniqueFd reports = {};  // what the one inside would write to the status pipe; none: it has that pipe itself
};

// spare.cpp: returns when the launch is to happen after all; else the process ends.
void wait_until_needed(const Stage& stage);

// guard.cpp: what the processes do once there is nothing left to set up. None returns.
[[noreturn]] void guard_from_outside(Stage& stage, ToolProcess child);
class Tracer;
// `tracer`: null unless the plan asks for one.
[[noreturn]] void serve_as_init(Stage& stage, pid_t server, Tracer* tracer);
// Without `hold` the child is the server itself (no isolation), else a keeper whose lifeline `hold` is.
[[noreturn]] void guard_child(Stage& stage, pid_t child, UniqueFd hold);
void block_guarded_signals();
// Kills and reaps until no child is left. `main_child`: one that is known, in case /proc does not list them; -1 when it
// has been reaped. Gives its wait status if it was among them, else -1.
int end_all(pid_t main_child);

// The outermost guard waits here, once everything that it guards is gone.
void wait_until_swept(Stage& stage);

// Leash and ready pipe between the outer stage and init.
Outcome open_guard_pipes(Stage& stage);

// tool.cpp: starts a tool with this program inside; returns in the outer stage only.
std::expected<ToolProcess, Failure> start_tool(Stage& stage);

// exec.cpp: never returns; a failure is reported. Where the launch is held, it waits first.
[[noreturn]] void become_server(Stage& stage);

}  // namespace cordon::sandbox::stage
