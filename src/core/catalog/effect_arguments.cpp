// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/effect_arguments.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

constexpr int kMaxDepth = 6;                // of nested arguments
constexpr std::size_t kMaxConditions = 64;  // a hostile schema may have any number of values
constexpr std::size_t kMaxValueBytes = 200;

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string string_of(const Value& value) { return value.is(Kind::string) ? value.string() : std::string(); }

// One argument, at any depth.
struct Argument {
  std::string pointer = {};
  std::string name = {};  // lower case, letters and digits only
  std::string text = {};  // its description, lower case
  Value schema = {};
  std::string spelled = {};
};

bool boolean_type(const Value& schema) { return string_of(schema.find("type")) == "boolean"; }
bool object_type(const Value& schema) { return string_of(schema.find("type")) == "object"; }

void collect(const Value& schema, const std::string& pointer, int depth, std::vector<Argument>& out) {
  if (depth > kMaxDepth || !schema.is(Kind::object)) {
    return;
  }
  for (const json::Member member : schema.find("properties").members()) {
    Argument argument;
    argument.spelled = member.key.string();
    argument.pointer = pointer + "/";
    for (const char c : argument.spelled) {
      argument.pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    for (const char c : text::lower_ascii(argument.spelled)) {
      if (c != '_' && c != '-' && c != ' ') {
        argument.name += c;
      }
    }
    argument.text = text::lower_ascii(string_of(member.value.find("description")));
    argument.schema = member.value;
    const std::string below = argument.pointer;
    out.push_back(std::move(argument));
    collect(member.value, below, depth + 1, out);
    collect(member.value.find("items"), below, depth + 1, out);
  }
  for (const std::string_view keyword : {"anyOf", "oneOf", "allOf"}) {
    for (const Value branch : schema.find(keyword).elements()) {
      collect(branch, pointer, depth + 1, out);
    }
  }
}

// The values of an enumeration, also through `const` branches.
std::vector<std::string> values_of(const Value& schema) {
  std::vector<std::string> out;
  for (const Value element : schema.find("enum").elements()) {
    if (element.is(Kind::string) && element.string_raw().size() <= kMaxValueBytes) {
      out.push_back(element.string());
    }
  }
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    for (const Value branch : schema.find(keyword).elements()) {
      if (branch.find("const").is(Kind::string)) {
        out.push_back(branch.find("const").string());
      }
      for (std::string& value : values_of(branch)) {
        out.push_back(std::move(value));
      }
    }
  }
  return out;
}

// What a value of an enumeration does, by the first word that says something.
// A value lifts a call out of the class of its tool only by a word that leaves no doubt; "extract" may start anything.
bool surely_reads(std::string_view value) {
  const std::vector<std::string> words = words_of_name(value);
  return !words.empty() && one_of(words.front(), {"list", "ls", "get", "show", "read", "view", "status", "log", "diff",
                                                  "describe", "info", "count", "verify", "find", "search"});
}

std::optional<std::string_view> effect_of_value(std::string_view value) {
  for (const std::string& word : words_of_name(value)) {
    if (word == "apply" || word == "push" || word == "pop" || word == "drop" || effect_of_word(word)) {
      return effect_of_word(word);
    }
  }
  return std::nullopt;
}

class Examiner {
 public:
  Examiner(std::string_view description, std::string_view effect) : description_(description), effect_(effect) {}

  ArgumentEffects run(const Value& schema) {
    std::vector<Argument> arguments;
    collect(schema, "", 0, arguments);
    for (const Argument& argument : arguments) {
      examine(argument);
    }
    whole(arguments);
    return std::move(out_);
  }

 private:
  void add(const Argument& argument, std::optional<std::string> value, std::string_view effect, std::string reason) {
    if (out_.when.size() < kMaxConditions) {
      out_.when.push_back({argument.pointer, std::move(value), effect, std::move(reason)});
    } else if (effect != "read") {
      out_.when.back() = {argument.pointer, std::move(value), effect, std::move(reason)};
    }
  }

  void examine(const Argument& argument) {
    const bool flag = boolean_type(argument.schema);
    if (!flag && operation(argument)) {
      return;
    }
    if (flag) {
      switch_on(argument);
    } else if (code(argument)) {
      add(argument, std::nullopt, "execute", "code or a command as text");
    } else if (written_file(argument)) {
      add(argument, std::nullopt, "write", "names a file to write");
    } else if (address(argument) && (effect_ == "read" || effect_.empty())) {
      add(argument, std::nullopt, "send", "an address to connect to");
    }
  }

