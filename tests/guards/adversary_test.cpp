// SPDX-License-Identifier: Apache-2.0
// What an adversary tries, one case each: a scenario (the format is in tests/vectors/README.md), whole and byte by
// byte. Each case fails when the guard that it tests is switched off; which that is stands in table/, and run.py proves
// it.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/gate/scenario.hpp"

namespace {

void hold(const std::string& file) {
  const std::string root = CORDON_SOURCE_ROOT;
  std::ifstream stream(root + "/" + file);
  std::stringstream content;
  content << stream.rdbuf();
  REQUIRE_FALSE(content.str().empty());
  for (const std::size_t chunk : {std::size_t{1} << 30, std::size_t{1}}) {
    for (const std::string& problem :
         cordon::test::run_scenario(content.str(), root + "/tests/vectors/include", chunk)) {
      FAIL_CHECK(file << ", chunks of " << chunk << ": " << problem);
    }
  }
}

}  // namespace

#define ADVERSARY(name, file) \
  TEST_CASE("adversary: " name) { hold(file); }

TEST_SUITE_BEGIN("adversary");

// Rug-pull, and again after the refusal; remove and add again.
ADVERSARY("rug-pull and retry", "tests/vectors/changed-stays-blocked-however-often-it-is-asked.txt")
ADVERSARY("rug-pull in a nested text", "tests/guards/cases/rug-pull-in-a-nested-text.txt")
ADVERSARY("rug-pull of a hint", "tests/guards/cases/rug-pull-of-a-hint.txt")
ADVERSARY("rug-pull of the instructions", "tests/vectors/instructions-are-served-as-reviewed.txt")
ADVERSARY("rug-pull of what the server is", "tests/vectors/identity-block-is-sticky.txt")
ADVERSARY("rug-pull of an interface", "tests/vectors/interface-is-pinned-with-its-tool.txt")
ADVERSARY("rug-pull while a person thinks", "tests/vectors/confirm-judged-again-after-the-answer.txt")
ADVERSARY("rug-pull after a person's word", "tests/vectors/confirm-word-is-not-for-a-tool-that-is-flagged-since.txt")
ADVERSARY("rug-pull between question and retry", "tests/vectors/stateless-retry-is-gated-again.txt")
ADVERSARY("remove and re-add", "tests/vectors/removed-and-added-again-is-judged-as-before.txt")
ADVERSARY("new tool in place of a changed one", "tests/vectors/added-is-hidden.txt")
ADVERSARY("capability that nobody reviewed", "tests/vectors/capabilities-pass-by-table.txt")

// Race of call and list.
ADVERSARY("call before any list", "tests/vectors/call-waits-for-the-first-list.txt")
ADVERSARY("call before any list, stateless", "tests/vectors/stateless-call-without-any-list.txt")
ADVERSARY("call between list_changed and the new list", "tests/vectors/call-waits-after-list-changed.txt")
ADVERSARY("list_changed during a walk", "tests/vectors/list-changed-during-a-walk-walks-again.txt")
ADVERSARY("list_changed flood", "tests/vectors/a-flood-of-list-changed-is-walked-at-a-measured-pace.txt")
ADVERSARY("list that never comes", "tests/vectors/silent-list-times-out.txt")

// Pages.
ADVERSARY("poison on page two", "tests/guards/cases/poison-on-page-two.txt")
ADVERSARY("poison on the last page", "tests/vectors/pages-are-walked-to-the-end.txt")
ADVERSARY("one name on two pages", "tests/guards/cases/one-name-on-two-pages.txt")
ADVERSARY("one name twice in a list", "tests/vectors/duplicate-name-fails-closed.txt")
ADVERSARY("cursor that comes again", "tests/vectors/cursor-loop-is-not-learned.txt")
ADVERSARY("pages without end", "tests/vectors/too-many-pages.txt")

