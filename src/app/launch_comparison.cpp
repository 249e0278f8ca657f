// SPDX-License-Identifier: Apache-2.0
// How two launches read side by side.
#include <algorithm>
#include <optional>
#include <set>

#include "app/launch_summary.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kNotObserved = "not observed";

struct Change {
  std::string what = {};
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};
};

std::optional<std::string> value_of(const LaunchSummary& launch, const std::string& what) {
  const auto found = launch.declared().find(what);
  return found == launch.declared().end() ? std::nullopt : std::optional<std::string>(found->second);
}

std::set<std::string> all_keys(const LaunchSummary& before, const LaunchSummary& after) {
  std::set<std::string> out;
  for (const LaunchSummary* launch : {&before, &after}) {
    for (const auto& [what, value] : launch->declared()) {
      out.insert(what);
    }
  }
  return out;
}

std::vector<Change> changes(const LaunchSummary& before, const LaunchSummary& after) {
  std::vector<Change> out;
  for (const std::string& what : all_keys(before, after)) {
    Change change{what, value_of(before, what), value_of(after, what)};
    if (change.before != change.after) {
      out.push_back(std::move(change));
    }
  }
  return out;
}

struct Counted {
  std::string what = {};
  std::string how = {};
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

using Counts = std::map<std::pair<std::string, std::string>, LaunchSummary::Count>;

std::vector<Counted> side_by_side(const Counts& before, const Counts& after) {
  std::map<std::pair<std::string, std::string>, Counted> both;
  for (const auto& [key, count] : before) {
    both[key] = {key.first, key.second, count, 0};
  }
  for (const auto& [key, count] : after) {
    Counted& counted = both[key];
    counted = {key.first, key.second, counted.before, count};
  }
  std::vector<Counted> out;
  for (auto& [key, counted] : both) {
    out.push_back(std::move(counted));
  }
  return out;
}

// Why something holds is of interest where that changed; a list of reasons is none.
bool is_worth_a_line(const std::string& what, bool both_sides_have_it) {
  return both_sides_have_it || !what.ends_with(".reason");
}

std::string shown(const std::optional<std::string>& value) {
  return value ? text::printable(*value, 200) : std::string("-");
}

std::string heading(std::string_view side, const LaunchSummary& launch) {
  std::string out = text::cat(side, ": ", text::printable(launch.file()), ", ", text::printable(launch.began(), 64));
  if (!launch.refusal().empty()) {
    out += text::cat("\n   refused: ", text::printable(launch.refusal(), 1024));
  } else if (!launch.launched()) {
    out += "\n   nothing was launched";
  }
  if (launch.damaged() != 0) {
    out += text::cat("\n   ", launch.damaged(), " damaged lines were left out (see audit verify)");
  }
  return out + '\n';
}

std::string table(std::string_view title, const std::vector<Counted>& rows) {
  std::string out = text::cat('\n', title, ":", rows.empty() ? " none\n" : " (A, B)\n");
  for (const Counted& row : rows) {
    out += text::cat("  ", text::printable(row.what, 128), row.how.empty() ? "" : " ", text::printable(row.how, 128),
                     ": ", row.before, ", ", row.after, '\n');
  }
  return out;
}

void write_side(json::Writer& out, std::string_view side, const LaunchSummary& launch) {
  out.key(side).begin_object().member("file", launch.file()).member("time", launch.began());
  out.member_bool("launched", launch.launched());
  if (!launch.refusal().empty()) {
    out.member("refusal", launch.refusal());
  }
  out.member_int("damaged_lines", static_cast<std::int64_t>(launch.damaged()));
  out.end_object();
}

void write_value(json::Writer& out, std::string_view side, const std::optional<std::string>& value) {
  out.key(side);
  if (value) {
    out.string(*value);
  } else {
    out.null();
  }
}

void write_counts(json::Writer& out, std::string_view key, std::string_view what, std::string_view how,
                  const std::vector<Counted>& rows) {
  out.key(key).begin_array();
  for (const Counted& row : rows) {
    out.begin_object().member(what, row.what).member(how, row.how);
    out.member_int("before", static_cast<std::int64_t>(row.before));
    out.member_int("after", static_cast<std::int64_t>(row.after)).end_object();
  }
  out.end_array();
}

std::set<std::string> all_hosts(const LaunchSummary& before, const LaunchSummary& after) {
  std::set<std::string> out;
  for (const LaunchSummary* launch : {&before, &after}) {
    for (const std::string& host : launch->hosts_declared()) {
      out.insert(host);
    }
    for (const auto& [host, use] : launch->hosts_used()) {
      out.insert(host);
    }
  }
  return out;
}

// "allowed 3 (up 120, down 4000 bytes), denied 1"; what was declared and not used says so.
std::string use_of(const LaunchSummary& launch, const std::string& host) {
  const std::vector<std::string> unused = launch.hosts_unused();
  const bool is_unused = std::ranges::find(unused, host) != unused.end();
  const auto found = launch.hosts_used().find(host);
  std::string out = is_unused ? "never used" : "";
  if (found != launch.hosts_used().end() && found->second.allowed != 0) {
    out = text::cat("allowed ", found->second.allowed, " (up ", found->second.bytes_up, ", down ",
                    found->second.bytes_down, " bytes)");
  }
  if (found != launch.hosts_used().end() && found->second.denied != 0) {
    out += text::cat(out.empty() ? "" : ", ", "denied ", found->second.denied);
  }
  const std::vector<std::string> declared = launch.hosts_declared();
  const bool is_declared = std::ranges::find(declared, host) != declared.end();
  return !out.empty() ? out : is_declared ? "used" : "-";
}

std::string hosts_text(const LaunchSummary& before, const LaunchSummary& after) {
  const std::set<std::string> hosts = all_hosts(before, after);
  std::string out = text::cat("\nhosts:", hosts.empty() ? " none\n" : " (A; B)\n");
  for (const std::string& host : hosts) {
    out += text::cat("  ", text::printable(host, 300), ": ", use_of(before, host), "; ", use_of(after, host), '\n');
  }
  return out;
}

void write_hosts(json::Writer& out, const LaunchSummary& before, const LaunchSummary& after) {
  out.key("hosts").begin_object();
  for (const auto& [side, launch] : {std::pair("before", &before), std::pair("after", &after)}) {
    out.key(side).begin_object().key("declared").begin_array();
    for (const std::string& host : launch->hosts_declared()) {
      out.string(host);
    }
    out.end_array().key("unused").begin_array();
    for (const std::string& host : launch->hosts_unused()) {
      out.string(host);
    }
    out.end_array().key("used").begin_array();
    for (const auto& [host, use] : launch->hosts_used()) {
      out.begin_object().member("host", host);
      out.member_int("allowed", static_cast<std::int64_t>(use.allowed));
      out.member_int("denied", static_cast<std::int64_t>(use.denied));
      out.member_int("bytes_up", static_cast<std::int64_t>(use.bytes_up));
      out.member_int("bytes_down", static_cast<std::int64_t>(use.bytes_down)).end_object();
    }
    out.end_array().end_object();
  }
  out.end_object();
}

std::string access_of(const LaunchSummary& launch, const std::string& path) {
  if (!launch.file_access()) {
    return std::string(kNotObserved);
  }
  const auto found = launch.file_access()->find(path);
  return found == launch.file_access()->end() ? std::string("-") : text::printable(found->second, 256);
}

std::string file_access_text(const LaunchSummary& before, const LaunchSummary& after) {
  if (!before.file_access() && !after.file_access()) {
    return text::cat("\nfile access: ", kNotObserved, '\n');
  }
  std::set<std::string> paths;
  for (const LaunchSummary* launch : {&before, &after}) {
    for (const auto& [path, what] : launch->file_access().value_or(FileAccess())) {
      paths.insert(path);
    }
  }
  std::string out = "\nfile access: (A; B)\n";
  for (const std::string& path : paths) {
    out +=
        text::cat("  ", text::printable(path, 1024), ": ", access_of(before, path), "; ", access_of(after, path), '\n');
  }
  return out;
}

void write_file_access(json::Writer& out, const LaunchSummary& before, const LaunchSummary& after) {
  out.key("file_access");
  if (!before.file_access() && !after.file_access()) {
    out.string(kNotObserved);
    return;
  }
  out.begin_object();
  for (const auto& [side, launch] : {std::pair("before", &before), std::pair("after", &after)}) {
    out.key(side);
    if (!launch->file_access()) {
      out.string(kNotObserved);
      continue;
    }
    out.begin_object();
    for (const auto& [path, what] : *launch->file_access()) {
      out.member(path, what);
    }
    out.end_object();
  }
  out.end_object();
}

}  // namespace

