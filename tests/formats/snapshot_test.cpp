// SPDX-License-Identifier: Apache-2.0
#include "formats/snapshot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "core/catalog/compare.hpp"

namespace cordon::formats {
namespace {

using catalog::EffectSource;
using catalog::Snapshot;

Snapshot sample() {
  Snapshot snapshot = {
      .server = "demo",
      .tools = {{.name = "write_file",
                 .definition =
                     R"({"description":"Writes a file.","inputSchema":{"properties":{"path":{"type":"string"}},)"
                     R"("required":["path"],"type":"object"},"name":"write_file"})",
                 .effect = "write",
                 .effect_source = EffectSource::reviewer},
                {.name = "count", .definition = R"({"inputSchema":{"maximum":1e400,"type":"object"},"name":"count"})"}},
      .instructions = "Use with care.",
      .server_info = R"({"name":"demo-server","version":"1.2.3"})",
      .capabilities = R"({"tools":{"listChanged":true}})",
      .protocol_versions = {"2025-11-25"},
      .reviewer = "maria",
      .reviewed_at = "2026-11-30T12:00:00Z",
      .launch = {.command = {"node", "/opt/demo/index.js"},
                 .executable = sha256_text("node"),
                 .files = {{"/opt/demo/index.js", sha256_text("js")}},
                 .set_values = sha256_text(""),
                 .environment_names = {"LANG"}}};
  catalog::seal(snapshot);
  return snapshot;
}

bool same(const Snapshot& a, const Snapshot& b) {
  const auto same_tool = [](const catalog::PinnedTool& x, const catalog::PinnedTool& y) {
    return x.name == y.name && x.definition == y.definition && x.digest == y.digest && x.effect == y.effect &&
           x.effect_source == y.effect_source;
  };
  return a.server == b.server && std::ranges::equal(a.tools, b.tools, same_tool) && a.instructions == b.instructions &&
         a.server_info == b.server_info && a.capabilities == b.capabilities &&
         a.protocol_versions == b.protocol_versions && a.reviewer == b.reviewer && a.reviewed_at == b.reviewed_at &&
         a.unattended == b.unattended && a.reviewed == b.reviewed && a.launch == b.launch && a.digest == b.digest;
}

Snapshot reread(const Snapshot& snapshot) {
  Result<Snapshot> read = read_snapshot(write_snapshot(snapshot), "demo.catalog.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().to_string());
  return std::move(*read);
}

// The file of sample() with one text replaced by another.
std::string edited(std::string_view from, std::string_view to) {
  std::string text = write_snapshot(sample());
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

Error refused(const std::string& text) {
  const Result<Snapshot> read = read_snapshot(text, "demo.catalog.json");
  REQUIRE_FALSE_MESSAGE(read.has_value(), text);
  CHECK(read.error().code == Errc::snapshot_invalid);
  return read.error();
}

Snapshot whole_sample() {
  Snapshot snapshot = sample();
  snapshot.prompts = {{"ask", R"({"arguments":[{"name":"q"}],"description":"Asks in /data","name":"ask"})", {}}};
  snapshot.resources = {{"a://b", R"({"name":"n","size":1.0,"uri":"a://b"})", {}}};
  snapshot.templates = {{"a://{x}", R"({"name":"n","uriTemplate":"a://{x}"})", {}}};
  snapshot.tools[0].interface = sha256_text("ui");
  snapshot.variables = {{"instructions", "", "", 0, 3, "word"}, {"prompt", "ask", "/description", 8, 5, "root"}};
  catalog::seal(snapshot);
  return snapshot;
}

TEST_CASE("every kind of item, interfaces and places of variables are written and read") {
  const Snapshot written = whole_sample();
  const std::string text = write_snapshot(written);
  const auto read = read_snapshot(text, "s");
  REQUIRE_MESSAGE(read.has_value(), read.error().to_string());
  CHECK(read->prompts == written.prompts);
  CHECK(read->resources == written.resources);
  CHECK(read->templates == written.templates);
  CHECK(read->variables == written.variables);
  CHECK(std::ranges::equal(read->tools, written.tools, {}, &catalog::PinnedTool::interface,
                           &catalog::PinnedTool::interface));
  CHECK(write_snapshot(*read) == text);
}

TEST_CASE("an edit of what is no tool is found") {
  const std::string text = write_snapshot(whole_sample());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"Asks in /data", "Asks in /etc!"},
                                                        {"\"name\": \"ask\"\n    }", "\"name\": \"asked\"\n    }"},
                                                        {"\"size\": 1.0", "\"size\": 1"},
                                                        {"\"offset\": 8", "\"offset\": 9"},
                                                        {"\"length\": 5", "\"length\": 50"},
                                                        {"\"variable\": \"root\"", "\"variable\": \"other\""},
                                                        {sha256_text("ui"), sha256_text("other")},
                                                        {"\"item\": \"prompt\"", "\"item\": \"tool\""},
                                                        {"\"resource_templates\"", "\"resource_template\""}}) {
    CAPTURE(from);
    std::string edited = text;
    const std::size_t at = edited.find(from);
    REQUIRE(at != std::string::npos);
    edited.replace(at, from.size(), to);
    const auto read = read_snapshot(edited, "s");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == Errc::snapshot_invalid);
  }
}

TEST_CASE("the file, byte for byte") {
  Snapshot snapshot = {.server = "demo",
                       .tools = {{.name = "read_file",
                                  .definition = R"({"description":"Liest – \u001b[1mDatei)"
                                                "\xE2\x80\xAE"
                                                R"( ü","inputSchema":{},"name":"read_file"})",
                                  .effect = "read",
                                  .effect_source = EffectSource::reviewer}},
                       .reviewer = "maria",
                       .reviewed_at = "2026-11-30T12:00:00Z"};
  CHECK(write_snapshot(snapshot) == R"({
  "capabilities": {},
  "digest": "sha256:14c3412f36fad8e9c1f56bb55674b80fce34dbc2a070b51ccbf7a3cb42de1c8b",
  "format": "mcp-cordon.snapshot",
  "instructions": null,
  "launch": {
    "command": [],
    "environment_names": [],
    "executable": "",
    "files": {},
    "set_values": ""
  },
  "protocol_versions": [],
  "reviewed_at": "2026-11-30T12:00:00Z",
  "reviewer": "maria",
  "server": "demo",
  "server_info": {},
  "status": "reviewed",
  "tools": [
    {
      "definition": {
        "description": "Liest \u2013 \u001b[1mDatei\u202e ü",
        "inputSchema": {},
        "name": "read_file"
      },
      "digest": "sha256:2e1336c44b630c8fc5b3e50b51234e44fedaab26b1eb56d1e5f40c6c6fe12095",
      "effect": "read",
      "effect_source": "reviewer",
      "name": "read_file"
    }
  ],
  "unattended": false,
  "version": 1
}
)");
}

TEST_CASE("what is written reads back as the same snapshot, and the same file") {
  CHECK(same(reread(sample()), sample()));
  CHECK(write_snapshot(reread(sample())) == write_snapshot(sample()));

  Snapshot bare = {.server = "d", .reviewed = false};
  catalog::seal(bare);
  CHECK(same(reread(bare), bare));

  Snapshot odd = sample();
  odd.instructions = std::string("nul \0 bidi \xE2\x80\xAE lone \xED\xA0\x80 high \xF0\x9F\x98\x80", 33);
  odd.unattended = true;
  odd.protocol_versions = {"2026-07-28", "2025-11-25"};
  odd.launch.command = {"a b", "\x1b[2J\n"};
  catalog::seal(odd);
  CHECK(same(reread(odd), odd));
}

TEST_CASE("the policy that a snapshot is bound to goes through the file, and is no part of the digest") {
  Snapshot bound = sample();
  bound.policy = {"/usr/share/mcp-cordon/policies/demo.yaml", sha256_text("policy")};
  CHECK(reread(bound).policy == bound.policy);
  CHECK(reread(bound).digest == sample().digest);
  CHECK(reread(sample()).policy == catalog::PolicyBinding{});
  std::string text = write_snapshot(bound);
  const std::size_t at = text.find("\"path\"");
  CHECK(refused(text.replace(at, 6, "\"pash\"")).detail.find("did you mean 'path'?") != std::string::npos);
}

TEST_CASE("nothing but printable ASCII, letters and our own line ends stands in the file") {
  Snapshot snapshot = sample();
  snapshot.instructions =
      "\x1b[31m\x7f\xC2\x9B\xE2\x80\x8B\xE2\x80\xAE\xEF\xBB\xBF\xF3\xA0\x81\x81\xF0\x9F\x98\x80 \xC3\xA9";
  const std::string text = write_snapshot(snapshot);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool letter = text.compare(i, 2, "\xC3\xA9") == 0 || (i > 0 && text.compare(i - 1, 2, "\xC3\xA9") == 0);
    CHECK((byte == '\n' || (byte >= 0x20 && byte < 0x7F) || letter));
  }
  CHECK(text.ends_with("}\n"));
}

