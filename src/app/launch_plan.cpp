// SPDX-License-Identifier: Apache-2.0
#include "app/launch_plan.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "app/command_template.hpp"
#include "app/container_launch.hpp"
#include "app/expand.hpp"
#include "app/fetchers.hpp"
#include "app/fingerprint.hpp"
#include "app/host_home.hpp"
#include "app/launch_package.hpp"
#include "app/package_command.hpp"
#include "app/paths.hpp"
#include "app/policy_lookup.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "egress/rules.hpp"
#include "run/files.hpp"
#include "sandbox/container_command.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/view.hpp"

namespace cordon::app {
namespace {

// What a server finds programs in: the system's folders, and where its own interpreter lies.
std::string inside_path(const PreparedLaunch& launch, const Caller& caller) {
  const sandbox::LaunchSpec& spec = launch.spec;
  std::string out = "/usr/local/bin:/usr/bin:/bin";
  if (!spec.image.reference.empty()) {
    return out;  // of an image that says nothing else
  }
  for (const std::string& folder : launch.program_folders) {
    out = text::cat(folder, ':', out);
  }
  // `#!/usr/bin/env node` means the node that the caller would get, as argv[0] does.
  const auto search = caller.environment.find("PATH");
  const std::string interpreter =
      search == caller.environment.end() ? std::string() : sandbox::env_interpreter(spec.executable, search->second);
  // The spelled one comes first: it is the environment's where a program is started through one (venv).
  for (const std::string& program : {interpreter, spec.executable, spec.argv[0]}) {
    if (program.empty()) {
      continue;
    }
    const std::string folder = parent_of(program);
    const std::vector<std::string_view> parts = text::split(out, ':');
    if (std::ranges::find(parts, std::string_view(folder)) == parts.end()) {
      out = text::cat(folder, ':', out);
    }
  }
  return out;
}

std::string search_path_of(const policy::Launch& launch, const PreparedLaunch& prepared, const Caller& caller) {
  const auto set = launch.set.find("PATH");
  return set == launch.set.end() ? inside_path(prepared, caller) : set->second;
}

// Programs read one spelling or the other. Last, since no other proxy can be reached. No ALL_PROXY=socks5h: libraries
// that lack SOCKS (httpx of Python) then refuse to start at all, and who speaks it may ask for the same door.
void add_proxy(const egress::Rules& rules, std::map<std::string, std::string>& out) {
  const std::string place = text::cat(egress::to_string(egress::kProxy), ':', egress::kProxyPort);
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    out[name] = text::cat("http://", place);
  }
  out["NODE_USE_ENV_PROXY"] = std::string("1");  // Node 22.21 and 24 heed the others with it
  // The loopback inside is the server's own, but for what is listed.
  std::vector<std::string> direct = {"::1"};
  for (const char* host : {"localhost", "127.0.0.1"}) {
    if (std::ranges::find(rules.allow, host, &egress::Rule::host) == rules.allow.end()) {
      direct.emplace_back(host);
    }
  }
  out["NO_PROXY"] = out["no_proxy"] = text::join(direct, ",");
}

// Nothing is inherited that the policy does not name. `set` wins over `pass`, a secret over both.
std::map<std::string, std::string> environment_of(const policy::Launch& launch, const Caller& caller,
                                                  const std::map<std::string, std::string>& secrets,
                                                  const PreparedLaunch& prepared) {
  const sandbox::LaunchSpec& spec = prepared.spec;
  std::map<std::string, std::string> out;
  for (const std::string& name : launch.pass) {
    if (const auto found = caller.environment.find(name); found != caller.environment.end()) {
      out[name] = found->second;
    }
  }
  // Outside folders mean nothing inside, so these three are ours unless the policy sets them.
  out["PATH"] = inside_path(prepared, caller);
  const bool own_view = spec.backend != sandbox::BackendChoice::none && !sandbox::shows_host_paths(spec.backend);
  out["HOME"] = own_view ? std::string(kInsideHome) : spec.home_source.empty() ? std::string("/tmp") : spec.home_source;
  out["TMPDIR"] = spec.temp_source.empty() ? "/tmp" : spec.temp_source;
  for (const auto& [name, value] : launch.set) {
    out[name] = value;
  }
  for (const auto& [name, value] : secrets) {
    out[name] = value;
  }
  if (!spec.network.empty() && spec.network.mode == egress::EgressMode::proxy) {
    add_proxy(spec.network, out);
  }
  return out;
}

sandbox::BackendChoice backend_of(policy::Backend backend) {
  switch (backend) {
    case policy::Backend::automatic:
      return sandbox::BackendChoice::automatic;
    case policy::Backend::native:
      return sandbox::BackendChoice::native;
    case policy::Backend::bubblewrap:
      return sandbox::BackendChoice::bubblewrap;
    case policy::Backend::landlock:
      return sandbox::BackendChoice::landlock;
    case policy::Backend::podman:
      return sandbox::BackendChoice::podman;
    case policy::Backend::docker:
      return sandbox::BackendChoice::docker;
    case policy::Backend::firejail:
      return sandbox::BackendChoice::firejail;
    case policy::Backend::srt:
      return sandbox::BackendChoice::srt;
    case policy::Backend::seatbelt:
      return sandbox::BackendChoice::seatbelt;
    case policy::Backend::command:
      return sandbox::BackendChoice::command;
    case policy::Backend::none:
      return sandbox::BackendChoice::none;
  }
  return sandbox::BackendChoice::automatic;
}

// `cwd` is an inside path; "~/" means a granted folder of the caller's home, seen where the grant puts it.
Result<std::string> inside_cwd(const policy::Policy& policy, const Caller& caller,
                               const std::vector<sandbox::Mount>& mounts) {
  const std::string& written = policy.launch.cwd;
  if (written.empty()) {
    return std::string();
  }
  Result<std::string> path = expand_home(written, caller.home);
  if (!path) {
    Error error = path.error();
    error.where = place_in(policy, policy.launch.position);
    return std::unexpected(std::move(error));
  }
  if (written.starts_with('~')) {
    for (const sandbox::Mount& mount : mounts) {
      if (is_within(*path, mount.source)) {
        return rebased(*path, mount.source, mount.target);
      }
    }
  }
  return path;
}

Status copy_isolation(const policy::Isolation& isolation, const Caller& caller, sandbox::LaunchSpec& spec) {
  spec.runtime = isolation.runtime;
  spec.network = egress::rules_of(isolation.network);
  spec.backend = backend_of(isolation.backend);
  spec.none_reason = isolation.reason;
  spec.require = isolation.require;
  spec.proc_minimal = isolation.proc == policy::Proc::minimal;
  spec.nested_userns = isolation.nested_userns;
  spec.syscall_filter = isolation.syscalls != policy::Syscalls::off;
  spec.strict_syscalls = isolation.syscalls == policy::Syscalls::strict;
  spec.user = isolation.user;
  spec.limits = {isolation.limits.memory_bytes, isolation.limits.processes, isolation.limits.open_files,
                 isolation.limits.file_size_bytes, isolation.limits.cpu_seconds};
  spec.default_limits = sandbox::preset_limits(spec);
  if (!isolation.srt.empty()) {
    Result<std::string> srt = expand_home(isolation.srt, caller.home);
    if (!srt) {
      return std::unexpected(srt.error());
    }
    spec.srt = std::move(*srt);
  }
  return {};
}

constexpr std::uint64_t kMaxTemplateProgram = 512'000'000;

Status check_words(const std::vector<std::string>& words, const std::string& where) {
  for (const std::string& word : words) {
    // What a client gives is any bytes; it has to go into JSON, and back from there unchanged.
    if (!text::valid_utf8(word) || word.find('\0') != std::string::npos) {
      return fail(Errc::policy_invalid, "the command holds a word that is no text in UTF-8", where);
    }
  }
  return {};
}

// Where the registry is out of reach a package cannot be fetched; its tool would try for a minute.
Status check_fetch(const LaunchRequest& request, const std::vector<std::string>& command,
                   const std::string& executable) {
  const policy::Policy& policy = request.policy;
  if (request.depth == LaunchRequest::Depth::show || policy.isolation.backend == policy::Backend::none) {
    return {};
  }
  const std::optional<Fetch> fetch = fetches(command, executable);
  const egress::Rules network = egress::rules_of(policy.isolation.network);
  if (!fetch || (!fetch->installs && !policy.launch.cwd.empty()) ||
      (!network.empty() && reaches_registry(request.caller, *fetch, network))) {
    return {};
  }
  return fail(Errc::launch_failed,
              text::cat(fetch->tool, " fetches ", fetch->package.empty() ? "a package" : "'" + fetch->package + "'",
                        " at every start, and this server ",
                        network.empty() ? "has no network (isolation.network: none)"
                                        : "does not reach the registry (isolation.network)"),
              place_in(policy, policy.launch.position), fetch->remedy);
}

// What is started first: the server's program, or a template's, which decides what the server is held by and so is
// judged like our own helper.
Result<Program> program_of(const LaunchRequest& request, const std::vector<std::string>& command,
                           const sandbox::LaunchSpec& spec) {
  Result<Program> program = find_program(command.at(0), request.caller);
  if (program && spec.from_template) {
    const auto trusted = run::open_trusted(program->real, {.max_bytes = kMaxTemplateProgram});
    if (!trusted) {
      return std::unexpected(trusted.error());
    }
  }
  // Also where the program is missing: to install it would lead here again.
  if (const Status local = check_fetch(request, command, program ? program->real : std::string()); !local) {
    return std::unexpected(local.error());
  }
  return program;
}

// Without a view there is nothing to put a home or a /tmp in: both are folders of ours, seen where they are.
Status add_host_home(const LaunchRequest& request, sandbox::LaunchSpec& spec) {
  const policy::Policy& policy = request.policy;
  if (policy.launch.home != policy::HomeMode::kept) {
    return fail(Errc::policy_invalid, "this backend has no view of its own to put a temporary home in",
                place_in(policy, policy.launch.position), "take launch.home: temporary out");
  }
  const Result<HostHome> folders = request.depth == LaunchRequest::Depth::start
                                       ? make_host_home(request.caller, policy.server)
                                       : Result<HostHome>(host_home(request.caller, policy.server));
  if (!folders) {
    return std::unexpected(folders.error());
  }
  // As they will be named once they are made.
  spec.home_source = resolved(folders->home);
  spec.temp_source = resolved(folders->temporary);
  return {};
}

Status add_home(const LaunchRequest& request, sandbox::LaunchSpec& spec) {
  const policy::Policy& policy = request.policy;
  if (sandbox::shows_host_paths(spec.backend)) {
    return add_host_home(request, spec);
  }
  if (policy.launch.home != policy::HomeMode::kept) {
    return {};
  }
  // Nothing is mounted for it then, and the state folder is closed to the account that the server gets.
  if (spec.backend == sandbox::BackendChoice::none && request.caller.uid == 0) {
    return fail(Errc::policy_invalid, "started by root without isolation, the server cannot reach a kept home",
                place_in(policy, policy.launch.position), "set launch.home: temporary");
  }
  spec.home_source = home_path(request.caller, policy.server);
  if (request.depth != LaunchRequest::Depth::start) {
    // As it will be named once it is made: the plan that is shown is the plan that is started.
    spec.home_source = resolved(spec.home_source);
    return {};
  }
  Result<std::string> made = run::ensure_private_folder(spec.home_source);
  if (!made) {
    return std::unexpected(made.error());
  }
  spec.home_source = std::move(*made);
  return {};
}

Status add_scratch(const LaunchRequest& request, sandbox::LaunchSpec& spec) {
  spec.scratch = request.caller.state_folder() + "/launch";
  if (request.depth == LaunchRequest::Depth::start) {
    Result<std::string> made = scratch_folder(request.caller);
    if (!made) {
      return std::unexpected(made.error());
    }
    spec.scratch = std::move(*made);
  }
  return {};
}

Status add_image(const LaunchRequest& request, const std::vector<std::string>& command, sandbox::LaunchSpec& spec) {
  if (Status translated = translate_container(request.policy, request.caller, command, spec); !translated) {
    return translated;
  }
  return add_scratch(request, spec);
}

Status add_program(const LaunchRequest& request, const std::vector<std::string>& command, PreparedLaunch& out,
                   PackageStart& package) {
  sandbox::LaunchSpec& spec = out.spec;
  if (request.policy.launch.source) {
    Status added = add_package(request, command, out, package);
    return !added || spec.image.reference.empty() ? added : add_scratch(request, spec);
  }
  if (starts_image(request.policy)) {
    return add_image(request, command, spec);
  }
  if (Status fits = refuse_container_command(request.policy, command); !fits) {
    return fits;
  }
  const Result<Program> program = program_of(request, command, spec);
  if (!program) {
    return std::unexpected(program.error());
  }
  spec.argv = command;
  spec.argv[0] = program->path;
  spec.executable = program->real;
  return {};
}

void set_environment(const LaunchRequest& request, const std::map<std::string, std::string>& secrets,
                     PreparedLaunch& out) {
  out.environment_names.clear();
  out.spec.environment.clear();
  for (const auto& [name, value] : environment_of(request.policy.launch, request.caller, secrets, out)) {
    out.environment_names.push_back(name);
    out.spec.environment.push_back(text::cat(name, '=', value));
  }
}

// Whoever has to decide before a secret is fetched sees the names of all that the server gets.
Status add_environment(const LaunchRequest& request, PackageStart& package, PreparedLaunch& out) {
  std::map<std::string, std::string> secrets;
  for (const auto& [name, secret] : request.policy.launch.secrets) {
    secrets.emplace(name, "");
  }
  set_environment(request, secrets, out);
  if (request.admit_spec) {
    if (Status admitted = request.admit_spec(out.spec); !admitted) {
      return admitted;
    }
  }
  if (request.depth != LaunchRequest::Depth::start || request.policy.launch.secrets.empty()) {
    return {};
  }
  if (Status whole = package.wait(); !whole) {
    return whole;
  }
  Result<std::map<std::string, std::string>> read = read_secrets(request.policy, request.caller, request.read_trusted);
  if (!read) {
    return std::unexpected(read.error());
  }
  for (const auto& [name, value] : *read) {
    if (!value.empty()) {
      out.secrets.push_back({name, value});
    }
  }
  set_environment(request, *read, out);
  return {};
}

}  // namespace

