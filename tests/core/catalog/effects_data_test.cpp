// SPDX-License-Identifier: Apache-2.0
// Proposals against labels set by hand on the tools of released servers (tests/data/effects). docs/effects.md holds the
// figures that this test computes; CORDON_SHOW_EFFECTS=1 prints them and every difference.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "base/text.hpp"
#include "core/catalog/effects.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {
namespace {

constexpr std::array<std::string_view, 6> kClasses = {"read", "write", "send", "destructive", "execute", "unknown"};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Figures {
  std::map<std::pair<std::string, std::string>, int> counts = {};  // label, proposal
  int tools = 0;
  int servers = 0;
  int missed = 0;      // not read, proposed as read
  int overstated = 0;  // read, proposed as something else

  std::string table() const {
    std::string out = "| by hand ↓, proposed → |";
    for (const std::string_view name : kClasses) {
      out += text::cat(' ', name, " |");
    }
    out += "\n|---|---|---|---|---|---|---|\n";
    for (const std::string_view label : kClasses) {
      if (label == "unknown") {
        continue;
      }
      out += text::cat("| ", label, " |");
      for (const std::string_view proposal : kClasses) {
        const auto found = counts.find({std::string(label), std::string(proposal)});
        out += text::cat(' ', found == counts.end() ? 0 : found->second, " |");
      }
      out += '\n';
    }
    return text::cat(out, '\n', tools, " tools of ", servers, " servers; ", missed,
                     " that do more than read are proposed as `read`, ", overstated,
                     " that only read as something else.\n");
  }
};

Figures measure(const std::string& part) {
  const std::string text = read_file(text::cat(CORDON_TEST_DATA, "/effects/", part, ".json"));
  const Result<json::Document> document = json::read(text, {.max_bytes = text.size()});
  REQUIRE(document.has_value());
  const bool show = std::getenv("CORDON_SHOW_EFFECTS") != nullptr;
  Figures figures;
  for (const json::Value server : document->root().find("servers").elements()) {
    CHECK_FALSE(server.find("licence").string().empty());
    ++figures.servers;
    for (const json::Value tool : server.find("tools").elements()) {
      const std::string label = tool.find("effect").string();
      const EffectProposal proposal = propose_effect(tool.find("definition"));
      ++figures.tools;
      ++figures.counts[{label, std::string(proposal.effect)}];
      figures.missed += label != "read" && proposal.effect == "read" ? 1 : 0;
      figures.overstated += label == "read" && proposal.effect != "read" ? 1 : 0;
      CHECK_FALSE(proposal.reasons.empty());
      if (show && label != proposal.effect) {
        std::cout << server.find("source").string() << ' ' << tool.find("definition").find("name").string() << ": "
                  << label << ", proposed " << proposal.effect << " ("
                  << text::printable(text::join(proposal.reasons, "; ")) << ")\n";
      }
    }
  }
  if (show) {
    std::cout << figures.table();
  }
  return figures;
}

TEST_CASE("the figures of docs/effects.md are those of the labelled tools") {
  const std::string page = read_file(CORDON_DOCS_DIR "/effects.md");
  for (const std::string_view part : {"tuned", "held-out"}) {
    const Figures figures = measure(std::string(part));
    CHECK_MESSAGE(page.find(figures.table()) != std::string::npos, figures.table());
  }
}

TEST_CASE("on the tools that the words were tuned with, nothing that writes is proposed as read") {
  CHECK(measure("tuned").missed == 0);
}

}  // namespace
}  // namespace cordon::catalog
