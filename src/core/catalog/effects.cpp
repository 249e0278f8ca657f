// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/effects.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "core/catalog/catalog.hpp"
#include "core/catalog/effect_arguments.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxLeadWords = 10;

std::string string_of(const Value& value) { return value.is(Kind::string) ? value.string() : std::string(); }

int rank(std::string_view effect) { return effect_rank(effect).value_or(5); }

// A verb that a text or name begins with.
struct Verb {
  std::string_view effect = {};
  std::string word = {};
};

bool any_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

// Words that are as often nouns.
bool may_be_noun(std::string_view word) {
  return any_of(word, {"log",     "logs",     "type",     "block",    "blocks", "label", "link",  "links",  "stage",
                       "release", "releases", "request",  "requests", "book",   "input", "pin",   "call",   "calls",
                       "record",  "records",  "snapshot", "email",    "emails", "force", "build", "builds", "queue",
                       "change",  "changes",  "archive",  "new",      "scan",   "format"});
}

// The first verb of the name. Words that are as often nouns count only where nothing better follows.
std::optional<Verb> name_verb(const std::vector<std::string>& words) {
  std::optional<Verb> weak;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto effect = effect_of_word(words[i]);
    if (!effect) {
      continue;
    }
    // An HTTP method in a name that was made from an API says little: "post-search".
    const bool method = any_of(words[i], {"post", "put", "patch"}) && i > 0 && words[i - 1] == "api";
    if (!method && !may_be_noun(words[i])) {
      return Verb{*effect, words[i]};
    }
    if (!weak || rank(*effect) > rank(weak->effect)) {
      weak = Verb{*effect, words[i]};
    }
  }
  return weak;
}

// "find or create", "reads and writes": the worst of the verbs behind a conjunction, in the form of the first one, so
// that "get branches and commits" is none.
enum class Words : std::uint8_t { name, prose };
std::optional<Verb> joined_verb(const std::vector<std::string>& words, Words kind) {
  const auto first = std::ranges::find_if(words, [](const std::string& word) { return bool(effect_of_word(word)); });
  std::optional<Verb> worst;
  for (auto word = first; word != words.end() && word + 1 != words.end(); ++word) {
    const std::string& next = *(word + 1);
    const auto effect = effect_of_word(next);
    // "issues and pull requests", "author and commit hash"
    const bool noun = may_be_noun(next) || (kind == Words::prose && any_of(next, {"pull", "commit"}));
    if (any_of(*word, {"or", "and", "then"}) && effect && !noun && next.ends_with('s') == first->ends_with('s') &&
        (!worst || rank(*effect) > rank(worst->effect))) {
      worst = Verb{*effect, next};
    }
  }
  return worst;
}

// The first verb of the description. What comes before "| " names the product.
std::optional<Verb> lead_verb(std::string_view description) {
  if (const std::size_t bar = description.find("| "); bar < 40) {
    description.remove_prefix(bar + 2);
  }
  description.remove_prefix(std::min(description.find_first_not_of(" \t\r\n"), description.size()));
  const std::size_t end = std::min(description.find_first_of(".\n"), std::min<std::size_t>(description.size(), 300));
  std::size_t seen = 0;
  for (const std::string& word : words_of_name(description.substr(0, end))) {
    if (++seen > kMaxLeadWords) {
      break;
    }
    // "Run a find query", "Perform a click": the verb that follows tells more.
    if (any_of(word,
               {"run", "runs", "use",  "perform", "performs", "take",  "request", "requests", "call",   "type", "types",
                "new", "log",  "logs", "records", "request",  "links", "change",  "changes",  "commits"})) {
      continue;
    }
    if (const auto effect = effect_of_word(word)) {
      return Verb{*effect, word};
    }
  }
  return std::nullopt;
}

// Words anywhere in a description that a tool which only reads would not use of itself.
struct Telling {
  std::string_view words;
  std::string_view effect;
};
constexpr std::array kTelling = {
    Telling{"delete", "destructive"},
    Telling{"overwrit", "destructive"},
    Telling{"irreversibl", "destructive"},
    Telling{"permanent", "destructive"},
    Telling{"creates ", "write"},
    Telling{"saves ", "write"},
    Telling{"save to ", "write"},
    Telling{"saved to ", "write"},
    Telling{"writes ", "write"},
    Telling{"write to ", "write"},
    Telling{"written to ", "write"},
    Telling{"modifies ", "write"},
    Telling{"modify ", "write"},
    Telling{"mutat", "write"},
    Telling{"inserts ", "write"},
    Telling{"updates the ", "write"},
    Telling{"execute arbitrary", "execute"},
    Telling{"executes arbitrary", "execute"},
    Telling{"shell command", "execute"},
    Telling{"sends ", "send"},
    Telling{"uploads ", "send"},
    Telling{"side effect", "write"},
    Telling{"from urls", "send"},
};

