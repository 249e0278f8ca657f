// SPDX-License-Identifier: Apache-2.0
#pragma once
// Medians, best rounds, and the table that is printed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::bench {

double median(std::vector<double> values);
// The smallest and the largest; 0 for none. The best round is the one that nothing else on the machine disturbed.
double lowest(const std::vector<double>& values);
double highest(const std::vector<double>& values);
std::string fixed(double value, int digits);

enum class Better : std::uint8_t { lower, higher };

class Report {
 public:
  void section(std::string_view title);
  void row(std::string_view name, std::string_view figure, std::string_view remark = {});
  // A figure with the goal of the product contract beside it.
  void goal(std::string_view name, double value, std::string_view unit, Better better, double bound);
  void skipped(std::string_view name, std::string_view reason);
  // "N goals met, N not met, N skipped"
  void summary() const;

 private:
  int met_ = 0;
  int missed_ = 0;
  int skipped_ = 0;
};

}  // namespace cordon::bench
