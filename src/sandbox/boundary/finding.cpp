// SPDX-License-Identifier: Apache-2.0
#include "sandbox/boundary/finding.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"
#include "sandbox/guarantee.hpp"

namespace cordon::sandbox::boundary {
namespace {

constexpr std::array kVerdicts = {Verdict::held, Verdict::breached, Verdict::expected, Verdict::blocked,
                                  Verdict::not_applicable};

std::unexpected<Error> unusable(std::string detail) {
  return fail(Errc::launch_failed, std::move(detail), "probe",
              "nothing is known about the boundary; try again, and report it if it stays so");
}

std::string text_of(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  return value.is(json::Kind::string) ? value.string() : std::string();
}

int number_of(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  return value.is(json::Kind::number) ? static_cast<int>(value.safe_integer().value_or(-1)) : -1;
}

Result<Finding> read_finding(const json::Value& object) {
  Finding out;
  out.id = text_of(object, "id");
  out.guarantee = text_of(object, "guarantee");
  const std::string result = text_of(object, "result");
  const auto verdict = std::ranges::find_if(kVerdicts, [&](Verdict one) { return name(one) == result; });
  if (out.id.empty() || out.guarantee.empty() || verdict == kVerdicts.end() || *verdict == Verdict::expected) {
    return unusable("the probe printed a line that is none of its own");
  }
  out.verdict = *verdict;
  out.expected = text_of(object, "expected");
  out.got = text_of(object, "got");
  out.error_number = number_of(object, "errno");
  out.mechanism = text_of(object, "mechanism");
  out.attempt = text_of(object, "attempt");
  out.attempts = number_of(object, "attempts");
  out.reason = text_of(object, "reason");
  return out;
}

// A read-only mount does not stop the opening of a FIFO, so that a plan promises it only by name.
bool promised_only_by_name(std::string_view guarantee) { return guarantee == "filesystem.fifos"; }

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::held:
      return "held";
    case Verdict::breached:
      return "breached";
    case Verdict::expected:
      return "expected";
    case Verdict::blocked:
      return "blocked";
    case Verdict::not_applicable:
      return "not_applicable";
  }
  return "breached";
}

Result<std::vector<Finding>> read_findings(std::string_view output) {
  std::vector<Finding> findings;
  std::set<std::string> ids;
  bool complete = false;
  for (const std::string_view line : text::split(output, '\n')) {
    if (line.empty()) {
      continue;
    }
    const auto parsed = json::read(std::string(line), json::Limits{});
    if (!parsed || complete) {
      return unusable("the probe's output is not what a probe prints");
    }
    const json::Value object = parsed->root();
    if (text_of(object, "id") == "complete") {
      complete = number_of(object, "lines") == static_cast<int>(findings.size());
      if (!complete) {
        return unusable("lines of the probe's output are missing");
      }
      continue;
    }
    Result<Finding> finding = read_finding(object);
    if (!finding) {
      return std::unexpected(finding.error());
    }
    if (!ids.insert(finding->id).second) {
      return unusable("the probe printed a check twice");
    }
    findings.push_back(std::move(*finding));
  }
  if (!complete) {
    const bool refused = findings.size() == 1 && findings.front().id == "probe.token";
    return unusable(refused ? text::cat("the probe refused to start: ", text::printable(findings.front().got))
                            : text::cat("the probe did not come to its end; it printed ", findings.size(), " checks"));
  }
  return findings;
}

std::string_view guarantee_group(std::string_view guarantee) { return guarantee.substr(0, guarantee.find('.')); }

const Guarantee* promise_for(const Plan& plan, std::string_view guarantee) {
  const Guarantee* exact = find_guarantee(plan, guarantee);
  return exact != nullptr || promised_only_by_name(guarantee) ? exact
                                                              : find_guarantee(plan, guarantee_group(guarantee));
}

void judge(std::vector<Finding>& findings, const Plan& plan) {
  for (Finding& finding : findings) {
    if (finding.verdict != Verdict::breached) {
      continue;
    }
    const Guarantee* promise = promise_for(plan, finding.guarantee);
    if (promise == nullptr) {
      finding.verdict = Verdict::expected;
      finding.reason = "no: not promised";
    } else if (promise->strength != Strength::enforced) {
      finding.verdict = Verdict::expected;
      finding.reason = text::cat(name(promise->strength), ": ", promise->reason);
    }
  }
}

std::vector<ConfirmedDetail> conclude(std::span<const Finding> findings) {
  // Where the probe could not show that it is inside, it did not try what only an inside could be asked.
  const auto untried = [](const Finding& finding) {
    return finding.verdict == Verdict::not_applicable &&
           (finding.reason.starts_with("not tried: ") || finding.id == "processes.inside" ||
            finding.id == "network.interfaces");
  };
  std::vector<ConfirmedDetail> out;
  for (const Detail& detail : details()) {
    bool held = false;
    bool crossed = false;
    bool known = true;
    for (const Finding& finding : findings) {
      if (finding.guarantee == detail.name) {
        held = held || finding.verdict == Verdict::held;
        crossed = crossed || finding.verdict == Verdict::breached || finding.verdict == Verdict::expected;
        known = known && !untried(finding);
      }
    }
    if (crossed || (held && known)) {
      out.push_back({std::string(detail.name), !crossed});
    }
  }
  return out;
}

std::size_t count(std::span<const Finding> findings, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(findings, verdict, &Finding::verdict));
}

}  // namespace cordon::sandbox::boundary