Result<std::vector<std::string>> effective_command(const policy::Policy& policy,
                                                   const std::vector<std::string>& client_command) {
  if (policy.launch.command_from_client) {
    if (!policy.launch.secrets.empty()) {
      return fail(Errc::policy_invalid, "launch.command_from_client excludes secrets",
                  place_in(policy, policy.launch.position), "take one of both out");
    }
    if (!client_command.empty()) {
      return client_command;
    }
  }
  if (policy.launch.command.empty()) {
    return fail(Errc::policy_invalid, "there is no command to start", place_in(policy, policy.launch.position),
                "write launch.command, or give the command after --");
  }
  if (!client_command.empty() && client_command != policy.launch.command &&
      !means_launch(client_command, policy.launch)) {
    return fail(Errc::launch_changed, "the command after -- is not the policy's launch.command",
                place_in(policy, policy.launch.position),
                text::cat("the policy has: ", text::printable(text::join(policy.launch.command, " "), 512),
                          policy.launch.source
                              ? text::cat(" of ", text::printable(policy::spelled(*policy.launch.source), 300),
                                          ": what stands in the client's configuration has to say the same, with that "
                                          "version or none, or the policy has to be changed")
                              : std::string()));
  }
  return policy.launch.command;
}

namespace {

Result<std::vector<std::string>> command_words(const LaunchRequest& request) {
  Result<std::vector<std::string>> command = effective_command(request.policy, request.client_command);
  if (command) {
    if (const Status words = check_words(*command, place_in(request.policy, request.policy.launch.position)); !words) {
      return std::unexpected(words.error());
    }
  }
  return command;
}

Status prepare(const LaunchRequest& request, std::vector<std::string>& command, PackageStart& package,
               PreparedLaunch& out) {
  const policy::Policy& policy = request.policy;
  Result<Grants> grants = resolve_grants(policy, request.caller);
  if (!grants) {
    return std::unexpected(grants.error());
  }
  if (Status wrapped = put_in_template(policy, command, out.spec); !wrapped) {
    return wrapped;
  }
  out.spec.mounts = std::move(grants->mounts);
  out.spec.deny = std::move(grants->deny);
  out.spec.unix_sockets = std::move(grants->unix_sockets);
  if (Status copied = copy_isolation(policy.isolation, request.caller, out.spec); !copied) {
    return copied;
  }
  Result<std::string> cwd = inside_cwd(policy, request.caller, out.spec.mounts);
  if (!cwd) {
    return std::unexpected(cwd.error());
  }
  out.spec.cwd = std::move(*cwd);
  if (Status added = add_program(request, command, out, package); !added) {
    return added;
  }
  const std::string search_path = search_path_of(policy.launch, out, request.caller);
  OwnPaths own = request.own;
  add_launch_paths(policy, request.caller, out.spec, search_path, own);
  // Before anything is digested: what is digested below lies in no write grant.
  if (Status guarded = check_write_grants(policy, request.caller, own); !guarded) {
    return guarded;
  }
  const bool image = !out.spec.image.reference.empty();
  out.executable = image ? FileWitness{} : witness(out.spec.executable);
  Result<catalog::LaunchFingerprint> print = fingerprint(
      {policy, command, out.spec.executable, out.spec.mounts, DigestCache(request.caller.state_folder() + "/digests"),
       out.spec.cwd, search_path, image ? sandbox::image_digest(out.spec.image.reference).value_or("") : std::string(),
       out.spec.argv, out.package},
      &out.files);
  if (!print) {
    return std::unexpected(print.error());
  }
  out.fingerprint = std::move(*print);
  if (Status home = add_home(request, out.spec); !home) {
    return home;
  }
  if (request.admit) {
    if (Status admitted = request.admit(out.fingerprint); !admitted) {
      return admitted;
    }
  }
  // Last, because fetching a secret may ask the person or take time.
  return add_environment(request, package, out);
}

}  // namespace

Result<PreparedLaunch> prepare_launch(const LaunchRequest& request) {
  Result<std::vector<std::string>> command = command_words(request);
  if (!command) {
    return std::unexpected(command.error());
  }
  PreparedLaunch out;
  auto package = std::make_unique<PackageStart>();
  Status done = prepare(request, *command, *package, out);
  if (done && request.judge_later && package->begun() && request.policy.launch.secrets.empty()) {
    out.unjudged = std::move(package);
    return out;
  }
  if (Status whole = package->wait(); !whole) {
    return std::unexpected(whole.error());
  }
  if (!done) {
    return std::unexpected(std::move(done.error()));
  }
  return out;
}

}  // namespace cordon::app
