// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine can enforce and what lies where on it, as plain data. probe_host.hpp finds it out by trying;
// backends read nothing else, so that a plan can be made and tested without privileges.

#include <cstdint>
#include <string>
#include <vector>

namespace cordon::sandbox {

// The same object under whatever name: st_dev and st_ino.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Something that was really tried in a child of ours. When it does not work, `reason` is a code of docs/isolation.md
// (userns_denied, apparmor, proc_masked, backend_missing, backend_version, running_as_root, …).
struct Trial {
  bool works = false;
  std::string step = {};  // which step failed
  int error_number = 0;
  std::string reason = {};
  std::string hint = {};  // what a person can paste or do
};

struct BubblewrapFacts {
  std::string path = {};     // empty: not installed in a system directory by root
  std::string version = {};  // "0.8.0"
  bool setuid = false;
  bool disable_userns = false;  // knows --disable-userns
  Trial trial = {};
};

// What an image says of itself.
struct ImageFacts {
  bool found = false;
  std::string platform = {};  // "linux/amd64"
  std::vector<std::string> entrypoint = {};
  std::vector<std::string> command = {};
  std::vector<std::string> environment = {};  // NAME=value
  std::string working_directory = {};
  std::vector<std::string> volumes = {};
};

// A container engine. Tried only when it is named.
struct ContainerFacts {
  std::string path = {};  // of the client; empty: not installed in a system directory by root
  std::string version = {};
  std::string runtime = {};      // podman: which OCI runtime works
  bool limits = false;           // a container can be limited in memory and processes as a whole
  bool rootless = false;         // containers live in a user namespace of the caller's
  std::string client_home = {};  // of the caller's account, where the client has its configuration
  std::uint64_t most_open_files = 0;
  std::uint64_t most_processes = 0;
  std::uint64_t most_core = 0;
  Trial trial = {};
  ImageFacts image = {};  // of the spec
};

struct FirejailFacts {
  std::string path = {};     // empty: not installed in a system directory by root
  std::string version = {};  // "0.9.72"
  Trial trial = {};
};

// Programs from system directories, the package from where the policy says.
struct SrtFacts {
  std::string cli = {};  // dist/cli.js
  std::string version = {};
  std::string helper = {};  // the package's apply-seccomp; empty: missing
  std::string node = {};
  std::string bwrap = {};
  std::string socat = {};
  std::string ripgrep = {};
  Trial trial = {};
};

// What a probe has found out about a plan whose boundary is somebody else's; confirmation.hpp.
struct ConfirmedDetail {
  std::string name = {};  // of details()
  bool held = false;      // every check was made, and none crossed
};
struct Confirmation {
  std::string plan_key = {};
  std::string program = {};  // digest of what the plan starts: the template's program and the files that it names
  std::string boot_id = {};
  std::vector<ConfirmedDetail> details = {};
};

enum class PathKind : std::uint8_t { absent, directory, file, symlink, socket, other };

// One of the fixed system paths that presets may show inside.
struct SystemPath {
  std::string path = {};
  PathKind kind = PathKind::absent;
  std::string link = {};  // text of a symlink
};

// Part of what the next start runs, where the server can write.
struct ExposedFile {
  std::string role = {};   // "the program", "its interpreter", …
  std::string path = {};   // as written
  std::string place = {};  // the file, or a symlink on the way to it
  std::string grant = {};  // source of the writable grant
};

// A symlink of the outside: where, and its text.
struct ProgramLink {
  std::string path = {};
  std::string text = {};
  bool operator==(const ProgramLink&) const = default;
};

// The executable of the server and what it needs besides system paths. Paths are real, save `entry_link`.
struct ProgramFacts {
  std::string path = {};
  FileIdentity identity = {};
  bool found = false;           // a regular, executable file
  std::string prefix = {};      // of an interpreter outside the system paths (~/.nvm/versions/node/v22), else empty
  std::string venv = {};        // python environment that argv[0] names, else empty
  std::string entry_link = {};  // the script that argv names, as written there; empty: no script
  std::string entry = {};       // the script
  std::string entry_root = {};  // what the script needs around it: its package, or itself
  std::vector<ProgramLink> links = {};  // on the way to program and interpreter, as these are called
  std::vector<ExposedFile> exposed = {};
};

// A grant's source as it is now.
struct SourceFacts {
  std::string path = {};
  PathKind kind = PathKind::absent;  // symlink: also when a folder above is one
  std::string resolved = {};         // where a symlink leads
};

// A control group of the machine below which a launch can make one of its own.
struct GroupPlace {
  std::string folder = {};
  bool unified = false;  // version 2
  bool memory = false;
  bool processes = false;
  bool leaf = false;  // version 2: we live in it ourselves, and have to move into a leaf of it first
  bool operator==(const GroupPlace&) const = default;
};
struct GroupFacts {
  std::vector<GroupPlace> places = {};
  Trial trial = {};  // works: one of them limits memory
};

// Something below a write grant that steers other programs (steering.hpp). Absent: it is put there for the time of the
// launch, as an empty folder, or as a file with `text`.
struct SteeringPlace {
  std::string path = {};
  bool absent = false;
  bool file = false;
  bool link = false;  // a symlink, to `text`; what it leads to is a place of its own
  std::string text = {};
};

// Where the covers of steering places leave something open.
struct SteeringGap {
  std::string reason = {};  // code of docs/isolation.md
  std::string path = {};
  bool accepted = false;  // the grant has a reason
  bool link = false;      // none where symlinks can be mounted: the place is listed, and what it leads to as well
};

struct HostFacts {
  std::uint32_t uid = 0;  // effective, of the caller
  std::uint32_t gid = 0;
  // Whom the server runs as: the caller, or, started by root, `user` of the spec or 65534.
  std::uint32_t server_uid = 0;
  std::uint32_t server_gid = 0;
  std::string user_error = {};  // why `user` of the spec cannot be had, else empty

  Trial namespaces = {};          // user, mount, pid, net, ipc, uts and cgroup namespaces, and what is done in them
  int landlock_abi = 0;           // 0: the kernel has none
  bool seccomp = false;           // filters can be installed, and kill a process
  std::string architecture = {};  // "x86_64"; empty: one that the syscall table does not know
  BubblewrapFacts bubblewrap = {};
  ContainerFacts podman = {};
  ContainerFacts docker = {};
  GroupFacts groups = {};       // looked for when a limit asks for one
  FirejailFacts firejail = {};  // this and what follows: found only when it is named, or for doctor
  SrtFacts srt = {};
  // Another system's.
  Trial seatbelt = {.step = "platform",
                    .reason = "platform",
                    .hint = "seatbelt is a part of macOS; here, use native, bubblewrap or landlock"};
  Confirmation confirmation = {};  // the last one of this server, whatever it is of; the caller reads the file
  std::string boot_id = {};

  std::vector<SystemPath> system_paths = {};
  ProgramFacts program = {};
  std::vector<SourceFacts> sources = {};
  std::vector<SteeringPlace> steering = {};
  std::vector<SteeringGap> steering_gaps = {};
  std::string home = {};  // of the caller, real path: what is never shown as a whole

  bool root() const { return uid == 0; }
};

}  // namespace cordon::sandbox