  // `mode`, `action` and the like, when their values are verbs.
  bool operation(const Argument& argument) {
    if (!one_of(argument.name, {"action", "mode", "operation", "op", "command", "subcommand", "method", "verb", "task",
                                "actiontype", "operationtype"})) {
      return false;
    }
    const std::vector<std::string> values = values_of(argument.schema);
    if (values.empty()) {
      const bool free = one_of(argument.name, {"action", "operation", "op", "verb", "method"});
      const bool text = string_of(argument.schema.find("type")) == "string";
      if (free && text && (effect_ == "read" || effect_.empty())) {
        add(argument, std::nullopt, "write", "says what to do, in words that the schema does not list");
        return true;
      }
      return false;
    }
    std::size_t verbs = 0;
    for (const std::string& value : values) {
      verbs += effect_of_value(value) ? 1U : 0U;
    }
    if (verbs == 0) {
      return true;  // a mode of travel, of sorting, …
    }
    for (const std::string& value : values) {
      const auto effect = effect_of_value(value);
      if (effect && (*effect != "read" || surely_reads(value))) {
        add(argument, value, *effect, text::cat("does \"", value, '"'));
      }
    }
    return true;
  }

  void switch_on(const Argument& argument) {
    const bool reads = effect_ == "read" || effect_.empty();
    if (one_of(argument.name, {"overwrite", "purge", "permanent", "permanently", "hard", "droptarget", "prune",
                               "allowdestructive", "deleteremote"}) ||
        (!reads && one_of(argument.name, {"force", "forcewithlease", "recursive", "all"}) &&
         one_of(argument.name, {"force", "forcewithlease"}))) {
      add(argument, std::nullopt, "destructive", "lets it destroy");
      return;
    }
    if (argument.name == "isurl") {
      add(argument, std::nullopt, "send", "makes it fetch an address");
      return;
    }
    const std::vector<std::string> words = words_of_name(argument.spelled);
    if (words.size() > 1 && reads && !words.empty()) {
      const auto effect = effect_of_word(words.front());
      if (effect && *effect != "read" && !one_of(words.front(), {"allow", "hide", "expand", "format", "force"})) {
        add(argument, std::nullopt, *effect, text::cat("switches on \"", words.front(), '"'));
      }
    }
  }

  bool code(const Argument& argument) const {
    if (object_type(argument.schema) && argument.name != "pipeline") {
      return false;
    }
    if (one_of(argument.name,
               {"sql", "pipeline", "javascript", "shellcommand", "bash", "script", "commandline", "cmd", "expression",
                "sqlquery", "cypher", "pythoncode", "jscode", "snippet", "statement", "statements", "commands"})) {
      return true;
    }
    if (one_of(argument.name, {"code", "function", "command", "program"})) {
      // "country code", "error code": only where it is said, or nothing is said.
      return argument.name == "command" || argument.name == "function" || argument.text.empty() ||
             mentions(argument.text,
                      {"execut", "run", "script", "javascript", "python", "snippet", "program", "function"});
    }
    if (one_of(argument.name, {"query", "queries", "statement"})) {
      return mentions(argument.text, {"sql", "cypher", "mutation"}) ||
             mentions(description_, {"sql query", "sql quer"});
    }
    return false;
  }

  bool written_file(const Argument& argument) const {
    if (mentions(argument.name, {"savepath", "savedir", "savefolder", "outputpath", "outputdir", "outputfile",
                                 "outputfolder", "downloadpath", "downloaddir", "exportpath", "saveto", "saveas"})) {
      return true;
    }
    const bool file = one_of(argument.name,
                             {"filename", "filepath", "file", "path", "destination", "dest", "output", "localpath",
                              "directory", "folder", "targetpath", "requestfilepath", "responsefilepath", "outfile"}) ||
                      argument.name.ends_with("filepath");
    return file && mentions(argument.text, {"save", "write", "output", "export", "store", "download", "dump"}) &&
           (effect_ == "read" || effect_.empty());
  }

  static bool address(const Argument& argument) {
    return one_of(argument.name,
                  {"url", "urls", "uri", "endpoint", "webhook", "webhookurl", "callbackurl", "host", "hostname",
                   "baseurl", "remoteurl", "website", "domain", "link", "connectionstring", "server", "address"}) &&
           !(argument.name == "address" && !mentions(argument.text, {"url", "host", "ip"})) &&
           !(one_of(argument.name, {"server", "link", "domain"}) && !mentions(argument.text, {"url", "host", "http"}));
  }

  void whole(const std::vector<Argument>& arguments) {
    const auto has = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::any_of(arguments, [&](const Argument& argument) {
        return one_of(argument.name, names) && std::ranges::count(argument.pointer, '/') == 1;
      });
    };
    const bool tool = has({"tool", "toolname", "toolslug", "functionname"});
    const bool inner =
        has({"arguments", "args", "params", "parameters", "toolarguments", "toolargs", "toolinput", "input"});
    out_.router = (tool && inner) || (has({"intent"}) && has({"command", "tool"}) && has({"parameters", "params"}));
    if (has({"to", "recipient", "recipients", "channel", "channelid", "chatid"}) &&
        has({"message", "text", "body", "subject"}) && effect_ != "read") {
      out_.reasons.push_back("it takes a recipient and a text");
      out_.when.push_back({"", std::nullopt, "send", "a text and who gets it"});
    }
  }

  std::string_view description_;
  std::string_view effect_;
  ArgumentEffects out_ = {};
};

}  // namespace

ArgumentEffects argument_effects(const Value& input_schema, std::string_view description, std::string_view effect) {
  return Examiner(description, effect).run(input_schema);
}

}  // namespace cordon::catalog
