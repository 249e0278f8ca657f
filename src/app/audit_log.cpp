// SPDX-License-Identifier: Apache-2.0
#include "app/audit_log.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/launch_summary.hpp"
#include "app/log_lines.hpp"
#include "app/paths.hpp"
#include "app/session_context.hpp"
#include "app/trace_session.hpp"
#include "audit/chain.hpp"
#include "audit/folder.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

// Enough to tell one from another, as git shows commits; --format json has the whole.
std::string shown_digest(const std::string& text) {
  constexpr std::string_view kStart = "sha256:";
  constexpr std::size_t kDigits = 64;
  const std::size_t at = text.find(kStart);  // also of hmac-sha256:
  return at != std::string::npos && text.size() == at + kStart.size() + kDigits
             ? text.substr(0, at + kStart.size() + 12)
             : text;
}

// "9 enforced; ipc partial, limits no": what holds in full needs no name. A member of another form is shown as it is.
std::optional<std::string> shown_guarantees(const json::Value& value) {
  if (!value.is(json::Kind::object)) {
    return std::nullopt;
  }
  std::size_t enforced = 0;
  std::string others;
  for (const json::Member member : value.members()) {
    const json::Value strength = member.value.is(json::Kind::object) ? member.value.find("strength") : json::Value();
    if (!strength.is(json::Kind::string)) {
      return std::nullopt;
    }
    if (strength.string() == "enforced") {
      ++enforced;
    } else {
      others += text::cat(others.empty() ? "; " : ", ", text::printable(member.key.string(), 64), ' ',
                          text::printable(strength.string(), 32));
    }
  }
  return text::cat('"', enforced, " enforced", others, '"');
}

std::string shown_value(const json::Value& value) {
  if (value.is(json::Kind::string)) {
    const std::string text = shown_digest(text::printable(value.string(), 1024));
    return text.find(' ') == std::string::npos && !text.empty() ? text : text::cat('"', text, '"');
  }
  return text::printable(value.raw(), 2048);
}

// "2026-11-29T15:10:07.123Z call tool=echo decision=allow": what the chain itself needs is left out.
std::string shown_record(const audit::ReadLine& record) {
  constexpr std::array<std::string_view, 5> kOfTheChain = {"seq", "time", "prev", "hash", "event"};
  std::string out = text::cat(text::printable(record.time, 64), ' ', text::printable(record.event, 64));
  const json::Value root = record.document.root();
  for (const json::Member member : root.members()) {
    const std::string key = member.key.string();
    if (std::ranges::find(kOfTheChain, key) == kOfTheChain.end()) {
      const std::optional<std::string> guarantees = key == "guarantees" ? shown_guarantees(member.value) : std::nullopt;
      out += text::cat(' ', text::printable(key, 64), '=', guarantees ? *guarantees : shown_value(member.value));
    }
  }
  return out + '\n';
}

struct Shower {
  const Print& print;
  bool json = false;
  bool first = true;

  void line(std::string_view line) {
    const Result<audit::ReadLine> record = audit::read_line(line);
    if (json) {
      // A damaged line is text of nobody knows whom.
      print(text::cat(first ? "\n" : ",\n", record ? std::string(line) : json::quoted(text::printable(line, 1024))));
      first = false;
    } else {
      print(record ? shown_record(*record)
                   : text::cat("damaged line: ", text::printable(line, 1024), " (see audit verify)\n"));
    }
  }
};

Result<audit::Folder> folder_of(const Caller& caller, const std::string& server) {
  return audit::Folder::open(caller.state_folder(), server);
}

}  // namespace

Result<std::string> audited_server(const Caller& caller, const PolicyChoice& choice) {
  if (choice.file.empty() && valid_name(choice.name) && folder_of(caller, choice.name)) {
    return choice.name;
  }
  const Result<LoadedPolicy> loaded = read_policy_file(caller, choice);
  if (!loaded && loaded.error().code == Errc::file_unreadable && choice.file.empty()) {
    return fail(Errc::file_unreadable, text::cat("there is no log and no policy named '", choice.name, "'"),
                text::cat(text::printable(audit_folder(caller), 1000), "/*"),
                "a log has the name of its server, as one of these folders");
  }
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return loaded->policy.server;
}

