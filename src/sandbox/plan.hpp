// SPDX-License-Identifier: Apache-2.0
#pragma once
// A launch as a value: which backend, what is seen inside, which steps in which order, what that guarantees.
// Backends make it, select.hpp judges it, launch.hpp carries it out. It prints as text and as JSON without secrets:
// of the environment the names only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "egress/plan.hpp"
#include "sandbox/guarantee.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/spec.hpp"
#include "sandbox/syscalls.hpp"

namespace cordon::sandbox {

// One thing in the server's view of the file system; applied in order.
enum class EntryKind : std::uint8_t {
  directory,  // in the private root
  tmpfs,      // private, sized
  bind,       // a folder or file of the outside
  device,     // a character device of the outside, checked by its numbers
  file,       // with `text` as content
  symlink,    // to `text`
  link,       // a symlink of a grant, leading to `text`, mounted on itself so that it stays
  proc,       // fresh procfs; `text`: mount options
  freeze,     // what is there becomes read-only
  cover,      // what is there is hidden by something empty
};
std::string_view name(EntryKind kind);

// What becomes of owners when root started us and the server runs as another uid: an idmapped mount lets that uid use
// what belongs to root outside. Where nothing is mounted, a folder of ours can be given to that uid.
enum class Owners : std::uint8_t { as_outside, mapped_if_possible, mapped, given };
std::string_view name(Owners owners);

struct ViewEntry {
  EntryKind kind = EntryKind::directory;
  std::string target = {};  // inside
  std::string source = {};  // outside (bind, device; freeze and cover: the same thing outside)
  std::string text = {};
  bool writable = false;
  bool executable = false;  // Landlock: files below may be executed
  bool optional = false;    // skipped when the kernel does not have it
  bool grant = false;       // asked for by the policy
  bool socket = false;      // bind: a listed Unix socket, the only ones of the outside that may be connected to
  bool steering = false;    // covers what steers other programs, or holds a folder above it in place
  bool held = false;        // bind, cover: absent outside, and put there until the end; `text`: of a file
  Owners owners = Owners::as_outside;
  std::uint32_t mode = 0;
  std::uint64_t size_bytes = 0;  // tmpfs
};

// Steps of the stage helper. Outer ones run before the process exists that becomes pid 1 inside, init ones in it,
// server ones in the process that becomes the server. The order in a plan is the order of execution.
enum class Step : std::uint8_t {
  session,            // outer: own session, die with the launcher
  descriptors,        // outer: nothing but what is ours
  groups,             // outer: control groups with the limits of the whole tree
  places,             // outer: what is absent and must not come into being gets a place to be covered at
  sources,            // outer (root) or init: open every source without following a symlink
  identity,           // outer, root only: become the server's uid for good
  namespaces,         // outer: user, mount, pid, net, ipc, uts, cgroup
  loopback,           // outer: the one interface
  egress,             // outer: routes and sockets of the allowed hosts, handed to the launcher; the agent
  process_namespace,  // outer: pid, once the agent is outside of it
  root,               // init: private propagation, empty root
  view,               // init: everything that is seen
  pivot,              // init: the old root is gone, ours is read-only
  hostname,           // init
  identify_sources,   // init, bubblewrap: what another program mounted is what was checked
  server_session,     // server: no controlling terminal
  working_directory,
  limits,
  no_new_privileges,
  landlock,
  capabilities,
  syscalls,
  attest,  // looks from inside; any mismatch is fatal
};
std::string_view name(Step step);

// A control group that a launch makes for the server and all that it starts, below `folder`; it is gone afterwards.
struct GroupFile {
  std::string name = {};
  std::string value = {};
  bool optional = false;  // not on every kernel
};
struct ControlGroup {
  std::string folder = {};
  bool unified = false;
  bool leaf = false;  // see GroupPlace
  std::vector<GroupFile> files = {};
};

struct PlanSteps {
  std::vector<Step> outer = {};
  std::vector<Step> init = {};
  std::vector<Step> server = {};
};

// An argument of a wrapping tool. What is not literal is known at launch only: paths and descriptor numbers, and
// whether something that is to be covered is a folder or a file.
// For a container: `mount`, the value of --mount for an entry, and `launch`, a text in which {name}, {folder} and
// {stage} stand for what is chosen at launch.
enum class ToolArgumentKind : std::uint8_t {
  literal,
  source,
  content,
  freeze,
  cover,
  bind,
  stage,
  mount,
  launch,
  memory
};
struct ToolArgument {
  ToolArgumentKind kind = ToolArgumentKind::literal;
  std::string text = {};    // literal, launch; memory: content of a file whose path is the argument
  std::uint32_t entry = 0;  // source, content, freeze, cover, bind, mount: index into Plan::view
};

// What a launch by a container engine needs besides its arguments.
struct ContainerPlan {
  std::string image = {};        // "name@sha256:…"; empty: no container
  std::string client_home = {};  // HOME of the client
  std::string scratch = {};      // where the folder of the launch is made
  bool map_owners = false;       // root's files are the server's inside
};

// Which hosts the server reaches, through sockets in its namespace that are answered from outside.
struct PlanNetwork {
  egress::Rules rules = {};
  egress::Doors doors = {};
  bool hosts() const { return !rules.empty(); }
};

struct Plan {
  std::string backend = {};
  std::vector<Guarantee> guarantees = {};
  PlanSteps steps = {};
  std::vector<ViewEntry> view = {};

  std::string executable = {};  // inside
  FileIdentity executable_identity = {};
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  // NAME=value
  std::string working_directory = {};
  std::string hostname = {};

  bool switch_user = false;  // the caller is root
  std::uint32_t uid = 0;     // of the server
  std::uint32_t gid = 0;
  int landlock_abi = 0;
  bool own_namespaces = false;
  // Names of the machine are shared: paths, processes, ipc. Filter and Landlock refuse what would reach across.
  bool shared_host = false;
  bool syscall_filter = false;
  FilterChoice filter = {};                         // which list, when there is one
  UnixSockets unix_sockets = UnixSockets::allowed;  // what the filter lets of them
  Limits limits = {};                               // defaults filled in
  PlanNetwork network = {};
  std::vector<ControlGroup> groups = {};  // that keep limits.memory (and processes, where they can) for the whole tree

  std::string tool = {};  // what starts our stage inside: its executable
  std::vector<ToolArgument> tool_arguments = {};
  ContainerPlan container = {};
  std::vector<std::string> tool_environment = {};  // NAME=value, of the tool alone
  // Bits by the order of stage::namespace_inodes(): what the tool is to make anew, where that is not everything.
  std::uint32_t tool_namespaces = 0;
  std::string none_reason = {};

  bool in_container() const { return !container.image.empty(); }
  // Init tells what the server touches (trace.hpp). It changes nothing of what is enforced, and so is in neither print.
  bool trace = false;
};

// The start of the name of every group that we make.
inline constexpr std::string_view kGroupPrefix = "mcp-cordon-";

// The guarantee of that name; null when the plan does not speak of it.
const Guarantee* find_guarantee(const Plan& plan, std::string_view name);

// For a person: escaped, one fact per line.
std::string to_text(const Plan& plan);
// docs/isolation.md; the same plan gives the same bytes. Without the entries that cover what steers other programs:
// these follow what lies in the granted folders, and a plan is to stay the same when a file comes into being there.
std::string to_json(const Plan& plan);
// [{"path": …, "made": true}, …] of those.
std::string covers_json(const Plan& plan);
// sha256 of to_json, as digest_text.
std::string digest(const Plan& plan);

}  // namespace cordon::sandbox
