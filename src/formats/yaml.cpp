// SPDX-License-Identifier: Apache-2.0
// The only file that includes yaml-cpp. It is used for its events alone: its node tree keeps duplicate keys and expands
// aliases. Its exceptions, and Refused below, end in read().
#include "formats/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <set>
#include <sstream>
#include <utility>

#include "base/text.hpp"
#include "formats/yaml_text.hpp"

namespace cordon::yaml {
namespace {

// Thrown through yaml-cpp, which has no other way to stop it, and caught in read().
struct Refused {
  Position position = {};
  std::string detail = {};
  std::string remedy = {};
};

class Builder : public YAML::EventHandler {
 public:
  Builder(Source& source, const Limits& limits) : source_(source), limits_(limits) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw Refused{at(mark), "text after the end of the document, or a second document",
                    "one file holds one policy; compare the indentation here with the lines above"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_start(mark, anchor);
    // For nothing at all the mark is that of the next token, which may be lines below.
    const bool written = is_null_word(rest(mark));
    if (!written && !frames_.empty() && frames_.back().node.kind == Kind::sequence) {
      throw Refused{at(mark), "an empty item just before here", "write the item, or remove its comma or dash"};
    }
    add({Kind::null, {}, {}, {}, written ? at(mark) : owner()});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Refused{at(mark), "an alias (*name)", "write the value out in full"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_start(mark, anchor);
    const Position position = at(mark);
    // yaml-cpp says "!" for what is quoted, "?" for what is not; an explicit tag was refused by its first character.
    const Kind kind = tag == "!" ? Kind::quoted : Kind::plain;
    const Extent extent = kind == Kind::plain ? plain_extent(rest(mark), value) : quoted_extent(rest(mark));
    if (!extent.fault.empty()) {
      throw Refused{position, std::string(extent.fault), std::string(extent.remedy)};
    }
    if (wants_key() && !begins_with_colon(rest(mark).substr(extent.length))) {
      throw Refused{position, "a key without a colon behind it, or a bracket that is never closed",
                    "write KEY: VALUE on one line"};
    }
    check_indentation(position, Layout::flow);
    check_characters(value, position);
    add({kind, value, {}, {}, position});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    check_start(mark, anchor);
    open({Kind::sequence, {}, {}, {}, at(mark)}, layout(style));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    check_start(mark, anchor);
    open({Kind::mapping, {}, {}, {}, at(mark)}, layout(style));
  }
  void OnMapEnd() override { close(); }

 private:
  enum class Layout : std::uint8_t { block, flow };

  struct Frame {
    Node node = {};
    Layout layout = Layout::block;
    std::set<std::string> keys = {};
    bool has_key = false;  // the last member of `node` waits for its value
  };

  Position at(const YAML::Mark& mark) { return source_.position(offset(mark)); }

  std::size_t offset(const YAML::Mark& mark) const {
    return std::min(mark.pos < 0 ? std::size_t{0} : static_cast<std::size_t>(mark.pos), source_.text().size());
  }

  std::string_view rest(const YAML::Mark& mark) const { return std::string_view(source_.text()).substr(offset(mark)); }

  static bool begins_with_colon(std::string_view text) {
    const std::size_t at = text.find_first_not_of(' ');
    return at != std::string_view::npos && text[at] == ':';
  }

  static bool is_null_word(std::string_view text) {
    return text.starts_with('~') || text.starts_with("null") || text.starts_with("Null") || text.starts_with("NULL");
  }

  Position owner() const {
    if (frames_.empty()) {
      return {1, 1};
    }
    const Frame& frame = frames_.back();
    return frame.has_key ? frame.node.members.back().position : frame.node.position;
  }

  void check_start(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++nodes_ > limits_.max_nodes) {
      throw Refused{at(mark), text::cat("more than ", limits_.max_nodes, " values"), "make the file smaller"};
    }
    if (anchor != 0) {
      throw Refused{at(mark), "an anchor (&name)", "anchors and aliases are not used in policies"};
    }
    // A scalar's own text cannot begin so: it would have to be quoted.
    if (rest(mark).starts_with('!')) {
      throw Refused{at(mark), "a tag (!name)", "tags are not used in policies; quote the value if it begins with !"};
    }
  }

