// SPDX-License-Identifier: Apache-2.0
#include "app/trace_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/sensitive.hpp"

namespace cordon::app {
namespace {

using sandbox::TraceAccess;
using sandbox::TraceFinding;

constexpr std::size_t kMaxLine = 16'384;
constexpr std::size_t kMaxShown = 30;

std::string error_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name == nullptr ? text::cat("E", number) : std::string(name);
}

bool is_network(TraceAccess access) { return access == TraceAccess::connect || access == TraceAccess::bind; }

std::optional<Ailment> ailment_of(const TraceFinding& finding) {
  switch (finding.error_number) {
    case ENOENT:
    case ENOTDIR:
      return Ailment::missing;
    case EACCES:
    case EPERM:
      return Ailment::denied;
    case EROFS:
      return Ailment::read_only;
    case ECONNREFUSED:
      return Ailment::refused;
    case ENETUNREACH:
    case EHOSTUNREACH:
      return Ailment::unreachable;
    default:
      return std::nullopt;
  }
}

std::string shown_error(const TraceFinding& finding) {
  return finding.error_number == 0 ? std::string("done") : error_name(finding.error_number);
}

std::string outside_of(const sandbox::Plan& plan, const TraceFinding& finding) {
  const sandbox::ViewEntry* entry = is_network(finding.access) ? nullptr : shown_by(plan, finding.path);
  return entry != nullptr && entry->grant ? rebased(finding.path, entry->target, entry->source) : std::string();
}

void shorten(std::vector<std::string>& lines, const std::vector<std::string>& from, std::string_view file) {
  for (std::size_t i = 0; i < from.size() && i < kMaxShown; ++i) {
    lines.push_back(text::cat("  ", text::printable(from[i], 1500)));
  }
  if (from.size() > kMaxShown) {
    lines.push_back(text::cat("  and ", from.size() - kMaxShown, " more in ", text::printable(file, 1024)));
  }
}

}  // namespace

std::optional<Finding> denial(const TraceFinding& finding, const Surroundings& around) {
  const std::optional<Ailment> ailment = ailment_of(finding);
  if (!ailment) {
    return std::nullopt;
  }
  Complaint complaint;
  complaint.ailment = *ailment;
  complaint.seen = true;
  constexpr std::string_view kUnix = "unix:";
  if (!is_network(finding.access)) {
    complaint.path = finding.path;
    complaint.starts_program = finding.access == TraceAccess::execute;
    complaint.writes = finding.access == TraceAccess::write || finding.access == TraceAccess::change;
  } else if (finding.path.starts_with(kUnix)) {
    complaint.path = finding.path.substr(kUnix.size());
    const bool socket = around.outside(complaint.path) == sandbox::PathKind::other;
    return socket ? std::optional(Finding{
                        text::cat("no socket of the outside is shown: '", text::printable(complaint.path), '\''), {}})
                  : std::nullopt;
  } else {
    complaint.host = finding.path;
  }
  return diagnose(complaint, around);
}

void TraceReport::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    skipping_ = skipping_ || rest_.size() + piece.size() > kMaxLine;
    rest_ = skipping_ ? std::string() : text::cat(rest_, piece);
    if (end == std::string_view::npos) {
      return;
    }
    if (skipping_) {
      ++strange_lines_;
    } else {
      take_line(rest_);
    }
    rest_.clear();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void TraceReport::take_line(std::string_view line) {
  const auto read = sandbox::read_trace_line(line);
  if (!read || ended_) {
    ++strange_lines_;
  } else if (read->end) {
    counts_ = *read->end;
    ended_ = true;
  } else if (findings_.size() >= sandbox::kMaxTraceFindings) {
    ++strange_lines_;
  } else {
    add(*read->finding);
  }
}

void TraceReport::add(TraceFinding finding) {
  // Asked now, while what is outside is as it was.
  if (auto why = denial(finding, setting_.around)) {
    denied_.emplace(findings_.size(), std::move(*why));
  }
  findings_.push_back(std::move(finding));
}

TraceProposal TraceReport::proposed() const {
  const auto sensitive = [this](std::string_view path) { return policy::is_sensitive(path, setting_.around.home); };
  TraceProposal out = propose({setting_.around.plan, findings_, sensitive});
  for (const auto& [index, why] : denied_) {
    if (const auto denied = proposed_item(why.proposal)) {
      std::vector<std::string>& items = denied->list == "write" ? out.denied_write : out.denied_read;
      if (std::ranges::find(items, denied->item) == items.end()) {
        items.emplace_back(denied->item);
      }
    }
  }
  return out;
}