TEST_CASE("tools are written in order and digested, whatever the caller left") {
  Snapshot loose = sample();
  std::swap(loose.tools[0], loose.tools[1]);
  loose.tools[0].digest = "";
  loose.digest = "";
  CHECK(write_snapshot(loose) == write_snapshot(sample()));
}

TEST_CASE("a digest that is not that of its content is refused, by name and place") {
  const Error error = refused(edited("Writes a file.", "Writes any file."));
  CHECK(error.detail == "'digest' of tool 'write_file' is not that of its definition");
  CHECK(error.where.starts_with("demo.catalog.json:"));
  CHECK_FALSE(error.remedy.empty());
  CHECK(refused(edited("Use with care.", "Use at will.")).detail == "'digest' is not that of the catalog in this file");
  CHECK(refused(edited("\"write\"", "\"read\"")).detail == "'digest' is not that of the catalog in this file");
  CHECK(refused(edited("demo-server", "other")).detail == "'digest' is not that of the catalog in this file");
}

TEST_CASE("order in the file that has no meaning does not break the digest") {
  Snapshot snapshot = sample();
  snapshot.tools[1].definition = R"({"inputSchema":{"required":["b","a"]},"name":"write_file"})";
  std::string text = write_snapshot(snapshot);
  const std::string before = "\"b\",\n            \"a\"";
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  text.replace(at, before.size(), "\"a\", \"b\"");
  CHECK(read_snapshot(text, "f").has_value());
}

