// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one log says: what was launched, and what was done then. Pure; audit compare sets two side by side.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/trace_report.hpp"
#include "core/json/value.hpp"

namespace cordon::app {

// One log, record by record.
class LaunchSummary {
 public:
  explicit LaunchSummary(std::string file) : file_(std::move(file)) {}

  // A line of the log, without its end. One that is no record, or whose hash does not fit, only counts as damaged.
  void take(std::string_view line);

  using Count = std::uint64_t;
  const std::string& file() const { return file_; }
  const std::string& began() const { return began_; }  // time of the first record
  bool launched() const { return launched_; }          // there is a record of a launch
  const std::string& trace() const { return trace_; }  // name of the file of a traced launch; empty: it was none
  // What that file says, when it could be read.
  const std::optional<FileAccess>& file_access() const { return file_access_; }
  void set_file_access(FileAccess access) { file_access_ = std::move(access); }
  const std::string& refusal() const { return refusal_; }  // why nothing was started; empty: it was
  Count damaged() const { return damaged_; }
  // The record of the launch: each value by its path, "guarantees.network.strength"; a list of names is as many paths
  // as it has items, "environment_names.LANG".
  const std::map<std::string, std::string>& declared() const { return declared_; }
  // What was done: calls by tool and decision, and everything else that is counted by what it was and why.
  const std::map<std::pair<std::string, std::string>, Count>& calls() const { return calls_; }
  const std::map<std::pair<std::string, std::string>, Count>& others() const { return others_; }

  // What became of a host, "api.github.com:443". Without a port: a name that was only asked for.
  struct HostUse {
    Count allowed = 0;
    Count denied = 0;
    Count bytes_up = 0;
    Count bytes_down = 0;
  };
  const std::map<std::string, HostUse>& hosts_used() const { return hosts_used_; }
  // What the launch was allowed: "*.example.com:443".
  std::vector<std::string> hosts_declared() const;
  // Those of them that nothing was allowed by.
  std::vector<std::string> hosts_unused() const;

 private:
  void take_egress(const json::Value& record);
  void flatten(const std::string& path, const json::Value& value);

  std::string file_ = {};
  std::string began_ = {};
  bool launched_ = false;
  std::string refusal_ = {};
  std::string trace_ = {};
  std::optional<FileAccess> file_access_ = {};
  Count damaged_ = 0;
  std::map<std::string, std::string> declared_ = {};
  std::map<std::pair<std::string, std::string>, Count> calls_ = {};
  std::map<std::pair<std::string, std::string>, Count> others_ = {};
  std::map<std::string, HostUse> hosts_used_ = {};
};

// Two launches side by side: for a person, and as one JSON object.
std::string comparison_text(const LaunchSummary& before, const LaunchSummary& after);
std::string comparison_json(const std::string& server, const LaunchSummary& before, const LaunchSummary& after);

}  // namespace cordon::app
