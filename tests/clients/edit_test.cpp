// SPDX-License-Identifier: Apache-2.0
#include "clients/edit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cordon;
using namespace cordon::clients;

namespace {

const std::vector<MemberPath> kJson = {{"mcpServers"}};
const std::vector<MemberPath> kToml = {{"mcp_servers"}};

struct Config {
  Syntax syntax = Syntax::json;
  std::vector<MemberPath> tables = kJson;
};

Tree tree_of(const Config& config, const std::string& text) {
  auto tree = read_tree(config.syntax, text, "config");
  INFO(text);
  REQUIRE_MESSAGE(tree.has_value(), (tree ? std::string() : tree.error().to_string()));
  return std::move(*tree);
}

Entry entry_of(const Config& config, const std::string& text, std::string_view name = "s") {
  const auto entries = find_entries(tree_of(config, text), config.tables);
  for (const Entry& entry : entries) {
    if (entry.name == name) {
      return entry;
    }
  }
  FAIL("no entry");
  return {};
}

struct Done {
  std::string text = {};
  Wrapped record = {};
};

Done wrap(const Config& config, const std::string& text, std::string_view name = "s") {
  const auto edits =
      wrap_edits(text, tree_of(config, text), entry_of(config, text, name), {"/usr/bin/mcp-cordon", "s"});
  INFO(text);
  REQUIRE_MESSAGE(edits.has_value(), (edits ? std::string() : edits.error().to_string()));
  return {apply_edits(text, edits->edits), edits->record};
}

std::string unwrap(const Config& config, const std::string& text, const std::optional<Wrapped>& record,
                   Unwrapping expected = Unwrapping::exact, std::string_view name = "s") {
  const auto edits = unwrap_edits(text, tree_of(config, text), entry_of(config, text, name), record);
  INFO(text);
  REQUIRE_MESSAGE(edits.has_value(), (edits ? std::string() : edits.error().to_string()));
  CHECK(edits->how == expected);
  return apply_edits(text, edits->edits);
}

// Wrapped and taken back, with and without the record.
void round_trip(const Config& config, const std::string& text) {
  CAPTURE(text);
  const Done done = wrap(config, text);
  const Entry entry = entry_of(config, done.text);
  REQUIRE(entry.wrapping.has_value());
  CHECK(entry.wrapping->policy == "s");
  CHECK(real_command(entry) == entry_of(config, text).command);
  CHECK(unwrap(config, done.text, done.record) == text);
  if (!done.record.new_arguments) {
    CHECK(unwrap(config, done.text, std::nullopt, Unwrapping::reconstructed) == text);
  }
}

}  // namespace

TEST_CASE("a JSON entry is wrapped where it stands, in the file's own style") {
  const std::string text =
      "{\n\t// mine\r\n\t\"mcpServers\": {\n\t\t\"s\": {\n\t\t\t\"command\": \"np\\u0078\",\n\t\t\t\"args\": "
      "[\n\t\t\t\t\"-y\",\n"
      "\t\t\t\t\"x\", // why\n\t\t\t],\n\t\t\t\"env\": {\"A\": \"${input:a}\"},\n\t\t},\n\t},\n}\n";
  const Done done = wrap({}, text);
  CHECK(done.text ==
        "{\n\t// mine\r\n\t\"mcpServers\": {\n\t\t\"s\": {\n\t\t\t\"command\": "
        "\"/usr/bin/mcp-cordon\",\n\t\t\t\"args\": [\n"
        "\t\t\t\t\"run\",\n\t\t\t\t\"s\",\n\t\t\t\t\"--\",\n\t\t\t\t\"np\\u0078\",\n\t\t\t\t\"-y\",\n\t\t\t\t\"x\", // "
        "why\n"
        "\t\t\t],\n\t\t\t\"env\": {\"A\": \"${input:a}\"},\n\t\t},\n\t},\n}\n");
  round_trip({}, text);
}