TEST_CASE("the place of a fault is told by line and column") {
  CHECK(refused(edited("\"format\": \"mcp-cordon.snapshot\"", "\"format\": \"other\"")).where ==
        "demo.catalog.json:8:13");
  CHECK(refused("{\n \"a\": 1,\n \"a\": 2}").where.starts_with("demo.catalog.json:"));
  CHECK(refused("").where.starts_with("demo.catalog.json"));
}

TEST_CASE("unknown and missing members are refused at every level") {
  CHECK(refused(edited("\"reviewer\"", "\"reviewr\"")).detail ==
        "unknown member 'reviewr' in the snapshot (did you mean 'reviewer'?)");
  CHECK(refused(edited("\"effect_source\": \"proposed\",", "")).detail ==
        "member 'effect_source' is missing in a tool");
  CHECK(refused(edited("\"set_values\"", "\"\\u001bvalues\"")).detail.find("unknown member '\\x1bvalues'") == 0);
  CHECK(refused(edited("\"unattended\": false,", "")).detail == "member 'unattended' is missing in the snapshot");
}

TEST_CASE("values of the wrong kind or shape are refused") {
  const std::pair<std::string_view, std::string_view> edits[] = {
      {"\"version\": 1\n", "\"version\": 2\n"},
      {"\"version\": 1\n", "\"version\": 1.0\n"},
      {"\"unattended\": false", "\"unattended\": 0"},
      {"\"status\": \"reviewed\"", "\"status\": \"Reviewed\""},
      {"\"server\": \"demo\"", "\"server\": \"../demo\""},
      {"\"server\": \"demo\"", "\"server\": 1"},
      {"\"maria\"", "\"\""},
      {"\"maria\"", "\"ma\\u0000ria\""},
      {"\"maria\"", "\"ma\\ud800ria\""},
      {"2026-11-30T12:00:00Z", "2026-11-30 12:00:00Z"},
      {"2026-11-30T12:00:00Z", "2026-11-30T12:00:00+01:00"},
      {"2026-11-30T12:00:00Z", "2026-11-30T12:00:00.Z"},
      {"2026-11-30T12:00:00Z", "Z"},
      {"\"effect\": \"write\"", "\"effect\": \"Write\""},
      {"\"effect_source\": \"reviewer\"", "\"effect_source\": \"me\""},
      {"\"Use with care.\"", "[]"},
      {"\"protocol_versions\": [", "\"protocol_versions\": [1, "},
      {"\"name\": \"count\"\n", "\"name\": \"counts\"\n"},
      {"\"executable\": \"sha256:", "\"executable\": \"sha1:"},
      {"\"executable\": \"sha256:", "\"executable\": \"sha256:0"},
      {"\"type\": \"object\"\n", "\"type\": \"object\", \"type\": \"object\"\n"},
      {"\"inputSchema\": {\n          \"maximum\": 1e400,\n          \"type\": \"object\"\n        }",
       "\"inputSchema\": 1"},
  };
  for (const auto& [from, to] : edits) {
    CAPTURE(from);
    CAPTURE(to);
    const Error error = refused(edited(from, to));
    CHECK_FALSE(error.detail.empty());
  }
  CHECK(read_snapshot(edited("12:00:00Z", "12:00:00.123Z"), "f").has_value());
}

