// SPDX-License-Identifier: Apache-2.0
#include "clients/edit.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::clients {
namespace {

std::string_view slice(std::string_view text, Span span) { return text.substr(span.begin, span.end - span.begin); }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Error cannot(const Entry& entry, std::string_view why) {
  return {Errc::catalog_invalid,
          text::cat("server '", text::printable(entry.name, 100), "': ", why),
          {},
          "edit it by hand"};
}

// Our words as strings of both syntaxes: what JSON escapes, TOML reads alike, but for DEL.
std::vector<std::string> quoted(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    out.push_back(json::quoted(word));
  }
  return out;
}

std::string joined(const std::vector<std::string>& tokens, std::string_view separator) {
  std::string out;
  for (const std::string& token : tokens) {
    out += out.empty() ? token : text::cat(",", separator, token);
  }
  return out;
}

// In front of the first element, one to a line where the elements are; behind the bracket where there is none.
Edit insert_in_list(std::string_view text, const Node& list, const std::vector<std::string>& tokens) {
  if (list.elements.empty()) {
    return {list.span.begin + 1, {}, joined(tokens, " ")};
  }
  const std::size_t first = list.elements.front().span.begin;
  const std::string_view lead = text.substr(list.span.begin + 1, first - list.span.begin - 1);
  const std::string separator(is_blank(lead) && lead.find('\n') != std::string_view::npos ? lead : " ");
  return {first, {}, text::cat(joined(tokens, separator), ',', separator)};
}

// The white space in front of `offset`, back to its line's begin or to anything else.
std::string_view blanks_before(std::string_view text, std::size_t offset) {
  std::size_t begin = offset;
  while (begin > 0 && std::string_view(" \t\r\n").find(text[begin - 1]) != std::string_view::npos) {
    --begin;
  }
  return text.substr(begin, offset - begin);
}

// The white space on the same line.
std::string_view indent_before(std::string_view text, std::size_t offset) {
  const std::string_view blanks = blanks_before(text, offset);
  const std::size_t line = blanks.rfind('\n');
  return line == std::string_view::npos ? blanks : blanks.substr(line + 1);
}

Edit new_member(std::string_view text, Syntax syntax, const Member& command, const std::vector<std::string>& tokens) {
  const std::string_view between = text.substr(command.key_span.end, command.node.span.begin - command.key_span.end);
  // A comment between key and value is not repeated.
  const std::string middle(between.find_first_of("/#") == std::string_view::npos ? between
                           : syntax == Syntax::json                              ? ": "
                                                                                 : " = ");
  const std::string list = text::cat('[', joined(tokens, " "), ']');
  if (!command.own_line) {
    const std::string_view key = syntax == Syntax::json ? "\"args\"" : "args";
    const std::string_view lead = blanks_before(text, command.statement.begin);
    const std::string_view separator =
        syntax == Syntax::json ? (lead.empty() ? std::string_view(" ") : lead) : std::string_view(" ");
    return {command.statement.end, {}, text::cat(',', separator, key, middle, list)};
  }
  // A line of its own behind the command's, with the same (dotted) key in front.
  std::size_t end = std::min(text.find('\n', command.statement.end), text.size());
  if (end < text.size() && text[end - 1] == '\r') {
    --end;
  }
  const std::string_view line_end = end < text.size() && text[end] == '\r'                              ? "\r\n"
                                    : end == text.size() && text.find("\r\n") != std::string_view::npos ? "\r\n"
                                                                                                        : "\n";
  const std::string_view prefix = slice(text, {command.statement.begin, command.key_span.begin});
  return {end, {}, text::cat(line_end, indent_before(text, command.statement.begin), prefix, "args", middle, list)};
}