std::string TraceReport::to_json() const {
  const TraceProposal proposal = proposed();
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon.trace").member_int("version", 1);
  out.member("server", setting_.server).member("session", setting_.session).member("time", setting_.began);
  out.member_bool("complete", ended_ && counts_.dropped == 0 && counts_.unread == 0 && strange_lines_ == 0);
  out.member_int("calls", static_cast<std::int64_t>(counts_.calls));
  out.member_int("dropped", static_cast<std::int64_t>(counts_.dropped + strange_lines_));
  out.member_int("unread", static_cast<std::int64_t>(counts_.unread));
  out.key("findings").begin_array();
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    const TraceFinding& finding = findings_[i];
    out.begin_object().member("path", in_file(finding.path)).member("access", name(finding.access));
    out.member("outcome", shown_error(finding));
    if (const std::string outside = outside_of(setting_.around.plan, finding); !outside.empty()) {
      out.member("outside", in_file(outside));
    }
    if (const auto denied = denied_.find(i); denied != denied_.end()) {
      out.member("denied", masked(denied->second.what));
      if (!denied->second.proposal.empty()) {
        out.member("add", masked(denied->second.proposal));
      }
    }
    out.end_object();
  }
  out.end_array().key("grants").begin_array();
  for (const GrantUse& grant : proposal.grants) {
    out.begin_object().member("path", in_file(grant.outside)).member("at", in_file(grant.inside));
    out.member("granted", grant.writable ? "write" : "read").member("used", name(grant.use)).end_object();
  }
  out.end_array().key("proposal").begin_array();
  for (const std::string& line : policy_lines(proposal, setting_.runtime)) {
    out.string(masked(line));
  }
  out.end_array().end_object();
  return out.take();
}

std::vector<std::string> TraceReport::summary(std::string_view file) const {
  const TraceProposal proposal = proposed();
  std::vector<std::string> lines = {text::cat("trace: ", findings_.size(), " different things in ",
                                              text::printable(file, 1024), " (", counts_.calls, " calls)")};
  if (!ended_) {
    lines.emplace_back("trace: it was cut off before the server's end");
  }
  if (counts_.dropped + counts_.unread + strange_lines_ != 0) {
    lines.push_back(text::cat("trace: incomplete: ", counts_.dropped + strange_lines_, " left out, ", counts_.unread,
                              " that could not be read"));
  }
  std::vector<std::string> denied;
  std::set<std::string> said;
  for (const auto& [index, why] : denied_) {
    const TraceFinding& seen = findings_[index];
    std::string line = text::cat(name(seen.access), ' ', error_name(seen.error_number), ": ", why.what);
    if (!why.proposal.empty()) {
      line += text::cat("; to allow it, add ", why.proposal);
    }
    if (said.insert(line).second) {
      denied.push_back(masked(line));
    }
  }
  lines.emplace_back(denied.empty()
                         ? "trace: nothing was denied"
                         : "trace: denied (the server chose what to ask for; allow only what you understand):");
  shorten(lines, denied, file);
  std::vector<std::string> grants;
  for (const GrantUse& grant : proposal.grants) {
    const bool less = grant.writable && grant.use == Use::read;
    grants.push_back(text::cat(grant.outside, ": granted for ", grant.writable ? "writing" : "reading",
                               grant.use == Use::none ? ", not used"
                               : less                 ? ", only read"
                                                      : ", used"));
  }
  if (!grants.empty()) {
    lines.emplace_back("trace: grants:");
    shorten(lines, grants, file);
  }
  for (const std::string& path : proposal.withheld) {
    lines.push_back(text::cat("trace: used, but not proposed by itself: ", text::printable(masked(path), 1024)));
  }
  lines.push_back(text::cat("trace: the least that would have done, for ", text::printable(setting_.policy_path, 1024),
                            " (if this run used all that the server is for):"));
  std::vector<std::string> section;
  for (const std::string& line : policy_lines(proposal, setting_.runtime)) {
    section.push_back(masked(line));
  }
  shorten(lines, section, file);
  return lines;
}

Result<FileAccess> read_trace_file(std::string content) {
  const auto bad = [] { return fail(Errc::file_unreadable, "is no trace that this version can read"); };
  const Result<json::Document> document = json::read(std::move(content), {.max_bytes = kMaxTraceFileBytes});
  if (!document) {
    return bad();
  }
  const json::Value root = document->root();
  const auto string_of = [](const json::Value& object, std::string_view name) {
    const json::Value value = object.find(name);
    return value.is(json::Kind::string) ? value.string() : std::string();
  };
  if (!root.is(json::Kind::object) || string_of(root, "format") != "mcp-cordon.trace" ||
      !root.find("findings").is(json::Kind::array)) {
    return bad();
  }
  std::map<std::string, std::set<std::string>> words;
  for (const json::Value finding : root.find("findings").elements()) {
    if (!finding.is(json::Kind::object)) {
      return bad();
    }
    const std::string access = string_of(finding, "access");
    const std::string outcome = string_of(finding, "outcome");
    words[string_of(finding, "path")].insert(outcome == "done" ? access : text::cat(access, ' ', outcome));
  }
  FileAccess out;
  for (const auto& [path, what] : words) {
    out[path] = text::join(std::vector<std::string>(what.begin(), what.end()), ", ");
  }
  return out;
}

}  // namespace cordon::app