// Replies and ids.
ADVERSARY("reply twice", "tests/guards/cases/reply-twice.txt")
ADVERSARY("reply to no request", "tests/guards/cases/reply-to-no-request.txt")
ADVERSARY("reply before the request", "tests/vectors/reply-before-the-request.txt")
ADVERSARY("reply under an id of another type", "tests/guards/cases/reply-under-an-id-of-another-type.txt")
ADVERSARY("reply that is result and error", "tests/vectors/server-result-and-error.txt")
ADVERSARY("reply after a cancellation", "tests/vectors/cancel-reaches-the-server-and-its-late-answer-is-dropped.txt")
ADVERSARY("server answers our question", "tests/guards/cases/server-answers-our-question.txt")
ADVERSARY("client answers a question twice", "tests/guards/cases/client-answers-a-question-twice.txt")
ADVERSARY("client answers our question twice", "tests/guards/cases/client-answers-our-question-twice.txt")
ADVERSARY("client uses an id again", "tests/vectors/outstanding-id-used-again.txt")
ADVERSARY("client uses an id of ours", "tests/vectors/own-id-prefix-is-kept.txt")
ADVERSARY("progress of nothing", "tests/vectors/progress-belongs-to-a-request.txt")

// Two readings of one message.
ADVERSARY("case-folded member", "tests/vectors/client-folded-method.txt")
ADVERSARY("case-folded parameter", "tests/vectors/client-folded-params-name.txt")
ADVERSARY("case-folded in another script", "tests/vectors/client-folded-kelvin.txt")
ADVERSARY("case-folded member of a result", "tests/vectors/server-folded-result.txt")
ADVERSARY("case-folded argument", "tests/vectors/conditions-on-arguments.txt")
ADVERSARY("argument in another spelling", "tests/guards/cases/argument-in-another-spelling.txt")
ADVERSARY("argument that nobody reviewed", "tests/guards/cases/argument-that-nobody-reviewed.txt")
ADVERSARY("argument left out or outside", "tests/guards/cases/argument-left-out-or-outside.txt")
ADVERSARY("repeated argument", "tests/guards/cases/argument-repeated.txt")
ADVERSARY("repeated member", "tests/vectors/client-duplicate-member.txt")
ADVERSARY("repeated member after unescaping", "tests/vectors/server-duplicate-after-unescaping.txt")
ADVERSARY("notification with an id", "tests/guards/cases/notification-with-an-id.txt")
ADVERSARY("call without an id", "tests/vectors/client-call-without-id.txt")
ADVERSARY("batch where there is none", "tests/guards/cases/batch-where-there-is-none.txt")
ADVERSARY("methods of another revision", "tests/guards/cases/methods-of-another-revision.txt")
ADVERSARY("methods that nobody reviewed", "tests/vectors/methods-pass-by-table.txt")
ADVERSARY("forged members under dev.mcp-cordon", "tests/vectors/own-meta-from-peers-is-removed.txt")

// Calls that were not allowed.
ADVERSARY("hidden tool called anyway", "tests/guards/cases/hidden-tool-called-anyway.txt")
ADVERSARY("tool that was never offered", "tests/vectors/unknown-tool.txt")
ADVERSARY("tool that was blocked", "tests/vectors/write-is-blocked.txt")
ADVERSARY("rule that would lift the pin", "tests/vectors/rule-does-not-lift-the-pin.txt")
ADVERSARY("argument that makes a read a write", "tests/vectors/effect-hangs-on-an-argument.txt")
ADVERSARY("write in a read-only session", "tests/vectors/read-only-session.txt")

// A person's word.
ADVERSARY("approval replay", "tests/vectors/confirm-stateless-accepted.txt")
ADVERSARY("approval with other arguments", "tests/vectors/confirm-stateless-altered-arguments.txt")
ADVERSARY("approval for another tool", "tests/vectors/confirm-stateless-another-tool.txt")
ADVERSARY("approval that comes too late", "tests/vectors/confirm-stateless-too-late.txt")
ADVERSARY("approval continued with other arguments",
          "tests/vectors/confirm-stateless-continued-with-other-arguments.txt")
