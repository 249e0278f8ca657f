// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/inventory.hpp"

#include <algorithm>
#include <charconv>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "formats/reports/sarif_words.hpp"
#include "formats/reports/words.hpp"

namespace cordon::formats {
namespace {

using clients::Finding;

constexpr std::size_t kMaxCommand = 1'000'000;  // a command is never cut

std::string shown(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\"'\\") == std::string::npos;
    out += text::cat(out.empty() ? "" : " ", plain ? text::printable(word, kMaxCommand)
                                                   : text::cat('\'', text::printable(word, kMaxCommand), '\''));
  }
  return out;
}

std::string sentence(const Finding& finding) {
  return text::cat(clients::facts(finding.kind).phrase, finding.detail.empty() ? "" : ": ", finding.detail);
}

void add_findings(std::string& out, std::string_view indent, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    out +=
        text::cat(indent, clients::counts(finding.kind) ? "! " : "- ", text::printable(sentence(finding), 2000), '\n');
  }
}

void add_server(std::string& out, const InventoryServer& server) {
  out += text::cat(
      "  ", text::printable(server.name, 200), "  ", server.transport,
      server.wrapped ? text::cat(", wrapped by policy ", text::printable(server.policy, 500)) : std::string(), '\n');
  if (!server.command.empty()) {
    out += text::cat("    ", shown(server.command), '\n');
  }
  if (!server.url.empty()) {
    out += text::cat("    ", text::printable(server.url, 1000), '\n');
  }
  add_findings(out, "    ", server.findings);
  for (const std::string& file : server.also_in) {
    out += text::cat("    - also in ", text::printable(file, 1000), '\n');
  }
}

void write_strings(json::Writer& writer, std::string_view key, const std::vector<std::string>& values) {
  writer.key(key).begin_array();
  for (const std::string& value : values) {
    writer.string(value);
  }
  writer.end_array();
}

void write_findings(json::Writer& writer, const std::vector<Finding>& findings) {
  writer.key("findings").begin_array();
  for (const Finding& finding : findings) {
    const clients::FindingFacts& facts = clients::facts(finding.kind);
    writer.begin_object().member("kind", facts.name).member("level", facts.level).member("detail", finding.detail);
    writer.end_object();
  }
  writer.end_array();
}

void write_server(json::Writer& writer, const InventoryServer& server) {
  writer.begin_object();
  writer.member("name", server.name).member("client", server.client).member("file", server.file);
  writer.member("place", server.place).member("transport", server.transport);
  write_strings(writer, "command", server.command);
  writer.member("url", server.url);
  write_strings(writer, "environment", server.environment);
  writer.member_bool("wrapped", server.wrapped).member("policy", server.policy);
  write_strings(writer, "also_in", server.also_in);
  write_findings(writer, server.findings);
  writer.end_object();
}

struct Result {
  const Finding& finding;
  std::string_view subject = {};  // a server's name, or empty
  const std::string& file;
  std::string_view place = {};
};

std::int64_t line_of(std::string_view place) {
  std::int64_t line = 1;
  std::from_chars(place.data(), place.data() + place.size(), line);
  return line;
}

void write_result(json::Writer& writer, const Result& result) {
  const clients::FindingFacts& facts = clients::facts(result.finding.kind);
  writer.begin_object();
  writer.member("ruleId", facts.name).member_int("ruleIndex", static_cast<std::int64_t>(result.finding.kind));
  writer.member("level", facts.level);
  const std::string subject =
      result.subject.empty() ? "the config" : text::cat("server '", sarif_text(result.subject), '\'');
  writer.key("message").begin_object();
  writer.member("text", text::cat(subject, ' ', sarif_text(sentence(result.finding)))).end_object();
  writer.key("locations").begin_array().begin_object().key("physicalLocation").begin_object();
  writer.key("artifactLocation").begin_object().member("uri", "file://" + sarif_uri(result.file)).end_object();
  writer.key("region").begin_object().member_int("startLine", line_of(result.place)).end_object();
  writer.end_object().end_object().end_array();
  const std::string identity =
      text::cat(result.file, '\n', result.subject, '\n', facts.name, '\n', result.finding.detail);
  writer.key("partialFingerprints").begin_object().member("finding/v1", hex(sha256(identity))).end_object();
  writer.end_object();
}