TEST_CASE("shapes of JSON entries") {
  for (const char* text : {
           R"({"mcpServers":{"s":{"command":"x","args":["a","b"]}}})",
           R"({"mcpServers":{"s":{"args":["a"],"command":"x"}}})",
           R"({"mcpServers":{"s":{"command":"x","args":[]}}})",
           R"({"mcpServers":{"s":{"command":"x","args":[ /* none */ ]}}})",
           R"({"mcpServers":{"s":{"command":"x"}}})",
           R"({"mcpServers":{"s":{"command" : "x" /* why */ , "env": {}}}})",
           "{\"mcpServers\":{\"s\":{\n  // c\n  \"command\": // why\n  \"x\" // last\n}}}",
           R"({"mcpServers":{"s":{"command":["x","-y","a"],"type":"local"}}})",
           "{\"mcpServers\":{\"s\":{\"command\":[\n\"x\"\n]}}}",
           R"({"mcpServers":{"s":{"command":{"path":"x","args":["a"],"env":{}},"settings":{}}}})",
           R"({"mcpServers":{"s":{"transport":{"type":"stdio","command":"x"}}}})",
           "\xEF\xBB\xBF{\"mcpServers\":{\"s\":{\"command\":\"x\",\r\n\"args\":[\r\n  \"a\"\r\n]}}}\r\n",
           R"({"mcpServers":{"s":{"command":"x","args":["","-- ","--"]}, "t":{"command":"y"}}})",
           R"({"mcpServers":{"s":{"command":"C:\\Program Files\\x.exe","args":["\ud83d\ude00","ä"]}}})",
       }) {
    round_trip({}, text);
  }
}

TEST_CASE("a new list of arguments follows the style around it") {
  const Done done = wrap(
      {}, "{\n  \"mcpServers\": {\n    \"s\": {\n      \"type\": \"stdio\",\n      \"command\" : \"x\"\n    }\n  }\n}");
  CHECK(done.text.find(
            "\"command\" : \"/usr/bin/mcp-cordon\",\n      \"args\" : [\"run\", \"s\", \"--\", \"x\"]\n    }") !=
        std::string::npos);
}

TEST_CASE("shapes of TOML entries") {
  const Config toml{Syntax::toml, kToml};
  for (const char* text : {
           "[mcp_servers.s]\ncommand = \"x\" # why\nargs = [\"-y\", 'lit\\eral']\n\n[mcp_servers.s.env]\nA = \"b\"\n",
           "[mcp_servers.s]\ncommand = 'x'",
           "[mcp_servers.s]\r\ncommand = 'x'",
           "# top\r\n[mcp_servers.s] # here\r\n  command = \"x\" # c\r\n  startup_timeout_sec = 20\r\n",
           "[mcp_servers]\ns = { command = \"x\", args = [] }\n",
           "[mcp_servers]\ns = {command=\"x\"}\n",
           "[mcp_servers]\ns.command = \"x\"\ns.env.A = \"b\"\n",
           "mcp_servers.s.command = \"x\"\nmcp_servers.s.args = [\n  # first\n  \"a\",\n  '''b''', # second\n]\n",
           "mcp_servers.\"s\".command = \"\"\"x\"\"\"\n",
           "[mcp_servers.'s']\nargs = [\n  \"a\",\n  \"b\",\n]\ncommand = \"x\"\n",
           "model = \"m\"\nd = 1979-05-27 07:32:00Z\nf = [1, 2.5, true, {a.b = 1}]\n[[list]]\na = "
           "1\n[[list]]\n[list.b]\n[mcp_servers.s]\n"
           "command=\"x\"\n",
       }) {
    round_trip(toml, text);
  }
}

TEST_CASE("a new TOML line follows the command, with its prefix and line end") {
  const Config toml{Syntax::toml, kToml};
  CHECK(wrap(toml, "  mcp_servers . s . command  = 'x' # why\r\nb = 1\r\n").text ==
        "  mcp_servers . s . command  = \"/usr/bin/mcp-cordon\" # why\r\n  mcp_servers . s . args  = [\"run\", \"s\", "
        "\"--\", 'x']\r\n"
        "b = 1\r\n");
}

TEST_CASE("unwrap is exact after edits elsewhere and inside the entry") {
  const std::string text =
      "{\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [\"a\"], \"env\": {\"K\": \"1\"}}}}";
  const Done done = wrap({}, text);
  std::string edited = done.text;
  edited.replace(edited.find("\"1\""), 3, "\"22\"");
  edited.replace(edited.find("\"a\""), 3, "\"a\", \"b\"");
  edited.insert(1, "\"other\": [1], ");
  std::string expected = text;
  expected.replace(expected.find("\"1\""), 3, "\"22\"");
  expected.replace(expected.find("\"a\""), 3, "\"a\", \"b\"");
  expected.insert(1, "\"other\": [1], ");
  CHECK(unwrap({}, edited, done.record) == expected);
}

