// SPDX-License-Identifier: Apache-2.0
#include "app/wrap_report.hpp"

#include <algorithm>

#include "base/mask.hpp"
#include "base/text.hpp"
#include "clients/secrets.hpp"

namespace cordon::app {
namespace {

using clients::Edit;

constexpr std::size_t kWhole = 16'000'000;  // nothing is cut here
constexpr std::size_t kAround = 160;        // of a long line, on each side of an edit

std::string exact(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\"'\\$`|&;<>()*?[]{}!#~") == std::string::npos;
    std::string shown;
    for (const std::string_view part :
         text::split(word, '\'')) {  // as a shell wants it, so that no word looks like two
      shown += text::cat(part.data() == word.data() ? "" : R"('\'')", text::printable(part, kWhole));
    }
    out += text::cat(out.empty() ? "" : " ", plain ? shown : text::cat('\'', shown, '\''));
  }
  return out;
}

enum class Keep { head, tail, both };

// Of unchanged text: whole lines stay, a long line keeps what is near an edit.
std::string shortened(std::string_view text, Keep keep) {
  if (text.size() <= 2 * kAround) {
    return std::string(text);
  }
  const std::string head(keep == Keep::tail ? std::string_view() : text.substr(0, kAround));
  const std::string tail(keep == Keep::head ? std::string_view() : text.substr(text.size() - kAround));
  return text::cat(head, "…", tail);
}

// Shown line by line, each with its sign.
std::string signed_lines(std::string_view text, char sign, Style style) {
  std::string out;
  for (std::string_view line : text::split(text, '\n')) {
    line = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    std::string shown;
    for (const std::string_view part : text::split(line, '\t')) {
      shown += text::cat(shown.empty() && part.data() == line.data() ? "" : "  ", text::printable(part, kWhole));
    }
    const std::string whole = text::cat(sign, ' ', shown);
    out += text::cat("    ", sign == '-' ? style.red(whole) : style.green(whole), '\n');
  }
  return out;
}

// Edits whose lines touch, as one piece.
struct Hunk {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Edit> edits = {};
};

std::vector<Hunk> hunks_of(std::string_view text, const std::vector<Edit>& edits) {
  std::vector<Hunk> out;
  for (const Edit& edit : edits) {
    const std::size_t before = edit.at == 0 ? std::string_view::npos : text.rfind('\n', edit.at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', edit.at + edit.before.size()), text.size());
    if (!out.empty() && begin <= out.back().end + 1) {
      out.back().end = std::max(out.back().end, end);
      out.back().edits.push_back(edit);
    } else {
      out.push_back({begin, end, {edit}});
    }
  }
  return out;
}

std::string diff(std::string_view text, const std::vector<Edit>& edits, const Masker& masker, Style style) {
  std::string out;
  for (const Hunk& hunk : hunks_of(text, edits)) {
    std::string old_text;
    std::string new_text;
    std::size_t done = hunk.begin;
    for (std::size_t i = 0; i <= hunk.edits.size(); ++i) {
      const std::size_t next = i < hunk.edits.size() ? hunk.edits[i].at : hunk.end;
      const Keep keep = i == 0 ? Keep::tail : i == hunk.edits.size() ? Keep::head : Keep::both;
      const std::string same = shortened(masker.mask(text.substr(done, next - done)), keep);
      old_text += same;
      new_text += same;
      if (i < hunk.edits.size()) {
        old_text += hunk.edits[i].before;
        new_text += hunk.edits[i].after;
        done = next + hunk.edits[i].before.size();
      }
    }
    out += text::cat("    @@ ", clients::place(text, hunk.begin), " @@\n", signed_lines(old_text, '-', style),
                     signed_lines(new_text, '+', style));
  }
  return out;
}

// The environment and headers, also of the servers around this one, which may stand on the same line. Arguments of the
// command are shown as they are.
Masker masker_of(const ConfigFile& file, std::size_t shown) {
  std::vector<NamedSecret> secrets;
  for (std::size_t i = 0; i < file.entries.size(); ++i) {
    clients::Entry rest = file.entries[i];
    if (i == shown) {
      rest.command.clear();
    }
    for (const clients::Secret& secret : clients::secrets_in(rest)) {
      secrets.push_back({"in clear", secret.value});
    }
  }
  return Masker(secrets);
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (const std::string_view line : text::split(text, '\n')) {
    if (!line.empty()) {
      out += text::cat(indent, text::printable(line, kWhole), '\n');
    }
  }
  return out;
}

}  // namespace

std::string show_diff(std::string_view before, const std::vector<clients::Edit>& edits, Style style) {
  return diff(before, edits, Masker(), style);
}

std::string show_step(const WrapPlan& plan, const WrapStep& step, Direction direction, Style style) {
  const ConfigFile& file = plan.files[step.file];
  const clients::Entry& entry = file.entries[step.entry];
  std::string out = text::cat(style.bold(text::cat(file.title, ": ", text::printable(entry.name, 300))), "  in ",
                              text::printable(file.path, 4096), ':', clients::place(file.text, entry.offset), '\n');
  if (file.real != file.path) {
    out += text::cat("  which leads to ", text::printable(file.real, 4096), '\n');
  }
  out += text::cat("  starts   ", exact(step.command), '\n');
  if (direction == Direction::wrap) {
    out += text::cat("  policy   ", step.policy, step.new_policy ? " (new)" : "", '\n');
    if (step.new_policy) {
      out += text::cat("  ", text::printable(step.new_policy->path, 4096), ":\n",
                       indented(step.new_policy->text, "    | "));
    }
  }
  for (const std::string& note : step.notes) {
    out += text::cat("  ", style.yellow("note"), "     ", note, '\n');
  }
  return out + diff(file.text, step.edits, masker_of(file, step.entry), style);
}

std::string show_untouched(const WrapPlan& plan, const Untouched& untouched) {
  const ConfigFile& file = plan.files[untouched.file];
  const std::string where =
      untouched.entry ? text::cat(text::printable(file.path, 4096), ':',
                                  clients::place(file.text, file.entries[*untouched.entry].offset), ": server '",
                                  text::printable(file.entries[*untouched.entry].name, 300), '\'')
                      : text::printable(file.path, 4096);
  return text::cat(where, ' ', untouched.why, '\n');
}

}  // namespace cordon::app
