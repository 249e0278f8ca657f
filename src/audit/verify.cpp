// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace cordon::audit {
namespace {

constexpr std::size_t kMaxFaults = 1000;
constexpr std::size_t kMaxLineBytes = 96'000'000;

std::string range_text(std::uint64_t from, std::uint64_t to) {
  return to - from == 1 ? text::cat("record ", from, " is") : text::cat("records ", from, " to ", to - 1, " are");
}

}  // namespace

void Verifier::expect(const Head& head) {
  report_.head_was_given = true;
  wanted_[head.file].push_back({head.seq, head.hash, {}, false, false});
}

void Verifier::fault(FaultKind kind, std::uint64_t line, std::string detail) {
  if (report_.faults.size() >= kMaxFaults) {
    ++report_.faults_not_shown;
    return;
  }
  report_.faults.push_back({kind, file_.name, line, std::move(detail)});
}

void Verifier::begin_file(const std::string& name, FileState state) {
  file_ = {};
  file_.name = name;
  file_.state = state;
  wanted_here_.clear();
  if (const auto found = wanted_.find(name); found != wanted_.end()) {
    wanted_here_ = std::move(found->second);
    wanted_.erase(found);
  }
  const bool named = std::ranges::any_of(wanted_here_, [](const Wanted& one) { return !one.by.empty(); });
  if (!newest_ && links_known_ && !named) {
    fault(FaultKind::added, 0, "no later launch names this file: a later one was removed, or this one was put here");
  }
  partial_.clear();
  line_ = 0;
  expected_seq_ = 0;
  expected_prev_.clear();
  gaps_.clear();
  has_links_ = false;
  drop_suspect();
}