ADVERSARY("approval of another text", "tests/vectors/confirm-approved-elsewhere.txt")
ADVERSARY("approval without the choice", "tests/vectors/confirm-form-sent-without-the-choice-is-a-no.txt")
ADVERSARY("approval of a call that was cancelled", "tests/guards/cases/yes-to-a-call-that-was-cancelled.txt")
ADVERSARY("asking again after a no", "tests/vectors/confirm-form-declined.txt")
ADVERSARY("asking twice at once for the same", "tests/vectors/confirm-a-no-holds-for-the-same-call-that-waits.txt")
ADVERSARY("remembering that was not allowed", "tests/vectors/confirm-remembers-nothing-unless-allowed.txt")
ADVERSARY("confirmation flood", "tests/vectors/confirm-flood.txt")
ADVERSARY("confirmation flood in a minute", "tests/vectors/confirm-flood-in-a-minute.txt")
ADVERSARY("confirmation flood, stateless", "tests/vectors/confirm-stateless-flood.txt")

// What a server asks of the client, and where it hides.
ADVERSARY("sampling by default", "tests/vectors/sampling-is-blocked-by-default.txt")
ADVERSARY("sampling inside a result", "tests/guards/cases/sampling-inside-a-result.txt")
ADVERSARY("sampling inside a result of the handshake era", "tests/vectors/question-inside-a-result-is-blocked.txt")
ADVERSARY("sampling inside an error", "tests/guards/cases/sampling-inside-an-error.txt")
ADVERSARY("question in an answer that may not ask", "tests/guards/cases/question-in-an-answer-that-may-not-ask.txt")
ADVERSARY("answer beside a question", "tests/vectors/stateless-a-question-is-no-way-round-what-answers-must-be.txt")
ADVERSARY("question under our own key", "tests/guards/cases/question-under-our-own-key.txt")
ADVERSARY("question in our name", "tests/vectors/elicitation-in-our-name-is-declined.txt")
ADVERSARY("question for a secret", "tests/vectors/elicitation-for-a-secret-is-declined.txt")
ADVERSARY("question of a client that does not offer it", "tests/vectors/server-requests-are-blocked.txt")
ADVERSARY("state replayed with other arguments", "tests/guards/cases/state-replayed-with-other-arguments.txt")
ADVERSARY("state replayed", "tests/guards/cases/state-replayed.txt")

// Tasks: whose they are, what they bring, what they ask, and what they count for.
ADVERSARY("task of another session", "tests/vectors/task-ids-are-those-of-this-session.txt")
ADVERSARY("task of another era", "tests/vectors/task-ids-do-not-change-eras.txt")
ADVERSARY("list with tasks of others", "tests/vectors/task-list-shows-those-of-this-session.txt")
ADVERSARY("answer about another task", "tests/vectors/task-cancelled.txt")
ADVERSARY("new task under the id of another", "tests/vectors/task-answers-that-cannot-be-told.txt")
ADVERSARY("task that nobody asked for", "tests/vectors/task-that-was-not-asked-for.txt")
ADVERSARY("task in place of a result", "tests/vectors/task-in-place-of-a-result.txt")
ADVERSARY("task extension that nobody reviewed", "tests/vectors/stateless-task-extension-that-was-not-reviewed.txt")
ADVERSARY("task of a client that does not offer it", "tests/vectors/stateless-task-that-was-not-offered.txt")
ADVERSARY("call that asks to become a task", "tests/vectors/task-calls-are-judged-as-calls.txt")
ADVERSARY("result of a task", "tests/vectors/task-result-is-treated-as-that-of-a-call.txt")
ADVERSARY("result inside a task", "tests/vectors/stateless-task-and-its-inline-result.txt")
ADVERSARY("result of a task of another session", "tests/guards/cases/result-of-a-task-of-another-session.txt")
ADVERSARY("result of a task of another session, stateless",
          "tests/guards/cases/result-of-a-task-of-another-session-stateless.txt")