TEST_CASE("unwrap works on an entry that an app wrote anew") {
  const std::string text = R"({"mcpServers":{"s":{"command":"x"}}})";
  const Done done = wrap({}, text);
  const std::string rewritten =
      "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"/usr/bin/mcp-cordon\",\n      \"args\": [\n        "
      "\"run\",\n"
      "        \"s\",\n        \"--\",\n        \"x\"\n      ]\n    }\n  }\n}\n";
  // The list of arguments was ours, and goes.
  CHECK(unwrap({}, rewritten, done.record, Unwrapping::reconstructed) ==
        "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"x\"\n    }\n  }\n}\n");
  // Without the record nobody knows whether it was there.
  CHECK(unwrap({}, rewritten, std::nullopt, Unwrapping::reconstructed).find("\"command\": \"x\",\n      \"args\": [") !=
        std::string::npos);
  const Config toml{Syntax::toml, kToml};
  const Done other = wrap(toml, "[mcp_servers.s]\ncommand = 'x'\n");
  CHECK(unwrap(toml, "[mcp_servers.s]\r\nargs = [\"run\",\"s\",\"--\",\"x\"]\r\ncommand = \"/usr/bin/mcp-cordon\"\r\n",
               other.record, Unwrapping::reconstructed) == "[mcp_servers.s]\r\ncommand = \"x\"\r\n");
}

TEST_CASE("an entry that was extended keeps what was added") {
  const Done done = wrap({}, R"({"mcpServers":{"s":{"command":"x"}}})");
  std::string edited = done.text;
  edited.replace(edited.find("\"x\"]"), 4, "\"x\", \"more\"]");
  CHECK(unwrap({}, edited, done.record, Unwrapping::reconstructed) ==
        R"({"mcpServers":{"s":{"command":"x", "args":["more"]}}})");
}

TEST_CASE("what readers could understand differently is not edited") {
  for (const char* text : {
           R"({"mcpServers":{"s":{"command":"x","command":"y"}}})",
           R"({"mcpServers":{"s":{"command":"x"},"s":{"command":"y"}}})",
           R"({"mcpServers":{"s":{"command":"x"}},"mcpServers":{}})",
           R"({"mcpServers":{"s":{"command":"x","args":"a b"}}})",
           R"({"mcpServers":{"s":{"command":"x","args":["a",1]}}})",
           R"({"mcpServers":{"s":{"command":"x","args":["a"],"args":["b"]}}})",
           R"({"mcpServers":{"s":{"command":"x","url":"https://x.example"}}})",
           R"({"mcpServers":{"s":{"command":3}}})",
           R"({"mcpServers":{"s":{"command":""}}})",
           R"({"mcpServers":{"s":[]}})",
           R"({"mcpServers":{"s":{"command":["x"],"args":[]}}})",
           R"({"mcpServers":{"s":{"command":"evil","transport":{"command":"x"}}}})",
           R"({"mcpServers":{"s":{"command":{"path":"x"},"transport":{"command":"evil"}}}})",
           R"({"mcpServers":{"s":{"args":["-e","evil"],"command":{"path":"node"}}}})",
       }) {
    CAPTURE(text);
    const Entry entry = entry_of({}, text);
    CHECK_FALSE(entry.fault.empty());
    CHECK_FALSE(wrap_edits(text, tree_of({}, text), entry, {"/c", "s"}).has_value());
  }
}

TEST_CASE("nothing hides behind what some readers take for the end of a comment") {
  for (const std::string end : {"\r", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    const std::string text = R"({"mcpServers":{"s":{"command":"good" //)" + end + R"(,"command":"evil")" + "\n}}}";
    CHECK_FALSE(read_tree(Syntax::json, text, "f").has_value());
  }
  CHECK(read_tree(Syntax::json, "{ // as Windows writes it\r\n}\r\n", "f").has_value());
}

TEST_CASE("variables that steer mcp-cordon itself are told from those of the server") {
  const Entry entry = entry_of({}, R"({"mcpServers":{"s":{"command":"x","env":{"API_KEY":"k","HOME":"/h",
      "LD_PRELOAD":"l","MCP_CORDON_CEILING":"c","XDG_CONFIG_HOME":"/c","XDG_SESSION_ID":"1","PATH":"/p"}}}})");
  CHECK(steering_variables(entry) ==
        std::vector<std::string>{"HOME", "LD_PRELOAD", "MCP_CORDON_CEILING", "XDG_CONFIG_HOME"});
}

