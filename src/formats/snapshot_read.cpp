// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/catalog/variables.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/argument_pointer.hpp"
#include "formats/json_place.hpp"
#include "formats/member_reader.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {

namespace {

using json::Kind;
using json::Value;
using std::string_view;

constexpr std::array<string_view, 14> kMembers = {
    "capabilities", "digest", "format",      "instructions", "launch", "protocol_versions", "reviewed_at",
    "reviewer",     "server", "server_info", "status",       "tools",  "unattended",        "version"};
constexpr std::array<string_view, 5> kOptionalMembers = {"policy", "prompts", "resource_templates", "resources",
                                                         "variables"};
constexpr std::array<string_view, 6> kPlaceMembers = {"item", "key", "length", "offset", "pointer", "variable"};
constexpr std::size_t kMaxPlaces = 10'000;
constexpr std::array<string_view, 3> kOptionalToolMembers = {"interface", "interface_facts", "when"};
constexpr std::array<string_view, 2> kWhenMembers = {"argument", "effect"};
constexpr std::array<string_view, 1> kOptionalWhenMembers = {"value"};
constexpr std::size_t kMaxConditions = 256;
constexpr std::array<string_view, 5> kToolMembers = {"definition", "digest", "effect", "effect_source", "name"};
constexpr std::array<string_view, 5> kLaunchMembers = {"command", "environment_names", "executable", "files",
                                                       "set_values"};
constexpr std::array<string_view, 1> kOptionalLaunchMembers = {"package"};
constexpr std::array<string_view, 3> kPackageMembers = {"lock", "source", "tree"};
constexpr std::array<string_view, 2> kPolicyMembers = {"digest", "path"};

constexpr string_view kEditRemedy = "undo the edit, or run 'mcp-cordon review' to pin what is there now";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_server_name(string_view text) {
  const auto alphanumeric = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 64 && alphanumeric(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

// The shape of an RFC 3339 time in UTC: 2026-11-30T12:00:00Z, a fraction of a second allowed.
bool is_utc_time(string_view text) {
  constexpr string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size() || !text.ends_with('Z')) {
    return false;
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !is_digit(text[i]) : text[i] != kShape[i]) {
      return false;
    }
  }
  const string_view fraction = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  return fraction.empty() || (fraction.size() > 1 && fraction.front() == '.' &&
                              std::ranges::all_of(fraction.substr(1), [](char c) { return is_digit(c); }));
}

class Reader : private MemberReader {
 public:
  Reader(const json::Document& document, string_view file) : MemberReader(document, file, Errc::snapshot_invalid) {}

  Result<catalog::Snapshot> run() {
    read_snapshot();
    if (auto fault = take_fault()) {
      return std::unexpected(std::move(*fault));
    }
    return std::move(snapshot_);
  }

 private:
  bool read_head(const Value& root) {
    // The version first: a newer file may have members that we do not know.
    const Value format = root.find("format");
    if (!format.is(Kind::string) || !format.string_equals("mcp-cordon.snapshot")) {
      fault(format ? format : root, "'format' must be \"mcp-cordon.snapshot\"");
      return false;
    }
    const Value version = root.find("version");
    if (!version.is(Kind::number) || version.number_text() != "1") {
      fault(version ? version : root, "'version' must be 1",
            "a file of a later version needs a later version of mcp-cordon");
      return false;
    }
    return has_exactly(root, kMembers, "the snapshot", kOptionalMembers);
  }

