// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace cordon::cli;

namespace {

Parsed parsed(const std::vector<std::string>& arguments) { return parse(arguments, "1.2.3"); }

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("version and help go to stdout with status 0") {
  CHECK(parsed({"--version"}).out == "mcp-cordon 1.2.3\n");
  CHECK(parsed({"--version"}).exit_status == 0);
  const Parsed help = parsed({"--help"});
  CHECK(help.exit_status == 0);
  CHECK(help.err.empty());
  for (const CommandEntry* entry : commands()) {
    CHECK(says(help.out, entry->name));
    const Parsed own = parsed({std::string(entry->name), "--help"});
    CHECK(own.exit_status == 0);
    CHECK(says(own.out, entry->summary));
    CHECK(own.command == nullptr);
  }
}

TEST_CASE("the table of commands has no name twice") {
  std::set<std::string_view> names;
  for (const CommandEntry* entry : commands()) {
    CHECK(names.insert(entry->name).second);
  }
}

TEST_CASE("a wrong command line ends with status 2 and says so on stderr alone") {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"frobnicate"},
                                                       {"run", "name", "--no-such-flag"},
                                                       {"run", "a", "b"},
                                                       {"--no-such-flag"},
                                                       {"capture", "a", "-o"}};
  for (const std::vector<std::string>& arguments : wrong) {
    CAPTURE(arguments.size());
    const Parsed out = parsed(arguments);
    CHECK(out.command == nullptr);
    CHECK(out.exit_status == kUsage);
    CHECK(out.out.empty());
    CHECK(out.err.starts_with("mcp-cordon: "));
  }
}

TEST_CASE("a mistyped command is told the nearest one") {
  CHECK(says(parsed({"reveiw"}).err, "did you mean 'review'?"));
}

TEST_CASE("what stands on the command line does not reach the terminal raw") {
  CHECK(parsed({"\x1b[2J"}).err.find('\x1b') == std::string::npos);
  CHECK(parsed({"run", "--\x1b[2J"}).err.find('\x1b') == std::string::npos);
}

TEST_CASE("words after -- are the server's, whatever they look like") {
  const Parsed out = parsed({"run", "name", "--", "node", "--read-only", "--", "--help"});
  REQUIRE(out.command != nullptr);
  CHECK(out.has_separator);
  CHECK(out.after == std::vector<std::string>{"node", "--read-only", "--", "--help"});
  CHECK_FALSE(parsed({"run", "name"}).has_separator);
}

TEST_CASE("the first word after -- is no NAME") {
  // The argument library would take it as the positional that is missing.
  const Parsed out = parsed({"run", "--policy", "file", "--", "node"});
  REQUIRE(out.command != nullptr);
  CHECK(out.after == std::vector<std::string>{"node"});
}

TEST_CASE("words after -- are refused where no server is started") {
  CHECK(says(parsed({"check", "--", "x"}).err, "takes no words after --"));
}

TEST_CASE("an option that may be given several times takes one value each time") {
  const Parsed out = parsed({"run", "--ceiling", "a", "--ceiling=b", "x"});
  CHECK(out.command != nullptr);
  CHECK(parsed({"run", "x", "--ceiling"}).exit_status == kUsage);
  CHECK(parsed({"run", "--ceiling", "a", "x", "y"}).exit_status == kUsage);
}

TEST_CASE("a server's command without the two dashes before it is told of them") {
  CHECK(says(parsed({"run", "files", "node", "server.js"}).err, "stands behind --"));
  CHECK_FALSE(says(parsed({"run", "files", "x", "--", "node"}).err, "stands behind --"));
  CHECK_FALSE(says(parsed({"facts", "--no-such-flag"}).err, "stands behind --"));
}

TEST_CASE("explain takes the arguments of a call") {
  CHECK(parsed({"explain", "x", "t", "--arguments", "{}", "--read-only"}).command != nullptr);
  CHECK(says(parsed({"explain", "--help"}).out, "--arguments"));
}