TEST_CASE("PATH steers where it finds mcp-cordon") {
  const auto steers = [](const std::string& program) {
    return steering_variables(entry_of({}, R"({"mcpServers":{"s":{"command":")" + program +
                                               R"(","args":["run","s","--","x"],"env":{"PATH":"./bin"}}}})"));
  };
  CHECK(steers("mcp-cordon") == std::vector<std::string>{"PATH"});
  CHECK(steers("/usr/bin/mcp-cordon").empty());
}

TEST_CASE("remote servers are told from local ones") {
  CHECK(entry_of({}, R"({"mcpServers":{"s":{"url":"https://x.example"}}})").transport == Transport::remote);
  CHECK(entry_of({}, R"({"mcpServers":{"s":{"type":"http"}}})").transport == Transport::remote);
  CHECK(entry_of({}, R"({"mcpServers":{"s":{"enabled":true}}})").transport == Transport::unknown);
}

TEST_CASE("texts that are no JSON or TOML are refused with their place") {
  const auto where = [](Syntax syntax, std::string_view text) {
    const auto tree = read_tree(syntax, text, "f");
    CAPTURE(text);
    REQUIRE_FALSE(tree.has_value());
    return tree.error().where;
  };
  CHECK(where(Syntax::json, "{\n  'a': 1}") == "f:2:3");
  CHECK(where(Syntax::json, "{\"a\": 1} x") == "f:1:10");
  CHECK(where(Syntax::json, "{\"ä\": tru}") == "f:1:7");
  CHECK(where(Syntax::json, "{\"a\": [1 2]}") == "f:1:10");
  CHECK(where(Syntax::json, "{\"a\": \"\\q\"}") == "f:1:8");
  CHECK(where(Syntax::json, "/* x") == "f:1:1");
  CHECK(where(Syntax::json, "[]") == "f:1:1");
  CHECK(where(Syntax::json, "{") == "f:1:2");
  CHECK(where(Syntax::json, std::string(300, '[')) == "f:1:202");
  CHECK(where(Syntax::toml, "a = 1\na = 2\n") == "f:2:1");
  CHECK(where(Syntax::toml, "[a]\n[a]\n") == "f:2:2");
  CHECK(where(Syntax::toml, "a = {b = 1}\n[a.c]\n") == "f:2:2");
  CHECK(where(Syntax::toml, "a = \"x\n") == "f:1:7");
  CHECK(where(Syntax::toml, "a = 1 b = 2") == "f:1:7");
  CHECK(where(Syntax::toml, "a = x") == "f:1:5");
  CHECK(where(Syntax::toml, "a = \"\\q\"") == "f:1:6");
  CHECK(where(Syntax::toml, "[a\n") == "f:1:3");
  CHECK(where(Syntax::toml, "= 1") == "f:1:1");
  CHECK(where(Syntax::toml, "a = {b = 1,}") == "f:1:12");
}

TEST_CASE("an empty text has no servers") {
  for (const char* text : {"", " \n", "// nothing\n"}) {
    CHECK(find_entries(tree_of({}, text), kJson).empty());
  }
  CHECK(find_entries(tree_of({Syntax::toml, kToml}, "# nothing"), kToml).empty());
}

TEST_CASE("texts with very many keys take no time to speak of") {
  std::string json = "{\"mcpServers\": {";
  for (int i = 0; i < 200'000; ++i) {
    json += "\"" + std::to_string(i) + "\": {\"command\": \"x\"},";
  }
  json += "}}";
  CHECK(find_entries(tree_of({}, json), kJson).size() == 200'000);
  std::string toml;
  for (int i = 0; i < 30'000; ++i) {
    toml += "k" + std::to_string(i) + " = 1\n";
  }
  const auto tree = read_toml(toml, "f");
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().detail == "too many keys in one table");
}
