// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of probe_host, one question each.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/host_facts.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

// Makes the namespaces in a child, as the server's uid, and does in them what a launch does.
Trial try_namespaces(const HostFacts& facts);

// What a person can do where user namespaces are refused, by what the sysctl files say; sets reason and hint.
void explain_userns(Trial& trial, const std::function<char(const char* path)>& sysctl);
// The first character of a sysctl file, '\0' when there is none.
char sysctl(const char* path);
inline constexpr std::string_view kProcHint =
    "in a container, start that with an unmasked /proc (docker: --security-opt systempaths=unconfined)";

// Looks for bwrap in system directories (never through PATH), asks what it can, and runs it.
BubblewrapFacts probe_bubblewrap(const HostFacts& facts);

// Where control groups of a launch could be made, from the texts of /proc/self/cgroup and /proc/self/mountinfo.
std::vector<GroupPlace> find_group_places(std::string_view groups, std::string_view mounts);
// Of those that limit memory or processes: may we make groups there, and does it take a leaf? `ours`: whether a process
// in the group is one of ours.
GroupFacts judge_group_places(std::vector<GroupPlace> places, const std::function<bool(std::string_view pid)>& ours);
GroupFacts probe_groups();

FirejailFacts probe_firejail(const HostFacts& facts);

// `cli`: what the policy names, empty: nothing.
SrtFacts probe_srt(const std::string& cli, const HostFacts& facts);

// The first run of digits and points; "0.8.0" of "bubblewrap 0.8.0".
std::string version_in(std::string_view text);
// At least that version, compared number by number.
bool version_reaches(std::string_view version, std::string_view least);

ProgramFacts probe_program(const LaunchSpec& spec, const std::string& home);

// The first line of a script as the kernel takes it apart; `head`: the first 256 bytes, or all when it is shorter.
struct ScriptLine {
  std::string interpreter = {};
  std::string argument = {};  // one, whatever is in it
};
std::optional<ScriptLine> parse_script_line(std::string_view head);

// What runs a script, through the PATH that the server will have; nothing: not a script.
struct ScriptPrograms {
  std::string interpreter = {};           // real path of a program; empty when it is none
  std::vector<std::string> spelled = {};  // every program that is started for it, as written
};
ScriptPrograms script_programs(const std::string& path, const LaunchSpec& spec);

// Every place that decides where a path leads: the symlinks on the way, each by its real place, and the end.
std::vector<std::string> trail(const std::string& path);

// What of the command the server could change for its next start.
std::vector<ExposedFile> find_exposed(const LaunchSpec& spec, const std::vector<std::string>& interpreters);

// Empty when there is nothing.
std::string real_path(const std::string& path);
// A regular file that may be executed.
bool is_program(const std::string& path);

// What lies at a path, without following a symlink anywhere on the way.
SourceFacts probe_source(const std::string& path);

// Fills `steering` and `steering_gaps`: what steers other programs below the write grants. Reads folders, bounded.
void find_steering(const LaunchSpec& spec, HostFacts& facts);

// Runs `argv` as the server's uid with an empty environment and without input; its output and errors together, at most
// 64 KiB. `status`: the exit status, 128 + the signal, or -1 when it could not be started.
struct ToolOutput {
  int status = -1;
  int error_number = 0;
  bool timed_out = false;
  std::string text = {};
};
ToolOutput run_tool(const std::vector<std::string>& argv, const HostFacts& facts,
                    const std::vector<std::string>& environment = {});

// The same, as whoever we are unless `as_server_of` says whose server's uid it gets.
struct ToolRun {
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};
  const HostFacts* as_server_of = nullptr;
  bool errors = true;  // with what it says on stderr
  int patience_ms = 5000;
};
ToolOutput run_tool(const ToolRun& run);

// A program that root has installed in a system directory; never through PATH. Empty: there is none.
std::string find_system_tool(std::string_view name);

// Looks for podman or docker, starts a container of nothing to see which OCI runtime works and what it can limit, and
// asks for the image of the spec.
ContainerFacts probe_podman(const LaunchSpec& spec, const HostFacts& facts);
ContainerFacts probe_docker(const LaunchSpec& spec, const HostFacts& facts);

// In a child of root: becomes the server's uid for good. 0 or an errno.
int become_server_uid(const HostFacts& facts);

}  // namespace cordon::sandbox
