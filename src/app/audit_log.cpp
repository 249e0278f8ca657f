// SPDX-License-Identifier: Apache-2.0
#include "app/audit_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "app/session_context.hpp"
#include "audit/chain.hpp"
#include "audit/folder.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::app {
namespace {

// Longer lines are not written by us; one is shown as damaged.
constexpr std::size_t kMaxLine = 64'000'000;

// Calls `take` for each line of the file, without its end; a last line without one too.
template <typename Take>
Status each_line(int fd, const std::string& path, const Take& take) {
  std::string pending;
  std::array<char, 65'536> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(Errc::file_unreadable, errno_text("read", errno), path);
    }
    pending.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
      take(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
    if (got == 0 || pending.size() > kMaxLine) {
      break;
    }
  }
  if (!pending.empty()) {
    take(pending);
  }
  return {};
}

std::string shown_value(const json::Value& value) {
  if (value.is(json::Kind::string)) {
    const std::string text = text::printable(value.string(), 1024);
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
      out += text::cat(' ', text::printable(key, 64), '=', shown_value(member.value));
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
    return fail(Errc::file_unreadable, text::cat("there is no log and no policy named '", choice.name, "'"));
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
        each_line(file->get(), folder->path_of(log), [&shower](std::string_view line) { shower.line(line); });
    if (!read) {
      return read;
    }
  }
  if (json) {
    print("\n]}\n");
  }
  return {};
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
