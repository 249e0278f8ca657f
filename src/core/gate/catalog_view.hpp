// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live list judged against the pin: what the client is shown of each tool, and whether the pin lets it be called.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

// How a live definition relates to the snapshot.
enum class PinState : std::uint8_t {
  as_reviewed,  // equal, or differing only cosmetically
  changed,      // differs, cannot be read, or its name is in the list twice
  unreviewed,   // not in the snapshot
};

struct ToolView {
  std::string name = {};
  PinState pin = PinState::as_reviewed;
  std::string served = {};                          // definition for the client, JSON; empty: not listed
  policy::Effect effect = policy::Effect::unknown;  // the class that calls are judged by
  bool effect_by_person = false;                    // somebody set it
  std::vector<catalog::EffectCondition> when = {};  // classes that hang on an argument, as reviewed
  std::optional<Errc> refusal = {};  // the pin refuses calls: tool_changed, or tool_not_reviewed for hidden ones
  bool flagged = false;              // passes by a `flag` of the pin; results are marked
  policy::Verdict verdict = {};      // before the arguments are known: hide, or whatever else
  bool served_as_pinned = false;     // the live definition differs: arguments are held against the reviewed schema
  std::string interface = {};        // the `ui://` resource that it may show, and the digest of its content
  std::string interface_digest = {};
};

// One difference between pin and process, for audit and stderr.
struct DriftNote {
  std::string item = {};    // "tool", "prompt", …, "instructions", "server_info", "capabilities"
  std::string name = {};    // of the tool, prompt, …
  std::string change = {};  // "added", "changed", "removed", "cosmetic"
  policy::DriftAction action = policy::DriftAction::block;
  std::string detail = {};  // why a definition counts as changed, when it is not its text
  std::string digest = {};  // of the live definition
};

// One definition of a live list, whatever its kind; `name` is what tells it from others (a URI, for resources).
using LiveItem = catalog::Tool;

// What one walk over a list brought.
struct LiveList {
  std::vector<LiveItem> items = {};        // in the server's order
  std::vector<std::string> rejected = {};  // names of definitions that could not be read
  std::size_t unnamed = 0;                 // definitions without a readable name
};

class CatalogView {
 public:
  // `snapshot` may be null only with catalog.missing: flag.
  static CatalogView judge(const policy::Policy& policy, const catalog::Snapshot* snapshot, const LiveList& live);

  const std::vector<ToolView>& tools() const { return tools_; }
  const ToolView* find(std::string_view name) const;
  // The tool whose pin holds the content of this `ui://` resource; nullptr when there is none.
  const ToolView* interface_owner(std::string_view uri) const;
  const std::vector<DriftNote>& drift() const { return drift_; }

 private:
  void add_live(const policy::Policy& policy, const catalog::Snapshot* snapshot, const catalog::Tool& live, bool twice);
  void add(ToolView view, const policy::Policy& policy, std::string_view definition, std::string_view mark);

  std::vector<ToolView> tools_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<DriftNote> drift_;
};

// `definition` as the client gets it: annotations of `effect` (product §5), no members of ours, `_meta.ui` only when
// the content that it names is pinned, and with `mark` ("changed", "unreviewed") under dev.mcp-cordon/drift when it is
// not empty. With Annotations::server they are left as the definition has them.
enum class Interface : std::uint8_t { removed, pinned };
std::string served_definition(std::string_view definition, policy::Effect effect, bool reviewed_read,
                              std::string_view mark, Interface interface = Interface::removed,
                              policy::Annotations hints = policy::Annotations::reviewed);

}  // namespace cordon::gate