void Verifier::feed(std::string_view bytes) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      // A line that no writer can have made is not kept; its digest will not fit anything either.
      if (partial_.size() + bytes.size() <= kMaxLineBytes) {
        partial_ += bytes;
      }
      return;
    }
    if (partial_.empty()) {
      take_line(bytes.substr(0, end));
    } else {
      partial_ += bytes.substr(0, end);
      take_line(partial_);
      partial_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void Verifier::take_line(std::string_view line) {
  ++line_;
  const auto record = read_line(line);
  if (record) {
    take_record(*record);
  } else {
    suspect(line, record.error().detail);
  }
}

void Verifier::suspect(std::string_view line, std::string_view why) {
  if (suspect_lines_ == 0) {
    suspect_hash_ = std::make_unique<Sha256>();
    suspect_line_ = line_;
    suspect_why_ = why;
  } else {
    suspect_hash_->update("\n");
    ++suspect_bytes_;
  }
  suspect_hash_->update(line);
  suspect_bytes_ += line.size();
  ++suspect_lines_;
}

void Verifier::drop_suspect() {
  suspect_hash_.reset();
  suspect_bytes_ = 0;
  suspect_lines_ = 0;
}

// A `recovered` record vouches for exactly the bytes between the last record and itself.
bool Verifier::closes_suspect(const ReadLine& record) {
  const auto torn = read_recovered(record.document.root());
  const std::string digest = suspect_hash_ ? digest_text(suspect_hash_->finish()) : sha256_text({});
  const bool fits = torn && torn->bytes == suspect_bytes_ && torn->digest == digest;
  if (fits) {
    file_.recovered_lines.push_back(line_);
    drop_suspect();
  }
  return fits;
}

void Verifier::take_record(const ReadLine& record) {
  if (record.event == kRecoveredEvent) {
    if (!closes_suspect(record)) {
      fault(FaultKind::altered, line_, "what this record closes is not what stands before it");
    }
  }
  if (suspect_lines_ != 0) {
    fault(FaultKind::altered, suspect_line_,
          suspect_lines_ == 1 ? suspect_why_ : text::cat(suspect_why_, " (", suspect_lines_, " lines)"));
  }
  take_position(record);
  drop_suspect();
  if (file_.records == 0) {
    check_first(record);
  }
  check_wanted(record);
  ++file_.records;
  if (file_.first_time.empty()) {
    file_.first_time = record.time;
  }
}

void Verifier::take_position(const ReadLine& record) {
  // A bad line may have been a record, so its number is left open.
  const std::uint64_t latest = expected_seq_ + suspect_lines_;
  if (record.seq < expected_seq_) {
    fault(FaultKind::reordered, line_,
          fill_gap(record.seq) ? text::cat("record ", record.seq, " stands behind later ones")
                               : text::cat("record ", record.seq, " stands here again"));
    return;
  }
  if (record.seq > latest) {
    gaps_.push_back({latest, record.seq, line_});
  } else if (record.seq == expected_seq_ && suspect_lines_ == 0 && !expected_prev_.empty() &&
             record.prev != expected_prev_) {
    fault(FaultKind::altered, line_, "it was chained to another record than the one before it");
  }
  expected_seq_ = record.seq + 1;
  expected_prev_ = record.hash;
  file_.head = {file_.name, record.seq, record.hash};
  file_.last_time = record.time;
}

bool Verifier::fill_gap(std::uint64_t seq) {
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    Gap& gap = gaps_[i];
    if (seq < gap.from || seq >= gap.to) {
      continue;
    }
    const Gap rest = {seq + 1, gap.to, gap.line};
    gap.to = seq;
    if (gap.from == gap.to) {
      gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (rest.from != rest.to) {
      gaps_.push_back(rest);
    }
    return true;
  }
  return false;
}

void Verifier::check_first(const ReadLine& record) {
  if (record.seq != 0) {
    return;  // reported as a gap
  }
  const json::Value root = record.document.root();
  if (record.event == kRecoveredEvent) {
    if (record.prev != no_previous()) {
      fault(FaultKind::altered, line_, "a file without a first record is chained to another");
    }
    return;
  }
  const json::Value format = root.find("version");
  if (record.event != kBeginEvent || !format.is(json::Kind::number) || format.safe_integer() != kFormatVersion) {
    fault(FaultKind::altered, line_, "the first record is not one of this format");
    return;
  }
  const json::Value file = root.find("file");
  if (!file.is(json::Kind::string) || !file.string_equals(file_.name)) {
    fault(FaultKind::altered, line_, "the first record names another file");
  }
  auto links = read_links(root);
  if (!links) {
    fault(FaultKind::altered, line_, links.error().detail);
    return;
  }
  has_links_ = true;
  const auto chained = std::ranges::find_if(*links, [](const Link& link) { return !link.damaged; });
  if (record.prev != (chained == links->end() ? std::string(no_previous()) : chained->head.hash)) {
    fault(FaultKind::altered, line_, "the first record is chained to another launch than it names");
  }
  for (Link& link : *links) {
    if (link.damaged) {
      fault(FaultKind::unreadable, line_,
            text::cat("when this launch began, ", text::printable(link.head.file), " could not be read"));
    }
    wanted_[link.head.file].push_back(
        {link.head.seq, std::move(link.head.hash), file_.name, !link.open && !link.damaged, link.damaged});
  }
}

void Verifier::check_wanted(const ReadLine& record) {
  for (Wanted& wanted : wanted_here_) {
    if (wanted.seen || wanted.seq != record.seq) {
      continue;
    }
    wanted.seen = true;
    if (wanted.hash == record.hash) {
      continue;
    }
    if (wanted.by.empty()) {
      fault(FaultKind::head_missing, line_, "the record has another hash than the given head");
    } else {
      fault(FaultKind::altered, line_, text::cat("the launch ", wanted.by, " saw another hash of this record"));
    }
  }
}

void Verifier::end_file() {
  judge_end();
  for (const Gap& gap : gaps_) {
    fault(FaultKind::removed, gap.line, text::cat(range_text(gap.from, gap.to), " missing before this line"));
  }
  judge_wanted();
  report_.records += file_.records;
  links_known_ = links_known_ && has_links_;
  newest_ = false;
  report_.files.push_back(std::move(file_));
}

// What stands behind the last line feed, and bad lines that nothing closed.
void Verifier::judge_end() {
  const bool unfinished = !partial_.empty();
  if (suspect_lines_ != 0) {
    fault(FaultKind::altered, suspect_line_,
          suspect_lines_ == 1 ? suspect_why_ : text::cat(suspect_why_, " (", suspect_lines_, " lines)"));
  }
  if (file_.state == FileState::live) {
    return;  // the rest is being written, and so may be the first record
  }
  if (unfinished) {
    fault(FaultKind::torn, line_ + 1, text::cat("the file ends with ", partial_.size(), " bytes that are no record"));
  } else if (file_.records == 0 && suspect_lines_ == 0) {
    fault(FaultKind::torn, 0, "the file is empty");
  }
}

void Verifier::judge_wanted() {
  for (const Wanted& wanted : wanted_here_) {
    const std::string by = wanted.by.empty() ? "the given head" : text::cat("the launch ", wanted.by);
    if (!wanted.seen) {
      const FaultKind kind = wanted.by.empty() ? FaultKind::head_missing : FaultKind::removed;
      fault(kind, line_, text::cat(by, " saw record ", wanted.seq, ", which is not there"));
    } else if (wanted.final && expected_seq_ > wanted.seq + 1) {
      fault(FaultKind::added, line_,
            text::cat(range_text(wanted.seq + 1, expected_seq_), " behind the end that ", by, " saw"));
    }
  }
}

void Verifier::unreadable_file(const std::string& name, const std::string& why) {
  begin_file(name, FileState::ended);
  fault(FaultKind::unreadable, 0, why);
  links_known_ = false;
  newest_ = false;
  report_.files.push_back(std::move(file_));
}

VerifyReport Verifier::finish() {
  for (const auto& [name, places] : wanted_) {
    for (const Wanted& wanted : places) {
      file_ = {};
      file_.name = wanted.by;
      if (wanted.by.empty()) {
        file_.name = name;
        fault(FaultKind::head_missing, 0, "the file of the given head is not there");
      } else {
        fault(FaultKind::missing_launch, 1,
              text::cat("it follows the launch ", text::printable(name), ", whose file is not there"));
      }
    }
  }
  std::ranges::reverse(report_.files);
  std::ranges::stable_sort(report_.faults, [](const Fault& left, const Fault& right) {
    return std::tie(left.file, left.line) < std::tie(right.file, right.line);
  });
  if (!report_.files.empty() && report_.files.back().records != 0) {
    report_.head = report_.files.back().head;
  }
  return std::move(report_);
}

}  // namespace cordon::audit
