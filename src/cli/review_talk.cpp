// SPDX-License-Identifier: Apache-2.0
#include "cli/review_talk.hpp"

#include "app/review_dialog.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
bool talk_through(Terminal& terminal, const Invocation& invocation, app::OpenReview& open) {
  const std::string word = new_word();
  if (word.empty()) {
    print_err("mcp-cordon: the kernel gives no random numbers, and so there is no word to ask for\n");
    return false;
  }
  if (open.review.items().empty()) {  // the places of variables alone, or an empty catalog
    terminal.drop_typed_ahead();
    terminal.show(text::cat(open.introduction, "No item differs. To write the snapshot anew, type ", word, ": "));
    return terminal.line() == word;
  }
  app::ReviewDialog dialog(open.review, style_for(terminal.fd(), invocation.caller), word, columns_of(terminal.fd()));
  terminal.drop_typed_ahead();  // the capture took its time
  terminal.show(open.introduction);
  while (!dialog.over()) {
    terminal.show(dialog.text());
    const std::optional<std::string> line = terminal.line();
    if (line) {
      dialog.answer(*line);
    } else {
      dialog.end();
    }
  }
  return dialog.wants_write();
}

}  // namespace cordon::cli