ADVERSARY("sampling inside the result of a task", "tests/guards/cases/sampling-inside-the-result-of-a-task.txt")
ADVERSARY("elicitation inside the result of a task", "tests/guards/cases/elicitation-inside-the-result-of-a-task.txt")
ADVERSARY("question of a task of another session", "tests/guards/cases/question-of-a-task-of-another-session.txt")
ADVERSARY("questions of a task", "tests/vectors/stateless-task-asks-in-its-course.txt")
ADVERSARY("news of a task of another session", "tests/vectors/task-news-are-of-known-tasks.txt")
ADVERSARY("news of a task of the stateless era", "tests/vectors/stateless-task-news-where-they-were-asked-for.txt")
ADVERSARY("tasks that count", "tests/vectors/task-counts-while-it-runs.txt")
ADVERSARY("tasks that count, stateless", "tests/vectors/stateless-task-is-cancelled-and-counts.txt")
ADVERSARY("task that was withheld", "tests/guards/cases/task-that-was-withheld.txt")
ADVERSARY("task that came too late", "tests/vectors/task-that-came-too-late.txt")
ADVERSARY("task that came too late, stateless", "tests/vectors/stateless-task-that-came-too-late.txt")

// Limits that a call would pass by being given up, or while somebody thinks.
ADVERSARY("limit passed by cancelling", "tests/vectors/calls-in-flight-after-a-cancellation.txt")
ADVERSARY("limit passed by not answering", "tests/vectors/calls-in-flight-after-a-time-out.txt")
ADVERSARY("limit passed by an answer that cannot be told",
          "tests/guards/cases/limit-passed-by-an-answer-that-cannot-be-told.txt")
ADVERSARY("limit passed while a call waits for the list",
          "tests/vectors/stateless-our-own-retry-keeps-its-place-under-a-limit.txt")
ADVERSARY("limit passed while a person thinks", "tests/vectors/confirm-keeps-its-place-under-a-limit.txt")
ADVERSARY("limit passed while a person thinks, stateless",
          "tests/vectors/confirm-stateless-keeps-its-place-under-a-limit.txt")

// A server that ends to be started anew.
ADVERSARY("server that ends on the probe", "tests/vectors/respawn-after-the-probe.txt")
ADVERSARY("server that ends twice", "tests/vectors/respawn-happens-once.txt")
ADVERSARY("server that ends by a limit", "tests/vectors/respawn-not-after-a-limit.txt")
ADVERSARY("server that is killed", "tests/vectors/respawn-not-after-a-kill.txt")
ADVERSARY("server that ends after more than the probe", "tests/vectors/respawn-not-when-more-was-sent.txt")
ADVERSARY("server that answered and then ends", "tests/vectors/respawn-not-after-an-answer.txt")
ADVERSARY("server that ends at the opening", "tests/vectors/respawn-not-for-an-opening-by-handshake.txt")
ADVERSARY("server that ends inside a line", "tests/vectors/respawn-forgets-a-torn-line.txt")
ADVERSARY("server that ends when the client leaves", "tests/vectors/respawn-not-for-a-client-that-leaves.txt")
ADVERSARY("second server that does not start", "tests/vectors/respawn-fails-after-initialize.txt")

// Text: our name, secrets, and what nobody sees.
ADVERSARY("words in our name", "tests/vectors/nothing-of-a-server-is-taken-for-ours.txt")
ADVERSARY("words in our name behind what nobody sees",
          "tests/guards/cases/words-in-our-name-behind-what-nobody-sees.txt")
ADVERSARY("secret broken up by what nobody sees", "tests/vectors/secrets-are-found-through-what-nobody-sees.txt")
ADVERSARY("secret broken up by escapes", "tests/vectors/secrets-are-found-through-escapes-that-pass.txt")
ADVERSARY("address that is completed twice", "tests/vectors/elicitation-address-is-checked-and-never-rewritten.txt")

// Lines.
ADVERSARY("answer without an end", "tests/vectors/server-size.txt")
ADVERSARY("answer whose id cannot be read", "tests/vectors/server-unreadable-id.txt")
ADVERSARY("line that is cut off", "tests/vectors/client-ends-inside-a-line.txt")

TEST_SUITE_END();
