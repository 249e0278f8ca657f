// SPDX-License-Identifier: Apache-2.0
#pragma once
// Logs as text, made without a file system, for tests of the verifier.

#include <string>
#include <utility>
#include <vector>

#include "audit/chain.hpp"
#include "audit/record.hpp"
#include "audit/verify.hpp"
#include "base/text.hpp"

namespace cordon::audit::test {

inline std::string file_name(int launch) {
  return text::cat(file_time_text(1'800'000'000'000'000 + launch), "-s", launch, ".jsonl");
}

struct Log {
  std::string name = {};
  std::string content = {};
  FileState state = FileState::ended;
  Head head = {};
};

inline void add(Log& log, std::string_view members) {
  const std::uint64_t seq = log.head.hash.empty() ? 0 : log.head.seq + 1;
  const std::string prev = log.head.hash.empty() ? std::string(no_previous()) : log.head.hash;
  SealedLine sealed = seal(seq, time_text(1'800'000'000'000'000), prev, members);
  log.content += sealed.line;
  log.head = {log.name, seq, sealed.hash};
}

// A log that names `previous` and holds `records` records besides its first.
inline Log make_log(int launch, const std::vector<Link>& previous, int records) {
  Log log;
  log.name = file_name(launch);
  const std::string prev = previous.empty() ? std::string(no_previous()) : previous.front().head.hash;
  SealedLine sealed =
      seal(0, time_text(1'800'000'000'000'000), prev, begin_members(log.name, "demo", "s", "0", previous));
  log.content = sealed.line;
  log.head = {log.name, 0, sealed.hash};
  for (int i = 0; i < records; ++i) {
    add(log, text::cat("\"event\":\"call\",\"n\":", i));
  }
  return log;
}

// Each log follows the one before it.
inline std::vector<Log> make_logs(int launches, int records) {
  std::vector<Log> logs;
  for (int launch = 0; launch < launches; ++launch) {
    std::vector<Link> previous;
    if (!logs.empty()) {
      previous.push_back({logs.back().head, false, false});
    }
    logs.push_back(make_log(launch, previous, records));
  }
  return logs;
}

inline VerifyReport verify(const std::vector<Log>& logs, const Head* expected = nullptr, std::size_t chunk = 1 << 20) {
  Verifier verifier;
  if (expected != nullptr) {
    verifier.expect(*expected);
  }
  for (auto log = logs.rbegin(); log != logs.rend(); ++log) {
    verifier.begin_file(log->name, log->state);
    for (std::size_t at = 0; at < log->content.size(); at += chunk) {
      verifier.feed(std::string_view(log->content).substr(at, chunk));
    }
    verifier.end_file();
  }
  return verifier.finish();
}

}  // namespace cordon::audit::test
