// SPDX-License-Identifier: Apache-2.0
// Questions to a person: the bounds, what they bind to, what the form shows and what its answer means.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "core/gate/confirm_form.hpp"
#include "core/gate/confirmation.hpp"
#include "core/gate/secret_finder.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::gate;
using Standing = Confirmations::Standing;
using Stage = Confirmations::Stage;
using Remember = policy::Confirm::Remember;

namespace {

constexpr MacKey kKey = {1, 2, 3};

json::Document parsed(const std::string& text) {
  auto document = json::read(text, {.max_bytes = 1'000'000, .max_depth = 600});
  REQUIRE(document);
  return std::move(*document);
}

ConfirmSubject subject(const std::string& arguments, const std::string& tool = "put") {
  const json::Document document = parsed(arguments);
  return confirm_subject({.server = "s", .session = "1", .tool = tool, .definition = "{}", .effect = "write"},
                         document.root());
}

std::string shown(const std::string& arguments, const std::vector<NamedSecret>& secrets = {},
                  const std::string& tool = "put") {
  const json::Document document = parsed(arguments);
  return confirm_text({"files", tool, policy::Effect::write, false, document.root()}, SecretFinder(secrets));
}

std::string ask(Confirmations& state, const ConfirmSubject& about, Instant now) {
  const std::string nonce = state.fresh_nonce(kKey, "question");
  state.open(nonce, {about, Stage::asked, now + 50'000}, now);
  return nonce;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a question binds to each part of a call, and not to how its arguments are spelled") {
  CHECK(subject(R"({"a":1,"b":2})") == subject(R"({ "b":2, "\u0061":1})"));
  CHECK(subject(R"({"a":1})").call != subject(R"({"a":2})").call);
  CHECK(subject(R"({"a":1})").pattern == subject(R"({"a":2})").pattern);
  CHECK(subject("{}").call != subject("{}", "putx").call);
  CHECK(subject("null") == subject("{}"));
  const json::Document none = parsed("{}");
  const SubjectParts parts{
      .server = "s", .session = "1", .tool = "t", .definition = "d", .snapshot = "n", .effect = "e", .because = "b"};
  const ConfirmSubject whole = confirm_subject(parts, none.root());
  for (const auto member : {&SubjectParts::server, &SubjectParts::session, &SubjectParts::tool,
                            &SubjectParts::definition, &SubjectParts::snapshot}) {
    SubjectParts other = parts;
    other.*member = "other";
    CHECK(confirm_subject(other, none.root()).call != whole.call);
    CHECK(confirm_subject(other, none.root()).pattern != whole.pattern);
  }
  SubjectParts moved = parts;
  moved.server = "s\",\"1";
  moved.session = "";
  CHECK(confirm_subject(moved, none.root()).call != whole.call);
  SubjectParts worse = parts;
  worse.effect = "destructive";
  CHECK(confirm_subject(worse, none.root()).pattern != whole.pattern);
  worse = parts;
  worse.because = "rule 2";
  CHECK(confirm_subject(worse, none.root()).pattern != whole.pattern);
}

TEST_CASE("a nonce is spent by its first use and never comes again") {
  Confirmations state;
  const std::string first = ask(state, subject("{}"), {0});
  const std::string second = ask(state, subject("{}"), {0});
  CHECK(first != second);
  CHECK(state.spend(first)->subject == subject("{}"));
  CHECK_FALSE(state.spend(first));
  CHECK(state.spend(second));
  CHECK_FALSE(state.spend("never opened"));
}

TEST_CASE("a no holds for the same call for ten minutes, and for the tool after three") {
  Confirmations state;
  state.decline(subject(R"({"a":1})"), {0});
  CHECK(state.standing(subject(R"({"a":1})"), {kDeclinedMs - 1}) == Standing::declined);
  CHECK(state.standing(subject(R"({"a":2})"), {1}) == Standing::ask);
  CHECK(state.standing(subject(R"({"a":1})"), {kDeclinedMs}) == Standing::ask);
  Confirmations nagged;
  for (const char* arguments : {R"({"a":1})", R"({"a":2})", R"({"a":3})"}) {
    CHECK(nagged.standing(subject(R"({"a":9})"), {0}) == Standing::ask);
    nagged.decline(subject(arguments), {0});
  }
  CHECK(nagged.standing(subject(R"({"a":9})"), {1}) == Standing::declined);
  CHECK(nagged.standing(subject(R"({"a":9})", "other"), {1}) == Standing::ask);
}

TEST_CASE("questions are bounded, those that are open and those of a minute") {
  Confirmations state;
  std::vector<std::string> open;
  for (std::size_t i = 0; i < kMaxAsked; ++i) {
    REQUIRE(state.standing(subject("{}"), {0}) == Standing::ask);
    open.push_back(ask(state, subject("{}"), {0}));
  }
  CHECK(state.standing(subject("{}"), {0}) == Standing::too_many);
  state.spend(open[0]);
  CHECK(state.standing(subject("{}"), {0}) == Standing::ask);
  for (const std::string& nonce : open) {
    state.spend(nonce);
  }
  for (std::size_t i = kMaxAsked; i < kAskedPerMinute; ++i) {
    REQUIRE(state.standing(subject("{}"), {0}) == Standing::ask);
    state.spend(ask(state, subject("{}"), {0}));
  }
  CHECK(state.standing(subject("{}"), {59'999}) == Standing::too_often);
  CHECK(state.standing(subject("{}"), {60'000}) == Standing::ask);
}

TEST_CASE("an open question that nobody answers makes room when its time is over") {
  Confirmations state;
  for (std::size_t i = 0; i < kMaxAsked; ++i) {
    ask(state, subject("{}"), {0});
  }
  CHECK(state.standing(subject("{}"), {49'999}) == Standing::too_many);
  CHECK(state.standing(subject("{}"), {50'000}) == Standing::ask);
}

TEST_CASE("only what the policy allows is remembered") {
  const ConfirmSubject one = subject(R"({"a":1})");
  const ConfirmSubject two = subject(R"({"a":2})");
  for (const Remember rule : {Remember::never, Remember::same_arguments, Remember::session}) {
    Confirmations state(rule);
    state.remember_arguments(one);
    CHECK((state.standing(one, {0}) == Standing::remembered) == (rule != Remember::never));
    CHECK(state.standing(two, {0}) == Standing::ask);
    state.remember_pattern(one);
    CHECK((state.standing(two, {0}) == Standing::remembered) == (rule == Remember::session));
  }
}

TEST_CASE("continuations are bounded and do not take the place of questions") {
  Confirmations state;
  std::vector<std::string> nonces;
  for (std::size_t i = 0; i <= kMaxContinuations; ++i) {
    nonces.push_back(state.fresh_nonce(kKey, "x"));
    state.open(nonces.back(), {subject("{}"), Stage::granted, Instant{1'000'000} + static_cast<std::int64_t>(i)}, {0});
  }
  CHECK_FALSE(state.spend(nonces[0]));
  CHECK(state.spend(nonces[1]));
  CHECK(state.standing(subject("{}"), {0}) == Standing::ask);
}

TEST_CASE("the form shows tool, effect and the whole arguments, and nothing raw") {
  CHECK(shown(R"({"path":"/a","n":1e400,"list":[true,{}]})") ==
        "mcp-cordon asks for files: may this call be made?\n\n"
        "    tool: put\n    effect: write\n    arguments: {\n      \"path\": \"/a\",\n      \"n\": 1e400,\n"
        "      \"list\": [\n        true,\n        {}\n      ]\n    }\n");
  CHECK(holds(shown("{}"), "arguments: none"));
  const std::string hostile = shown("{\"x\\u001b[2J\":\"a\\nEffect: read\\u202eevil\\u200b\\ud800\"}", {},
                                    "put\n    effect: read\x1b[0m\xe2\x80\xae");
  for (const char c : hostile) {
    CHECK((c == '\n' || (c >= ' ' && c <= '~')));
  }
  CHECK(std::count(hostile.begin(), hostile.end(), '\n') == 8 - 1);
  CHECK(holds(hostile, R"("x\u001b[2J": "a\nEffect: read\u202eevil\u200b\ud800")"));
}

TEST_CASE("a secret is shown by its kind, its length and where it goes") {
  const std::string token = "ghp_" + std::string(36, 'a');
  const std::string text =
      shown(R"({"h":"Bearer )" + token + R"( x","k":"hunter2hunter2"})", {{"DB", "hunter2hunter2"}});
  CHECK_FALSE(holds(text, token));
  CHECK_FALSE(holds(text, "hunter2"));
  CHECK(holds(text, R"("h": "Bearer " [GitHub token of 40 characters, goes to files] " x")"));
  CHECK(holds(text, R"("k": [secret DB of 14 characters, goes to files])"));
  CHECK(holds(shown("{\"" + token + "\":1}"), "[GitHub token of 40 characters, goes to files]: 1"));
}

TEST_CASE("nothing but a token hides behind the form of one") {
  const auto kinds = [](const std::string& text) {
    return SecretFinder().find(text, SecretFinder::Reach::token).size();
  };
  CHECK(kinds("ghp_" + std::string(36, 'a')) == 1);
  CHECK(kinds("ghp_short") == 0);
  CHECK(kinds("ghp_rm -rf / ; " + std::string(36, 'a')) == 0);
  CHECK(kinds("xghp_" + std::string(36, 'a')) == 0);
  CHECK(kinds("ghp_" + std::string(2000, 'a')) == 0);
  CHECK(kinds("eyJ" + std::string(50, 'a')) == 0);
  CHECK(kinds("eyJ" + std::string(50, 'a') + "." + std::string(50, 'b') + "." + std::string(9, 'c')) == 1);
  const std::string key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n";
  const auto spans = SecretFinder().find(key + "; rm -rf /", SecretFinder::Reach::token);
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].length == key.size());
}

TEST_CASE("what is long is no form") {
  CHECK(fits_form(shown(R"({"a":"b"})")));
  CHECK_FALSE(fits_form(shown(R"({"a":")" + std::string(2'000, 'x') + "\"}")));
  std::string list = "1";
  for (int i = 0; i < 40; ++i) {
    list += ",1";
  }
  CHECK_FALSE(fits_form(shown(R"({"a":[)" + list + "]}")));
  CHECK(fits_terminal(shown(R"({"a":")" + std::string(50'000, 'x') + "\"}")));
  CHECK_FALSE(fits_terminal(shown(R"({"a":")" + std::string(100'000, 'x') + "\"}")));
}

TEST_CASE("only the choice that allows allows, and it has to be made") {
  const auto choice = [](const std::string& result, Remember remember = Remember::never) {
    const json::Document document = parsed(result);
    return read_choice(document.root(), remember);
  };
  CHECK(choice(R"({"action":"accept","content":{"decision":"allow this call"}})") == Choice::allow);
  CHECK(choice(R"({"action":"accept","content":{"decision":"refuse"}})") == Choice::decline);
  CHECK(choice(R"({"action":"accept","content":{}})") == Choice::decline);
  CHECK(choice(R"({"action":"accept"})") == Choice::decline);
  CHECK(choice(R"({"action":"accept","content":{"decision":true}})") == Choice::decline);
  CHECK(choice(R"({"action":"accept","content":{"decision":"Allow this call"}})") == Choice::decline);
  CHECK(choice(R"({"action":"decline","content":{"decision":"allow this call"}})") == Choice::decline);
  CHECK(choice(R"({"action":"cancel"})") == Choice::cancel);
  CHECK(choice("{}") == Choice::unreadable);
  CHECK(choice(R"({"action":"yes"})") == Choice::unreadable);
  const std::string same = R"({"action":"accept","content":{"decision":"allow, also again with the same arguments"}})";
  const std::string tool = R"({"action":"accept","content":{"decision":"allow, also every later call of this tool"}})";
  CHECK(choice(same) == Choice::decline);
  CHECK(choice(same, Remember::same_arguments) == Choice::allow_same_arguments);
  CHECK(choice(tool, Remember::same_arguments) == Choice::decline);
  CHECK(choice(tool, Remember::session) == Choice::allow_tool);
}

TEST_CASE("what a form offers is what its answer may say, and refusing stands first") {
  for (const Remember rule : {Remember::never, Remember::same_arguments, Remember::session}) {
    const json::Document params = parsed(elicitation_params("x", rule));
    const json::Value field = params.root().find("requestedSchema").find("properties").find("decision");
    CHECK_FALSE(field.find("default"));
    CHECK(params.root().find("requestedSchema").find("required").at(0).string_equals("decision"));
    const json::Value offered = field.find("enum");
    CHECK(offered.size() == 2 + static_cast<std::size_t>(rule));
    std::size_t index = 0;
    for (const json::Value one : offered.elements()) {
      const json::Document answer = parsed(text::cat(R"({"action":"accept","content":{"decision":)", one.raw(), "}}"));
      CHECK((read_choice(answer.root(), rule) == Choice::decline) == (index++ == 0));
    }
  }
}

TEST_CASE("forms are shown by clients that say so") {
  const auto shows = [](const std::string& capabilities) {
    const json::Document document = parsed(capabilities);
    return shows_forms(document.root());
  };
  CHECK(shows(R"({"elicitation":{}})"));
  CHECK(shows(R"({"elicitation":{"form":{},"url":{}}})"));
  CHECK_FALSE(shows(R"({"elicitation":{"url":{}}})"));
  CHECK_FALSE(shows("{}"));
  CHECK_FALSE(shows(R"({"elicitation":true})"));
}