bool denied(std::string_view text, std::size_t at) {
  const std::size_t from = at > 40 ? at - 40 : 0;
  std::string_view before = text.substr(from, at - from);
  if (const std::size_t stop = before.find_last_of(".;!"); stop != std::string_view::npos) {
    before.remove_prefix(stop);
  }
  for (const std::string_view word :
       {" not ", "n't ", "without", "never", "no ", "instead of", "rather than", "was ", "were ", "been "}) {
    if (before.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::optional<Telling> telling(const std::string& lower) {
  std::optional<Telling> worst;
  for (const Telling& entry : kTelling) {
    for (std::size_t at = lower.find(entry.words); at != std::string::npos; at = lower.find(entry.words, at + 1)) {
      if (!denied(lower, at) && (!worst || rank(entry.effect) > rank(worst->effect))) {
        worst = entry;
      }
    }
  }
  return worst;
}

class Proposer {
 public:
  explicit Proposer(const Value& definition)
      : definition_(definition),
        description_(string_of(definition.find("description"))),
        lower_(text::lower_ascii(description_)) {}

  EffectProposal run() {
    from_words();
    from_arguments();
    doubt_reading();
    from_hints();
    if (!known_) {
      out_.effect = "unknown";
      out_.reasons.push_back("neither name nor description says what it does");
    }
    return std::move(out_);
  }

 private:
  void raise(std::string_view effect, std::string reason) {
    if (!known_ || rank(effect) > rank(out_.effect)) {
      out_.effect = effect;
      known_ = true;
      out_.reasons.push_back(std::move(reason));
    }
  }

  void from_words() {
    const std::vector<std::string> words = words_of_name(string_of(definition_.find("name")));
    const std::optional<Verb> named = name_verb(words);
    const std::optional<Verb> led = lead_verb(description_);
    if (named) {
      raise(named->effect, text::cat("the name says \"", named->word, '"'));
    }
    for (const std::string& word : words) {
      const auto effect = effect_of_word(word);
      if (effect == "destructive" && word != "force") {
        raise(*effect, text::cat("the name says \"", word, '"'));
      }
      if (word == "unsafe" || word == "shell" || word == "bash") {
        raise("execute", text::cat("the name says \"", word, '"'));
      }
    }
    if (led) {
      raise(led->effect, text::cat("the description begins with \"", led->word, '"'));
    }
  }

  void from_joined(std::string_view where, Words kind, const std::vector<std::string>& words) {
    if (const std::optional<Verb> joined = joined_verb(words, kind)) {
      raise(joined->effect, text::cat("the ", where, " joins \"", joined->word, "\" to it"));
    }
  }

  void from_arguments() {
    ArgumentEffects found = argument_effects(definition_.find("inputSchema"), lower_, known_ ? out_.effect : "");
    for (std::string& reason : found.reasons) {
      out_.reasons.push_back(std::move(reason));
    }
    if (found.router) {
      out_.router = true;
      raise("execute", "it hides other tools behind its arguments: what it does hangs on what it is told to call");
    }
    for (const ConditionalEffect& when : found.when) {
      raise(when.effect, text::cat("argument ", when.argument, ": ", when.reason));
    }
    out_.when = std::move(found.when);
  }

  void doubt_reading() {
    if (out_.effect == "write" && lower_.find("overwrit") != std::string::npos &&
        !denied(lower_, lower_.find("overwrit"))) {
      raise("destructive", "the description says \"overwrite\"");
    }
    if (out_.effect != "read") {
      return;
    }
    if (const std::optional<Telling> word = telling(lower_)) {
      raise(word->effect, text::cat("the description says \"", text::join(text_words(word->words), " "), '"'));
    }
    const bool remote = lower_.find("remote repositor") != std::string::npos;
    if (remote) {
      raise("send", "the description speaks of a remote repository");
    }
    if (out_.effect == "read") {
      from_joined("name", Words::name, words_of_name(string_of(definition_.find("name"))));
    }
    if (out_.effect == "read") {
      const std::size_t sentence = description_.find_first_of(".\n");
      from_joined("description", Words::prose, words_of_name(std::string_view(description_).substr(0, sentence)));
    }
  }

  static std::vector<std::string> text_words(std::string_view words) { return words_of_name(words); }

  // Hints may raise a class, never lower it.
  void from_hints() {
    const Value hints = definition_.find("annotations");
    const auto says = [&](std::string_view name, bool value) {
      const Value hint = hints.find(name);
      return hint.is(Kind::boolean) && hint.boolean() == value;
    };
    if (!known_ || out_.effect != "read") {
      return;
    }
    if (says("readOnlyHint", false)) {
      raise("write", "readOnlyHint says that it changes something");
    } else if (says("destructiveHint", true) && !says("readOnlyHint", true)) {
      raise("write", "destructiveHint says that it may destroy");
    }
  }

  const Value definition_;
  std::string description_;
  std::string lower_;
  EffectProposal out_ = {};
  bool known_ = false;
};

}  // namespace

EffectProposal propose_effect(const Value& definition) { return Proposer(definition).run(); }

EffectProposal propose_effect(std::string_view definition) {
  const Result<json::Document> document =
      json::read(std::string(definition), {.max_bytes = definition.size(), .max_depth = 512});
  return document ? propose_effect(document->root()) : EffectProposal{};
}

}  // namespace cordon::catalog
