// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/catalog: what a server says about itself, what a person reviewed of it, and how the two differ.
// Must not: do I/O, know policies' files. Start reading here; compare.hpp judges one definition, diff.hpp whole
// catalogs.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/catalog/lists.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

// One tool definition, the whole object, unknown members included.
struct Tool {
  std::string name = {};
  std::string definition = {};       // canonical JSON (json::canonical) of the whole object
  std::string interface = {};        // digest of the content of the `ui://` resource that it names, when that was read
  std::string interface_facts = {};  // about that content, see interface.hpp
};

// What is learned from one serving process or one capture.
struct Catalog {
  std::vector<Tool> tools = {};      // in the server's order
  std::vector<Item> prompts = {};    // like the two below
  std::vector<Item> resources = {};  // without those that the policy calls data
  std::vector<Item> templates = {};
  std::optional<std::string> instructions = {};  // decoded text; absent when the server gave none
  std::string server_info = "{}";                // canonical JSON of serverInfo (in the modern era from result _meta)
  std::string capabilities = "{}";               // canonical JSON of the server's capabilities
  std::vector<std::string> protocol_versions = {};  // negotiated one, or supportedVersions of discover

  std::vector<Item>& items(ListKind kind);  // of any kind but tools
  const std::vector<Item>& items(ListKind kind) const;
};

// Who set an effect class.
enum class EffectSource : std::uint8_t { proposed, reviewer };
std::string_view name(EffectSource source);
std::optional<EffectSource> effect_source_from_name(std::string_view name);

// How much an effect class restrains by default: read 0, write 1, send 2, destructive 3, execute 4, unknown 5. Nothing
// for a word that is no effect class. A class is lowered when its rank falls.
std::optional<int> effect_rank(std::string_view effect);

// A class that hangs on an argument of the call.
struct EffectCondition {
  std::string argument = {};              // JSON pointer into the arguments
  std::optional<std::string> value = {};  // nothing: whenever it is given (a flag: whenever it is true)
  std::string effect = "unknown";
  bool operator==(const EffectCondition&) const = default;
};

// A tool that a person reviewed.
struct PinnedTool {
  std::string name = {};
  std::string definition = {};  // canonical JSON, exactly as reviewed
  std::string digest = {};      // "sha256:…" of the comparison form, see compare.hpp
  std::string interface = {};   // digest of its `ui://` resource, else empty: then that is not served (interface.hpp)
  std::string interface_facts = {};                     // about that content, for people; never judged by
  std::string effect = "unknown";                       // policy::Effect by name
  EffectSource effect_source = EffectSource::proposed;  // of the class and of all of `when`
  std::vector<EffectCondition> when = {};
};

// The package that a launch takes its program from; all empty when it takes it from the machine.
struct PackagePin {
  std::string source = {};  // "npm:pkg@1.2.3", "oci:image@sha256:…"
  std::string lock = {};    // digest of the lock file: which packages there are, and what they contain
  std::string tree = {};    // digest of the installed files
  bool operator==(const PackagePin&) const = default;
};

// What binds a snapshot to a launch (product §7): digests, never values.
struct LaunchFingerprint {
  std::vector<std::string> command = {};            // as in the policy
  std::string executable = {};                      // digest of the resolved argv[0]
  std::map<std::string, std::string> files = {};    // path in argv → digest, regular files only
  std::string set_values = {};                      // keyed by nothing: digest over the sorted NAME=value lines
  std::vector<std::string> environment_names = {};  // sorted: pass, set and secrets
  PackagePin package = {};
  bool operator==(const LaunchFingerprint&) const = default;
};
// As canonical JSON, the way it stands in the snapshot file.
std::string fingerprint_json(const LaunchFingerprint& launch);

// Which policy a snapshot was reviewed with, for one that does not lie beside its policy; else both are empty.
struct PolicyBinding {
  std::string path = {};
  std::string digest = {};  // of the file's bytes
  bool operator==(const PolicyBinding&) const = default;
};

// A place in reviewed text where the value of a variable of the policy stands.
struct VariablePlace {
  std::string item = {};     // "tool", "prompt", "resource", "resource_template" or "instructions"
  std::string key = {};      // of the item; empty for instructions
  std::string pointer = {};  // JSON pointer to a string of its definition; empty for instructions
  std::size_t offset = 0;    // in bytes of the decoded text
  std::size_t length = 0;
  std::string variable = {};
  auto operator<=>(const VariablePlace&) const = default;
};

// A reviewed catalog. The in-memory form of the snapshot file.
struct Snapshot {
  std::string server = {};
  std::vector<PinnedTool> tools = {};    // sorted by name
  std::vector<PinnedItem> prompts = {};  // sorted by key, like the two below
  std::vector<PinnedItem> resources = {};
  std::vector<PinnedItem> templates = {};
  std::optional<std::string> instructions = {};
  std::string server_info = "{}";
  std::string capabilities = "{}";
  std::vector<std::string> protocol_versions = {};
  std::string reviewer = {};
  std::string reviewed_at = {};  // RFC 3339, UTC
  bool unattended = false;
  bool reviewed = true;     // false: a candidate that nobody has accepted
  bool tools_only = false;  // read from a plain list of tools: all else is not known, and not compared
  std::vector<VariablePlace> variables = {};  // sorted, none overlaps another
  LaunchFingerprint launch = {};
  PolicyBinding policy = {};
  std::string digest = {};  // "sha256:…" over everything pinned, see compare.hpp

  const PinnedTool* find(std::string_view tool) const;  // nullptr when not pinned; binary search
  const PinnedItem* find(ListKind kind, std::string_view key) const;
  std::vector<PinnedItem>& items(ListKind kind);  // of any kind but tools
  const std::vector<PinnedItem>& items(ListKind kind) const;
};

// Reads one element of a `tools` array. catalog_invalid when it is no object, has no string `name`, or the name is
// empty or has a lone surrogate or U+0000. Unless `plain` (lists given to diff and effects) also when the name is
// longer than 256 bytes, `inputSchema` is no object, or a member of the tool, of its annotations or of its execution
// equals a protocol member only after case folding. `where` of the error names the tool, when it has a name.
enum class Leniency : std::uint8_t { served, plain };
Result<Tool> read_tool(const json::Value& element, Leniency leniency);

}  // namespace cordon::catalog
