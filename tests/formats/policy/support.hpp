// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short ways to state a policy as text and its faults as text.

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/policy_yaml.hpp"

namespace cordon::formats::test {

// The least policy, three lines, and then `more` from line 4 on.
inline std::string policy_with(std::string_view more) {
  return "version: 1\nserver: s\nlaunch: {command: [node]}\n" + std::string(more);
}

// All faults, one a line: "line:column: detail". Each must have a remedy.
inline std::string faults_of(std::string_view text) {
  std::string out;
  for (const Error& error : check_policy(text, "p")) {
    CHECK(error.code == Errc::policy_invalid);
    CHECK(error.where.starts_with("p:"));
    CAPTURE(error.detail);
    CHECK_FALSE(error.remedy.empty());
    out += (out.empty() ? "" : "\n") + error.where.substr(2) + ": " + error.detail;
  }
  return out;
}

// Faults of the least policy followed by `more`.
inline std::string faults(std::string_view more) { return faults_of(policy_with(more)); }

// Faults of a policy whose lines from 3 on are `launch`.
inline std::string launch_faults(std::string_view launch) {
  return faults_of("version: 1\nserver: s\n" + std::string(launch));
}

inline policy::Policy accept_text(std::string_view text) {
  CHECK(faults_of(text).empty());
  auto policy = read_policy(text, "p");
  REQUIRE(policy.has_value());
  return *policy;
}

inline policy::Policy accept(std::string_view more) { return accept_text(policy_with(more)); }

}  // namespace cordon::formats::test
