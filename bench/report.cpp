// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"

namespace cordon::bench {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double lowest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

double highest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::string fixed(double value, int digits) {
  char spelled[64];
  std::snprintf(spelled, sizeof spelled, "%.*f", digits, value);
  return spelled;
}

void Report::section(std::string_view title) {
  std::printf("\n%.*s\n", static_cast<int>(title.size()), title.data());
  std::fflush(stdout);
}

void Report::row(std::string_view name, std::string_view figure, std::string_view remark) {
  std::printf("  %-34.*s %16.*s   %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(figure.size()),
              figure.data(), static_cast<int>(remark.size()), remark.data());
  std::fflush(stdout);
}

void Report::goal(std::string_view name, double value, std::string_view unit, Better better, double bound) {
  const bool met = better == Better::lower ? value <= bound : value >= bound;
  (met ? met_ : missed_) += 1;
  row(name, text::cat(fixed(value, 2), " ", unit),
      text::cat("goal ", better == Better::lower ? "<= " : ">= ", fixed(bound, 2), met ? ": met" : ": NOT met"));
}

void Report::skipped(std::string_view name, std::string_view reason) {
  ++skipped_;
  row(name, "skipped", reason);
}

void Report::summary() const {
  std::printf("\n%d goals met, %d not met, %d figures skipped\n", met_, missed_, skipped_);
}

}  // namespace cordon::bench
