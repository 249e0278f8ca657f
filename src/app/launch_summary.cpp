// SPDX-License-Identifier: Apache-2.0
#include "app/launch_summary.hpp"

#include <algorithm>
#include <array>

#include "audit/chain.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

std::string text_of(const json::Value& record, std::string_view name) {
  const json::Value value = record.find(name);
  return value.is(json::Kind::string) ? value.string() : std::string();
}

// Paths of what a launch declares begin so.
constexpr std::string_view kHosts = "hosts.";

std::string scalar(const json::Value& value) {
  return value.is(json::Kind::string) ? value.string() : std::string(value.raw());
}

}  // namespace

void LaunchSummary::flatten(const std::string& path, const json::Value& value) {
  if (value.is(json::Kind::object)) {
    for (const json::Member member : value.members()) {
      flatten(text::cat(path, ".", member.key.string()), member.value);
    }
    return;
  }
  if (!value.is(json::Kind::array)) {
    declared_.insert_or_assign(path, scalar(value));
    return;
  }
  // The words of a command have an order; names are there or not.
  const bool ordered = path == "argv";
  std::size_t index = 0;
  for (const json::Value element : value.elements()) {
    const std::string item = scalar(element);
    declared_.insert_or_assign(ordered ? text::cat(path, "[", index++, "]") : text::cat(path, ".", item),
                               ordered ? item : std::string("yes"));
  }
}

void LaunchSummary::take_egress(const json::Value& record) {
  const auto number = [&record](std::string_view name) -> Count {
    const json::Value value = record.find(name);
    const auto found = value.is(json::Kind::number) ? value.safe_integer() : std::nullopt;
    return found && *found > 0 ? static_cast<Count>(*found) : 0;
  };
  std::string host = text_of(record, "host");
  if (const Count port = number("port"); port != 0) {
    host += text::cat(':', port);
  }
  HostUse& use = hosts_used_[host];
  const std::string decision = text_of(record, "decision");
  if (decision == "denied") {
    ++use.denied;
  } else if (!decision.empty()) {
    ++use.allowed;
  }
  use.bytes_up += number("bytes_up");
  use.bytes_down += number("bytes_down");
}

std::vector<std::string> LaunchSummary::hosts_declared() const {
  std::vector<std::string> out;
  for (auto found = declared_.lower_bound(std::string(kHosts));
       found != declared_.end() && found->first.starts_with(kHosts); ++found) {
    out.push_back(found->first.substr(kHosts.size()));
  }
  return out;
}

std::vector<std::string> LaunchSummary::hosts_unused() const {
  std::vector<std::string> out = hosts_declared();
  std::erase_if(out, [this](const std::string& declared) {
    return std::ranges::any_of(hosts_used_, [&](const auto& used) {
      const bool below = declared.starts_with("*.") && used.first.ends_with(declared.substr(1));
      return used.second.allowed != 0 && (below || used.first == declared);
    });
  });
  return out;
}

void LaunchSummary::take(std::string_view line) {
  const Result<audit::ReadLine> record = audit::read_line(line);
  if (!record) {
    ++damaged_;
    return;
  }
  if (began_.empty()) {
    began_ = record->time;
  }
  const json::Value root = record->document.root();
  if (record->event == "launch") {
    launched_ = true;
    trace_ = text_of(root, "trace");
    constexpr std::array<std::string_view, 5> kOfTheChain = {"seq", "time", "prev", "hash", "event"};
    for (const json::Member member : root.members()) {
      // The name of a trace is another one each time, and what it says has a section of its own.
      const std::string key = member.key.string();
      if (key != "trace" && std::ranges::find(kOfTheChain, key) == kOfTheChain.end()) {
        flatten(key, member.value);
      }
    }
  } else if (record->event == "launch_refused") {
    refusal_ = text::cat(text_of(root, "reason"), ": ", text_of(root, "detail"));
  } else if (record->event == "call") {
    ++calls_[{text_of(root, "tool"), text_of(root, "decision")}];
  } else if (record->event == "egress" || record->event == "egress_end") {
    take_egress(root);
  } else if (record->event == "suppressed") {
    const json::Value count = root.find("records");
    const auto records = count.is(json::Kind::number) ? count.safe_integer() : std::nullopt;
    others_[{text_of(root, "of"), "suppressed"}] += records && *records > 0 ? static_cast<Count>(*records) : 1;
  } else if (record->event != audit::kBeginEvent) {
    const std::string reason = text_of(root, "reason");
    ++others_[{record->event, reason.empty() ? text_of(root, "action") : reason}];
  }
}

}  // namespace cordon::app
