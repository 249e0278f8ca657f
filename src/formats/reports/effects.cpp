// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/effects.hpp"

#include "base/text.hpp"
#include "core/json/write.hpp"
#include "formats/reports/paper.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {

namespace {

constexpr std::string_view kBar = "    | ";
constexpr std::string_view kBarRest = "    |   ";

Tone tone_of(std::string_view effect) {
  return effect == "read" ? Tone::low : effect == "write" || effect == "send" ? Tone::medium : Tone::high;
}

}  // namespace

std::string condition_line(const catalog::ConditionalEffect& when) {
  return text::cat(when.argument.empty() ? "together" : readable_pointer(when.argument),
                   when.value ? text::cat(" = ", *when.value) : "", ": ", when.effect, " (", when.reason, ')');
}

std::string effects_text(const std::vector<NamedProposal>& tools, const RenderOptions& options) {
  Paper paper(options.colour, options.width);
  if (tools.empty()) {
    paper.write("", "", {Ink::ours("No tools.")});
  }
  for (const NamedProposal& tool : tools) {
    std::string word(tool.proposal.effect);
    word.resize(13, ' ');
    paper.write("", "             ",
                {Ink::ours(word, tone_of(tool.proposal.effect)), Ink::theirs(tool.name, Tone::strong)});
    for (const std::string& reason : tool.proposal.reasons) {
      paper.write(kBar, kBarRest, {Ink::theirs(reason)});
    }
    for (const catalog::ConditionalEffect& when : tool.proposal.when) {
      paper.write("    | when ", kBarRest, {Ink::theirs(condition_line(when))});
    }
  }
  return paper.take();
}

std::string effects_json(const std::vector<NamedProposal>& tools) {
  json::Writer writer;
  writer.begin_object();
  writer.member("format", "mcp-cordon.effects");
  writer.key("tools").begin_array();
  for (const NamedProposal& tool : tools) {
    writer.begin_object();
    writer.member("effect", tool.proposal.effect);
    writer.member("name", tool.name);
    writer.key("reasons").begin_array();
    for (const std::string& reason : tool.proposal.reasons) {
      writer.string(reason);
    }
    writer.end_array();
    writer.key("when").begin_array();
    for (const catalog::ConditionalEffect& when : tool.proposal.when) {
      writer.begin_object();
      writer.member("argument", when.argument);
      writer.member("effect", when.effect);
      writer.member("reason", when.reason);
      if (when.value) {
        writer.member("value", *when.value);
      }
      writer.end_object();
    }
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
  writer.member_int("version", 1);
  writer.end_object();
  return reviewable_json(writer.take());
}

}  // namespace cordon::formats
