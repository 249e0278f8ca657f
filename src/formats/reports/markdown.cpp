// SPDX-License-Identifier: Apache-2.0
// The diff for a comment on a pull request. What a stranger wrote stands in code spans and fenced blocks only, where
// neither links, images, mentions nor markup exist; each of its lines begins with a mark of ours, so that none can end
// the block.
#include <algorithm>

#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "formats/reports/report.hpp"
#include "formats/reports/word_diff.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Place;

constexpr std::size_t kMaxLineBytes = 4'000;
constexpr std::size_t kMaxDetailBytes = 40'000;  // of all blocks; hosts refuse comments beyond some 65,000

// One line, with a delimiter that is longer than any run of backticks in it.
std::string code(std::string_view untrusted) {
  const std::string shown = printable_whole(untrusted);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : shown) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  // Blanks at both ends are taken away again by the reader, when there is anything else.
  return shown.find_first_not_of(' ') == std::string::npos ? text::cat("`", shown.empty() ? "\"\"" : "' '", "`")
                                                           : text::cat(fence, ' ', shown, ' ', fence);
}

std::string cut(std::string text) {
  if (text.size() <= kMaxLineBytes) {
    return text;
  }
  std::size_t end = kMaxLineBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  const std::size_t left_out = text.size() - end;
  text.resize(end);
  return text::cat(text, " … ", left_out, " more bytes");
}

void add_value(std::string& block, std::string_view mark, const std::string& json) {
  const Result<json::Document> document = json::read(json, {.max_bytes = json.size(), .max_depth = 1024});
  const std::string shown = document ? json::pretty(document->root(), json::Escaping::reviewable) : json;
  for (const std::string_view line : text::split(shown, '\n')) {
    block += text::cat(mark, cut(printable_json(line)), '\n');
  }
}

void add_words(std::string& block, const Texts& texts) {
  std::string removed;
  std::string added;
  std::string words;
  for (const WordPiece& piece : word_diff(texts.before, texts.after)) {
    const std::string shown = printable_whole(piece.text);
    if (piece.kind != WordPiece::Kind::added) {
      removed += shown;
    }
    if (piece.kind != WordPiece::Kind::removed) {
      added += shown;
    }
    if (piece.kind != WordPiece::Kind::same) {
      words += text::cat(words.empty() ? "" : " ", piece.kind == WordPiece::Kind::removed ? "[-" : "{+", shown,
                         piece.kind == WordPiece::Kind::removed ? "-]" : "+}");
    }
  }
  block += text::cat("- ", cut(removed), "\n+ ", cut(added), "\n! ", cut(words), '\n');
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void write(const catalog::Group& group) {
    const ItemChange& change = *group.items.front();
    out_ += text::cat("\n**", label(group.severity), "** ", headline(group));
    const char* separator = ": ";
    for (const ItemChange* item : group.items) {
      if (!item->name.empty()) {
        out_ += separator;
        out_ += item->kind == ChangeKind::renamed ? code(item->old_name) + " is now " : std::string();
        out_ += code(item->name);
        separator = ", ";
      }
    }
    out_ += "\n\n";
    if (!change.name.empty() && change.kind == ChangeKind::removed) {
      return;
    }
    for (const Place* place : group.places) {
      write_place(*place, change.kind);
    }
    if (group.omitted_places != 0) {
      out_ += text::cat("- … and ", group.omitted_places, " more places\n");
    }
  }

 private:
  void write_place(const Place& place, ChangeKind kind) {
    if (!place.pointer.empty()) {
      out_ += text::cat("- ", phrase(place), ": ", code(readable_pointer(place.pointer)), '\n');
    }
    for (const catalog::Cue& cue : place.cues) {
      out_ += text::cat("- ⚠ ", catalog::cue_phrase(cue.name), cue.excerpt.empty() ? "" : ": " + code(cue.excerpt),
                        cue.count > 1 ? text::cat(" (", cue.count, " times)") : "", '\n');
    }
    if (kind == ChangeKind::cosmetic) {
      return;
    }
    std::string block;
    if (const std::optional<Texts> texts = prose_of(place)) {
      add_words(block, *texts);
    } else {
      if (!place.before.empty()) {
        add_value(block, "- ", place.before);
      }
      if (!place.after.empty()) {
        add_value(block, "+ ", place.after);
      }
    }
    detail_ += block.size();
    out_ += detail_ > kMaxDetailBytes ? std::string("- (left out for length: see the text report)\n\n")
                                      : text::cat("\n```diff\n", block, "```\n\n");
  }

  std::string out_ = {};
  std::size_t detail_ = 0;
};

std::string render(const catalog::Diff& diff, const RenderOptions&) {
  Writer writer;
  for (const catalog::Group& group : catalog::groups_of(diff)) {
    writer.write(group);
  }
  return text::cat("### Server catalog\n\n", summary(diff), '\n', writer.take());
}

}  // namespace

extern const Report markdown_report;
constinit const Report markdown_report = {.name = "markdown", .render = render};

}  // namespace cordon::formats
