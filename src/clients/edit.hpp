// SPDX-License-Identifier: Apache-2.0
#pragma once
// Putting `mcp-cordon run NAME --` before a server's command in the text of a config, and taking it away again. The
// words of the command stay as they are spelled: the program's own bytes move into the arguments and back.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "clients/entry.hpp"
#include "clients/tree.hpp"

namespace cordon::clients {

struct Edit {
  std::size_t at = 0;
  std::string before = {};  // what stands there
  std::string after = {};
  bool operator==(const Edit&) const = default;
};

// Edits by ascending place that do not touch each other.
std::string apply_edits(std::string_view text, const std::vector<Edit>& edits);

// What wrapping an entry did, in bytes: enough to take it back exactly, also after other edits.
struct Wrapped {
  std::string old_program = {};  // as it was spelled; empty when the command is one list
  std::string new_program = {};
  std::string inserted = {};   // text with our words, in the list of arguments or as a whole new member
  bool new_arguments = false;  // there was no list of arguments
  bool operator==(const Wrapped&) const = default;
};

struct WrapEdits {
  std::vector<Edit> edits = {};
  Wrapped record = {};
};

struct WrapWords {
  std::string program = {};  // absolute path of mcp-cordon
  std::string policy = {};   // NAME
};

// The entry is one of find_entries of the same text, stdio, not wrapped, without fault. The edited text is read again:
// catalog_invalid unless nothing but this command changed.
Result<WrapEdits> wrap_edits(std::string_view text, const Tree& tree, const Entry& entry, const WrapWords& words);

enum class Unwrapping {
  exact,          // the recorded bytes were there
  reconstructed,  // from the entry as it stands
};
struct UnwrapEdits {
  std::vector<Edit> edits = {};
  Unwrapping how = Unwrapping::exact;
};

// catalog_invalid when the entry does not hold the command it had.
Result<UnwrapEdits> unwrap_edits(std::string_view text, const Tree& tree, const Entry& entry,
                                 const std::optional<Wrapped>& record);

}  // namespace cordon::clients