// The values of `tree`, with the entry's command replaced.
Status check_result(const Tree& before, const std::string& text, const Entry& entry,
                    const std::vector<std::string>& expected) {
  Result<Tree> after = read_tree(before.syntax, text, "the edited text");
  if (!after) {
    return std::unexpected(after.error());
  }
  Tree old = before;
  for (Tree* tree : {&old, &*after}) {
    auto* object = const_cast<Node*>(command_object(*tree, entry));  // our own copies
    if (object == nullptr) {
      return std::unexpected(cannot(entry, "its place is not found again"));
    }
    std::vector<std::string> words;
    const std::string_view key = command_key(entry);
    for (const std::string_view name : {key, std::string_view("args")}) {
      for (const Member& member : object->members) {
        if (member.key != name) {
          continue;
        }
        if (member.node.kind == NodeKind::string) {
          words.push_back(member.node.value);
        }
        for (const Node& element : member.node.elements) {
          words.push_back(element.value);
        }
      }
    }
    if (tree == &*after && words != expected) {
      return std::unexpected(cannot(entry, "the edited text does not say what it should"));
    }
    std::erase_if(object->members, [&](const Member& member) { return member.key == key || member.key == "args"; });
  }
  if (!same_values(old.root, after->root)) {
    return std::unexpected(cannot(entry, "the edit would change something else"));
  }
  return {};
}

// Removes `ours` elements from the front of the list; what stands behind them stays as it is.
Edit remove_from_list(std::string_view text, const Node& list, std::size_t ours) {
  const std::size_t begin = list.elements.front().span.begin;
  std::size_t end = 0;
  if (ours < list.elements.size()) {
    end = list.elements[ours].span.begin;
  } else {
    end = list.elements[ours - 1].span.end;
    std::size_t comma = end;
    while (comma < text.size() && std::string_view(" \t\r\n").find(text[comma]) != std::string_view::npos) {
      ++comma;
    }
    end = comma < text.size() && text[comma] == ',' ? comma + 1 : end;
  }
  return {begin, std::string(text.substr(begin, end - begin)), {}};
}

// The recorded text at the place where wrapping puts it; nothing when it reads differently by now.
std::optional<Edit> recorded_edit(std::string_view text, const Node& list, const Wrapped& record) {
  const std::size_t size = record.inserted.size();
  std::size_t at = 0;
  if (record.new_arguments) {
    if (list.span.end < size) {
      return std::nullopt;
    }
    at = list.span.end - size;
  } else {
    at = list.elements.empty() ? list.span.begin + 1 : list.elements.front().span.begin;
  }
  if (record.inserted.empty() || text.substr(at, size) != record.inserted) {
    return std::nullopt;
  }
  return Edit{at, record.inserted, {}};
}

// All of the member `args`, with the comma or the line that it brought.
Edit remove_member(std::string_view text, const Node& object, const Member& args) {
  const auto index = static_cast<std::size_t>(&args - object.members.data());
  std::size_t begin = args.statement.begin;
  std::size_t end = args.statement.end;
  if (args.own_line) {
    begin -= indent_before(text, begin).size();
    if (begin > 0) {
      begin -= begin > 1 && text[begin - 2] == '\r' ? std::size_t{2} : std::size_t{1};
    } else {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
  } else if (index > 0) {
    begin = object.members[index - 1].statement.end;
  } else if (index + 1 < object.members.size()) {
    end = object.members[index + 1].statement.begin;
  }
  return {begin, std::string(text.substr(begin, end - begin)), {}};
}

void order(std::vector<Edit>& edits) { std::ranges::sort(edits, {}, &Edit::at); }

}  // namespace

std::string apply_edits(std::string_view text, const std::vector<Edit>& edits) {
  std::string out;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    CORDON_ASSERT(edit.at >= done && text.substr(edit.at, edit.before.size()) == edit.before);
    out += text.substr(done, edit.at - done);
    out += edit.after;
    done = edit.at + edit.before.size();
  }
  out += text.substr(done);
  return out;
}

