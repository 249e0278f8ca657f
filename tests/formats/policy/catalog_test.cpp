// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::Catalog;
using cordon::policy::DriftAction;
using cordon::policy::Missing;

TEST_CASE("a catalog section reads into the catalog") {
  const Catalog catalog = accept(
                              "catalog:\n"
                              "  snapshot: reviewed/fs.json\n"
                              "  missing: flag\n"
                              "  drift: {added: flag, changed: pinned, removed: allow, cosmetic: block, instructions: "
                              "flag, identity: block, capabilities: block, launch: flag}\n"
                              "  accept_unattended: true\n"
                              "  trusted_keys: []\n"
                              "  variables: {}\n"
                              "  dynamic: []\n"
                              "  max_pages: 3\n"
                              "  max_tools: 100\n"
                              "  max_bytes: 2MB\n")
                              .catalog;
  CHECK(catalog.snapshot == "reviewed/fs.json");
  CHECK(catalog.missing == Missing::flag);
  CHECK(catalog.drift.added == DriftAction::flag);
  CHECK(catalog.drift.changed == DriftAction::pinned);
  CHECK(catalog.drift.removed == DriftAction::allow);
  CHECK(catalog.drift.cosmetic == DriftAction::block);
  CHECK(catalog.drift.instructions == DriftAction::flag);
  CHECK(catalog.drift.identity == DriftAction::block);
  CHECK(catalog.drift.capabilities == DriftAction::block);
  CHECK(catalog.drift.launch == DriftAction::flag);
  CHECK(catalog.accept_unattended);
  CHECK(catalog.max_pages == 3);
  CHECK(catalog.max_tools == 100);
  CHECK(catalog.max_bytes == 2'000'000);
}

TEST_CASE("without a catalog section the defaults of the contract hold") {
  CHECK(accept("").catalog == Catalog{});
  CHECK(accept("catalog: {drift: {}}\n").catalog == Catalog{});
  CHECK(accept("catalog: {drift: {added: hide, changed: block, removed: flag, cosmetic: allow, instructions: pinned, "
               "identity: pinned, capabilities: hide, launch: block}, missing: block, accept_unattended: false, "
               "max_pages: 64, max_tools: 20000, max_bytes: 10MB}\n")
            .catalog == Catalog{});
}

TEST_CASE("each kind of drift takes its own actions only") {
  const auto drift = [](std::string_view text) { return faults("catalog: {drift: {" + std::string(text) + "}}\n"); };
  CHECK(drift("added: allow") == "4:26: catalog.drift.added must be one of hide, flag, not 'allow'");
  CHECK(drift("added: block") == "4:26: catalog.drift.added must be one of hide, flag, not 'block'");
  CHECK(drift("changed: allow") == "4:28: catalog.drift.changed must be one of block, hide, pinned, flag, not 'allow'");
  CHECK(drift("removed: block") == "4:28: catalog.drift.removed must be one of flag, allow, not 'block'");
  CHECK(drift("cosmetic: flag") == "4:29: catalog.drift.cosmetic must be one of allow, block, not 'flag'");
  CHECK(drift("instructions: allow") ==
        "4:33: catalog.drift.instructions must be one of pinned, flag, block, not 'allow'");
  CHECK(drift("identity: hide") == "4:29: catalog.drift.identity must be one of pinned, flag, block, not 'hide'");
  CHECK(drift("capabilities: flag") == "4:33: catalog.drift.capabilities must be one of hide, block, not 'flag'");
  CHECK(drift("launch: allow") == "4:27: catalog.drift.launch must be one of block, flag, not 'allow'");
  CHECK(drift("changed: {}") == "4:28: catalog.drift.changed must be a word, or have both text and schema");
  CHECK(drift("changed: {text: pinned}") == "4:28: catalog.drift.changed must be a word, or have both text and schema");
  CHECK(drift("changed: {text: block, schema: pinned}") ==
        "4:50: a change of the schema must not be taken lighter than one of text");
  const auto parts = accept("catalog: {drift: {changed: {text: pinned, schema: block}}}\n").catalog.drift;
  CHECK(parts.changed == DriftAction::pinned);
  CHECK(parts.changed_schema == DriftAction::block);
  CHECK(drift("add: hide") == "4:19: unknown key 'add'");
}

TEST_CASE("what the catalog of later versions can do is refused when asked for") {
  CHECK(faults("catalog: {missing: trust-first-use}\n") ==
        "4:20: catalog.missing: trust-first-use is not supported by this version");
  CHECK(faults("catalog: {dynamic: {}}\n") == "4:20: catalog.dynamic must be a list, not a mapping");
  CHECK(faults("catalog: {variables: ~}\n") == "4:22: catalog.variables must be a mapping, not nothing");
}

TEST_CASE("catalog values are checked") {
  CHECK(faults("catalog: {snapshot: ~/x.json}\n") ==
        "4:21: catalog.snapshot must be absolute or relative to the policy file, not '~/x.json'");
  CHECK(faults("catalog: {snapshot: \"\"}\n") == "4:21: catalog.snapshot must not be empty");
  CHECK(faults("catalog: {accept_unattended: On}\n") ==
        "4:30: catalog.accept_unattended must be true or false, not 'On'");
  CHECK(faults("catalog: {max_pages: 0}\n") == "4:22: catalog.max_pages must lie between 1 and 10000, not 0");
  CHECK(faults("catalog: {max_tools: 100001}\n") ==
        "4:22: catalog.max_tools must lie between 1 and 100000, not 100001");
  CHECK(faults("catalog: {max_bytes: 1GB}\n") ==
        "4:22: catalog.max_bytes must lie between 1000 and 100000000, not 1000000000");
}