TEST_CASE("tools out of order or twice are refused") {
  const Snapshot base = sample();
  const auto with_name = [&](std::string_view name) {
    return R"({"definition": {"inputSchema": {}, "name": ")" + std::string(name) + R"("}, "digest": ")" +
           catalog::tool_digest(R"({"inputSchema":{},"name":")" + std::string(name) + "\"}") +
           R"(", "effect": "read", "effect_source": "reviewer", "name": ")" + std::string(name) + "\"}";
  };
  const auto with_tools = [&](const std::string& tools) {
    std::string text = write_snapshot(base);
    const std::size_t begin = text.find("\"tools\": [\n") + 10;
    const std::size_t end = text.find("  \"unattended\"");
    return text.replace(begin, end - begin, tools + "],\n");
  };
  CHECK(refused(with_tools(with_name("b") + "," + with_name("a"))).detail == "tool 'a' is not in the order of names");
  CHECK(refused(with_tools(with_name("a") + "," + with_name("a"))).detail == "tool 'a' stands here twice");
  CHECK(refused(with_tools("7")).detail == "a tool must be an object");
}

TEST_CASE("a file over the limits is refused") {
  const std::string text = write_snapshot(sample());
  CHECK(refused(text + std::string(200, '[')).code == Errc::snapshot_invalid);
  const Result<Snapshot> small = read_snapshot(text, "f", {.max_bytes = 100});
  REQUIRE_FALSE(small.has_value());
  CHECK(small.error().code == Errc::snapshot_invalid);
}

TEST_CASE("a definition as deep as a message may carry goes through the file") {
  std::string deep = "{}";
  for (int i = 0; i < 123; ++i) {
    deep = R"({"not":)" + deep + "}";
  }
  Snapshot snapshot = sample();
  snapshot.tools[0].definition = R"({"inputSchema":)" + deep + R"(,"name":"count"})";
  catalog::seal(snapshot);
  CHECK(same(reread(snapshot), snapshot));
}

}  // namespace

TEST_CASE("classes that hang on arguments are written, read back, and part of the digest") {
  Snapshot snapshot = sample();
  const std::string before = snapshot.digest;
  snapshot.tools[1].when = {{"/path", std::nullopt, "write"}, {"/mode", "delete \u2028", "destructive"}};
  catalog::seal(snapshot);
  CHECK(snapshot.digest != before);
  const Snapshot read = reread(snapshot);
  CHECK(same(read, snapshot));
  CHECK(read.tools[1].when == snapshot.tools[1].when);
  CHECK(read.tools[0].when.empty());
}

TEST_CASE("a condition of a class that cannot be used is refused") {
  const auto with = [](const std::string& when) {
    return edited("\"effect_source\": \"reviewer\",", "\"effect_source\": \"reviewer\", \"when\": " + when + ',');
  };
  for (const char* bad :
       {"[]", "{}", R"([{"argument": "/a"}])", R"([{"argument": "a", "effect": "read"}])",
        R"([{"argument": "/a", "effect": "harmless"}])", R"([{"argument": "/a", "effect": "read", "value": 1}])",
        R"([{"argument": "", "effect": "read", "value": "x"}])",
        R"([{"argument": "/a", "effect": "read", "valeu": "x"}])"}) {
    CAPTURE(bad);
    CHECK_FALSE(refused(with(bad)).detail.empty());
  }
  CHECK(refused(with(R"([{"argument": "/a", "effect": "read"}])")).detail.find("digest") != std::string::npos);
}

}  // namespace cordon::formats