  // Escapes in double quotes can make what the text itself may not hold.
  static void check_characters(std::string_view value, Position position) {
    for (std::size_t i = 0; i < value.size();) {
      const text::CodePoint point = text::decode_utf8(value, i);
      const auto kind = point.length == 0 ? std::optional<std::string_view>("invalid UTF-8") : hidden_kind(point.value);
      if (kind) {
        throw Refused{position, text::cat("the value holds ", *kind), "remove the escape"};
      }
      i += point.length;
    }
  }

  static Layout layout(YAML::EmitterStyle::value style) {
    return style == YAML::EmitterStyle::Flow ? Layout::flow : Layout::block;
  }

  // In block layout a value below its key is indented further, save that dashes may stand below the key's first letter.
  void check_indentation(Position position, Layout layout, Kind kind = Kind::plain) const {
    if (frames_.empty() || frames_.back().layout == Layout::flow || !frames_.back().has_key ||
        frames_.back().node.members.back().position.line == position.line) {
      return;
    }
    const int least = frames_.back().node.position.column;
    const bool dashes = layout == Layout::block && kind == Kind::sequence;
    if (position.column < least || (position.column == least && !dashes)) {
      throw Refused{position, "a value that is not indented further than its key", "indent it with spaces"};
    }
  }

  void open(Node node, Layout layout) {
    if (wants_key()) {
      refuse_key(node.position);
    }
    if (frames_.size() >= limits_.max_depth) {
      throw Refused{node.position, text::cat("nested more than ", limits_.max_depth, " deep"), "make it flatter"};
    }
    check_indentation(node.position, layout, node.kind);
    frames_.push_back({std::move(node), layout, {}, false});
  }

  void close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(node));
  }

  bool wants_key() const {
    return !frames_.empty() && frames_.back().node.kind == Kind::mapping && !frames_.back().has_key;
  }

  [[noreturn]] static void refuse_key(Position position) {
    throw Refused{position, "a key that is no plain word, or a bracket that is never closed",
                  "write KEY: VALUE, with a word or a quoted string as key"};
  }

  void add(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == Kind::sequence) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.has_key) {
      frame.node.members.back().value = std::move(node);
      frame.has_key = false;
    } else {
      add_key(frame, std::move(node));
    }
  }

  static void add_key(Frame& frame, Node node) {
    if (node.kind == Kind::null) {
      refuse_key(node.position);
    }
    if (node.kind == Kind::plain && node.text == "<<") {
      throw Refused{node.position, "a merge key (<<)", "write the keys out in full"};
    }
    if (!frame.keys.insert(node.text).second) {
      const auto first = std::ranges::find(frame.node.members, node.text, &Member::key);
      throw Refused{
          node.position,
          text::cat("duplicate key '", text::printable(node.text, 80), "' (first in line ", first->position.line, ")"),
          "keep one of them"};
    }
    frame.node.members.push_back({std::move(node.text), node.position, {}});
    frame.has_key = true;
  }

  Source& source_;
  const Limits& limits_;
  Node root_ = {Kind::null, {}, {}, {}, {1, 1}};
  std::vector<Frame> frames_ = {};
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

void parse(Source& source, Builder& builder) {
  std::istringstream stream(source.text());
  YAML::Parser parser(stream);
  // Each round reads one document; the second one that begins is refused by the builder.
  while (parser.HandleNextDocument(builder)) {
  }
}

}  // namespace

std::string where(std::string_view file, Position position) {
  return text::cat(text::printable(file), ":", position.line, ":", position.column);
}

Result<Node> read(std::string_view text, std::string_view file, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(Errc::policy_invalid, text::cat("the file has more than ", limits.max_bytes, " bytes"),
                where(file, {1, 1}), "make the file smaller");
  }
  Result<Source> source = Source::from(text, file);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  try {
    Builder builder(*source, limits);
    parse(*source, builder);
    return builder.take();
  } catch (const Refused& refused) {
    return fail(Errc::policy_invalid, refused.detail, where(file, refused.position), refused.remedy);
  } catch (const YAML::Exception& error) {
    const auto offset = static_cast<std::size_t>(std::max(0, error.mark.pos));
    return fail(Errc::policy_invalid, text::cat("no valid YAML: ", text::printable(error.msg, 200)),
                where(file, source->position(offset)),
                "look at quotes, brackets and indentation here and just above; quote a text with special characters");
  } catch (const std::exception& error) {
    return fail(Errc::policy_invalid,
                text::cat("the file cannot be read as YAML: ", text::printable(error.what(), 200)), where(file, {1, 1}),
                "make the file smaller and simpler");
  }
}

}  // namespace cordon::yaml