Result<WrapEdits> wrap_edits(std::string_view text, const Tree& tree, const Entry& entry, const WrapWords& words) {
  if (!entry.fault.empty() || entry.transport != Transport::stdio || entry.wrapping) {
    return std::unexpected(cannot(entry, entry.fault.empty() ? "is no local server without wrapper" : entry.fault));
  }
  if (words.program.find_first_of(std::string("\x7F\0", 2)) != std::string::npos) {
    return std::unexpected(cannot(entry, "the path of mcp-cordon holds a control character"));
  }
  const Node* object = command_object(tree, entry);
  const Member* command = object == nullptr ? nullptr : find(*object, command_key(entry));
  if (command == nullptr) {
    return std::unexpected(cannot(entry, "its place is not found again"));
  }
  WrapEdits out;
  std::vector<std::string> tokens = quoted({"run", words.policy, "--"});
  if (command->node.kind == NodeKind::array) {
    tokens.insert(tokens.begin(), json::quoted(words.program));
    out.edits.push_back(insert_in_list(text, command->node, tokens));
  } else {
    out.record.old_program = slice(text, command->node.span);
    out.record.new_program = json::quoted(words.program);
    tokens.push_back(out.record.old_program);
    const Member* args = find(*object, "args");
    out.record.new_arguments = args == nullptr;
    out.edits.push_back({command->node.span.begin, out.record.old_program, out.record.new_program});
    out.edits.push_back(args == nullptr ? new_member(text, tree.syntax, *command, tokens)
                                        : insert_in_list(text, args->node, tokens));
  }
  out.record.inserted = out.edits.back().after;
  order(out.edits);
  std::vector<std::string> expected = {words.program, "run", words.policy, "--"};
  expected.insert(expected.end(), entry.command.begin(), entry.command.end());
  if (const Status fine = check_result(tree, apply_edits(text, out.edits), entry, expected); !fine) {
    return std::unexpected(fine.error());
  }
  return out;
}

Result<UnwrapEdits> unwrap_edits(std::string_view text, const Tree& tree, const Entry& entry,
                                 const std::optional<Wrapped>& record) {
  if (!entry.fault.empty() || !entry.wrapping || !entry.wrapping->separator ||
      *entry.wrapping->separator + 1 >= entry.command.size()) {
    return std::unexpected(cannot(entry, !entry.fault.empty() ? std::string_view(entry.fault)
                                         : !entry.wrapping    ? "is not wrapped"
                                                              : "only its policy knows the command"));
  }
  const Node* object = command_object(tree, entry);
  const Member* command = object == nullptr ? nullptr : find(*object, command_key(entry));
  if (command == nullptr) {
    return std::unexpected(cannot(entry, "its place is not found again"));
  }
  const bool one_list = command->node.kind == NodeKind::array;
  const Member* args = one_list ? command : find(*object, "args");
  CORDON_ASSERT(args != nullptr);  // the separator stands there
  // In the list: with the program in front of it, the words up to the separator; else those behind the program, and
  // the program that was moved there.
  const std::size_t ours = *entry.wrapping->separator + 1;
  UnwrapEdits out;
  const std::optional<Edit> exact = record ? recorded_edit(text, args->node, *record) : std::nullopt;
  if (exact) {
    out.edits.push_back(*exact);
  } else if (record && record->new_arguments && ours == args->node.elements.size()) {
    out.how = Unwrapping::reconstructed;
    out.edits.push_back(remove_member(text, *object, *args));
  } else {
    out.how = Unwrapping::reconstructed;
    out.edits.push_back(remove_from_list(text, args->node, ours));
  }
  if (!one_list) {
    const std::string now(slice(text, command->node.span));
    const bool known = record && record->new_program == now && !record->old_program.empty();
    out.how = known ? out.how : Unwrapping::reconstructed;
    // The bytes of the entry itself, where an app has written it anew.
    const Node& moved = args->node.elements[ours - 1];
    const std::string old = exact && known ? record->old_program : std::string(slice(text, moved.span));
    out.edits.push_back({command->node.span.begin, now, old});
  }
  order(out.edits);
  const std::vector<std::string> expected = real_command(entry);
  if (const Status fine = check_result(tree, apply_edits(text, out.edits), entry, expected); !fine) {
    return std::unexpected(fine.error());
  }
  return out;
}

}  // namespace cordon::clients