Status show_audit(const Caller& caller, const std::string& server, bool json, const Print& print) {
  const Result<audit::Folder> folder = folder_of(caller, server);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  const Result<std::vector<std::string>> logs = folder->logs();
  if (!logs) {
    return std::unexpected(logs.error());
  }
  Shower shower{print, json};
  if (json) {
    print(text::cat("{\"format\":\"mcp-cordon.audit\",\"version\":1,\"server\":", json::quoted(server),
                    ",\"records\":["));
  }
  for (const std::string& log : *logs) {
    const Result<UniqueFd> file = folder->open_log(log, O_RDONLY);
    if (!file) {
      return std::unexpected(file.error());
    }
    if (!json) {
      print(text::cat("== ", text::printable(log), '\n'));
    }
    const Status read =
        each_log_line(file->get(), folder->path_of(log), [&shower](std::string_view line) { shower.line(line); });
    if (!read) {
      return read;
    }
  }
  if (json) {
    print("\n]}\n");
  }
  return {};
}

namespace {

Result<std::string> find_log(const audit::Folder& folder, const std::vector<std::string>& logs,
                             const std::string& word) {
  const auto absent = [&](std::string detail) {
    return fail(Errc::file_unreadable, std::move(detail), folder.path(),
                "give a number from 1, last, previous, or the name of a log");
  };
  if (word == "last" || word == "previous") {
    const std::size_t back = word == "last" ? 1 : 2;
    return logs.size() < back ? Result<std::string>(absent(text::cat("there are ", logs.size(), " launches")))
                              : logs[logs.size() - back];
  }
  std::size_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec == std::errc() && read.ptr == word.data() + word.size()) {
    return number == 0 || number > logs.size()
               ? Result<std::string>(absent(text::cat("there is no launch ", number, " among ", logs.size())))
               : logs[number - 1];
  }
  const std::string name = word.find('/') == std::string::npos ? word : file_name_of(word);
  const bool elsewhere = name != word && resolved(std::filesystem::absolute(word).string()) != folder.path_of(name);
  if (elsewhere || std::ranges::find(logs, name) == logs.end()) {
    return absent(text::cat("there is no log '", text::printable(word, 256), "' of this server"));
  }
  return name;
}

Result<LaunchSummary> summarise(const audit::Folder& folder, const std::string& log) {
  const Result<UniqueFd> file = folder.open_log(log, O_RDONLY);
  if (!file) {
    return std::unexpected(file.error());
  }
  LaunchSummary out(log);
  const Status read =
      each_log_line(file->get(), folder.path_of(log), [&out](std::string_view line) { out.take(line); });
  return read ? Result<LaunchSummary>(std::move(out)) : std::unexpected(read.error());
}

// A trace that was removed, or is not the one of this log, counts as none.
void add_trace(const Caller& caller, const std::string& server, LaunchSummary& summary) {
  if (summary.trace().empty() || summary.trace() != trace_file_name(summary.file())) {
    return;
  }
  Result<run::TrustedFile> file = run::read_trusted(
      text::cat(trace_folder(caller.state_folder(), server), '/', summary.trace()), {.max_bytes = kMaxTraceFileBytes});
  Result<FileAccess> access = file ? read_trace_file(std::move(file->content)) : std::unexpected(file.error());
  if (access) {
    summary.set_file_access(std::move(*access));
  }
}

}  // namespace

Result<std::string> compare_audit(const Caller& caller, const std::string& server, const AuditPair& pair, bool json) {
  const Result<audit::Folder> folder = folder_of(caller, server);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  const Result<std::vector<std::string>> logs = folder->logs();
  if (!logs) {
    return std::unexpected(logs.error());
  }
  std::vector<LaunchSummary> summaries;
  for (const std::string& word : {pair.before, pair.after}) {
    const Result<std::string> log = find_log(*folder, *logs, word);
    if (!log) {
      return std::unexpected(log.error());
    }
    Result<LaunchSummary> summary = summarise(*folder, *log);
    if (!summary) {
      return std::unexpected(summary.error());
    }
    add_trace(caller, server, *summary);
    summaries.push_back(std::move(*summary));
  }
  return json ? comparison_json(server, summaries[0], summaries[1]) + '\n'
              : comparison_text(summaries[0], summaries[1]);
}

Result<AuditVerdict> verify_audit(const Caller& caller, const std::string& server, std::string_view head) {
  std::optional<audit::Head> expected;
  if (!head.empty()) {
    Result<audit::Head> noted = audit::parse_head(head);
    if (!noted) {
      return std::unexpected(noted.error());
    }
    expected = std::move(*noted);
  }
  const Result<audit::Folder> folder = folder_of(caller, server);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  const Result<audit::VerifyReport> report = audit::verify_folder(*folder, expected);
  if (!report) {
    return std::unexpected(report.error());
  }
  const auto with_line_end = [](std::string text) { return text.ends_with('\n') ? text : text + '\n'; };
  return AuditVerdict{report->intact(), with_line_end(report->to_text()), with_line_end(report->to_json())};
}

}  // namespace cordon::app
