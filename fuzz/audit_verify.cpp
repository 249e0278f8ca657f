// SPDX-License-Identifier: Apache-2.0
// Logs made from the input must verify as they are, whatever the chunking, also with torn ends that were closed; any
// one byte changed must be found. The input as a log of its own must neither crash nor depend on chunking.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/chain.hpp"
#include "audit/record.hpp"
#include "audit/tail.hpp"
#include "audit/verify.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

using namespace cordon;
using namespace cordon::audit;

namespace {

constexpr std::string_view kTime = "2026-11-29T15:10:07.123Z";

struct Log {
  std::string name = {};
  std::string content = {};
  Head head = {};
};

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  std::size_t number(std::size_t below) {
    std::size_t value = 0;
    for (int i = 0; i < 3; ++i) {
      value = value * 256 + static_cast<unsigned char>(take(1).empty() ? '\0' : last_);
    }
    return below == 0 ? 0 : value % below;
  }
  std::string_view take(std::size_t count) {
    const std::string_view got = bytes_.substr(0, count);
    bytes_.remove_prefix(got.size());
    last_ = got.empty() ? '\0' : got.back();
    return got;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  char last_ = '\0';
};

void add(Log& log, std::string_view members) {
  const bool first = log.head.hash.empty();
  SealedLine sealed = seal(first ? 0 : log.head.seq + 1, kTime, first ? no_previous() : log.head.hash, members);
  log.content += sealed.line;
  log.head = {log.name, first ? 0 : log.head.seq + 1, std::move(sealed.hash)};
}

// A crash in the middle of a record, and what the next launch makes of it.
void tear(Log& log, std::string_view torn) {
  std::string fragment(torn);
  if (fragment.ends_with('\n')) {
    fragment.pop_back();
  }
  log.content += fragment;
  const auto tail = find_tail(log.content, true);
  CORDON_ASSERT(tail && tail->last && tail->last->hash == log.head.hash);
  if (tail->line_feed_missing) {
    log.content += '\n';
  }
  add(log, recovered_members(tail->torn_bytes, tail->torn_digest));
}

std::vector<Log> make_logs(Input& input) {
  std::vector<Log> logs;
  const std::size_t launches = 1 + input.number(4);
  for (std::size_t launch = 0; launch < launches; ++launch) {
    std::vector<Link> previous;
    if (!logs.empty()) {
      previous.push_back({logs.back().head, false, false});
    }
    Log log;
    log.name = text::cat(file_time_text(1'800'000'000'000'000 + static_cast<std::int64_t>(launch)), "-s.jsonl");
    SealedLine begin = seal(0, kTime, previous.empty() ? no_previous() : previous.front().head.hash,
                            begin_members(log.name, "demo", "s", "0", previous));
    log.content = begin.line;
    log.head = {log.name, 0, begin.hash};
    for (std::size_t record = input.number(4); record > 0; --record) {
      const std::string_view piece = input.take(input.number(200));
      json::Writer body;
      body.begin_object().member("event", "call").member("text", server_text(piece)).end_object();
      const auto admitted = admit_body(body.take(), {});
      CORDON_ASSERT(admitted);
      add(log, admitted->members);
    }
    if (input.number(3) == 0) {
      tear(log, input.take(input.number(60)));
    }
    logs.push_back(std::move(log));
  }
  return logs;
}

VerifyReport verify(const std::vector<Log>& logs, std::size_t chunk) {
  Verifier verifier;
  for (auto log = logs.rbegin(); log != logs.rend(); ++log) {
    verifier.begin_file(log->name, FileState::ended);
    for (std::size_t at = 0; at < log->content.size(); at += chunk) {
      verifier.feed(std::string_view(log->content).substr(at, chunk));
    }
    verifier.end_file();
  }
  return verifier.finish();
}

void check_raw(std::string_view bytes) {
  const std::vector<Log> raw = {{"20270115T080000.000000Z-s.jsonl", std::string(bytes), {}}};
  CORDON_ASSERT(verify(raw, 1).to_json() == verify(raw, bytes.size() + 1).to_json());
  const auto tail = find_tail(bytes, true);
  CORDON_ASSERT(tail && tail->torn_bytes <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 100'000) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_raw(bytes);
  Input input(bytes);
  const std::size_t which = input.number(1 << 20);
  const std::size_t place = input.number(1 << 20);
  const auto change = static_cast<char>(1 + input.number(255));
  std::vector<Log> logs = make_logs(input);
  const VerifyReport whole = verify(logs, 1 << 20);
  CORDON_ASSERT(whole.intact());
  CORDON_ASSERT(whole.head == logs.back().head);
  CORDON_ASSERT(verify(logs, 1 + place % 50).to_json() == whole.to_json());

  std::string& content = logs[which % logs.size()].content;
  char& byte = content[place % content.size()];
  byte = static_cast<char>(byte ^ change);
  CORDON_ASSERT(!verify(logs, 1 << 20).intact());
  return 0;
}