std::string comparison_text(const LaunchSummary& before, const LaunchSummary& after) {
  std::string out = heading("A", before) + heading("B", after);
  const std::vector<Change> changed = changes(before, after);
  out += text::cat("\nchanged: ", changed.empty() ? "nothing\n" : "(A -> B)\n");
  for (const Change& change : changed) {
    if (!is_worth_a_line(change.what, change.before && change.after)) {
      continue;
    }
    out += text::cat("  ", text::printable(change.what, 256), ": ", shown(change.before), " -> ", shown(change.after),
                     '\n');
  }
  out += "\nallowed in both:\n";
  for (const std::string& what : all_keys(before, after)) {
    const std::optional<std::string> value = value_of(before, what);
    if (value && value == value_of(after, what) && is_worth_a_line(what, false)) {
      out += text::cat("  ", text::printable(what, 256), ": ", shown(value), '\n');
    }
  }
  out += table("calls", side_by_side(before.calls(), after.calls()));
  out += table("other records", side_by_side(before.others(), after.others()));
  out += hosts_text(before, after);
  return out + file_access_text(before, after);
}

std::string comparison_json(const std::string& server, const LaunchSummary& before, const LaunchSummary& after) {
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon.audit-compare").member_int("version", 1).member("server", server);
  write_side(out, "before", before);
  write_side(out, "after", after);
  out.key("changes").begin_array();
  for (const Change& change : changes(before, after)) {
    out.begin_object().member("what", change.what);
    write_value(out, "before", change.before);
    write_value(out, "after", change.after);
    out.end_object();
  }
  out.end_array().key("same").begin_object();
  for (const std::string& what : all_keys(before, after)) {
    const std::optional<std::string> value = value_of(before, what);
    if (value && value == value_of(after, what)) {
      out.member(what, *value);
    }
  }
  out.end_object();
  write_counts(out, "calls", "tool", "decision", side_by_side(before.calls(), after.calls()));
  write_counts(out, "records", "event", "reason", side_by_side(before.others(), after.others()));
  write_hosts(out, before, after);
  write_file_access(out, before, after);
  out.end_object();
  return out.take();
}

}  // namespace cordon::app
