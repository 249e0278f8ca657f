// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/policy: what one policy file says, as plain values, and how a call is judged by it.
// Must not: read files or YAML (formats/policy_yaml does). Start reading here, then evaluate.hpp.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/host_list.hpp"

namespace cordon::policy {

// Where something stands in the policy file, both from 1; 0 means that a default applies.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

enum class Effect : std::uint8_t { read, write, destructive, execute, send, unknown };
enum class Action : std::uint8_t { allow, flag, confirm, block, hide };

std::string_view name(Effect effect);
std::string_view name(Action action);
std::optional<Effect> effect_from_name(std::string_view name);
std::optional<Action> action_from_name(std::string_view name);

// ---- launch ----

struct Secret {
  enum class Source : std::uint8_t { env, file, command };
  Source source = Source::env;
  std::string from = {};                  // variable name or file path
  std::vector<std::string> command = {};  // Source::command
  bool operator==(const Secret&) const = default;
};

// A package that `install` fetches and `run` starts from its store; `command` is then its program and arguments.
struct Source {
  enum class Kind : std::uint8_t { npm, pypi, oci };
  enum class Scripts : std::uint8_t { deny, allow };
  Kind kind = Kind::npm;
  std::string package = {};  // name, without the version
  std::string version = {};  // exact, or a digest; what was written when allow_unpinned
  std::string bin = {};      // empty: the one that the package has, or that is named like it
  Scripts scripts = Scripts::deny;
  std::vector<std::string> script_packages = {};  // Scripts::allow: of which packages
  bool allow_unpinned = false;
  Position position = {};
  bool operator==(const Source&) const = default;
};

enum class StderrMode : std::uint8_t { relay, file, drop };
enum class HomeMode : std::uint8_t { kept, temporary };

struct Launch {
  std::vector<std::string> command = {};
  std::optional<Source> source = {};
  bool command_from_client = false;
  std::string cwd = {};  // empty: the private HOME
  HomeMode home = HomeMode::kept;
  std::vector<std::string> pass = {};
  std::map<std::string, std::string> set = {};
  std::map<std::string, Secret> secrets = {};
  StderrMode stderr_mode = StderrMode::relay;
  Position position = {};
  bool operator==(const Launch&) const = default;
};

// ---- isolation ----

// Not every one is built: the reader knows which.
enum class Backend : std::uint8_t {
  automatic,
  native,
  bubblewrap,
  landlock,
  podman,
  docker,
  firejail,
  srt,
  seatbelt,
  command,
  none,
};

struct Grant {
  std::string path = {};  // outside, as written: absolute or ~/…
  std::string at = {};    // inside; empty: the same path
  std::string reason = {};
  Position position = {};
  bool operator==(const Grant&) const = default;
};

enum class Syscalls : std::uint8_t { standard, strict, off };  // `default` in the file
enum class Proc : std::uint8_t { masked, minimal };

struct ResourceLimits {
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> processes = {};
  std::optional<std::uint64_t> open_files = {};
  std::optional<std::uint64_t> file_size_bytes = {};
  std::optional<std::uint64_t> cpu_seconds = {};
  bool operator==(const ResourceLimits&) const = default;
};

struct Isolation {
  Backend backend = Backend::automatic;
  std::string reason = {};  // demanded for Backend::none
  // Names of guarantees, see sandbox/plan.hpp. With Backend::none only those that were written.
  std::vector<std::string> require = {"filesystem", "network",     "processes",   "ipc",
                                      "syscalls",   "environment", "descriptors", "devices"};
  std::vector<std::string> runtime = {"system"};
  std::vector<Grant> read = {};
  std::vector<Grant> write = {};
  std::vector<Grant> deny = {};
  std::vector<Grant> unix_sockets = {};  // without `at`; none is the default
  Network network = {};                  // nothing allowed: no interface but lo
  Proc proc = Proc::masked;
  std::optional<std::string> user = {};
  std::string srt = {};                            // Backend::srt: the package's dist/cli.js, absolute or ~/…
  std::vector<std::string> command_template = {};  // Backend::command: `template` in the file
  ResourceLimits limits = {};
  bool nested_userns = false;  // as written; see allows_nested_userns
  Syscalls syscalls = Syscalls::standard;
  Position position = {};
  bool operator==(const Isolation&) const = default;
};

// A browser needs them for its own sandbox.
inline bool allows_nested_userns(const Isolation& isolation) {
  return isolation.nested_userns || std::ranges::find(isolation.runtime, "browser") != isolation.runtime.end();
}

// ---- catalog ----

enum class Missing : std::uint8_t { block, flag };
enum class DriftAction : std::uint8_t { allow, flag, block, hide, pinned };

struct Drift {
  DriftAction added = DriftAction::hide;     // hide | flag
  DriftAction changed = DriftAction::block;  // block | hide | pinned | flag
  // `{text: …, schema: …}`: `changed` is then of tools whose prose alone differs. Never weaker than `changed`.
  std::optional<DriftAction> changed_schema = {};
  DriftAction removed = DriftAction::flag;         // flag | allow
  DriftAction cosmetic = DriftAction::allow;       // allow | block (served as pinned either way)
  DriftAction instructions = DriftAction::pinned;  // pinned | flag | block
  DriftAction identity = DriftAction::pinned;      // pinned | flag | block
  DriftAction capabilities = DriftAction::hide;    // hide | block
  DriftAction launch = DriftAction::block;         // block | flag
  bool operator==(const Drift&) const = default;
};

// A value that may stand at marked places of reviewed text. The first four are told by their form, the next four are
// known at launch, the last is a glob and needs a reason.
struct Variable {
  enum class Kind : std::uint8_t { path, date, integer, version, cwd, home, roots, argument, pattern };
  Kind kind = Kind::path;
  std::size_t argument = 0;  // Kind::argument: index in launch.command
  std::string pattern = {};
  std::string reason = {};
  Position position = {};
  bool operator==(const Variable&) const = default;
};

struct Catalog {
  std::string snapshot = {};  // as written; empty: <policy name>.catalog.json beside the policy
  Missing missing = Missing::block;
  Drift drift = {};
  bool accept_unattended = false;
  std::vector<std::string> trusted_keys = {};  // OpenSSH public keys as in the file; empty: no signature is asked for
  std::map<std::string, Variable> variables = {};
  std::vector<std::string> dynamic = {};  // URI globs of resources that are data, not catalog
  std::size_t max_pages = 64;
  std::size_t max_tools = 20'000;
  std::size_t max_bytes = 10'000'000;
  bool operator==(const Catalog&) const = default;
};

// ---- tools ----

// What one argument of a call has to be; every member that is set must hold.
struct ArgumentCondition {
  std::string pointer = {};                      // JSON pointer into `arguments`; `*` is each element or member
  bool optional = false;                         // holds when the argument is absent
  bool forbid = false;                           // holds only when the argument is absent
  std::vector<std::string> within = {};          // folders in the server's view, absolute
  std::vector<std::string> matches = {};         // RE2, whole value; one of them
  std::vector<std::string> not_matches = {};     // RE2, anywhere; none of them
  std::vector<std::string> one_of = {};          // canonical JSON values
  std::vector<std::string> hosts = {};           // of a URL; as network entries without port
  std::optional<std::uint64_t> max_length = {};  // code points of a string
  std::optional<std::uint64_t> max_items = {};
  std::optional<std::int64_t> minimum = {};
  std::optional<std::int64_t> maximum = {};
  Position position = {};
  bool operator==(const ArgumentCondition&) const = default;
};

struct Rule {
  std::vector<std::string> tools = {};       // globs: * and ?, matched against the whole name
  std::vector<ArgumentCondition> when = {};  // selects, like `tools`
  std::optional<Action> action = {};
  std::vector<ArgumentCondition> arguments = {};  // a call that fails one is argument_denied
  std::optional<std::uint32_t> calls_per_minute = {};
  std::optional<std::uint32_t> calls_in_flight = {};
  std::optional<std::uint32_t> answer_timeout_seconds = {};
  Position position = {};
  bool operator==(const Rule&) const = default;
};

enum class Annotations : std::uint8_t { reviewed, server };
enum class SchemaCheck : std::uint8_t { off, enforce };

struct Confirm {
  enum class Fallback : std::uint8_t { approve, block };  // without support of the client
  enum class Remember : std::uint8_t { never, same_arguments, session };
  std::uint32_t timeout_seconds = 50;
  Fallback without_client_support = Fallback::approve;
  Remember remember = Remember::never;
  bool operator==(const Confirm&) const = default;
};

struct Tools {
  std::string file = {};  // path of the policy, so that a verdict can name its line
  std::map<Effect, Action> effects = {{Effect::read, Action::allow},        {Effect::write, Action::confirm},
                                      {Effect::destructive, Action::block}, {Effect::execute, Action::block},
                                      {Effect::send, Action::confirm},      {Effect::unknown, Action::block}};
  std::map<Effect, Position> effect_positions = {};
  std::vector<Rule> rules = {};
  bool read_only = false;  // as run --read-only
  Annotations annotations = Annotations::reviewed;
  SchemaCheck schema = SchemaCheck::off;
  Confirm confirm = {};
  bool operator==(const Tools&) const = default;
};

// ---- prompts and resources ----

// Of those that the pin lets pass. Actions here are allow, flag, block and hide; there is nobody to confirm.
struct Prompts {
  Action standard = Action::allow;  // `default` in the file
  Position position = {};
  bool operator==(const Prompts&) const = default;
};

struct ResourceRule {
  std::vector<std::string> uris = {};  // globs: * and ?, matched against the whole URI
  Action action = Action::block;
  Position position = {};
  bool operator==(const ResourceRule&) const = default;
};

struct Resources {
  Action standard = Action::allow;   // `default` in the file
  Action templates = Action::block;  // of what only a template names
  Position position = {};
  Position templates_position = {};
  std::vector<ResourceRule> rules = {};
  bool operator==(const Resources&) const = default;
};

// ---- what a server asks of the client, and what it answers ----

struct ClientRequests {
  enum class Roots : std::uint8_t { policy, allow, flag, block };  // policy: answered with the policy's directories
  Action sampling = Action::block;                                 // allow | flag | block, as the next
  Action elicitation = Action::flag;
  std::vector<std::string> elicitation_hosts = {};  // that a URL elicitation may name; empty: any, over https
  Roots roots = Roots::policy;
  bool operator==(const ClientRequests&) const = default;
};

struct Results {
  enum class Treatment : std::uint8_t { off, flag, strip };
  enum class Secrets : std::uint8_t { off, flag, redact };
  Treatment hidden_text = Treatment::flag;
  Treatment terminal_escapes = Treatment::strip;
  Secrets secrets = Secrets::off;
  SchemaCheck structured = SchemaCheck::off;  // `schema` in the file: structuredContent fits the reviewed output schema
  std::size_t max_bytes = 10'000'000;
  bool operator==(const Results&) const = default;
};

struct Messages {
  std::size_t max_bytes = 10'000'000;
  std::size_t max_depth = 128;
  std::size_t in_flight = 256;
  std::uint32_t answer_timeout_seconds = 0;  // 0: none
  bool operator==(const Messages&) const = default;
};

enum class AuditArguments : std::uint8_t { digest, full, none };

struct Policy {
  std::string server = {};
  std::string file = {};  // path of the policy, for messages
  Launch launch = {};
  Isolation isolation = {};
  Catalog catalog = {};
  Tools tools = {};
  Prompts prompts = {};
  Resources resources = {};
  ClientRequests client_requests = {};
  Results results = {};
  Messages messages = {};
  AuditArguments audit_arguments = AuditArguments::digest;
  bool operator==(const Policy&) const = default;
};

}  // namespace cordon::policy
