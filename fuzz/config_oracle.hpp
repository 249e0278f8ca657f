// SPDX-License-Identifier: Apache-2.0
#pragma once
// The oracle of config_json and config_toml. Every entry of a text that is understood is wrapped, if it can be, and
// taken back: bytes outside of the edits stay; the wrapped text says the same but for this command; unwrap gives the
// text back byte by byte with what was recorded, and, where the list of arguments was there before, also without; a
// wrapped entry cannot be wrapped again.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "clients/edit.hpp"

namespace cordon::fuzz {

inline void check_bytes(const std::string& before, const std::string& after, const std::vector<clients::Edit>& edits) {
  std::size_t from = 0;
  std::size_t to = 0;
  for (const clients::Edit& edit : edits) {
    CORDON_ASSERT(edit.at >= from);
    CORDON_ASSERT(before.substr(from, edit.at - from) == after.substr(to, edit.at - from));
    to += edit.at - from;
    CORDON_ASSERT(after.substr(to, edit.after.size()) == edit.after);
    to += edit.after.size();
    from = edit.at + edit.before.size();
  }
  CORDON_ASSERT(before.substr(from) == after.substr(to));
}

inline void check_unwrap(clients::Syntax syntax, const std::string& wrapped, const std::string& original,
                         const std::vector<clients::MemberPath>& tables, std::size_t index,
                         const std::optional<clients::Wrapped>& record) {
  const auto tree = clients::read_tree(syntax, wrapped, "fuzz");
  CORDON_ASSERT(tree.has_value());
  const auto entries = clients::find_entries(*tree, tables);
  CORDON_ASSERT(index < entries.size() && entries[index].wrapping.has_value());
  CORDON_ASSERT(!clients::wrap_edits(wrapped, *tree, entries[index], {"/c", "n"}).has_value());
  const auto edits = clients::unwrap_edits(wrapped, *tree, entries[index], record);
  CORDON_ASSERT(edits.has_value());
  CORDON_ASSERT(!record || edits->how == clients::Unwrapping::exact);
  CORDON_ASSERT(clients::apply_edits(wrapped, edits->edits) == original);
}

inline void check_config(clients::Syntax syntax, const std::string& text) {
  const std::vector<clients::MemberPath> tables = {{"mcpServers"}, {"s"}, {"l", "[]"}, {"p", "*", "s"}};
  const auto tree = clients::read_tree(syntax, text, "fuzz");
  if (!tree) {
    CORDON_ASSERT(tree.error().code == Errc::catalog_invalid && tree.error().where.starts_with("fuzz:"));
    return;
  }
  const auto entries = clients::find_entries(*tree, tables);
  for (std::size_t i = 0; i < entries.size() && i < 8; ++i) {
    const auto wrap = clients::wrap_edits(text, *tree, entries[i], {"/usr/bin/mcp-cordon", "name"});
    const bool possible =
        entries[i].fault.empty() && entries[i].transport == clients::Transport::stdio && !entries[i].wrapping;
    CORDON_ASSERT(wrap.has_value() == possible);
    if (!wrap) {
      continue;
    }
    const std::string wrapped = clients::apply_edits(text, wrap->edits);
    check_bytes(text, wrapped, wrap->edits);
    check_unwrap(syntax, wrapped, text, tables, i, wrap->record);
    if (!wrap->record.new_arguments) {
      check_unwrap(syntax, wrapped, text, tables, i, std::nullopt);
    }
  }
}

}  // namespace cordon::fuzz