  void read_snapshot() {
    const Value root = document().root();
    if (!root.is(Kind::object)) {
      fault(root, "a snapshot must be an object");
      return;
    }
    if (!read_head(root)) {
      return;
    }
    snapshot_.capabilities = object_of(root.find("capabilities"), "'capabilities'");
    snapshot_.digest = digest_of(root.find("digest"), "'digest'");
    const Value instructions = root.find("instructions");
    if (instructions.is(Kind::string)) {
      snapshot_.instructions = instructions.string();
    } else if (!instructions.is(Kind::null)) {
      fault(instructions, "'instructions' must be a string or null");
    }
    read_launch(root.find("launch"));
    read_policy(root.find("policy"));
    snapshot_.protocol_versions = texts_of(root.find("protocol_versions"), "'protocol_versions'");
    snapshot_.server = text_of(root.find("server"), "'server'");
    if (!faulty() && !is_server_name(snapshot_.server)) {
      fault(root.find("server"), "'server' must match [A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    }
    snapshot_.server_info = object_of(root.find("server_info"), "'server_info'");
    read_review(root);
    read_tools(root.find("tools"));
    for (const catalog::ListKind kind : catalog::kItemKinds) {
      read_items(kind, root.find(catalog::names(kind).file_member));
    }
    read_variables(root.find("variables"));
    if (!faulty() && snapshot_.digest != catalog::snapshot_digest(snapshot_)) {
      fault(root.find("digest"), "'digest' is not that of the catalog in this file", kEditRemedy);
    }
  }

  void read_review(const Value& root) {
    const std::string status = text_of(root.find("status"), "'status'");
    if (status != "reviewed" && status != "candidate") {
      fault(root.find("status"), "'status' must be \"reviewed\" or \"candidate\"");
    }
    snapshot_.reviewed = status == "reviewed";
    snapshot_.reviewer = text_of(root.find("reviewer"), "'reviewer'");
    snapshot_.reviewed_at = text_of(root.find("reviewed_at"), "'reviewed_at'");
    snapshot_.unattended = flag_of(root.find("unattended"), "'unattended'");
    if (snapshot_.reviewed && snapshot_.reviewer.empty()) {
      fault(root.find("reviewer"), "'reviewer' must not be empty in a reviewed snapshot");
    }
    if ((snapshot_.reviewed || !snapshot_.reviewed_at.empty()) && !is_utc_time(snapshot_.reviewed_at)) {
      fault(root.find("reviewed_at"), "'reviewed_at' must be a time in UTC such as 2026-11-30T12:00:00Z");
    }
  }

  void read_launch(const Value& launch) {
    if (!has_exactly(launch, kLaunchMembers, "'launch'", kOptionalLaunchMembers)) {
      return;
    }
    catalog::LaunchFingerprint& into = snapshot_.launch;
    const auto digest_or_empty = [&](const Value& value, string_view what) {
      return value.is(Kind::string) && value.string_raw().empty() ? std::string() : digest_of(value, what);
    };
    into.command = texts_of(launch.find("command"), "'launch.command'");
    into.environment_names = texts_of(launch.find("environment_names"), "'launch.environment_names'");
    into.executable = digest_or_empty(launch.find("executable"), "'launch.executable'");
    into.set_values = digest_or_empty(launch.find("set_values"), "'launch.set_values'");
    const Value package = launch.find("package");
    if (package && has_exactly(package, kPackageMembers, "'launch.package'")) {
      into.package.lock = digest_of(package.find("lock"), "'launch.package.lock'");
      into.package.source = text_of(package.find("source"), "'launch.package.source'");
      into.package.tree = digest_or_empty(package.find("tree"), "'launch.package.tree'");
    }
    const Value files = launch.find("files");
    if (!files.is(Kind::object)) {
      fault(files, "'launch.files' must be an object");
      return;
    }
    for (const json::Member member : files.members()) {
      into.files[member.key.string()] = digest_of(member.value, "each value of 'launch.files'");
    }
  }

  void read_policy(const Value& policy) {
    if (policy && has_exactly(policy, kPolicyMembers, "'policy'")) {
      snapshot_.policy.digest = digest_of(policy.find("digest"), "'policy.digest'");
      snapshot_.policy.path = text_of(policy.find("path"), "'policy.path'");
    }
  }

  void read_tools(const Value& tools) {
    if (!tools.is(Kind::array)) {
      fault(tools, "'tools' must be an array");
      return;
    }
    for (const Value element : tools.elements()) {
      if (faulty()) {
        return;
      }
      read_tool(element);
    }
  }

  void read_tool(const Value& entry) {
    if (!has_exactly(entry, kToolMembers, "a tool", kOptionalToolMembers)) {
      return;
    }
    catalog::PinnedTool tool;
    tool.name = text_of(entry.find("name"), "'name' of a tool");
    const std::string what = text::cat("tool '", text::printable(tool.name), "'");
    const Result<catalog::Tool> defined = catalog::read_tool(entry.find("definition"), catalog::Leniency::served);
    if (!defined) {
      fault(entry.find("definition"), text::cat(what, ": ", defined.error().detail));
      return;
    }
    if (defined->name != tool.name) {
      fault(entry.find("name"),
            text::cat(what, ": its definition has the name '", text::printable(defined->name), "'"));
    }
    tool.definition = defined->definition;
    tool.digest = digest_of(entry.find("digest"), text::cat("'digest' of ", what));
    if (!faulty() && tool.digest != catalog::tool_digest(tool.definition)) {
      fault(entry.find("digest"), text::cat("'digest' of ", what, " is not that of its definition"), kEditRemedy);
    }
    if (const Value interface = entry.find("interface")) {
      tool.interface = digest_of(interface, text::cat("'interface' of ", what));
    }
    if (const Value about = entry.find("interface_facts")) {
      if (!about.is(Kind::object) || tool.interface.empty()) {
        fault(about, text::cat("'interface_facts' of ", what, " must be an object, beside 'interface'"));
      }
      tool.interface_facts = json::canonical(about);
    }
    read_effect(entry, what, tool);
    read_when(entry.find("when"), what, tool);
    if (!snapshot_.tools.empty() && snapshot_.tools.back().name >= tool.name) {
      const bool twice = snapshot_.tools.back().name == tool.name;
      fault(entry.find("name"), text::cat(what, twice ? " stands here twice" : " is not in the order of names"));
    }
    snapshot_.tools.push_back(std::move(tool));
  }

  void read_items(catalog::ListKind kind, const Value& items) {
    if (!items) {
      return;
    }
    const catalog::ListNames& named = catalog::names(kind);
    if (!items.is(Kind::array)) {
      fault(items, text::cat("'", named.file_member, "' must be an array"));
      return;
    }
    for (const Value element : items.elements()) {
      if (!faulty()) {
        read_item(kind, element);
      }
    }
  }

  void read_variables(const Value& places) {
    if (!places || faulty()) {
      return;
    }
    if (!places.is(Kind::array) || places.size() > kMaxPlaces) {
      fault(places, text::cat("'variables' must be an array of at most ", kMaxPlaces, " places"));
      return;
    }
    for (const Value entry : places.elements()) {
      if (!has_exactly(entry, kPlaceMembers, "a place of a variable")) {
        return;
      }
      catalog::VariablePlace place;
      place.item = text_of(entry.find("item"), "'item' of a place");
      place.key = text_of(entry.find("key"), "'key' of a place");
      place.pointer = text_of(entry.find("pointer"), "'pointer' of a place");
      place.offset = count_of(entry.find("offset"), "'offset' of a place");
      place.length = count_of(entry.find("length"), "'length' of a place");
      place.variable = text_of(entry.find("variable"), "'variable' of a place");
      snapshot_.variables.push_back(std::move(place));
    }
    if (const Status checked = catalog::check_places(snapshot_); !faulty() && !checked) {
      fault(places, checked.error().detail);
    }
  }

  void read_item(catalog::ListKind kind, const Value& entry) {
    const catalog::ListNames& named = catalog::names(kind);
    const std::array<string_view, 3> members = {"definition", "digest", named.file_key};
    if (!has_exactly(entry, members, text::cat("a ", named.text))) {
      return;
    }
    catalog::PinnedItem item;
    item.key = text_of(entry.find(named.file_key), text::cat("'", named.file_key, "' of a ", named.text));
    const std::string what = text::cat(named.text, " '", text::printable(item.key, 200), "'");
    Result<catalog::Item> defined = catalog::read_item(kind, entry.find("definition"));
    if (!defined) {
      fault(entry.find("definition"), text::cat(what, ": ", defined.error().detail));
      return;
    }
    if (defined->key != item.key) {
      fault(entry.find(named.file_key), text::cat(what, ": its definition has another '", named.key, "'"));
    }
    item.definition = std::move(defined->definition);
    item.digest = digest_of(entry.find("digest"), text::cat("'digest' of ", what));
    if (!faulty() && item.digest != catalog::item_digest(item.definition)) {
      fault(entry.find("digest"), text::cat("'digest' of ", what, " is not that of its definition"), kEditRemedy);
    }
    std::vector<catalog::PinnedItem>& list = snapshot_.items(kind);
    if (!list.empty() && list.back().key >= item.key) {
      fault(entry.find(named.file_key),
            text::cat(what, list.back().key == item.key ? " stands here twice" : " is not in order"));
    }
    list.push_back(std::move(item));
  }

  void read_effect(const Value& entry, const std::string& what, catalog::PinnedTool& tool) {
    tool.effect = text_of(entry.find("effect"), text::cat("'effect' of ", what));
    if (!catalog::effect_rank(tool.effect)) {
      fault(entry.find("effect"),
            text::cat("'effect' of ", what, " must be read, write, destructive, execute, send or unknown"));
    }
    const auto source =
        catalog::effect_source_from_name(text_of(entry.find("effect_source"), text::cat("'effect_source' of ", what)));
    if (!source) {
      fault(entry.find("effect_source"), text::cat("'effect_source' of ", what, " must be proposed or reviewer"));
    }
    tool.effect_source = source.value_or(catalog::EffectSource::proposed);
  }

  void read_when(const Value& when, const std::string& what, catalog::PinnedTool& tool) {
    if (!when || faulty()) {
      return;
    }
    if (!when.is(Kind::array) || when.size() == 0 || when.size() > kMaxConditions) {
      fault(when, text::cat("'when' of ", what, " must be an array of 1 to ", kMaxConditions, " conditions"));
      return;
    }
    for (const Value entry : when.elements()) {
      if (!has_exactly(entry, kWhenMembers, text::cat("a condition of ", what), kOptionalWhenMembers)) {
        return;
      }
      catalog::EffectCondition condition;
      condition.argument = text_of(entry.find("argument"), text::cat("'argument' of a condition of ", what));
      condition.effect = text_of(entry.find("effect"), text::cat("'effect' of a condition of ", what));
      if (const Value value = entry.find("value")) {
        condition.value = text_of(value, text::cat("'value' of a condition of ", what));
      }
      const bool pointer = condition.argument.empty() || policy::ArgumentPointer::parse(condition.argument).has_value();
      if (!faulty() && (!pointer || (condition.argument.empty() && condition.value))) {
        fault(entry.find("argument"), text::cat("'argument' of a condition of ", what, " must be a JSON pointer"));
      }
      if (!faulty() && !catalog::effect_rank(condition.effect)) {
        fault(entry.find("effect"), text::cat("'effect' of a condition of ", what,
                                              " must be read, write, destructive, execute, send or unknown"));
      }
      tool.when.push_back(std::move(condition));
    }
  }

  catalog::Snapshot snapshot_ = {};
};

}  // namespace

Result<catalog::Snapshot> read_snapshot(string_view text, std::string file, json::Limits limits) {
  const Result<json::Document> document = json::read(std::string(text), limits);
  if (!document) {
    return fail(Errc::snapshot_invalid, document.error().detail,
                place_of_read_error(file, text, document.error().where), document.error().remedy);
  }
  return Reader(*document, file).run();
}

}  // namespace cordon::formats