void write_rules(json::Writer& writer) {
  writer.key("rules").begin_array();
  for (const clients::FindingFacts& row : clients::finding_table()) {
    writer.begin_object().member("id", row.name);
    writer.key("shortDescription").begin_object().member("text", row.phrase).end_object();
    if (!row.remedy.empty()) {
      writer.key("help").begin_object().member("text", row.remedy).end_object();
    }
    writer.key("defaultConfiguration").begin_object().member("level", row.level).end_object();
    writer.end_object();
  }
  writer.end_array();
}

// What to do, once for each kind of finding that there is.
std::string remedies(const Inventory& inventory) {
  std::string out;
  for (const clients::FindingFacts& row : clients::finding_table()) {
    const auto is_row = [&row](const Finding& finding) { return finding.kind == row.kind; };
    const auto has_row = [&](const auto& one) { return std::ranges::any_of(one.findings, is_row); };
    if (!row.remedy.empty() &&
        (std::ranges::any_of(inventory.files, has_row) || std::ranges::any_of(inventory.servers, has_row))) {
      out += text::cat("  ", row.phrase, ": ", row.remedy, '\n');
    }
  }
  return out.empty() ? out : text::cat("What to do where a server\n", out);
}

bool any_counts(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) { return clients::counts(finding.kind); });
}

}  // namespace

bool has_finding(const Inventory& inventory) {
  return std::ranges::any_of(inventory.files, [](const auto& file) { return any_counts(file.findings); }) ||
         std::ranges::any_of(inventory.servers, [](const auto& server) { return any_counts(server.findings); });
}

std::string inventory_text(const Inventory& inventory) {
  std::string out;
  std::size_t wrapped = 0;
  std::size_t local = 0;
  for (const InventoryFile& file : inventory.files) {
    out += text::cat(text::printable(file.path, 1000), "  (", file.title, ", ", file.scope, ")\n");
    if (!file.real.empty()) {
      out += text::cat("  leads to ", text::printable(file.real, 1000), '\n');
    }
    add_findings(out, "  ", file.findings);
    for (const InventoryServer& server : inventory.servers) {
      if (server.file == file.path && server.client == file.client) {
        add_server(out, server);
        wrapped += server.wrapped ? 1U : 0U;
        local += server.transport == "stdio" ? 1U : 0U;
      }
    }
  }
  return text::cat(out,
                   inventory.files.empty() ? "No config of a known client was found.\n"
                                           : text::cat(wrapped, " of ", local, " local servers are wrapped.\n"),
                   remedies(inventory));
}

std::string inventory_json(const Inventory& inventory) {
  json::Writer writer;
  writer.begin_object().member("format", "mcp-cordon.inventory").member_int("version", 1);
  writer.key("files").begin_array();
  for (const InventoryFile& file : inventory.files) {
    writer.begin_object().member("path", file.path).member("real", file.real).member("client", file.client);
    writer.member("title", file.title).member("scope", file.scope);
    write_findings(writer, file.findings);
    writer.end_object();
  }
  writer.end_array().key("servers").begin_array();
  for (const InventoryServer& server : inventory.servers) {
    write_server(writer, server);
  }
  writer.end_array().end_object();
  return reviewable_json(writer.take());
}

std::string inventory_sarif(const Inventory& inventory) {
  json::Writer writer;
  writer.begin_object().member("$schema", "https://json.schemastore.org/sarif-2.1.0.json").member("version", "2.1.0");
  writer.key("runs").begin_array().begin_object();
  writer.key("tool").begin_object().key("driver").begin_object().member("name", "mcp-cordon");
  write_rules(writer);
  writer.end_object().end_object();
  writer.key("results").begin_array();
  for (const InventoryFile& file : inventory.files) {
    for (const Finding& finding : file.findings) {
      write_result(writer, {finding, {}, file.path, {}});
    }
  }
  for (const InventoryServer& server : inventory.servers) {
    for (const Finding& finding : server.findings) {
      write_result(writer, {finding, server.name, server.file, server.place});
    }
  }
  writer.end_array().end_object().end_array().end_object();
  return reviewable_json(writer.take());
}

}  // namespace cordon::formats
